import { randomUUID } from 'node:crypto'
import type { CallToolResult, InputRequests, ProtocolError } from '@modelcontextprotocol/server'
import type { ToolResult } from '../../../contract/base/result.ts'
import { toPending } from '../calls/request-states.ts'
import { guarded } from '../calls/guarded.ts'
import type { CallEvent, OpenCall, ProgressUpdate } from '../calls/open-call.ts'

export type TaskStatus = 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled'

/** How the call of a task ended; an error only if we broke. */
export type TaskOutcome = { readonly result: CallToolResult } | { readonly error: ProtocolError }

/** What the client has to bring before the call goes on. */
export interface TaskInput {
  /** Those without an answer yet. A key stands for one request as long as the task lives. */
  readonly requests: InputRequests
  /** Aborted when nothing of it is needed any more. */
  readonly signal: AbortSignal
  /** Takes answers by key; others than those asked for are left out. The call goes on when all are there. */
  answer(responses: { readonly [key: string]: unknown }): void
  /** The client will not bring it. */
  refuse(reason: string): void
}

/** A call that its client follows by an id, over as many requests as it likes. */
export interface CallTask {
  /** Cannot be guessed. */
  readonly id: string
  /** In milliseconds since the epoch. */
  readonly createdAt: number
  readonly updatedAt: number
  /** How long it is kept after its call has ended, in milliseconds. */
  readonly ttlMs: number
  /** Never changes again once it is `completed`, `failed` or `cancelled`. */
  readonly status: TaskStatus
  /** For a person: how far the call is, or why it failed. */
  readonly message: string | undefined
  /** What it waits for, the oldest first. */
  readonly inputs: ReadonlySet<TaskInput>
  /** Undefined while the call runs, which a cancelled one may for a moment. */
  readonly outcome: TaskOutcome | undefined
  /** Resolves when the call has ended. */
  readonly ended: Promise<TaskOutcome>
  /** Calls back when it changes, until that is stopped. */
  follow(onChange: () => void): () => void
  /** Ends the call. False if the task is over. */
  cancel(): boolean
}

export interface CallTaskOptions {
  readonly call: OpenCall
  /** What the call says next, if a caller waits for that already. */
  readonly next: Promise<CallEvent>
  readonly ttlMs: number
  /** As `tools/call` would have given it. */
  readonly toResult: (result: ToolResult, call: OpenCall) => CallToolResult
  readonly onStatus?: (task: CallTask) => void
  readonly onInput?: (task: CallTask, input: TaskInput) => void
  readonly onProgress?: (task: CallTask, update: ProgressUpdate) => void
  readonly log: (line: string) => void
}

/** Follows a call to its end. From now on only `cancel` ends it. */
export function createCallTask(options: CallTaskOptions): CallTask {
  const { call, ttlMs, toResult, onStatus, onInput, onProgress, log } = options
  const canceller = new AbortController()
  const createdAt = Date.now()
  let updatedAt = createdAt
  let status: TaskStatus = 'working'
  let message: string | undefined
  let outcome: TaskOutcome | undefined
  const inputs = new Map<TaskInput, () => void>()
  const followers = new Set<() => void>()
  let asked = 0

  const become = (next: TaskStatus, why?: string): void => {
    if (isOver(status) || next === status) return
    status = next
    message = why
    updatedAt = Date.now()
    onStatus?.(task)
    for (const tell of followers) tell()
  }
  const bring = async ({ input, over, end }: ReturnType<typeof createInput>): Promise<void> => {
    inputs.set(input, end)
    become('input_required', 'The call waits for an answer of the client.')
    onInput?.(task, input)
    // Who follows has heard of the first one by the change of the state.
    if (inputs.size > 1) for (const tell of followers) tell()
    await over
    inputs.delete(input)
    end()
    if (inputs.size === 0) become('working')
  }
  const follow = async (): Promise<CallToolResult> => {
    let { next } = options
    for (;;) {
      const event = await next
      if (event.kind === 'ended') return toResult(event.result, call)
      void bring(createInput(event, ++asked))
      next = call.next()
    }
  }
  const settle = (how: TaskOutcome): TaskOutcome => {
    outcome = how
    for (const end of inputs.values()) end()
    inputs.clear()
    if ('error' in how) become('failed', how.error.message)
    else become('completed')
    return how
  }
  const task: CallTask = {
    id: randomUUID(),
    createdAt,
    get updatedAt() {
      return updatedAt
    },
    ttlMs,
    get status() {
      return status
    },
    get message() {
      return message
    },
    get inputs() {
      return new Set(inputs.keys())
    },
    get outcome() {
      return outcome
    },
    ended: guarded(log, follow).then(
      (result) => settle({ result }),
      (error: ProtocolError) => settle({ error }),
    ),
    follow(onChange) {
      followers.add(onChange)
      return () => followers.delete(onChange)
    },
    cancel() {
      if (isOver(status)) return false
      become('cancelled', 'Cancelled by the client.')
      canceller.abort('cancelled by the client')
      return true
    },
  }
  call.attach({
    signal: canceller.signal,
    onProgress(update) {
      if (isOver(status)) return
      if (update.message !== undefined && status === 'working') message = update.message
      updatedAt = Date.now()
      onProgress?.(task, update)
    },
  })
  return task
}

/** Whether a task in this state never changes again. */
export function isOver(status: TaskStatus): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled'
}

type Question = Exclude<CallEvent, { kind: 'ended' }>

function createInput(event: Question, round: number) {
  const pending = toPending(event)
  const { signal: unwanted } = event.kind === 'question' ? event.question : event.needs
  const over = Promise.withResolvers<void>()
  const ending = new AbortController()
  if (unwanted.aborted) over.resolve()
  else unwanted.addEventListener('abort', () => over.resolve(), { once: true })

  const requests: InputRequests = {}
  const names = new Map<string, string>()
  for (const [name, request] of Object.entries(pending.requests)) {
    requests[`${round}-${name}`] = request
    names.set(`${round}-${name}`, name)
  }
  const given: { [name: string]: unknown } = {}
  const input: TaskInput = {
    requests,
    signal: ending.signal,
    answer(responses) {
      for (const [key, response] of Object.entries(responses)) {
        const name = names.get(key)
        if (name === undefined || !names.delete(key)) continue
        given[name] = response
        delete requests[key]
      }
      if (names.size > 0) return
      pending.take(given)
      over.resolve()
    },
    refuse(reason) {
      pending.refuse(reason)
      over.resolve()
    },
  }
  return { input, over: over.promise, end: () => ending.abort() }
}
