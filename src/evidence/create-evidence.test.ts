import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { ToolFailure } from '../contract/base/errors.ts'
import type { ToolResult } from '../contract/base/result.ts'
import type { Store } from '../contract/store.ts'
import { createMemoryStore } from '../stores/memory/create-memory-store.ts'
import { openSqliteStore } from '../stores/sqlite/open-sqlite-store.ts'
import { sampleBegin, sampleEnd, sampleInput } from '../testing/store-checks/sample-records.ts'
import { createEvidence } from './create-evidence.ts'
import type { RunArchive } from './archive/create-run-archive.ts'
import { verifyEvidence } from './chain/verify-evidence.ts'

const now = (): number => 1_763_667_600_500

function resultOf(callId: string): ToolResult {
  return {
    callId,
    toolCallId: callId,
    tool: 'code.read_file',
    ok: true,
    outcome: 'ok',
    content: [],
    summary: 'read',
    artifacts: [],
    metadata: { session: 'session_1', durationMs: 12 },
  }
}

function kinds(store: Store): string[] {
  return [...store.records({})].map(({ kind, call }) => `${kind} ${call}`)
}

/** A store that refuses appends as long as `broken` says so. */
function createBreakableStore(): { store: Store; breakdown: { broken: boolean } } {
  const inner = createMemoryStore()
  const breakdown = { broken: false }
  const failure = new ToolFailure({
    code: 'PROVIDER.UNAVAILABLE',
    reason: 'store_failed',
    message: 'the disk is full',
  })
  const append: Store['append'] = (entries) =>
    breakdown.broken ? Promise.reject(failure) : inner.append(entries)
  return { store: { ...inner, append }, breakdown }
}

test('writes a pair for a call, also when its caller has lefts begin (EVID-1)', async () => {
  const store = createMemoryStore()
  const evidence = createEvidence({ store, now })
  expect(evidence.writer).toBe(store.writer)
  await evidence.begin(sampleBegin('a'))
  evidence.beginLazily(sampleBegin('b'))
  await evidence.end([sampleEnd('b')], resultOf('b'))
  await evidence.end([sampleEnd('a')], resultOf('a'))
  await evidence.end([sampleBegin('denied'), sampleEnd('denied')], resultOf('denied'))
  expect(kinds(store)).toEqual(['begin a', 'begin b', 'end b', 'end a', 'begin denied', 'end denied'])
  expect(verifyEvidence(store)).toEqual({ ok: true, records: 6, calls: 3 })
})

test('tells of a lazy begin that was not written when its call ends, and not before (CALL-3)', async () => {
  const { store, breakdown } = createBreakableStore()
  const evidence = createEvidence({ store, now })
  breakdown.broken = true
  evidence.beginLazily(sampleBegin('a'))
  await new Promise((resolve) => setImmediate(resolve))
  breakdown.broken = false
  await expect(evidence.end([sampleEnd('a')], resultOf('a'))).rejects.toThrow('the disk is full')
  expect(kinds(store)).toEqual([])
  await evidence.end([sampleBegin('a'), sampleEnd('a')], resultOf('a'))
  expect(kinds(store)).toEqual(['begin a', 'end a'])
})

test('tells of a note that was not written at the next flush, once', async () => {
  const { store, breakdown } = createBreakableStore()
  const evidence = createEvidence({ store, now })
  const about = { tenant: 'local', session: 'session_1', at: 1, message: 'the callback failed' }
  breakdown.broken = true
  evidence.note({ kind: 'note', event: 'permission_failed', ...about })
  await new Promise((resolve) => setImmediate(resolve))
  breakdown.broken = false
  await expect(evidence.flush()).rejects.toThrow('the disk is full')
  evidence.note({ kind: 'note', event: 'permission_failed', ...about })
  await evidence.flush()
  await evidence.close()
  expect(kinds(store)).toEqual(['note '])
})

test('tells why a lazy begin was refused when its end waits beside it (CALL-3)', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'handrail-evidence-'))
  const path = join(directory, 'store.db')
  const store = await openSqliteStore({ path })
  onTestFinished(async () => {
    await store.close()
    await rm(directory, { recursive: true })
  })
  const db = new DatabaseSync(path)
  db.exec(`CREATE TRIGGER refuse BEFORE INSERT ON records WHEN new.kind = 'begin'
    BEGIN SELECT RAISE(ABORT, 'no begins today'); END`)
  db.close()
  const evidence = createEvidence({ store, now })
  evidence.beginLazily(sampleBegin('a'))
  await expect(evidence.end([sampleEnd('a')], resultOf('a'))).rejects.toThrow('no begins today')
  expect(kinds(store)).toEqual([])
})

test('a flush waits for everything that was handed over', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'handrail-evidence-'))
  const store = await openSqliteStore({ path: join(directory, 'store.db') })
  onTestFinished(async () => {
    await store.close()
    await rm(directory, { recursive: true })
  })
  const evidence = createEvidence({ store, now })
  const begun = evidence.begin(sampleBegin('a'))
  const ended = evidence.end([sampleEnd('a')], resultOf('a'))
  await evidence.flush()
  expect(kinds(store)).toEqual(['begin a', 'end a'])
  await Promise.all([begun, ended])
})

test('shows the archive a call only once its end is durable, with its begin', async () => {
  const { store, breakdown } = createBreakableStore()
  const seen: unknown[] = []
  const archive: RunArchive = {
    ended: (begin, end, result) => seen.push([begin.record.call, begin.body, end.outcome, result.summary]),
    event: () => {},
    run: () => {},
    read: async () => undefined,
    flush: async () => {},
    close: async () => void seen.push('closed'),
  }
  const evidence = createEvidence({ store, now, archive })
  evidence.beginLazily(sampleBegin('a'))
  await evidence.end([sampleEnd('a')], resultOf('a'))
  await evidence.begin(sampleBegin('b'))
  breakdown.broken = true
  await expect(evidence.end([sampleEnd('b')], resultOf('b'))).rejects.toThrow('the disk is full')
  expect(seen).toEqual([['a', sampleInput, 'ok', 'read']])
  breakdown.broken = false
  await evidence.close()
  expect(seen).toEqual([['a', sampleInput, 'ok', 'read'], ['b', sampleInput, 'ok', 'read'], 'closed'])
})
