import { expect, test } from 'vitest'
import type { ApprovalRequest } from '../../../contract/approval.ts'
import type { RuntimeEvent } from '../../../contract/events.ts'
import type { ToolResult } from '../../../contract/base/result.ts'
import { openCall, type Leg, type ProgressUpdate } from './open-call.ts'

function event(data: RuntimeEvent['data'] = {}, summary = ''): RuntimeEvent {
  const about = { sequence: 1, level: 'info', at: 0, tenant: 'local', session: 'ses' } as const
  return { type: 'tool_progress', ...about, summary, data }
}

/** A call that ends when it is told to, and what its first request sees of it. */
function start() {
  const { promise, resolve } = Promise.withResolvers<ToolResult>()
  const running = Promise.withResolvers<AbortSignal>()
  let watched = 0
  const call = openCall(undefined, {
    run(signal) {
      running.resolve(signal)
      return promise
    },
    watch: () => watched++,
  })
  return {
    call,
    end: () => resolve({ callId: 'call_1' } as ToolResult),
    signal: running.promise,
    watched: () => watched,
  }
}

function leg(): { leg: Leg; cancel: AbortController; seen: ProgressUpdate[] } {
  const cancel = new AbortController()
  const seen: ProgressUpdate[] = []
  return { cancel, seen, leg: { signal: cancel.signal, onProgress: (update) => seen.push(update) } }
}

const question = { timeoutMs: 1_000 } as ApprovalRequest
const never = new AbortController().signal

test('progress only grows, whatever a tool reports (CALL-7)', () => {
  const { call } = start()
  const { leg: request, seen } = leg()
  call.attach(request)
  const reported: RuntimeEvent['data'][] = [
    {},
    { done: 5, total: 9 },
    { done: 3 },
    { done: Number.NaN },
    {},
    { done: 9, total: 9 },
  ]
  for (const data of reported) call.report(event(data, 'text'))
  expect(seen).toEqual([
    { progress: 1, message: 'text' },
    { progress: 5, total: 9, message: 'text' },
    { progress: 6, message: 'text' },
    { progress: 9, total: 9, message: 'text' },
  ])
})

test('the request that waits now can end the call and sees its progress, an earlier one no more (SCHED-6)', async () => {
  const { call, signal } = start()
  const first = leg()
  const second = leg()
  call.attach(first.leg)
  call.detach()
  call.report(event())
  first.cancel.abort()
  expect((await signal).aborted).toBe(false)
  call.attach(second.leg)
  call.report(event())
  second.cancel.abort('enough')
  expect((await signal).reason).toBe('enough')
  expect([first.seen, second.seen]).toEqual([[], [{ progress: 1 }]])
})

test('progress is listened for only when a request wants it (CALL-7)', () => {
  const { call, watched } = start()
  call.attach({ signal: never, onProgress: undefined })
  expect(watched()).toBe(0)
  call.attach(leg().leg)
  expect(watched()).toBe(1)
})

test('a request that was cancelled before it could wait ends the call (SCHED-6)', async () => {
  const { call, signal } = start()
  const { leg: request, cancel } = leg()
  cancel.abort('early')
  call.attach(request)
  expect((await signal).reason).toBe('early')
})

test('gives its questions one after the other, and then its end (PERM-3)', async () => {
  const { call, end } = start()
  for (const decision of ['allow_once', 'deny'] as const) {
    const answered = call.ask(question, never)
    const milestone = await call.next()
    expect(milestone.kind).toBe('question')
    if (milestone.kind === 'question') milestone.question.answer({ decision })
    expect(await answered).toEqual({ decision })
  }
  end()
  expect(await call.next()).toEqual({ kind: 'ended', result: { callId: 'call_1' } })
})

test('a question ends unanswered with its time or its signal (PERM-5)', async () => {
  const { call } = start()
  const gone = new AbortController()
  const answered = call.ask(question, gone.signal)
  gone.abort()
  await expect(answered).rejects.toThrow('Nobody answered')
  await expect(call.ask({ ...question, timeoutMs: 5 }, never)).rejects.toThrow('Nobody answered')
})
