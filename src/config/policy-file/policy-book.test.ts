import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import type { Store } from '../../contract/store.ts'
import { createSchemaChecker } from '../../schema/create-schema-checker.ts'
import { openSqliteStore } from '../../stores/sqlite/open-sqlite-store.ts'
import { openPolicyBook, type PolicyBook } from './policy-book.ts'

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

function makeHome(policy?: string): string {
  const home = mkdtempSync(join(tmpdir(), 'handrail-book-'))
  ends.push(() => rmSync(home, { recursive: true }))
  if (policy !== undefined) writeFileSync(join(home, 'policy.json'), policy)
  return home
}

/** A process on a home. `through` stands between it and its store. */
async function open(home: string, through: (store: Store) => Store = (store) => store) {
  const store = await openSqliteStore({ path: join(home, 'store.db') })
  let isOpen = true
  const close = async (): Promise<void> => {
    if (isOpen) await store.close()
    isOpen = false
  }
  ends.push(close)
  const book = openPolicyBook({ home, store: through(store), checker: createSchemaChecker() })
  return { book, store, close }
}

const policyOf = (home: string): string => readFileSync(join(home, 'policy.json'), 'utf8')
const shownOf = (book: PolicyBook) => book.versions().map(({ version, text, by }) => [version, text, by])
const change = (book: PolicyBook, text: string, by: string) =>
  book.save({ text, digest: book.read().digest, by })

/** A store that dies with its process at the append of this number. */
const dyingAt =
  (count: number) =>
  (store: Store): Store => {
    let left = count
    const append: Store['append'] = (...given) => {
      if (--left === 0) throw new Error('killed')
      return store.append(...given)
    }
    return { ...store, append }
  }

test('of two people who save at once one is faster, and the other is told and changes nothing', async () => {
  const home = makeHome('{}')
  const [one, other] = [await open(home), await open(home)]
  const tries = await Promise.allSettled([
    change(one.book, '{ "mode": "plan" }', 'ann'),
    change(other.book, '{ "mode": "accept-edits" }', 'bob'),
    change(one.book, '{ "mode": "default" }', 'cleo'),
  ])
  expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  for (const each of tries)
    if (each.status === 'rejected') expect(each.reason).toMatchObject({ code: 'file_changed' })
  const [saved, first] = shownOf(other.book)
  expect([first, saved?.[1]]).toEqual([[1, '{}', undefined], policyOf(home)])
  expect(shownOf(one.book)).toEqual(shownOf(other.book))
})

test('a file that was changed since it was read is not overwritten, and what was found in it is a version', async () => {
  const home = makeHome('{}')
  const { book } = await open(home)
  const { digest } = book.read()
  writeFileSync(join(home, 'policy.json'), '{ "mode": "plan" }')
  await expect(book.save({ text: '{ "rules": [] }', digest, by: 'ann' })).rejects.toMatchObject({
    code: 'file_changed',
  })
  expect(shownOf(book)).toEqual([[1, '{ "mode": "plan" }', undefined]])
  await change(book, '{ "rules": [] }', 'ann')
  await book.notice()
  expect(shownOf(book)[0]).toEqual([2, '{ "rules": [] }', 'ann'])
})

test('what is written by hand while another one saves is not overwritten either', async () => {
  const home = makeHome('{}')
  let isSaving = false
  const { book } = await open(home, (store) => ({
    ...store,
    async append(...given) {
      await store.append(...given)
      if (isSaving) writeFileSync(join(home, 'policy.json'), '{ "mode": "plan" }')
    },
  }))
  await book.notice()
  isSaving = true
  await expect(change(book, '{ "rules": [] }', 'ann')).rejects.toMatchObject({ code: 'file_changed' })
  isSaving = false
  expect([policyOf(home), shownOf(book)]).toEqual(['{ "mode": "plan" }', [[1, '{}', undefined]]])
})

test('the author is known of a file whose saver died right after it was written, and nothing is kept of one that died before', async () => {
  const home = makeHome('{}')
  const before = await open(home)
  await before.book.notice()
  await before.close()

  const later = await open(home, dyingAt(2))
  await expect(change(later.book, '{ "mode": "plan" }', 'ann')).rejects.toThrow('killed')
  await later.close()
  const next = await open(home)
  await next.book.notice()
  expect(shownOf(next.book)).toEqual([
    [2, '{ "mode": "plan" }', 'ann'],
    [1, '{}', undefined],
  ])
  const notes = [...next.store.records({ kind: 'note' })].map(({ text }) => JSON.parse(text))
  expect(notes).toMatchObject([{ event: 'policy_saved', actor: 'ann', data: { version: 2 } }])
  await next.close()

  const never = await open(home, (store) => ({
    ...store,
    async append(...given) {
      await store.append(...given)
      throw new Error('killed')
    },
  }))
  await expect(change(never.book, '{ "rules": [] }', 'bob')).rejects.toThrow('killed')
  await never.close()
  const last = await open(home)
  await last.book.notice()
  expect(shownOf(last.book).map(([version]) => version)).toEqual([2, 1])
  expect(policyOf(home)).toBe('{ "mode": "plan" }')
  expect(await change(last.book, '{}', 'cleo')).toMatchObject({ version: 3 })
})

test('a file that cannot be used is no version, and the last that can is what is in force', async () => {
  const home = makeHome('{ "mode": "plan" }')
  const { book } = await open(home)
  await book.notice()
  expect(book.present()).toEqual({ policy: { mode: 'plan' }, isOld: false })
  writeFileSync(join(home, 'policy.json'), '{\n "mode": "pla\n')
  await book.notice()
  expect(book.present()).toEqual({ policy: { mode: 'plan' }, isOld: true })
  expect(book.check(book.read().text)).toMatchObject({ faults: [{ line: 2, pointer: '' }] })
  expect(book.check('{ // ours\n "rules": [\n{ "effect": "allow",\n"tools": [] }] }')).toMatchObject({
    faults: [{ line: 4, pointer: '/rules/0/tools' }],
  })
  await expect(change(book, '{ "rules": 1 }', 'ann')).rejects.toMatchObject({
    code: 'invalid_configuration',
  })
  expect(shownOf(book)).toHaveLength(1)
})
