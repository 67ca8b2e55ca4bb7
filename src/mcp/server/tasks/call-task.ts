import { randomUUID } from 'node:crypto'
import type { CallToolResult, ProtocolError } from '@modelcontextprotocol/server'
import type { ToolResult } from '../../../contract/base/result.ts'
import { guarded } from '../calls/guarded.ts'
import type { ProgressUpdate } from '../calls/create-progress.ts'
import type { CallEvent, OpenCall } from '../calls/open-call.ts'
import { createTaskInput, type TaskInput } from './task-input.ts'
import { isOver, TaskState, type TaskStatus } from './task-state.ts'

/** How the call of a task ended; an error only if we broke. */
export type TaskOutcome = { readonly result: CallToolResult } | { readonly error: ProtocolError }

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
  /** The next event of the call, if a caller waits for it already. */
  readonly next: Promise<CallEvent>
  readonly ttlMs: number
  /** As `tools/call` would have returned it. */
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
  const state = new TaskState(() => onStatus?.(task))
  let outcome: TaskOutcome | undefined
  const inputs = new Map<TaskInput, () => void>()
  let asked = 0

  const request = async ({ input, over, end }: ReturnType<typeof createTaskInput>): Promise<void> => {
    inputs.set(input, end)
    state.become('input_required', 'The call waits for an answer of the client.')
    onInput?.(task, input)
    // Followers have heard of the first one by the change of the status.
    if (inputs.size > 1) state.notify()
    await over
    inputs.delete(input)
    end()
    if (inputs.size === 0) state.become('working')
  }
  const follow = async (): Promise<CallToolResult> => {
    let { next } = options
    for (;;) {
      const event = await next
      if (event.kind === 'ended') return toResult(event.result, call)
      void request(createTaskInput(event, ++asked))
      next = call.next()
    }
  }
  const settle = (how: TaskOutcome): TaskOutcome => {
    outcome = how
    for (const end of inputs.values()) end()
    inputs.clear()
    if ('error' in how) state.become('failed', how.error.message)
    else state.become('completed')
    return how
  }
  const task: CallTask = {
    id: randomUUID(),
    createdAt: state.createdAt,
    get updatedAt() {
      return state.updatedAt
    },
    ttlMs,
    get status() {
      return state.status
    },
    get message() {
      return state.message
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
    follow: (onChange) => state.follow(onChange),
    cancel() {
      if (isOver(state.status)) return false
      state.become('cancelled', 'Cancelled by the client.')
      canceller.abort('cancelled by the client')
      return true
    },
  }
  call.attach({
    signal: canceller.signal,
    onProgress(update) {
      if (isOver(state.status)) return
      state.progress(update.message)
      onProgress?.(task, update)
    },
  })
  return task
}
