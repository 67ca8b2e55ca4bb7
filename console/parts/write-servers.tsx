import { useEffect, useState } from 'preact/hooks'
import type { JsonObject, PlannedRow } from '../api.ts'
import { Fault } from './fault.tsx'
import { Preview } from '../code/preview.tsx'
import { useChange } from './use-change.ts'

/** What is to become of servers, by name, as `/api/servers/plan` takes it. */
export type ServerChanges = Readonly<Record<string, JsonObject>>

interface Writing {
  readonly changes: ServerChanges
  readonly onWritten: () => void
  readonly onLeft: () => void
}

/** Shows what a change of `mcp.json` would be, and makes it once a person says so. */
export function WriteServers({ changes, onWritten, onLeft }: Writing) {
  const change = useChange()
  const [planned, setPlanned] = useState<PlannedRow>()
  const text = JSON.stringify(changes)
  useEffect(() => {
    void change.make<PlannedRow>('/api/servers/plan', { changes }).then(setPlanned)
  }, [text])
  const write = async (): Promise<void> => {
    const body = { changes, digest: planned?.digest }
    if ((await change.make('/api/servers/write', body)) !== undefined) onWritten()
  }
  return (
    <div>
      {planned !== undefined && <Preview title="The change of mcp.json" body={planned.diff} />}
      <Fault text={change.fault} />
      <div class="bar">
        <button
          type="button"
          class="allow"
          disabled={planned === undefined || change.isBusy}
          onClick={() => void write()}
        >
          Write it
        </button>
        <button type="button" onClick={onLeft}>
          Leave it
        </button>
      </div>
    </div>
  )
}
