import assert from 'node:assert/strict'
import { ToolFailure } from '../../contract/base/errors.ts'
import type { DocumentChange, DocumentQuery } from '../../contract/documents.ts'
import type { Store } from '../../contract/store.ts'
import { assertRefused, note } from './read-back.ts'
import { sampleEnd } from './sample-records.ts'
import type { Checks } from './store-under-test.ts'

export const documentChecks: Checks = {
  'keeps a document until it is changed or forgotten': async ({ store }) => {
    await store.append([], { documents: [step('a', { tool: 'x' }), step('b', [1, null, 'zwei'])] })
    assert.deepEqual(values(store), { a: { tool: 'x' }, b: [1, null, 'zwei'] })
    await store.append([], {
      documents: [step('a', 'changed'), step('b', undefined), step('never', undefined)],
    })
    assert.deepEqual(values(store), { a: 'changed' })
  },

  'keeps documents of tenants, kinds and groups apart (AUTH-6)': async ({ store }) => {
    const all = [
      step('a', 1),
      { ...step('a', 2), tenant: 'other' },
      { ...step('a', 3), kind: 'task' as const },
      { ...step('a', 4), group: 'u' },
    ]
    await store.append([], { documents: all })
    assert.deepEqual(store.documents({ tenant: 'local', kind: 'step' }), [all[0], all[3]])
    assert.deepEqual(store.documents({ tenant: 'other', kind: 'step' }), [all[1]])
    assert.deepEqual(store.documents({ tenant: 'local', kind: 'task' }), [all[2]])
    assert.deepEqual(store.documents({ tenant: 'other', kind: 'task', group: 't', id: 'a' }), [])
    await store.append([], { documents: [{ ...step('a', undefined), group: 'u' }] })
    assert.deepEqual(store.documents({ tenant: 'local', kind: 'step' }), [all[0]])
  },

  'returns documents by group and id, from both ends and a page at a time': async ({ store }) => {
    // The last two stand the other way round in UTF-16.
    const names = ['B', 'a', 'b', 'ä', '\uFF5E', '\u{1F600}']
    const pairs = names.flatMap((group) => names.map((id) => ({ group, id })))
    const mixed = pairs.map((_, i) => pairs[(i * 7) % pairs.length] ?? { group: '', id: '' })
    await store.append([], { documents: mixed.map((pair) => ({ ...step('', 1), ...pair })) })
    for (const newestFirst of [false, true]) {
      const expected = newestFirst ? pairs.toReversed() : pairs
      assert.deepEqual(namesOf(store, { newestFirst }), expected)
      const read: Pair[] = []
      for (let after: Pair | undefined; ; after = read.at(-1)) {
        const page = namesOf(store, { newestFirst, limit: 5, ...(after && { after }) })
        read.push(...page)
        if (page.length < 5) break
      }
      assert.deepEqual(read, expected)
      const after = { group: 'b', id: 'between' }
      const inGroup = expected.filter(({ group }) => group === 'b')
      const cut = inGroup.filter(({ id }) => ['B', 'a', 'b'].includes(id) === newestFirst)
      assert.deepEqual(namesOf(store, { newestFirst, group: 'b' }), inGroup)
      assert.deepEqual(namesOf(store, { newestFirst, group: 'b', after }), cut)
      assert.deepEqual(
        namesOf(store, { newestFirst, group: 'b', id: 'b', after }),
        newestFirst ? [{ group: 'b', id: 'b' }] : [],
      )
    }
    assert.deepEqual(namesOf(store, { group: 'ä', id: 'B' }), [{ group: 'ä', id: 'B' }])
    assert.deepEqual(namesOf(store, { group: 'none' }), [])
    assert.deepEqual(namesOf(store, { limit: 0 }), [])
    assert.throws(() => namesOf(store, { id: 'B' }), TypeError)
  },

  'is not changed through a document that was handed in or out': async ({ store }) => {
    const value = { list: [1] }
    const written = store.append([], { documents: [step('a', value)] })
    await written
    value.list.push(2)
    const [read] = store.documents({ tenant: 'local', kind: 'step' })
    assert.deepEqual(read?.value, { list: [1] })
    Object.assign(read.value, { list: 'x' })
    assert.deepEqual(values(store), { a: { list: [1] } })
  },

  'writes documents, facts and records together or not at all': async ({ store }) => {
    const fact = { tenant: 'local', kind: 'consent' as const, id: 'f', value: 1 }
    await assertRefused(store.append([sampleEnd('stray')], { documents: [step('a', 1)] }))
    await assertChanged(
      store.append([note('x')], { facts: [fact], documents: [step('a', 1), { ...step('b', 2), was: 1 }] }),
    )
    await assert.rejects(async () =>
      store.append([note('x')], { facts: [{ ...fact, was: 7 }], documents: [step('a', 1)] }),
    )
    assert.deepEqual(values(store), {})
    assert.deepEqual(store.facts('consent'), [])
    assert.equal([...store.records({ kind: 'note' })].length, 0)
    await store.append([note('x')], { facts: [fact], documents: [step('a', 1)] })
    assert.deepEqual(values(store), { a: 1 })
    assert.equal(store.facts('consent').length, 1)
    assert.equal([...store.records({ kind: 'note' })].length, 1)
  },

  'changes a document only from what its change expects': async ({ store }) => {
    await store.append([], { documents: [{ ...step('a', { n: 1 }), was: null }] })
    await assertChanged(store.append([], { documents: [{ ...step('a', 2), was: null }] }))
    await assertChanged(store.append([], { documents: [{ ...step('a', 2), was: { n: 2 } }] }))
    // What changes it in one append, the next change of the same append finds.
    await assertChanged(store.append([], { documents: [step('a', 2), { ...step('a', 3), was: { n: 1 } }] }))
    assert.deepEqual(values(store), { a: { n: 1 } })
    const changes = [2, 3, 4].map(async (n) =>
      store.append([], { documents: [{ ...step('a', n), was: { n: 1 } }, step(`b${n}`, n)] }),
    )
    const settled = await Promise.allSettled(changes)
    assert.deepEqual(
      settled.map(({ status }) => status),
      ['fulfilled', 'rejected', 'rejected'],
    )
    assert.deepEqual(values(store), { a: 2, b2: 2 })
    await store.append([], { documents: [{ ...step('a', undefined), was: 2 }] })
    assert.deepEqual(values(store), { b2: 2 })
  },

  'lets one of two processes change a document from what both found': async ({ store, openBeside }) => {
    if (openBeside === undefined) return
    const other = await openBeside()
    await store.append([], { documents: [step('a', 0)] })
    for (let n = 0; n < 20; n++) {
      assert.deepEqual([values(store), values(other)], [{ a: n }, { a: n }])
      const change = { documents: [{ ...step('a', n + 1), was: n }] }
      const settled = await Promise.allSettled([store.append([], change), other.append([], change)])
      assert.equal(settled.filter(({ status }) => status === 'fulfilled').length, 1)
    }
    assert.deepEqual([...store.examine(), ...other.examine()], [])
  },

  'keeps documents when it is opened again, and when records are pruned': async ({ store, reopen }) => {
    if (reopen === undefined) return
    await store.append([note('a')], { documents: [step('a', { deep: { er: true } })] })
    const again = await reopen()
    again.prune({ at: Number.MAX_SAFE_INTEGER })
    assert.deepEqual(values(again), { a: { deep: { er: true } } })
    await again.append([], { documents: [{ ...step('a', 1), was: { deep: { er: true } } }] })
    assert.deepEqual(again.examine(), [])
  },
}

interface Pair {
  group: string
  id: string
}

async function assertChanged(written: Promise<void> | undefined): Promise<void> {
  await assert.rejects(
    async () => written,
    (error) => error instanceof ToolFailure && error.reason === 'document_changed',
  )
}

function step(id: string, value: DocumentChange['value']): DocumentChange {
  return { tenant: 'local', kind: 'step', group: 't', id, value }
}

function values(store: Store): Record<string, unknown> {
  const found = store.documents({ tenant: 'local', kind: 'step', group: 't' })
  return Object.fromEntries(found.map(({ id, value }) => [id, value]))
}

function namesOf(store: Store, query: Omit<DocumentQuery, 'tenant' | 'kind'>): Pair[] {
  return store.documents({ tenant: 'local', kind: 'step', ...query }).map(({ group, id }) => ({ group, id }))
}
