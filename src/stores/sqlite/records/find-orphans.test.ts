import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import type { Store } from '../../../contract/store.ts'
import { sampleBegin, sampleEnd } from '../../../testing/store-checks/sample-records.ts'
import { processLives, processStart } from '../../process-life.ts'
import { openSqliteStore } from '../open-sqlite-store.ts'

async function tempPath(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'handrail-writers-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  return join(directory, 'store.db')
}

function writersOf(path: string): { id: unknown; firstOpen: unknown; closed: unknown }[] {
  const db = new DatabaseSync(path)
  const rows = db.prepare('SELECT id, first_open AS firstOpen, closed FROM writers ORDER BY id').all()
  db.close()
  return rows.map(({ id, firstOpen, closed }) => ({ id, firstOpen, closed }))
}

/** 600 calls in a few groups. */
async function makeCalls(store: Store, name: string): Promise<void> {
  for (let group = 0; group < 3; group++) {
    const calls = Array.from({ length: 200 }, (_, index) => `${name}_${group}_${index}`)
    const { writer } = store
    await Promise.all(
      calls.map(async (call) => store.append([sampleBegin(call, { writer }), sampleEnd(call)])),
    )
  }
}

test('a process that closes in order leaves no trace among the writers', async () => {
  const path = await tempPath()
  const store = await openSqliteStore({ path })
  expect(writersOf(path)).toEqual([])
  await store.append([sampleBegin('a', { writer: store.writer }), sampleEnd('a')])
  expect(writersOf(path)).toEqual([{ id: store.writer, firstOpen: 1, closed: 0 }])
  await store.close()
  expect(writersOf(path)).toEqual([])
})

test('a recovery looks only from the oldest call that may be open, however long the process ran', async () => {
  const path = await tempPath()
  const store = await openSqliteStore({ path })
  const { writer } = store
  await makeCalls(store, 'done')
  await store.append([sampleBegin('left', { writer })])
  await makeCalls(store, 'more')
  expect(writersOf(path)).toEqual([{ id: writer, firstOpen: 1201, closed: 0 }])
  await store.close()
  expect(writersOf(path)).toEqual([{ id: writer, firstOpen: 1201, closed: 1 }])
  const again = await openSqliteStore({ path })
  expect(again.orphans()).toEqual([{ tenant: 'local', call: 'left' }])
  await again.append([sampleEnd('left', { outcome: 'unknown' })])
  expect(again.orphans()).toEqual([])
  expect(writersOf(path).map(({ id }) => id)).toEqual([again.writer])
  await again.close()
})

test('a process is known by its start, not by its number alone', () => {
  expect(processLives(process.pid, processStart(process.pid))).toBe(true)
  expect(processLives(2 ** 22 + 1, '')).toBe(false)
  if (process.platform !== 'linux') return
  expect(processStart(process.pid)).toMatch(/^[0-9a-f-]{36}:\d+$/)
  expect(processLives(process.pid, `${processStart(process.pid)}0`)).toBe(false)
  expect(processStart(2 ** 22 + 1)).toBe('')
})
