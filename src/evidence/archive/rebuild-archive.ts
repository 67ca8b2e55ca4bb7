import { readRecord } from '../../kit/result/read-record.ts'
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { BeginRecord, EndRecord, StoredRecord } from '../../contract/evidence.ts'
import type { ToolResult } from '../../contract/base/result.ts'
import type { RecordQuery, Store } from '../../contract/store.ts'
import { callError } from '../../kit/result/call-error.ts'
import { decodeResult } from '../../kit/result/encode-result.ts'
import { plainSummary } from '../../kit/result/plain-summary.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import { createRunArchive, type ArchivedRun, type RunArchive } from './create-run-archive.ts'

export interface RebuildRequest {
  store: Store
  /** Holds `runs/`. */
  dir: string
  /** Default: all. */
  tenant?: string
  /** Default: all. */
  session?: string
  /** Runs of agents that are written too. */
  runs?: readonly ArchivedRun[]
}

/** What was rebuilt. */
export interface RebuildReport {
  sessions: readonly string[]
  calls: number
  /** Calls whose input or result was pruned: their lines have no summary of it. */
  pruned: number
  /** Runs of agents. */
  runs: readonly string[]
}

/** What is written anew of a session. */
const logs: readonly string[] = ['logs/tools.jsonl', 'logs/errors.jsonl', 'artifacts.jsonl']
/** What is put in the place of what is there, if it was written. */
const texts: readonly string[] = ['transcript.jsonl', 'prompt.md', 'task.json']

/**
 * Writes the logs of runs again from the store, as they were written when the calls ended, in place of those that are there. Events,
 * and when a run ended, stand in no store: an `events.jsonl` or `run.json` that is there stays, and no event is made up.
 */
export async function rebuildArchive({
  store,
  dir,
  tenant,
  session,
  runs = [],
}: RebuildRequest): Promise<RebuildReport> {
  const home = resolve(dir)
  await mkdir(home, { recursive: true, mode: 0o700 })
  // On the same disk, so that finished files can be moved into their place.
  const draft = await mkdtemp(join(home, '.rebuild-'))
  try {
    const query = { ...(tenant !== undefined && { tenant }), ...(session !== undefined && { session }) }
    const report = await writeRuns(store, draft, { query, runs })
    if (report.calls > 0 || runs.length > 0)
      for (const folder of await readdir(join(draft, 'runs')))
        await replaceRun(join(draft, 'runs', folder), join(home, 'runs', folder))
    return report
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
}

async function writeRuns(
  store: Store,
  dir: string,
  { query, runs }: { query: RecordQuery; runs: readonly ArchivedRun[] },
): Promise<RebuildReport> {
  const failures: unknown[] = []
  const archive = createRunArchive({ dir, onError: (error) => failures.push(error) })
  const open = new Map<string, StoredRecord>()
  const sessions = new Set<string>()
  let calls = 0
  let pruned = 0
  // Their calls come behind them.
  for (const run of runs) archive.run({ ...run, endedAt: undefined })
  for (const record of store.records(query)) {
    if (record.kind === 'begin') open.set(record.call, record)
    const begin = open.get(record.call)
    if (record.kind !== 'end' || begin === undefined) continue
    open.delete(record.call)
    sessions.add(record.session)
    calls++
    const call = toCall(begin, record)
    if (isPruned(call[0]) || record.body === null) pruned++
    archive.ended(...call)
    // Lines wait in memory until then.
    if (calls % callsPerFlush === 0) await archive.flush()
  }
  for (const run of runs) archive.run({ ...run, files: new Map(), nodes: [], isWhole: false })
  await archive.close()
  if (failures.length > 0) throw failures[0]
  return { sessions: [...sessions], calls, pruned, runs: runs.map(({ run }) => run) }
}

const callsPerFlush = 1000

/** An input that did not fit its tool was never kept. */
function isPruned({ record, body }: Parameters<RunArchive['ended']>[0]): boolean {
  return body === null && record.input !== ''
}

/** The store returns the texts that were made from these records. */
function toCall(begun: StoredRecord, ended: StoredRecord): Parameters<RunArchive['ended']> {
  const begin = readRecord(begun.text, 'begin')
  const end = readRecord(ended.text, 'end')
  const result =
    ended.body === null ? toBareResult(begin, end) : decodeResult(ended.body, toAbout(begin, end))
  return [{ record: begin, body: begun.body }, end, result]
}

function toAbout(begin: BeginRecord, end: EndRecord): Parameters<typeof decodeResult>[1] {
  const { call: callId, tool, session } = end
  return { callId, toolCallId: begin.toolCallId ?? callId, tool, session, durationMs: end.durationMs }
}

/** What the records alone say of a result. */
function toBareResult(begin: BeginRecord, end: EndRecord): ToolResult {
  const { code, reason = '' } = end
  const result = decodeResult('{}', toAbout(begin, end))
  const artifacts = (end.artifacts ?? []).map((digest) => ({ digest, bytes: 0, mimeType: '' }))
  if (code === undefined) return { ...result, artifacts }
  const error = callError(code, reason, { message: '' })
  return {
    ...result,
    ok: false,
    outcome: end.outcome,
    summary: plainSummary(end.tool, error),
    error,
    artifacts,
  }
}

/** Puts the logs into their place; what else is there stays. */
async function replaceRun(from: string, to: string): Promise<void> {
  await mkdir(join(to, 'logs'), { recursive: true, mode: 0o700 })
  for (const log of [...logs, ...texts]) {
    if (existsSync(join(from, log))) await rename(join(from, log), join(to, log))
    else if (logs.includes(log)) await rm(join(to, log), { force: true })
  }
  await joinAbout(join(from, 'run.json'), join(to, 'run.json'))
  for (const name of await readdir(from))
    if (!existsSync(join(to, name))) await rename(join(from, name), join(to, name))
}

/** What no store has of a run, such as what it delivered, stays; what became of a run of an agent is as the store has it. */
async function joinAbout(from: string, to: string): Promise<void> {
  if (!existsSync(to)) return
  const [rebuilt, before] = await Promise.all([readObject(from), readObject(to)])
  if (rebuilt.state === undefined) return
  await writeFile(from, `${JSON.stringify({ ...before, ...rebuilt }, null, 2)}\n`, { mode: 0o600 })
  await rename(from, to)
}

async function readObject(path: string): Promise<object & { readonly state?: unknown }> {
  try {
    const value: unknown = JSON.parse(await readFile(path, 'utf8'))
    return isPlainObject(value) ? value : {}
  } catch {
    return {}
  }
}
