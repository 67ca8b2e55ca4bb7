import type { InputRequests } from '@modelcontextprotocol/server'
import { toPending } from '../calls/request-states.ts'
import type { CallEvent } from '../calls/open-call.ts'

/** What the client has to answer before the call goes on. */
export interface TaskInput {
  /** Those without an answer yet. A key stands for one request as long as the task lives. */
  readonly requests: InputRequests
  /** Aborted when no answer is needed any more. */
  readonly signal: AbortSignal
  /** Accepts answers by key, and ignores unknown keys. The call goes on when all answers are there. */
  answer(responses: { readonly [key: string]: unknown }): void
  /** The client will not answer. */
  refuse(reason: string): void
}

type OpenQuestion = Exclude<CallEvent, { kind: 'ended' }>

/** An input of a task; `over` resolves when the call goes on without it or with it, and `end` aborts its signal. */
export function createTaskInput(event: OpenQuestion, round: number) {
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
  const answers: { [name: string]: unknown } = {}
  const input: TaskInput = {
    requests,
    signal: ending.signal,
    answer(responses) {
      for (const [key, response] of Object.entries(responses)) {
        const name = names.get(key)
        if (name === undefined || !names.delete(key)) continue
        answers[name] = response
        delete requests[key]
      }
      if (names.size > 0) return
      pending.accept(answers)
      over.resolve()
    },
    refuse(reason) {
      pending.refuse(reason)
      over.resolve()
    },
  }
  return { input, over: over.promise, end: () => ending.abort() }
}
