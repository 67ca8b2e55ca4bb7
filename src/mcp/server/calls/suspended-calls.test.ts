import { expect, test } from 'vitest'
import type { ToolResult } from '../../../contract/base/result.ts'
import { openCall } from './open-call.ts'
import { createSuspendedCalls, type SuspendedCall } from './suspended-calls.ts'

function suspendedCall({ isRunning = false } = {}) {
  const { promise, resolve } = Promise.withResolvers<ToolResult>()
  const call = openCall(undefined, () => promise)
  const pending = { isRunning } as SuspendedCall['pending']
  const suspended: SuspendedCall = { call, pending, inputDigest: 'sha256:0' }
  return { suspended, end: () => resolve({} as ToolResult) }
}

test('a ticket gives its call once (PERM-3)', () => {
  const calls = createSuspendedCalls(2)
  const { suspended } = suspendedCall()
  const ticket = calls.suspend(suspended) ?? ''
  expect(calls.resume(ticket)).toBe(suspended)
  expect(calls.resume(ticket)).toBeUndefined()
})

test('a call that ended before it ran leaves, and makes room', async () => {
  const calls = createSuspendedCalls(1)
  const { suspended, end } = suspendedCall()
  const ticket = calls.suspend(suspended) ?? ''
  expect(calls.suspend(suspendedCall().suspended)).toBeUndefined()
  end()
  await suspended.call.ended
  await Promise.resolve()
  expect(calls.resume(ticket)).toBeUndefined()
  expect(calls.suspend(suspendedCall().suspended)).toBeDefined()
})

test('a call that ended while it ran is kept for its client, as long as there is room (MCP-1)', async () => {
  const calls = createSuspendedCalls(1)
  const [first, second] = [suspendedCall({ isRunning: true }), suspendedCall({ isRunning: true })]
  const ticket = calls.suspend(first.suspended) ?? ''
  first.end()
  await first.suspended.call.ended
  await Promise.resolve()
  expect(calls.resume(ticket)).toBe(first.suspended)
  expect(calls.resume(ticket)).toBeUndefined()
  const other = calls.suspend(second.suspended) ?? ''
  second.end()
  await second.suspended.call.ended
  await Promise.resolve()
  expect(calls.suspend(suspendedCall().suspended)).toBeDefined()
  expect(calls.resume(other)).toBeUndefined()
})
