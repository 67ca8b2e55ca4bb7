import { resolve } from 'node:path'
import type { RuntimeEvent } from '../../contract/events.ts'
import type { BeginRecord, EndRecord } from '../../contract/evidence.ts'
import type { Json, JsonObject } from '../../contract/base/json.ts'
import type { ToolResult } from '../../contract/base/result.ts'
import type { ArtifactStore } from '../../contract/store.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import { splitBeginBody } from '../../kit/result/split-begin-body.ts'
import { createFolderWriter } from './create-folder-writer.ts'
import { aboutFile, readAbout, type RunFacts, type RunFolder, type RunOutcome } from './run-folder.ts'
import type { RunLog } from './run-log.ts'
import { toArtifactRecords, toErrorRecord, toToolRecord } from './tool-record.ts'

export interface RunArchiveOptions {
  /** Holds `runs/`. Made with the first record. */
  dir: string
  /** What a log of a run has at most. Default 64 MiB. */
  logBytes?: number | undefined
  /** Where files are that a run delivered; without it, none is copied. */
  artifacts?: Pick<ArtifactStore, 'get'>
  /** Told when something could not be written; those lines are lost to the archive, not to the evidence. */
  onError: (error: unknown) => void
}

/** What is new of a run of an agent. All of it may be shown: secrets are redacted. */
export interface ArchivedRun {
  readonly run: string
  readonly session: string
  readonly tenant: string
  readonly actor: string
  readonly role: string
  /** When it began, in milliseconds since the epoch. */
  readonly startedAt: number
  readonly endedAt: number | undefined
  /** For `run.json`. */
  readonly facts: JsonObject
  /** Texts by their paths in the folder. */
  readonly files: ReadonlyMap<string, string>
  /** Nodes of its conversation. */
  readonly nodes: readonly object[]
  /** Whether these are all of them, rather than those that came. */
  readonly isWhole: boolean
}

/** Readable files about each session, beside the evidence: for people and scripts, written behind the calls. */
export interface RunArchive {
  /** Takes the finished call into `logs/tools.jsonl`, and into `logs/errors.jsonl` when it did not succeed. */
  ended(begin: { record: BeginRecord; body: string | null }, end: EndRecord, result: ToolResult): void
  /** Takes the event into `events.jsonl`. */
  event(event: RuntimeEvent): void
  /** Takes what is new of a run. One in a session of another id has a folder of its own, to which its calls come too. */
  run(run: ArchivedRun): void
  /** What `run.json` says of a run, or of a session; undefined if nothing can be read. */
  read(run: Pick<ArchivedRun, 'run' | 'tenant'>): Promise<JsonObject | undefined>
  /** Resolves when everything taken so far is written or reported. */
  flush(): Promise<void>
  /** Writes the rest. What comes later is dropped. */
  close(): Promise<void>
}

type Lines = readonly (readonly [RunLog, object | undefined])[]

/** An archive under `dir/runs/<session>/`. Never throws into a call. */
export function createRunArchive({ dir, logBytes, artifacts, onError }: RunArchiveOptions): RunArchive {
  const writer = createFolderWriter(resolve(dir), { logBytes, onError })
  /** Runs under way in a session of another id, by their tenant and id. */
  const inOthers = new Map<string, RunFacts>()
  let closed = false

  const change = (facts: RunFacts, act: (run: RunFolder) => void): void => {
    if (!closed) writer.change(facts, act)
  }
  const take = (facts: RunFacts, records: Lines, toolCallId: string | undefined): void => {
    const add = (run: RunFolder): void => {
      for (const [log, record] of records) if (record !== undefined) run.add(log, toLine(record))
    }
    change(facts, add)
    const own = inOthers.size === 0 ? undefined : inOthers.get(keyOf(facts.tenant, runOf(toolCallId)))
    if (own !== undefined) change(own, add)
  }
  return {
    ended(begin, end, result) {
      const input = begin.body === null ? null : splitBeginBody(begin.body).input
      const call = { begin: begin.record, input, end, result }
      const made = toArtifactRecords(call).map((record) => ['artifacts.jsonl', record] as const)
      const records: Lines = [
        ['logs/tools.jsonl', toToolRecord(call)],
        ['logs/errors.jsonl', toErrorRecord(call)],
        ...made,
      ]
      take(begin.record, records, begin.record.toolCallId)
    },
    event(event) {
      const facts = { ...event, actor: event.actor ?? '', role: event.role ?? '' }
      take(facts, [['events.jsonl', event]], event.toolCallId)
      if (event.type === 'session_started') change(facts, (run) => run.begin())
      if (event.type === 'session_ended')
        change(facts, (run) => run.end(event.at, toOutcome(event, artifacts)))
    },
    run(given) {
      const { run: id, session, tenant, actor, role, startedAt: at, endedAt } = given
      const facts = { session: id, tenant, actor, role, at }
      const key = keyOf(tenant, id)
      if (session !== id && endedAt === undefined) inOthers.set(key, facts)
      if (endedAt !== undefined) inOthers.delete(key)
      change(facts, (run) => {
        if (given.isWhole) run.begin()
        run.tell(given.facts)
        for (const [path, text] of given.files) run.put(path, text)
        if (given.isWhole) run.restart('transcript.jsonl')
        for (const node of given.nodes) run.add('transcript.jsonl', toLine(node))
        if (endedAt !== undefined) run.end(endedAt)
      })
    },
    read: ({ run, tenant }) => readAbout(aboutFile(resolve(dir), { session: run, tenant })),
    flush: () => writer.flush(),
    close() {
      closed = true
      return writer.flush()
    },
  }
}

function keyOf(tenant: string, run: string): string {
  return `${tenant} ${run}`
}

/** The run of an agent that made the call; empty if none did. */
function runOf(toolCallId = ''): string {
  return /^(run_\w+)\.\d+\.\d+$/.exec(toolCallId)?.[1] ?? ''
}

function toLine(record: object): string {
  return `${JSON.stringify(record)}\n`
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
