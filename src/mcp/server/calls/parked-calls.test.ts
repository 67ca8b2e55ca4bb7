import { expect, test } from 'vitest'
import type { ToolResult } from '../../../contract/base/result.ts'
import { openCall } from './open-call.ts'
import { createParkedCalls, type ParkedCall } from './parked-calls.ts'

function parkedCall({ isRunning = false } = {}) {
  const { promise, resolve } = Promise.withResolvers<ToolResult>()
  const call = openCall(undefined, { run: () => promise, watch: () => {} })
  const pending = { isRunning } as ParkedCall['pending']
  const parked: ParkedCall = { call, pending, inputDigest: 'sha256:0' }
  return { parked, end: () => resolve({} as ToolResult) }
}

test('a ticket gives its call once (PERM-3)', () => {
  const calls = createParkedCalls(2)
  const { parked } = parkedCall()
  const ticket = calls.park(parked) ?? ''
  expect(calls.take(ticket)).toBe(parked)
  expect(calls.take(ticket)).toBeUndefined()
})

test('a call that ended before it ran leaves, and makes room', async () => {
  const calls = createParkedCalls(1)
  const { parked, end } = parkedCall()
  const ticket = calls.park(parked) ?? ''
  expect(calls.park(parkedCall().parked)).toBeUndefined()
  end()
  await parked.call.ended
  await Promise.resolve()
  expect(calls.take(ticket)).toBeUndefined()
  expect(calls.park(parkedCall().parked)).toBeDefined()
})

test('a call that ended while it ran is kept for its client, as long as there is room (MCP-1)', async () => {
  const calls = createParkedCalls(1)
  const [first, second] = [parkedCall({ isRunning: true }), parkedCall({ isRunning: true })]
  const ticket = calls.park(first.parked) ?? ''
  first.end()
  await first.parked.call.ended
  await Promise.resolve()
  expect(calls.take(ticket)).toBe(first.parked)
  expect(calls.take(ticket)).toBeUndefined()
  const other = calls.park(second.parked) ?? ''
  second.end()
  await second.parked.call.ended
  await Promise.resolve()
  expect(calls.park(parkedCall().parked)).toBeDefined()
  expect(calls.take(other)).toBeUndefined()
})
