import { expect, test } from 'vitest'
import type { ToolResult } from '../contract/result.ts'
import { openCall } from './open-call.ts'
import { createParkedCalls, type ParkedCall } from './parked-calls.ts'

function parkedCall() {
  const { promise, resolve } = Promise.withResolvers<ToolResult>()
  const call = openCall(undefined, { run: () => promise, watch: () => {} })
  const parked = { call, inputDigest: 'sha256:0' } as ParkedCall
  return { parked, end: () => resolve({} as ToolResult) }
}

test('a ticket gives its call once (PERM-3)', () => {
  const calls = createParkedCalls(2)
  const { parked } = parkedCall()
  const ticket = calls.park(parked) ?? ''
  expect(calls.take(ticket)).toBe(parked)
  expect(calls.take(ticket)).toBeUndefined()
})

test('a call that ended leaves, and makes room', async () => {
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
