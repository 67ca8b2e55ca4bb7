import { readRecord } from '../../kit/result/read-record.ts'
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { BeginRecord, EndRecord, StoredRecord } from '../../contract/evidence.ts'
import type { ToolResult } from '../../contract/base/result.ts'
import type { RecordQuery, Store } from '../../contract/store.ts'
import { callError } from '../../kit/result/call-error.ts'
import { decodeResult } from '../../kit/result/encode-result.ts'
import { plainSummary } from '../../kit/result/plain-summary.ts'
import { createRunArchive, type RunArchive } from './create-run-archive.ts'

export interface RebuildRequest {
  store: Store
  /** Holds `runs/`. */
  dir: string
  /** Default: all. */
  tenant?: string
  /** Default: all. */
  session?: string
}

/** What was rebuilt. */
export interface RebuildReport {
  sessions: readonly string[]
  calls: number
  /** Calls whose input or result was pruned: their lines have no summary of it. */
  pruned: number
}

const logs = ['logs/tools.jsonl', 'logs/errors.jsonl'] as const

/**
 * Writes the logs of runs again from the store, as they were written when the calls ended, in place of those that are there. Events,
 * and when a run ended, stand in no store: an `events.jsonl` or `run.json` that is there stays, and no event is made up.
 */
export async function rebuildArchive({
  store,
  dir,
  tenant,
  session,
}: RebuildRequest): Promise<RebuildReport> {
  const home = resolve(dir)
  await mkdir(home, { recursive: true, mode: 0o700 })
  // On the same disk, so that finished files can be moved into their place.
  const draft = await mkdtemp(join(home, '.rebuild-'))
  try {
    const report = await writeRuns(store, draft, {
      ...(tenant !== undefined && { tenant }),
      ...(session !== undefined && { session }),
    })
    if (report.calls > 0)
      for (const folder of await readdir(join(draft, 'runs')))
        await replaceRun(join(draft, 'runs', folder), join(home, 'runs', folder))
    return report
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
}

async function writeRuns(store: Store, dir: string, query: RecordQuery): Promise<RebuildReport> {
  const failures: unknown[] = []
  const archive = createRunArchive({ dir, onError: (error) => failures.push(error) })
  const open = new Map<string, StoredRecord>()
  const sessions = new Set<string>()
  let calls = 0
  let pruned = 0
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
  await archive.close()
  if (failures.length > 0) throw failures[0]
  return { sessions: [...sessions], calls, pruned }
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
  for (const log of logs) {
    if (!existsSync(join(from, log))) await rm(join(to, log), { force: true })
    else await rename(join(from, log), join(to, log))
  }
  for (const name of await readdir(from))
    if (!existsSync(join(to, name))) await rename(join(from, name), join(to, name))
}
