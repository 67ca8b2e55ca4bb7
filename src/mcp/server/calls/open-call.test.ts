import { expect, test } from 'vitest'
import type { ApprovalRequest } from '../../../contract/approval.ts'
import type { ToolResult } from '../../../contract/base/result.ts'
import type { ProgressUpdate } from './create-progress.ts'
import { openCall, type Attachment } from './open-call.ts'

/** A call that ends when it is told to, and what its first request sees of it. */
function start() {
  const { promise, resolve } = Promise.withResolvers<ToolResult>()
  const running = Promise.withResolvers<AbortSignal>()
  const call = openCall(undefined, (signal) => {
    running.resolve(signal)
    return promise
  })
  return {
    call,
    end: () => resolve({ callId: 'call_1' } as ToolResult),
    signal: running.promise,
  }
}

function attachment(): { attachment: Attachment; cancel: AbortController; seen: ProgressUpdate[] } {
  const cancel = new AbortController()
  const seen: ProgressUpdate[] = []
  return { cancel, seen, attachment: { signal: cancel.signal, onProgress: (update) => seen.push(update) } }
}

const question = { timeoutMs: 1_000 } as ApprovalRequest
const never = new AbortController().signal

test('progress only grows, whatever a tool reports (CALL-7)', () => {
  const { call } = start()
  const { attachment: request, seen } = attachment()
  call.attach(request)
  const reported = [{}, { done: 5, total: 9 }, { done: 3 }, { done: Number.NaN }, {}, { done: 9, total: 9 }]
  for (const data of reported) call.report({ message: 'text', ...data })
  expect(seen).toEqual([
    { progress: 1, message: 'text' },
    { progress: 5, total: 9, message: 'text' },
    { progress: 6, message: 'text' },
    { progress: 9, total: 9, message: 'text' },
  ])
})

test('the request that waits now can end the call and sees its progress, an earlier one no more (SCHED-6)', async () => {
  const { call, signal } = start()
  const first = attachment()
  const second = attachment()
  call.attach(first.attachment)
  call.detach()
  call.report({ message: '' })
  first.cancel.abort()
  expect((await signal).aborted).toBe(false)
  call.attach(second.attachment)
  call.report({ message: '' })
  second.cancel.abort('enough')
  expect((await signal).reason).toBe('enough')
  expect([first.seen, second.seen]).toEqual([[], [{ progress: 1 }]])
})

test('a request that was cancelled before it could wait ends the call (SCHED-6)', async () => {
  const { call, signal } = start()
  const { attachment: request, cancel } = attachment()
  cancel.abort('early')
  call.attach(request)
  expect((await signal).reason).toBe('early')
})

test('gives its questions one after the other, and then its end (PERM-3)', async () => {
  const { call, end } = start()
  for (const decision of ['allow_once', 'deny'] as const) {
    const answered = call.ask(question, never)
    const event = await call.next()
    expect(event.kind).toBe('question')
    if (event.kind === 'question') event.question.answer({ decision })
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
  await expect(answered).rejects.toThrow('No person answered')
  await expect(call.ask({ ...question, timeoutMs: 5 }, never)).rejects.toThrow('No person answered')
})
