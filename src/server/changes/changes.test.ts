import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { all, createChanges } from './changes.ts'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

function setUp() {
  const changes = createChanges({ listed: () => [], tools: () => [], resources: () => '' })
  return { changes, follower: { kinds: all, tell: () => {}, onFault: () => {} } }
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
