import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import type { KeyUse, Store } from '../../contract/store.ts'
import { sampleBegin, sampleEnd } from '../../testing/store-checks/sample-records.ts'
import { openSqliteStore } from './open-sqlite-store.ts'

async function openStore(): Promise<{ store: Store; keys: () => string[]; path: string }> {
  const directory = await mkdtemp(join(tmpdir(), 'handrail-keys-'))
  const path = join(directory, 'store.db')
  const store = await openSqliteStore({ path })
  const file = new DatabaseSync(path)
  onTestFinished(async () => {
    file.close()
    await store.close()
    await rm(directory, { recursive: true })
  })
  const select = file.prepare('SELECT key FROM keys ORDER BY key')
  return { store, path, keys: () => select.all().map(({ key }) => String(key)) }
}

function use(key: string, at: number): KeyUse {
  return { tenant: 'local', tool: 't', key, inputDigest: 'i', call: `call ${key}`, at, windowMs: 1000 }
}

/** Claims so many keys and runs the calls. */
async function runKeyed(store: Store, name: string, at: number): Promise<void> {
  for (let i = 0; i < 100; i++) {
    const { call } = use(`${name} ${i}`, at)
    store.claimKey(use(`${name} ${i}`, at))
    await store.append([sampleBegin(call, { writer: store.writer }), sampleEnd(call)])
  }
}

test('removes expired keys while others are claimed, never those of calls that run', async () => {
  const { store, keys } = await openStore()
  store.claimKey(use('running', 0))
  store.claimKey(use('begun', 0))
  await store.append([sampleBegin('call begun', { writer: store.writer })])
  await runKeyed(store, 'first', 0)
  await runKeyed(store, 'second', 999)
  expect(keys()).toHaveLength(202)
  await runKeyed(store, 'third', 1000)
  expect(keys().filter((key) => key.startsWith('first'))).toEqual([])
  expect(keys()).toHaveLength(202)
  expect(keys()).toContain('running')
  expect(keys()).toContain('begun')
})

test('removes the expired key of a process that is gone where its call never began, and keeps it where it did', async () => {
  const { store, keys, path } = await openStore()
  const gone = await openSqliteStore({ path })
  gone.claimKey(use('never begun', 0))
  await gone.close()
  const open = await openSqliteStore({ path })
  open.claimKey(use('left open', 0))
  await open.append([sampleBegin('call left open', { writer: open.writer })])
  await open.close()
  await runKeyed(store, 'later', 1000)
  expect(keys()).not.toContain('never begun')
  expect(keys()).toContain('left open')
  expect(store.orphans()).toEqual([{ tenant: 'local', call: 'call left open' }])
})
