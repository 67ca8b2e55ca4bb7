import { expect, test } from 'vitest'
import { createSlots, createToolSlots } from './create-slots.ts'

/** Stands in line under a name, and notes when its slot comes. */
function line(slots = createSlots()) {
  const served: string[] = []
  const join = (name: string, limit: number, caller?: string) => {
    const place = slots.join(limit, caller)
    void place.taken.then(() => served.push(name))
    return place
  }
  return { slots, served, join }
}

const settled = () => new Promise<void>((resolve) => setImmediate(resolve))

test('as many are taken as the limit says, and one comes back for each that is freed (SCHED-5)', () => {
  const slots = createSlots()
  expect([slots.take(2), slots.take(2), slots.take(2)]).toEqual([true, true, false])
  slots.free()
  expect([slots.take(2), slots.take(2)]).toEqual([true, false])
})

test('who waits is served in the order of coming (SCHED-5)', async () => {
  const { slots, served, join } = line()
  slots.take(1)
  for (const name of ['a', 'b', 'c']) join(name, 1)
  await settled()
  expect(served).toEqual([])
  slots.free()
  await settled()
  expect(served).toEqual(['a'])
  slots.free()
  slots.free()
  await settled()
  expect(served).toEqual(['a', 'b', 'c'])
})

test('nobody overtakes the first in line (SCHED-5)', async () => {
  const { slots, served, join } = line()
  slots.take(2)
  join('narrow', 1)
  join('wide', 9)
  expect(slots.take(9)).toBe(false)
  await settled()
  expect(served).toEqual([])
  slots.free()
  await settled()
  expect(served).toEqual(['narrow', 'wide'])
})

test('who leaves the line lets the next one up (SCHED-5)', async () => {
  const { slots, served, join } = line()
  slots.take(2)
  const first = join('first', 1)
  join('second', 2)
  first.leave()
  await settled()
  expect(served).toEqual(['second'])
})

test('a slot that comes to one who gives up is free again (SCHED-5)', async () => {
  const { slots, served, join } = line()
  slots.take(1)
  const first = join('first', 1)
  slots.free()
  first.leave()
  await settled()
  expect(served).toEqual(['first'])
  expect(slots.take(1)).toBe(true)
})

test('a line where there is room is none (SCHED-5)', async () => {
  const { served, join } = line()
  join('at once', 1)
  await settled()
  expect(served).toEqual(['at once'])
})

test('each tool has slots of its own (SCHED-5)', () => {
  const slots = createToolSlots()
  expect(slots.of({ line: 'a.b' }).take(1)).toBe(true)
  expect(slots.of({ line: 'a.c' }).take(1)).toBe(true)
  expect(slots.of({ line: 'a.b' }).take(1)).toBe(false)
})

test('callers that wait are served in turn, however many calls of one wait (SCHED-5, MCP-3)', async () => {
  const { slots, served, join } = line()
  slots.take(1)
  for (const name of ['a1', 'a2', 'a3']) join(name, 1, 'ann')
  const given = join('b1', 1, 'bob')
  for (const name of ['b2', 'c1']) join(name, 1, name[0])
  given.leave()
  for (let i = 0; i < 5; i++) slots.free()
  await settled()
  expect(served).toEqual(['a1', 'b2', 'c1', 'a2', 'a3'])
})
