import { useEffect, useState } from 'preact/hooks'
import { messageOf } from '../../src/kit/text/message-of.ts'
import { ask, type JsonObject, type PlannedRow } from '../api.ts'
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

/** What the API said of a change, or against it. */
interface Planned {
  readonly of: string
  readonly plan?: PlannedRow
  readonly fault?: string
}

/** Shows what a change of `mcp.json` would be, and makes it once a person says so. */
export function WriteServers({ changes, onWritten, onLeft }: Writing) {
  const change = useChange()
  const [planned, setPlanned] = useState<Planned>()
  const text = JSON.stringify(changes)
  useEffect(() => {
    let isWanted = true
    ask<PlannedRow>('/api/servers/plan', { changes }).then(
      (plan) => isWanted && setPlanned({ of: text, plan }),
      (error: unknown) => isWanted && setPlanned({ of: text, fault: messageOf(error) }),
    )
    return () => {
      isWanted = false
    }
  }, [text])
  // What is written is what was shown.
  const { plan, fault } = planned?.of === text ? planned : {}
  const write = async (): Promise<void> => {
    const body = { changes, digest: plan?.digest }
    if ((await change.make('/api/servers/write', body)) !== undefined) onWritten()
  }
  return (
    <div>
      {plan !== undefined && <Preview title="The change of mcp.json" body={plan.diff} />}
      <Fault text={fault ?? change.fault} />
      <div class="bar">
        <button
          type="button"
          class="allow"
          disabled={plan === undefined || change.isBusy}
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
