import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { Store } from '../contract/store.ts'
import { openSqliteStore } from '../stores/sqlite/open-sqlite-store.ts'
import { sampleBegin, sampleEnd } from '../testing/store-checks/sample-records.ts'
import { createEvidence } from './create-evidence.ts'
import { verifyEvidence } from './chain/verify-evidence.ts'

const now = (): number => 1_763_667_600_500

/** Two open stores over one file in which an earlier one left these calls open. */
async function openAfter(left: readonly string[]): Promise<[Store, Store]> {
  const directory = await mkdtemp(join(tmpdir(), 'handrail-orphans-'))
  const path = join(directory, 'store.db')
  const earlier = await openSqliteStore({ path })
  const { writer } = earlier
  await earlier.append([sampleBegin('done', { writer }), sampleEnd('done')])
  await earlier.append(left.map((call) => sampleBegin(call, { writer })))
  await earlier.close()
  const stores: [Store, Store] = [await openSqliteStore({ path }), await openSqliteStore({ path })]
  onTestFinished(async () => {
    for (const store of stores) await store.close()
    await rm(directory, { recursive: true })
  })
  return stores
}

test('closes what a process left open as unknown (EVID-1)', async () => {
  const [store] = await openAfter(['left'])
  expect(verifyEvidence(store).issue).toMatchObject({ problem: 'open_begin', call: 'left' })
  expect(await createEvidence({ store, now }).recover()).toBe(1)
  const [end] = [...store.records({ call: 'left', kind: 'end' })]
  expect(JSON.parse(end?.text ?? '')).toMatchObject({
    outcome: 'unknown',
    code: 'IDEMPOTENCY.OUTCOME_UNKNOWN',
    reason: 'interrupted',
    at: now(),
  })
  expect(JSON.parse(end?.body ?? '')).toMatchObject({
    error: {
      code: 'IDEMPOTENCY.OUTCOME_UNKNOWN',
      reason: 'interrupted',
      actor: 'person',
      next: 'check_then_resolve',
    },
  })
  expect(verifyEvidence(store)).toEqual({ ok: true, records: 4, calls: 2 })
  expect(await createEvidence({ store, now }).recover()).toBe(0)
})

test('ends each call once when two processes recover at the same time (EVID-1)', async () => {
  const left = Array.from({ length: 20 }, (_, index) => `left_${index}`)
  const [one, other] = await openAfter(left)
  const counts = await Promise.all([one, other].map((store) => createEvidence({ store, now }).recover()))
  expect((counts[0] ?? 0) + (counts[1] ?? 0)).toBe(20)
  expect(verifyEvidence(one)).toEqual({ ok: true, records: 42, calls: 21 })
})
