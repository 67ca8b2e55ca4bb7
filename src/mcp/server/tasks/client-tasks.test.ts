import type { CallToolResult } from '@modelcontextprotocol/server'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { ToolResult } from '../../../contract/base/result.ts'
import type { ProgressUpdate } from '../calls/create-progress.ts'
import { openCall } from '../calls/open-call.ts'
import type { CallTask } from './call-task.ts'
import { createClientTasks } from './client-tasks.ts'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

const never = new AbortController().signal
const elicit = { method: 'elicitation/create', params: { message: 'Name?' } } as const

/** A client's tasks, and how one is made of a call that ends when it is told to. */
function setUp() {
  const logged: string[] = []
  const tasks = createClientTasks((line) => logged.push(line))
  const open = (
    about: { ttlMs?: number; text?: string; onProgress?: (update: ProgressUpdate) => void } = {},
  ) => {
    const { promise, resolve, reject } = Promise.withResolvers<ToolResult>()
    const call = openCall(undefined, () => promise)
    const { ttlMs, text = 'done', onProgress } = about
    const result: CallToolResult = { content: [{ type: 'text', text }] }
    const task = tasks.open({
      call,
      next: call.next(),
      toResult: () => result,
      ttlMs,
      ...(onProgress && { onProgress: (_task, update) => onProgress(update) }),
    })
    return { call, task, fail: reject, end: () => resolve({ callId: 'call_1' } as ToolResult) }
  }
  return { tasks, open, logged }
}

test.each([
  [undefined, 3_600_000],
  [90_000.4, 90_000],
  [0, 60_000],
  [-1, 60_000],
  [1e12, 3_600_000],
])('a task that is to be kept for %s ms is kept for %s ms after its end (MCP-2)', async (asked, kept) => {
  const { tasks, open } = setUp()
  const { task, end } = open({ ...(asked !== undefined && { ttlMs: asked }) })
  expect(task.ttlMs).toBe(kept)
  await vi.advanceTimersByTimeAsync(7_200_000)
  expect(tasks.find(task.id)).toBe(task)
  end()
  await vi.advanceTimersByTimeAsync(kept - 1)
  expect(tasks.find(task.id)).toBe(task)
  await vi.advanceTimersByTimeAsync(1)
  expect(() => tasks.find(task.id)).toThrow('its time is over')
  expect(tasks.size).toBe(0)
})

test('there is no room while what is kept is too large, or too many (MCP-2)', async () => {
  const { tasks, open } = setUp()
  const large = open({ text: 'ä'.repeat(33 * 1024 * 1024) })
  expect(tasks.hasRoom()).toBe(true)
  large.end()
  await large.task.ended
  await vi.advanceTimersByTimeAsync(0)
  expect(tasks.hasRoom()).toBe(false)
  await vi.advanceTimersByTimeAsync(3_600_000)
  expect(tasks.hasRoom()).toBe(true)
  for (let count = 0; count < 100; count++) open()
  expect(tasks.hasRoom()).toBe(false)
})

test('it is told when no task runs, which one that is kept does not (MCP-2)', async () => {
  const { tasks, open } = setUp()
  const [first, second] = [open(), open()]
  let ended = false
  const all = tasks.ended().then(() => (ended = true))
  first.end()
  await vi.advanceTimersByTimeAsync(10)
  expect([tasks.running, tasks.size, ended]).toEqual([1, 2, false])
  second.task.cancel()
  await vi.advanceTimersByTimeAsync(10)
  expect([second.task.status, tasks.running, ended]).toEqual(['cancelled', 1, false])
  second.end()
  await all
  expect([tasks.running, tasks.size]).toEqual([0, 2])
})

test('what breaks inside fails a task and is logged, not told (MCP-2)', async () => {
  const { open, logged } = setUp()
  const { task, fail } = open()
  fail(new Error('secret place'))
  expect(await task.ended).toMatchObject({ error: { code: -32603 } })
  expect([task.status, task.message]).toEqual([
    'failed',
    'Handrail failed on this request; its log has the cause.',
  ])
  expect(logged.join()).toContain('secret place')
})

/** What a task asks for. */
const requestsOf = (task: CallTask) => [...task.inputs].flatMap(({ requests }) => Object.keys(requests))

test('what is asked together is answered in any order, and counts when all is there (MCP-2)', async () => {
  const { open } = setUp()
  const { call, task } = open()
  const given = call.sendRequests({ first: elicit, second: elicit }, never)
  await vi.advanceTimersByTimeAsync(0)
  expect([task.status, requestsOf(task)]).toEqual(['input_required', ['1-first', '1-second']])
  const [input] = task.inputs
  input?.answer({ '1-second': { action: 'decline' }, first: { action: 'accept' } })
  expect(requestsOf(task)).toEqual(['1-first'])
  input?.answer({ '1-first': { action: 'cancel' }, '1-second': { action: 'accept' } })
  expect(await given).toEqual({ first: { action: 'cancel' }, second: { action: 'decline' } })
  await vi.advanceTimersByTimeAsync(0)
  expect([task.status, task.inputs.size, input?.signal.aborted]).toEqual(['working', 0, true])
})

test('what is asked while something is asked waits beside it, under a key of its own (MCP-2)', async () => {
  const { open } = setUp()
  const { call, task, end } = open()
  const first = call.sendRequests({ form: elicit }, never)
  await vi.advanceTimersByTimeAsync(0)
  const second = call.sendRequests({ form: elicit }, never)
  await vi.advanceTimersByTimeAsync(0)
  expect(requestsOf(task)).toEqual(['1-form', '2-form'])
  for (const input of task.inputs) input.answer({ '2-form': { action: 'decline' } })
  expect(await second).toEqual({ form: { action: 'decline' } })
  await vi.advanceTimersByTimeAsync(0)
  expect([task.status, requestsOf(task)]).toEqual(['input_required', ['1-form']])
  const [input] = task.inputs
  end()
  await task.ended
  expect([task.status, task.inputs.size, input?.signal.aborted]).toEqual(['completed', 0, true])
  input?.refuse('too late')
  await expect(first).rejects.toThrow('too late')
})

test('what is no longer needed is withdrawn, and the task works on (MCP-2)', async () => {
  const { open } = setUp()
  const { call, task } = open()
  const unwanted = new AbortController()
  const given = call.sendRequests({ first: elicit }, unwanted.signal)
  await vi.advanceTimersByTimeAsync(0)
  const [input] = task.inputs
  expect(task.status).toBe('input_required')
  unwanted.abort()
  await expect(given).rejects.toThrow('The call ended before the client answered.')
  await vi.advanceTimersByTimeAsync(0)
  expect([task.status, input?.signal.aborted]).toEqual(['working', true])
})

test('nothing is told of a task any more that was cancelled (MCP-2)', async () => {
  const { open } = setUp()
  const seen: ProgressUpdate[] = []
  const { call, task, end } = open({ onProgress: (update) => seen.push(update) })
  call.report({ message: 'one' })
  expect(task.message).toBe('one')
  expect([task.cancel(), task.cancel()]).toEqual([true, false])
  call.report({ message: 'two' })
  end()
  await task.ended
  expect(seen).toEqual([{ progress: 1, message: 'one' }])
  expect([task.status, task.message]).toEqual(['cancelled', 'Cancelled by the client.'])
})
