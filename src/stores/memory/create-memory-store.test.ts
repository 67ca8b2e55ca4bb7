import { expect, test } from 'vitest'
import { sampleBegin, sampleEnd } from '../../testing/store-checks/sample-records.ts'
import { storeContract } from '../../testing/store-contract.ts'
import { createMemoryStore } from './create-memory-store.ts'

storeContract(
  'memory',
  async () => {
    const store = createMemoryStore()
    return { store, dispose: () => store.close() }
  },
  { test },
)

test('keeps the last records of each tenant only', async () => {
  const store = createMemoryStore({ maxRecords: 10 })
  for (let i = 0; i < 100; i++) await store.append([sampleBegin(`call_${i}`), sampleEnd(`call_${i}`)])
  const sequences = [...store.records({})].map(({ sequence }) => sequence)
  expect(sequences).toEqual([191, 192, 193, 194, 195, 196, 197, 198, 199, 200])
  expect(store.head('local')?.sequence).toBe(200)
})

test('keeps no more text than it may, and always the newest record', async () => {
  const store = createMemoryStore({ maxCharacters: 10_000 })
  const large = { ...sampleBegin('large'), body: 'x'.repeat(4000) }
  for (let i = 0; i < 5; i++) await store.append([large])
  expect([...store.records({})]).toHaveLength(2)
  await store.append([{ ...large, body: 'x'.repeat(20_000) }])
  expect([...store.records({})].map(({ sequence }) => sequence)).toEqual([6])
})

test('gives the result of a keyed call whose records were dropped (CALL-4)', async () => {
  const store = createMemoryStore({ maxRecords: 1 })
  const use = { tenant: 'local', tool: 't', key: 'k', inputDigest: 'i', call: 'a', at: 0, windowMs: 10 }
  store.claimKey(use)
  await store.append([sampleBegin('a'), sampleEnd('a')])
  await store.append([sampleBegin('b'), sampleEnd('b')])
  expect(store.claimKey({ ...use, call: 'c' })).toMatchObject({ state: 'ended', call: 'a' })
})

test('forgets expired keys', async () => {
  const store = createMemoryStore()
  const use = { tenant: 'local', tool: 't', inputDigest: 'i', windowMs: 10 }
  for (let at = 0; at < 5000; at++) {
    const call = `call_${at}`
    expect(store.claimKey({ ...use, key: call, call, at }).state).toBe('claimed')
    await store.append([sampleBegin(call), sampleEnd(call)])
  }
  expect(store.claimKey({ ...use, key: 'call_4999', call: 'again', at: 5000 }).state).toBe('ended')
  expect(store.claimKey({ ...use, key: 'call_1', call: 'again', at: 5000 }).state).toBe('claimed')
})
