import { expect, test } from 'vitest'
import type { RecordQuery, Store } from '../contract/store.ts'
import { createMemoryStore } from '../stores/memory/create-memory-store.ts'
import { sampleBegin, sampleEnd } from '../testing/store-checks/sample-records.ts'
import { findCallPage, findCalls } from './find-calls.ts'
import { findNotePage, findNotes } from './find-notes.ts'
import { findPlace, findPlaceSoon, findStartSoon, mostOutOfOrder } from './find-place.ts'

/** A chain of records made at these times, each the begin of a call, and how many of them were read since. */
async function chainOf(times: readonly number[], maxRecords = 100_000) {
  const store = createMemoryStore({ maxRecords })
  await store.append(times.map((at, index) => sampleBegin(`call_${index}`, { at })))
  let read = 0
  function* records(query: RecordQuery) {
    for (const record of store.records(query)) {
      read++
      yield record
    }
  }
  return { store: { ...store, records } satisfies Store, read: () => read }
}

/** Each second one record, up to a minute late. */
const inOrder = Array.from(
  { length: 8_000 },
  (_, index) => index * 1000 + 100_000 + ((index * 37_501) % 60_000),
)

test('a place in time is found in few looks, and is the exact one as long as records are nearly in order', async () => {
  const { store, read } = await chainOf(inOrder)
  for (const until of [0, 100_000, 130_000, 4_321_987, 8_099_999, 9_000_000]) {
    const before = read()
    const place = findPlaceSoon(store, 'local', until)
    const start = findStartSoon(store, 'local', until)
    expect(read() - before).toBeLessThan(mostOutOfOrder + 100)
    expect(place).toBe(findPlace(store, 'local', until))
    const first = inOrder.findIndex((at) => at >= until)
    expect(start).toBeLessThanOrEqual(first === -1 ? inOrder.length : first)
  }
})

test('a place is found in a chain whose first records a store has dropped, and in one without records', async () => {
  const { store } = await chainOf(inOrder, 3_000)
  for (const until of [0, 4_000_000, 7_000_000])
    expect(findPlaceSoon(store, 'local', until)).toBe(Math.max(5_001, findPlace(store, 'local', until)))
  expect(findPlaceSoon(store, 'nobody', 5)).toBe(1)
})

test('records that another program made unreadable lead no search astray', async () => {
  const { store } = await chainOf(inOrder)
  function* records(query: RecordQuery) {
    for (const record of store.records(query))
      yield record.sequence % 1000 < 40
        ? { ...record, text: record.sequence % 2 === 0 ? 'null' : '{' }
        : record
  }
  const changed = { ...store, records }
  for (const until of [130_000, 1_100_000, 4_321_987, 9_000_000]) {
    const [place, exact] = [findPlaceSoon(changed, 'local', until), findPlace(store, 'local', until)]
    expect(Math.abs(place - exact)).toBeLessThanOrEqual(40)
  }
})

test('where a clock was set back, a place is one where the time was passed, and a whole listing begins at the last', async () => {
  const late = Array.from({ length: 4_000 }, (_, index) => 5_000_000 + index * 1000)
  const times = [...inOrder, ...late]
  const { store } = await chainOf(times)
  const until = 6_000_000
  const passed = findPlaceSoon(store, 'local', until)
  expect([times[passed - 2], times[passed - 1]].map((at) => at !== undefined && at < until)).toEqual([
    true,
    false,
  ])
  const [last] = findCalls(store, { tenants: ['local'], until, limit: 1 })
  expect(last?.begun.sequence).toBe(inOrder.length + 1_000)
})

test('pages of a time have what a listing of it has, and look at nothing else', async () => {
  const { store, read } = await chainOf(inOrder)
  await store.append([
    sampleEnd('call_7990', { at: 8_200_000 }),
    { record: { ...about, message: 'The last.', at: 8_200_001 }, body: null },
  ])
  const wanted = { tenants: ['local'], since: 7_900_000, until: 8_050_000, limit: 40 }
  const before = read()
  const calls: string[] = []
  for (let place: ReadonlyMap<string, number> | undefined = new Map(); place !== undefined;) {
    const page = findCallPage(store, { ...wanted, before: place })
    calls.push(...page.calls.map(({ call }) => call))
    place = page.next
  }
  expect(read() - before).toBeLessThan(8_000)
  expect(calls).toEqual(findCalls(store, { ...wanted, limit: 1_000 }).map(({ call }) => call))
})

const about = {
  kind: 'note',
  event: 'visit_began',
  tenant: 'local',
  session: '',
  call: '',
  message: 'The first.',
  at: 0,
} as const

test('a page of notes looks at so many records only, and the pages together have all notes', async () => {
  const { store } = await chainOf([])
  const note = (at: number) => ({ record: { ...about, message: `At ${at}.`, at }, body: null })
  await store.append([note(1), note(2)])
  await store.append(
    Array.from({ length: 500 }, (_, index) => sampleBegin(`call_${index}`, { at: 3 + index })),
  )
  await store.append([note(600), note(601), note(602)])
  const pages: number[][] = []
  for (let place: ReadonlyMap<string, number> | undefined = new Map(); place !== undefined;) {
    const { notes, next } = findNotePage(store, { tenants: ['local'], before: place, limit: 2 }, 200)
    pages.push(notes.map(({ at }) => at))
    place = next
  }
  expect(pages).toEqual([[602, 601], [600], [], [2, 1]])
  expect(findNotes(store, { tenants: ['local'], limit: 9 }).map(({ at }) => at)).toEqual(pages.flat())
  expect(findNotePage(store, { tenants: ['local'], until: 602, limit: 1 }).notes[0]?.at).toBe(601)
})
