import { expect, test } from 'vitest'
import type { TaskCaller } from '../../contract/base/tasks.ts'
import type { Document, DocumentChange, DocumentQuery } from '../../contract/documents.ts'
import type { Changes, Store } from '../../contract/store.ts'
import { createMemoryStore } from '../../stores/memory/create-memory-store.ts'
import { createTaskBook } from './create-task-book.ts'
import { Draft } from './draft.ts'

function open(more: Partial<TaskCaller> = {}, store: Store = createMemoryStore()) {
  const caller = {
    tenant: 'local',
    actor: 'user',
    role: 'main' as const,
    session: 's',
    claims: [],
    redact: <T>(value: T) => value,
  }
  return createTaskBook({ store, now: () => 1 }).open({ ...caller, ended: () => false, ...more })
}

/** A store that tells what is appended before it is. */
function watch(store: Store, told: (changes: Changes) => void | Promise<void>): Store {
  return Object.assign(Object.create(store) as Store, {
    append: async (entries: never[], changes: Changes = {}) => {
      await told(changes)
      await store.append(entries, changes)
    },
  })
}

const steps = ['a', 'b', 'c', 'd'].map((id) => ({ id, title: id }))

test('what comes at a time is written together, and each claim is of another step', async () => {
  const written: (readonly DocumentChange[])[] = []
  const store = createMemoryStore()
  const tasks = open(
    {},
    watch(store, ({ documents = [] }) => void written.push(documents)),
  )
  const { task } = await tasks.create({ title: 't', steps })
  const claims = await Promise.all([1, 2, 3, 4, 5].map(() => tasks.claim(task.id)))
  expect(claims.map(({ step }) => step?.id)).toEqual(['a', 'b', 'c', 'd', undefined])
  expect(written).toHaveLength(2)
})

test('a change that fails takes nothing of those written with it along', async () => {
  const tasks = open()
  const { task } = await tasks.create({ title: 't', steps })
  const step = { id: 'e', title: 'e' }
  const settled = await Promise.allSettled([
    tasks.claim(task.id, 'a'),
    tasks.update(task.id, [
      { op: 'add_step', step },
      { op: 'delete_step', step: 'a' },
    ]),
    tasks.claim(task.id, 'a'),
    tasks.claim(task.id, 'b'),
  ])
  expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled'])
  expect(tasks.find(task.id).counts).toMatchObject({ running: 2, ready: 2 })
})

test('what another process wrote in between is gone on from', async () => {
  const store = createMemoryStore()
  const other = open({ session: 'other' }, store)
  let between: (() => Promise<unknown>) | undefined
  const tasks = open(
    {},
    watch(store, async () => {
      const work = between
      between = undefined
      await work?.()
    }),
  )
  const { task } = await tasks.create({ title: 't', steps })
  between = () => other.claim(task.id)
  expect((await tasks.claim(task.id)).step?.id).toBe('b')
  // An author who adds a step that the one to be completed waits for no more.
  between = () => other.update(task.id, [{ op: 'add_step', step: { id: 'e', title: 'e', dependsOn: ['b'] } }])
  await tasks.updateStep({ task: task.id, step: 'b', attempt: 1, state: 'completed' })
  expect(tasks.find(task.id).counts).toMatchObject({ completed: 1, pending: 0, ready: 3 })
  between = () => other.end(task.id, 'cancelled')
  await expect(tasks.claim(task.id)).rejects.toMatchObject({ reason: 'task_ended' })
})

test('what is refused, or found to be nothing, is so at one time: not between two changes of another process', async () => {
  const store = createMemoryStore()
  const { task } = await open({}, store).create({ title: 't', steps: steps.slice(0, 1) })
  /** What a reader sees whose first look at this group comes at another time than its other looks. */
  const lookedAt = (group: string, then: (found: Document[]) => Document[]): Store => {
    let looks = 0
    return Object.assign(Object.create(store) as Store, {
      documents: (query: DocumentQuery) => {
        const found = store.documents(query)
        return query.group === `${group} ${task.id}` && looks++ === 0 ? then(found) : found
      },
    })
  }
  const isTaken = (found: Document[]): Document[] =>
    found.map((one) => ({
      ...one,
      value: { state: 'running', place: 0, waits: 0, attempt: 1, leaseUntil: 9 },
    }))
  const claimed = await open({}, lookedAt('state', isTaken)).claim(task.id)
  expect(claimed.step?.id).toBe('a')
  await open({}, store).updateStep({ task: task.id, step: 'a', attempt: 1, state: 'ready' })
  const again = await open(
    {},
    lookedAt('ready', () => []),
  ).claim(task.id)
  expect(again.step?.attempt).toBe(2)
})

test('a call that has ended changes nothing, and what the store refuses is refused to all', async () => {
  const store = createMemoryStore()
  const { task } = await open({}, store).create({ title: 't', steps })
  await expect(open({ ended: () => true }, store).claim(task.id)).rejects.toMatchObject({
    code: 'TOOL.ABORTED',
  })
  const full = watch(store, () => {
    throw new Error('The disk is full.')
  })
  const tasks = open({}, full)
  const settled = await Promise.allSettled([tasks.claim(task.id), tasks.claim(task.id)])
  expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(open({}, store).find(task.id).counts.ready).toBe(4)
})

test('a draft lists what is stored and what it wrote in one order', async () => {
  const store = createMemoryStore()
  const ids = Array.from({ length: 200 }, (_, n) => String(n).padStart(3, '0'))
  const about = { tenant: 'local', kind: 'step' as const, group: 'g' }
  await store.append([], {
    documents: ids.filter((id) => Number(id) % 2 === 0).map((id) => ({ ...about, id, value: 1 })),
  })
  const draft = new Draft(store, 'local')
  draft.attempt(() => {
    for (const id of ids) draft.write({ kind: 'step', group: 'g', id }, Number(id) % 3 === 0 ? undefined : 1)
  })
  expect([...draft.ids('step', 'g')]).toEqual(ids.filter((id) => Number(id) % 3 !== 0))
  expect([...draft.ids('step', 'other')]).toEqual([])
})

test('a claim and a page of steps read a few documents, however many steps there are', async () => {
  const store = createMemoryStore()
  let read = 0
  const counted = Object.assign(Object.create(store) as Store, {
    documents: (query: DocumentQuery) => {
      const found = store.documents(query)
      read += found.length
      return found
    },
  })
  const many = Array.from({ length: 1000 }, (_, n) => ({ id: `s${n}`, title: 'x' }))
  const { task } = await open({}, store).create({ title: 't', steps: many })
  const tasks = open({}, counted)
  expect(tasks.steps(task.id, { limit: 50, offset: 0 }).steps).toHaveLength(50)
  expect(read).toBeLessThan(250)
  read = 0
  await tasks.claim(task.id)
  expect(read).toBeLessThan(10)
})
