import assert from 'node:assert/strict'
import { ToolFailure } from '../../contract/base/errors.ts'
import type { FactChange, Store } from '../../contract/store.ts'
import { sampleBegin, sampleEnd } from './sample-records.ts'
import type { Checks } from './store-under-test.ts'
import { assertRefused, note } from './read-back.ts'

export const factChecks: Checks = {
  'keeps a fact until it is changed or forgotten': async ({ store }) => {
    await store.append([], { facts: [fact('a', { tool: 'x' }), fact('b', [1, null, 'zwei'])] })
    assert.deepEqual(values(store), { a: { tool: 'x' }, b: [1, null, 'zwei'] })
    await store.append([], { facts: [fact('a', 'changed'), fact('b', undefined), fact('never', undefined)] })
    assert.deepEqual(values(store), { a: 'changed' })
  },

  'keeps facts of kinds and tenants apart (AUTH-6)': async ({ store }) => {
    const others = [
      { ...fact('a', 2), tenant: 'other' },
      { ...fact('a', 3), kind: 'pin' as const },
    ]
    await store.append([], { facts: [fact('a', 1), ...others] })
    assert.deepEqual(
      store.facts('consent').map(({ tenant, kind, id, value }) => [tenant, kind, id, value]),
      [
        ['local', 'consent', 'a', 1],
        ['other', 'consent', 'a', 2],
      ],
    )
    assert.deepEqual(store.facts('consent', 'other'), [others[0]])
    assert.deepEqual(store.facts('pin', 'local'), [others[1]])
    assert.deepEqual(store.facts('tool'), [])
  },

  'is not changed through a value that was handed in or out': async ({ store }) => {
    const value = { list: [1] }
    await store.append([], { facts: [fact('a', value)] })
    value.list.push(2)
    const [read] = store.facts('consent')
    assert.deepEqual(read?.value, { list: [1] })
    Object.assign(read.value, { list: 'x' })
    assert.deepEqual(values(store), { a: { list: [1] } })
  },

  'has another version of the facts once one changed, and the same otherwise': async ({ store }) => {
    const before = store.factsVersion()
    await store.append([sampleBegin('a')])
    await store.append([sampleEnd('a')], {})
    assert.equal(store.factsVersion(), before)
    await store.append([note('a')], { facts: [fact('a', 1)] })
    const after = store.factsVersion()
    assert.notEqual(after, before)
    assert.equal(store.factsVersion(), after)
  },

  'changes no fact where the records are refused': async ({ store }) => {
    const before = store.factsVersion()
    await assertRefused(store.append([sampleEnd('stray')], { facts: [fact('a', 1)] }))
    assert.deepEqual(values(store), {})
    assert.equal(store.factsVersion(), before)
  },

  'changes a fact only from what its change expects, and then all that is written with it': async ({
    store,
  }) => {
    await store.append([], { facts: [{ ...fact('a', { n: 1 }), was: null }] })
    await assertChanged(store.append([], { facts: [{ ...fact('a', 2), was: null }] }))
    await assertChanged(
      store.append([note('x')], { facts: [fact('b', 1), { ...fact('a', 2), was: { n: 2 } }] }),
    )
    assert.deepEqual(values(store), { a: { n: 1 } })
    assert.equal([...store.records({ kind: 'note' })].length, 0)
    const changes = [2, 3, 4].map(async (n) =>
      store.append([], { facts: [{ ...fact('a', n), was: { n: 1 } }] }),
    )
    const settled = await Promise.allSettled(changes)
    assert.deepEqual(
      settled.map(({ status }) => status),
      ['fulfilled', 'rejected', 'rejected'],
    )
    await store.append([], { facts: [{ ...fact('a', undefined), was: 2 }] })
    assert.deepEqual(values(store), {})
  },

  'knows which facts changed since a version, each once, and which are gone': async ({ store }) => {
    await store.append([], { facts: [fact('a', 1), fact('b', 1)] })
    const before = store.factsVersion()
    assert.deepEqual(store.factsSince('consent', before), { version: before, changed: [] })
    await store.append([], { facts: [fact('a', 2), { ...fact('p', 1), kind: 'pin' }] })
    await store.append([], { facts: [fact('a', 3), fact('b', undefined), fact('never', undefined)] })
    assert.deepEqual(changesSince(store, before), { a: 3, b: undefined, never: undefined })
    assert.equal(store.factsSince('consent', before)?.version, store.factsVersion())
    assert.deepEqual(
      store.factsSince('pin', before)?.changed.map(({ tenant, kind, id }) => [tenant, kind, id]),
      [['local', 'pin', 'p']],
    )
    assert.deepEqual(changesSince(store, store.factsVersion()), {})
  },

  'knows all that changed, or that it does not know so far back': async ({ store }) => {
    const before = store.factsVersion()
    const all = Array.from({ length: 3_000 }, (_, index) => fact(`f${index}`, index))
    await store.append([], { facts: all.slice(0, 2_900) })
    const between = store.factsVersion()
    for (const each of all.slice(2_900)) await store.append([], { facts: [each] })
    const late = store.factsSince('consent', before)
    assert.ok(late === undefined || late.changed.length === all.length)
    assert.equal(store.factsSince('consent', between)?.changed.length, 100)
    assert.equal(store.factsSince('consent', store.factsVersion() + 1), undefined)
  },

  'sees what another process changes at once': async ({ store, openBeside }) => {
    if (openBeside === undefined) return
    const other = await openBeside()
    const first = store.factsVersion()
    const versions = new Set([first])
    for (let i = 0; i < 3; i++) {
      await other.append([], { facts: [fact('a', i)] })
      versions.add(store.factsVersion())
      assert.equal(values(store)['a'], i)
      await store.append([], { facts: [fact('b', i)] })
      versions.add(store.factsVersion())
      assert.deepEqual(values(other), { a: i, b: i })
      assert.equal(other.factsVersion(), store.factsVersion())
      assert.deepEqual(changesSince(other, first), { a: i, b: i })
    }
    assert.equal(versions.size, 7)
  },

  'keeps facts when it is opened again': async ({ store, reopen }) => {
    if (reopen === undefined) return
    await store.append([note('a')], { facts: [fact('a', { deep: { er: true } })] })
    const version = store.factsVersion()
    const again = await reopen()
    assert.deepEqual(values(again), { a: { deep: { er: true } } })
    assert.equal(again.factsVersion(), version)
  },
}

/** That another writer was faster. */
async function assertChanged(written: Promise<void> | undefined): Promise<void> {
  await assert.rejects(
    async () => written,
    (error) => error instanceof ToolFailure && error.reason === 'fact_changed',
  )
}

function fact(id: string, value: FactChange['value']): FactChange {
  return { tenant: 'local', kind: 'consent', id, value }
}

function changesSince(store: Store, version: number): Record<string, unknown> {
  const found = store.factsSince('consent', version)
  assert.ok(found !== undefined)
  return Object.fromEntries(found.changed.map(({ id, fact: now }) => [id, now?.value]))
}

function values(store: Store): Record<string, unknown> {
  return Object.fromEntries(store.facts('consent', 'local').map(({ id, value }) => [id, value]))
}
