import { setImmediate } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { TimeLimit } from './time-limit.ts'

const start = Date.UTC(2026, 0, 1)

beforeEach(() => void vi.useFakeTimers({ now: start }))
afterEach(() => void vi.useRealTimers())

/** A limit that runs, and when it ended, in milliseconds after its start. */
function startLimit(limitMs: number) {
  const limit = new TimeLimit(Date.now)
  let endedAt: number | undefined
  limit.start(limitMs, () => (endedAt = Date.now() - start))
  return { limit, endedAt: () => endedAt }
}

test('after an answer a call has what it had left when it asked, however long that took (MCP-1)', () => {
  const { limit, endedAt } = startLimit(60_000)
  vi.advanceTimersByTime(10_000)
  const answered = limit.hold(900_000)
  vi.advanceTimersByTime(600_000)
  answered()
  expect(limit.heldMs).toBe(600_000)
  vi.advanceTimersByTime(49_999)
  expect(endedAt()).toBeUndefined()
  vi.advanceTimersByTime(1)
  expect(endedAt()).toBe(660_000)
})

test('a call that asks often, some of it at once, has the same time of its own (MCP-1)', () => {
  const { limit, endedAt } = startLimit(60_000)
  vi.advanceTimersByTime(10_000)
  const [first, second] = [limit.hold(900_000), limit.hold(900_000)]
  vi.advanceTimersByTime(100_000)
  first()
  first()
  vi.advanceTimersByTime(100_000)
  second()
  vi.advanceTimersByTime(20_000)
  limit.hold(5000)
  vi.advanceTimersByTime(5000)
  expect(limit.heldMs).toBe(205_000)
  vi.runAllTimers()
  expect(endedAt()).toBe(265_000)
})

test('a call that asks before it first waits has all of its time after the answer (MCP-1)', () => {
  const limit = new TimeLimit(Date.now)
  const answered = limit.hold(900_000)
  const onEnd = vi.fn<() => void>()
  limit.start(60_000, onEnd)
  vi.advanceTimersByTime(70_000)
  answered()
  vi.advanceTimersByTime(59_999)
  expect(onEnd).not.toHaveBeenCalled()
  vi.advanceTimersByTime(1)
  expect([onEnd.mock.calls.length, limit.heldMs]).toEqual([1, 70_000])
})

test('only its own questions count against a call (MCP-1)', () => {
  const { limit, endedAt } = startLimit(1000)
  for (let each = 0; each < 20; each++) {
    const letGo = limit.hold(900_000, true)
    vi.advanceTimersByTime(100)
    letGo()
  }
  for (let each = 0; each < 20; each++) {
    const letGo = limit.hold(900_000)
    vi.advanceTimersByTime(100)
    letGo()
  }
  expect([limit.heldMs, endedAt()]).toEqual([3600, undefined])
  vi.runAllTimers()
  expect(endedAt()).toBe(4600)
})

test('a call that is over cannot be held, and leaves no timer behind (MCP-1)', () => {
  const { limit, endedAt } = startLimit(60_000)
  limit.hold(900_000)
  vi.advanceTimersByTime(1000)
  limit.stop()
  limit.hold(900_000)
  expect(vi.getTimerCount()).toBe(0)
  vi.advanceTimersByTime(1000)
  expect([limit.heldMs, endedAt()]).toEqual([1000, undefined])
})

test('a question keeps the process alive while its call runs, and not after a tool that returned at once (MCP-1)', async () => {
  vi.useRealTimers()
  const count = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length
  const before = count()
  const limit = new TimeLimit(Date.now)
  const letGo = limit.hold(900_000)
  expect(count()).toBe(before)
  limit.start(900_000, () => {})
  expect(count()).toBe(before + 1)
  letGo()
  await setImmediate()
  expect(count()).toBe(before + 1)
  limit.stop()
  expect(count()).toBe(before)
})

test('what ends before the event loop turns starts no timer, and what the loop was kept from counts', async () => {
  const { limit } = startLimit(60_000)
  limit.stop()
  expect(vi.getTimerCount()).toBe(1)
  vi.runAllTimers()
  expect(vi.getTimerCount()).toBe(0)
  vi.useRealTimers()
  const busy = new TimeLimit(Date.now)
  const ended = new Promise<void>((resolve) => busy.start(20, resolve))
  const until = performance.now() + 30
  while (performance.now() < until);
  expect(busy.isOverdue).toBe(true)
  await ended
})

test('a call that is over its time when it first waits is overdue, also while it asks', () => {
  const [late, early] = [new TimeLimit(Date.now), new TimeLimit(Date.now)]
  const begunAt = performance.now()
  for (const limit of [late, early]) limit.hold(900_000)
  vi.advanceTimersByTime(70_000)
  late.start(60_000, () => {}, begunAt)
  early.start(80_000, () => {}, begunAt)
  expect([late.isOverdue, early.isOverdue]).toEqual([true, false])
})
