import type { ApprovalAnswer, ApprovalRequest, Approver } from '../../../contract/approval.ts'
import type { RuntimeEvent } from '../../../contract/events.ts'
import type { JsonObject } from '../../../contract/base/json.ts'
import type { FacedTool } from '../../../contract/registry.ts'
import type { ToolResult } from '../../../contract/base/result.ts'

/** How far a call is. `progress` only grows. */
export interface ProgressUpdate {
  progress: number
  total?: number
  message?: string
}

/** One request of the client that waits for a call: it can cancel the call and may want its progress. */
export interface Leg {
  readonly signal: AbortSignal
  readonly onProgress: ((update: ProgressUpdate) => void) | undefined
}

/** A question of the runtime to the person, which the client has to bring. The first answer counts. */
export interface Question {
  readonly request: ApprovalRequest
  /** Aborted when the answer is no longer wanted. */
  readonly signal: AbortSignal
  answer(answer: ApprovalAnswer): void
  /** The question could not be put. */
  fail(error: unknown): void
}

/** A request to a client, as the protocol has it. */
export interface ClientRequest {
  readonly method: 'elicitation/create' | 'sampling/createMessage' | 'roots/list'
  readonly params: JsonObject
}

/** What a server needs from the client before its call goes on. */
export interface Needs {
  readonly requests: { readonly [key: string]: ClientRequest }
  /** Aborted when it is no longer needed. */
  readonly signal: AbortSignal
  /** What the client answered, by the same keys. */
  give(responses: JsonObject): void
  /** It could not be had. */
  fail(error: unknown): void
}

/** What a call has to say next. */
export type Milestone =
  | { readonly kind: 'needs'; readonly needs: Needs }
  | { readonly kind: 'question'; readonly question: Question }
  | { readonly kind: 'ended'; readonly result: ToolResult }

/** A call on the road, as the client's requests see it: one request in the usual case, several when it stops to ask. */
export interface OpenCall {
  readonly tool: FacedTool | undefined
  readonly ended: Promise<ToolResult>
  attach(leg: Leg): void
  /** From now on no request waits for the call; it goes on. */
  detach(): void
  next(): Promise<Milestone>
  readonly ask: Approver
  /** Gets something from the client. */
  provide(requests: Needs['requests'], signal: AbortSignal): Promise<JsonObject>
  report(event: RuntimeEvent): void
}

/** How a call runs. */
export interface CallWork {
  /** Gets the signal that ends the call. */
  readonly run: (signal: AbortSignal) => Promise<ToolResult>
  /** Sees to it that `report` is called from now on; for a request that wants to know how far the call is. */
  readonly watch: () => void
}

/** Starts a call, not before the caller is done with its turn. */
export function openCall(tool: FacedTool | undefined, { run, watch }: CallWork): OpenCall {
  const controller = new AbortController()
  const abort = (event: Event): void => controller.abort((event.target as AbortSignal).reason)
  let leg: Leg | undefined
  /** What its client is to be told, the oldest first. */
  const waiting: (Milestone & { kind: 'needs' | 'question' })[] = []
  let told = Promise.withResolvers<void>()
  /** What was told last. Nothing is a beginning too. */
  let progress: number | undefined

  const detach = (): void => {
    leg?.signal.removeEventListener('abort', abort)
    leg = undefined
  }
  const tell = (milestone: (typeof waiting)[number]): void => {
    waiting.push(milestone)
    told.resolve()
  }
  const ended = Promise.resolve(controller.signal).then(run)
  return {
    tool,
    ended,
    attach(next) {
      detach()
      leg = next
      if (next.onProgress !== undefined) watch()
      if (next.signal.aborted) controller.abort(next.signal.reason)
      else next.signal.addEventListener('abort', abort, { once: true })
    },
    detach,
    async next() {
      for (;;) {
        const result = await Promise.race([ended, told.promise])
        if (result !== undefined) return { kind: 'ended', result }
        const milestone = waiting.shift()
        if (waiting.length === 0) told = Promise.withResolvers<void>()
        if (milestone !== undefined && !isWithdrawn(milestone)) return milestone
      }
    },
    ask: (request, signal) => {
      const { question, answered } = createQuestion(request, signal)
      tell({ kind: 'question', question })
      return answered
    },
    provide(requests, signal) {
      const { promise, resolve: give, reject: fail } = Promise.withResolvers<JsonObject>()
      const giveUp = (): void => fail(new Error('The call ended before the client answered.'))
      if (signal.aborted) giveUp()
      else signal.addEventListener('abort', giveUp, { once: true })
      tell({ kind: 'needs', needs: { requests, signal, give, fail } })
      return promise
    },
    report(event) {
      const { done, total } = event.data ?? {}
      const value = typeof done === 'number' ? done : (progress ?? 0) + 1
      if (leg?.onProgress === undefined || !(value > (progress ?? -Number.MIN_VALUE))) return
      progress = value
      leg.onProgress({
        progress,
        ...(typeof total === 'number' && { total }),
        ...(event.summary !== '' && { message: event.summary }),
      })
    },
  }
}

function isWithdrawn(milestone: Milestone & { kind: 'needs' | 'question' }): boolean {
  const { signal } = milestone.kind === 'needs' ? milestone.needs : milestone.question
  return signal.aborted
}

function createQuestion(
  request: ApprovalRequest,
  signal: AbortSignal,
): { question: Question; answered: Promise<ApprovalAnswer> } {
  const answered = Promise.withResolvers<ApprovalAnswer>()
  const unwanted = AbortSignal.any([signal, AbortSignal.timeout(request.timeoutMs)])
  const giveUp = (): void => answered.reject(new Error('Nobody answered in time.'))
  if (unwanted.aborted) giveUp()
  else unwanted.addEventListener('abort', giveUp, { once: true })
  return {
    question: { request, signal: unwanted, answer: answered.resolve, fail: answered.reject },
    answered: answered.promise,
  }
}
