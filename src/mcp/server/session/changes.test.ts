import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { all, createChanges, type ChangeKind } from './changes.ts'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

function setUp() {
  const changes = createChanges({ listed: () => [], tools: () => [], resources: () => '' })
  return { changes, follower: { kinds: all, notify: () => {}, onFault: () => {} } }
}

test('whoever follows is told that it is over when it is, once (MCP-2)', () => {
  const { changes, follower } = setUp()
  const onEnd = vi.fn<() => void>()
  const stop = changes.follow(follower, onEnd)
  expect([changes.size, vi.getTimerCount(), onEnd.mock.calls.length]).toEqual([1, 1, 0])
  changes.close()
  stop()
  expect([changes.size, vi.getTimerCount(), onEnd.mock.calls.length]).toEqual([0, 0, 1])
})

test('whoever follows when it is over already is told so at once, and nobody looks (MCP-2, MCP-3)', () => {
  const { changes, follower } = setUp()
  changes.close()
  const onEnd = vi.fn<() => void>()
  changes.follow(follower, onEnd)
  expect([changes.size, vi.getTimerCount(), onEnd.mock.calls.length]).toEqual([0, 0, 1])
})

test('tools that say something else are told of, and those that are the same ones are not read for that (MCP-2)', () => {
  const toJSON = vi.fn<() => string>(() => 'shared')
  const shared = { toJSON }
  let now: readonly object[] = [shared, { name: 'a' }]
  const changes = createChanges({ listed: () => now, tools: () => now, resources: () => '' })
  const notify = vi.fn<(kind: ChangeKind) => void>()
  changes.follow({ kinds: all, notify, onFault: () => {} })
  const look = (tools: readonly object[]): number => {
    now = tools
    vi.advanceTimersByTime(1_000)
    return notify.mock.calls.length
  }
  expect(look([shared, { name: 'a' }])).toBe(0)
  expect(look([shared, { name: 'b' }])).toBe(1)
  expect(look([shared])).toBe(2)
  expect(look([shared, { name: 'b' }])).toBe(3)
  expect(toJSON).not.toHaveBeenCalled()
})
