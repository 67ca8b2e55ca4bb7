import { resolve } from 'node:path'
import type { RuntimeEvent } from '../../contract/events.ts'
import type { BeginRecord, EndRecord } from '../../contract/evidence.ts'
import type { Json, JsonObject } from '../../contract/base/json.ts'
import type { ToolResult } from '../../contract/base/result.ts'
import type { ArtifactStore } from '../../contract/store.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import { splitBeginBody } from '../../kit/result/split-begin-body.ts'
import { createRunFolder, type RunFacts, type RunFolder, type RunLog, type RunOutcome } from './run-folder.ts'
import { toErrorRecord, toToolRecord } from './tool-record.ts'

export interface RunArchiveOptions {
  /** Holds `runs/`. Made with the first record. */
  dir: string
  /** Where files are that a run delivered; without it, none is copied. */
  artifacts?: Pick<ArtifactStore, 'get'>
  /** Told when something could not be written; those lines are lost to the archive, not to the evidence. */
  onError: (error: unknown) => void
}

/** Readable files about each session, beside the evidence: for people and scripts, written behind the calls. */
export interface RunArchive {
  /** Takes the finished call into `logs/tools.jsonl`, and into `logs/errors.jsonl` when it did not succeed. */
  ended(begin: { record: BeginRecord; body: string | null }, end: EndRecord, result: ToolResult): void
  /** Takes the event into `events.jsonl`. */
  event(event: RuntimeEvent): void
  /** Resolves when everything taken so far is written or reported. */
  flush(): Promise<void>
  /** Writes the rest. What comes later is dropped. */
  close(): Promise<void>
}

/** Lines are collected for so long before they are written. */
const batchMs = 50

/** An archive under `dir/runs/<session>/`. Never throws into a call. */
export function createRunArchive({ dir, artifacts, onError }: RunArchiveOptions): RunArchive {
  const root = resolve(dir)
  const runs = new Map<string, RunFolder>()
  const changed = new Set<RunFolder>()
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<void> = Promise.resolve()
  let closed = false

  const runOf = (facts: RunFacts): RunFolder => {
    const known = runs.get(facts.session)
    if (known !== undefined) return known
    const run = createRunFolder(root, facts)
    runs.set(facts.session, run)
    return run
  }
  const take = (facts: RunFacts, records: readonly (readonly [RunLog, object | undefined])[]): void => {
    if (closed) return
    const run = runOf(facts)
    try {
      for (const [log, record] of records)
        if (record !== undefined) run.add(log, `${JSON.stringify(record)}\n`)
    } catch (error) {
      onError(error)
    }
    changed.add(run)
    timer ??= setTimeout(() => void flush(), batchMs)
  }
  const writeChanged = async (): Promise<void> => {
    const batch = [...changed]
    for (const run of batch) {
      // What came while others were written is written with the rest, and not once more.
      changed.delete(run)
      try {
        await run.write()
      } catch (error) {
        onError(error)
      }
      if (run.ended) runs.delete(run.session)
    }
  }
  const flush = (): Promise<void> => {
    clearTimeout(timer)
    timer = undefined
    writing = writing.then(writeChanged)
    return writing
  }
  return {
    ended(begin, end, result) {
      const input = begin.body === null ? null : splitBeginBody(begin.body).input
      const call = { begin: begin.record, input, end, result }
      take(begin.record, [
        ['logs/tools.jsonl', toToolRecord(call)],
        ['logs/errors.jsonl', toErrorRecord(call)],
      ])
    },
    event(event) {
      take({ ...event, actor: event.actor ?? '', role: event.role ?? '' }, [['events.jsonl', event]])
      if (event.type === 'session_started') runs.get(event.session)?.begin()
      if (event.type === 'session_ended') runs.get(event.session)?.end(event.at, toOutcome(event, artifacts))
    },
    flush,
    close() {
      closed = true
      return flush()
    },
  }
}

/** What the end of a session says of what it had to deliver. */
function toOutcome(
  { data = {} }: RuntimeEvent,
  artifacts: RunArchiveOptions['artifacts'],
): RunOutcome | undefined {
  const { status, deliverables } = data
  if (status === undefined || !Array.isArray(deliverables)) return undefined
  return { facts: { status, deliverables }, files: deliverables.flatMap((each) => toFile(each, artifacts)) }
}

function toFile(deliverable: Json, artifacts: RunArchiveOptions['artifacts']): RunOutcome['files'][number][] {
  const { path, digest }: Partial<JsonObject> = isPlainObject(deliverable) ? deliverable : {}
  if (artifacts === undefined || typeof path !== 'string' || typeof digest !== 'string') return []
  return [{ path, read: () => artifacts.get(digest) }]
}
