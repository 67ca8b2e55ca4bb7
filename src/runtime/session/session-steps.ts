import type { Origin } from '../../contract/base/call.ts'
import { SetupError } from '../../contract/base/errors.ts'
import type { ToolResult } from '../../contract/base/result.ts'
import type { CallRequest } from '../../contract/call-request.ts'
import type { PendingApproval, StepResult, WaitingCall } from '../../contract/pending-approval.ts'
import type { StepOptions, TurnResult } from '../../contract/runtime.ts'
import { canonicalJson } from '../../kit/json/canonical-json.ts'
import { copyJson } from '../../kit/json/copy-json.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import { parseJson } from '../../kit/json/parse-json.ts'
import { isOpen } from '../approvals/stored-question.ts'
import type { KeptQuestion } from '../state/approval-book.ts'
import type { CallScope } from '../state/scope.ts'
import { toRequest } from '../turn/turn.ts'
import { findEarlier } from './find-earlier.ts'
import { answers, goesOn } from './session-calls.ts'

/** What steps need of their session. */
export interface StepContext {
  scope(): CallScope
  readonly isClosed: () => boolean
  /** What makes a call the same as one that waits; undefined if it would not come that far. */
  identify(request: CallRequest): Promise<string | undefined>
  /** Runs calls as a turn in which no call waits for a person, unless it says so. */
  run(calls: readonly CallRequest[], options: StepOptions): Promise<TurnResult>
}

/** Runs the calls of one model answer, as far as they go without a person. */
export async function runStep(
  calls: readonly CallRequest[],
  options: StepOptions,
  context: StepContext,
): Promise<StepResult> {
  const { results, endReason } = await context.run(calls, options)
  // perf: most steps have nothing that waits, and are in order.
  if (results.every(({ outcome }) => outcome !== 'waiting'))
    return { results, waiting: [], order: results.map(({ callId }) => callId), endReason }
  const requestOf = (result: ToolResult, index: number): CallRequest =>
    toPlainRequest(calls[index], result, options.origin)
  return toStep(results, { requestOf, endReason, order: results.map(({ callId }) => callId) }, context)
}

/** Goes on with the calls of a step whose question was answered. */
export async function resumeStep(
  given: StepResult,
  options: Pick<StepOptions, 'signal' | 'wait'>,
  context: StepContext,
): Promise<StepResult> {
  const step = checkStep(given)
  const sorted = await sortWaiting(step.waiting, options.wait === true, context)
  const requests = sorted.open.map(({ callId, call, approval }) =>
    // A call also waits for what a call of its program or an agent asks that it started: those use the answer.
    approval.request.callId === callId ? { ...call, [answers]: approval.id } : { ...call, [goesOn]: callId },
  )
  const ran = await context.run(requests, options)
  const ids = new Map(sorted.ids)
  const results = [...step.results, ...sorted.results]
  const waiting = [...sorted.waiting]
  const ended: ToolResult[] = []
  const asked: CallRequest[] = []
  for (const [index, each] of sorted.open.entries()) {
    const result = ran.results[index]
    const question = result === undefined ? undefined : await settle(result, each, context)
    if (question !== undefined) waiting.push({ ...each, approval: copyJson(question) })
    else if (result !== undefined) {
      ids.set(each.callId, result.callId)
      ended.push(result)
      asked.push(each.call)
    }
  }
  const order = step.order.map((id) => ids.get(id) ?? id)
  const requestOf = (_: ToolResult, index: number): CallRequest | undefined => asked[index]
  const next = toStep(ended, { requestOf, endReason: ran.endReason, order }, context)
  return sortStep({ ...next, results: [...results, ...next.results], waiting: [...waiting, ...next.waiting] })
}

interface Sorted {
  /** To be made again. */
  readonly open: readonly WaitingCall[]
  readonly waiting: readonly WaitingCall[]
  /** Of calls that went on before. */
  readonly results: readonly ToolResult[]
  /** Their ids, by those under which they waited. */
  readonly ids: ReadonlyMap<string, string>
}

/** What has become of the calls of a step that wait. A question of another caller says nothing here. If the session asks people, it asks them again. */
async function sortWaiting(
  all: readonly WaitingCall[],
  asks: boolean,
  context: StepContext,
): Promise<Sorted> {
  const open: WaitingCall[] = []
  const waiting: WaitingCall[] = []
  const results: ToolResult[] = []
  const ids = new Map<string, string>()
  for (const each of all) {
    const question = context.isClosed() ? undefined : findOwnQuestion(each, context.scope())
    const isSame = question?.approval.usedBy !== undefined && (await isOf(question, each, context))
    const earlier = isSame ? findEarlier(question, each, context.scope()) : undefined
    if (earlier !== undefined) {
      results.push(earlier)
      ids.set(each.callId, earlier.callId)
    } else if (question?.approval.state === 'waiting' && !asks)
      waiting.push({ ...each, approval: copyJson(question.approval) })
    else open.push(each)
  }
  return { open, waiting, results, ids }
}

function findOwnQuestion(
  { approval }: WaitingCall,
  { tenant, session }: CallScope,
): KeptQuestion | undefined {
  try {
    const question = tenant.approvals.read(approval.id)
    const asks = question?.approval.request.principal
    return canonicalJson(asks ?? null) === canonicalJson(session.principal) ? question : undefined
  } catch {
    // The call itself says that the store cannot be read.
    return undefined
  }
}

/** Whether a used question was asked for this very call. */
async function isOf(
  { approval: { request }, subject }: KeptQuestion,
  { callId, call }: WaitingCall,
  context: StepContext,
): Promise<boolean> {
  return request.callId === callId && (await context.identify(call)) === subject
}

/** The question of a call that was not made after all, as its turn was stopped before: it is still open. Of one that went on, it is over. */
async function settle(
  { outcome, error }: ToolResult,
  { approval: { id } }: WaitingCall,
  context: StepContext,
): Promise<PendingApproval | undefined> {
  if (context.isClosed()) return undefined
  const { tenant, session } = context.scope()
  const question = tenant.approvals.read(id)
  if (question === undefined || !isOpen(question.approval)) return undefined
  if (question.approval.tenant !== session.principal.tenant) return undefined
  if (outcome === 'aborted') return question.approval
  if (
    outcome !== 'waiting' &&
    error?.code !== 'POLICY.APPROVAL_DENIED' &&
    error?.code !== 'PROVIDER.UNAVAILABLE' &&
    // The call that went on with the program uses the answer.
    error?.reason !== 'program_taken'
  )
    await tenant.approvals.withdraw(id)
  return undefined
}

function toStep(
  all: readonly ToolResult[],
  about: {
    /** The call that has this result, as data. */
    requestOf(result: ToolResult, index: number): CallRequest | undefined
    endReason: TurnResult['endReason']
    order: readonly string[]
  },
  context: StepContext,
): StepResult {
  const { tenant, session } = context.scope()
  const results: ToolResult[] = []
  const waiting: WaitingCall[] = []
  for (const [index, result] of all.entries()) {
    const id = result.outcome === 'waiting' ? result.error?.data?.['approval'] : undefined
    const found = typeof id === 'string' ? tenant.approvals.find(id) : undefined
    const approval = found?.tenant === session.principal.tenant ? found : undefined
    const call = approval && about.requestOf(result, index)
    if (approval === undefined || call === undefined) results.push(result)
    else waiting.push({ callId: result.callId, call, approval: copyJson(approval) })
  }
  return sortStep({ results, waiting, order: about.order, endReason: about.endReason })
}

function sortStep({ results, waiting, order, endReason }: StepResult): StepResult {
  const places = new Map(order.map((callId, place) => [callId, place]))
  const inOrder = <Called extends { readonly callId: string }>(all: readonly Called[]): readonly Called[] =>
    all.toSorted((left, right) => (places.get(left.callId) ?? -1) - (places.get(right.callId) ?? -1))
  return {
    results: inOrder(results),
    waiting: inOrder(waiting),
    order,
    endReason:
      endReason === 'completed' || endReason === 'waiting'
        ? waiting.length > 0
          ? 'waiting'
          : 'completed'
        : endReason,
  }
}

/** What of a request is data, under the id that its result has. */
function toPlainRequest(
  given: CallRequest | undefined,
  { toolCallId }: ToolResult,
  origin: Origin | undefined,
): CallRequest {
  const request = toRequest(given)
  const { tool, input, presentation, idempotencyKey, consent, model, trace } = request
  const { counterpart, rawName, follow } = request
  const own = request.origin ?? origin
  return {
    tool,
    id: toolCallId,
    // A call whose input is not JSON has ended, and does not wait.
    ...(input !== undefined && { input: typeof input === 'string' ? input : toPlain(input) }),
    ...(presentation !== undefined && { presentation }),
    ...(own !== undefined && { origin: own }),
    ...(idempotencyKey !== undefined && { idempotencyKey }),
    ...(consent !== undefined && { consent }),
    ...(model !== undefined && { model }),
    ...(trace !== undefined && { trace }),
    ...(counterpart !== undefined && { counterpart }),
    ...(rawName !== undefined && { rawName }),
    ...(follow !== undefined && { follow }),
  }
}

function toPlain(input: unknown): unknown {
  try {
    return parseJson(JSON.stringify(input))
  } catch {
    return null
  }
}

/** A step as it comes back, perhaps from another process. Throws a SetupError if it is none. */
function checkStep(given: unknown): StepResult {
  const isStep =
    isPlainObject(given) &&
    isListOf(given['results'], isResult) &&
    isListOf(given['order'], (id) => typeof id === 'string') &&
    isListOf(given['waiting'], isWaiting)
  if (!isStep)
    throw new SetupError(
      'invalid_options',
      'session.resume takes what session.step returned: { results, waiting, order, endReason }.',
    )
  return given as unknown as StepResult
}

function isListOf(given: unknown, is: (item: unknown) => boolean): boolean {
  return Array.isArray(given) && given.every(is)
}

function isResult(given: unknown): boolean {
  return isPlainObject(given) && typeof given['callId'] === 'string'
}

function isWaiting(given: unknown): given is WaitingCall {
  return (
    isPlainObject(given) &&
    typeof given['callId'] === 'string' &&
    isPlainObject(given['call']) &&
    isPlainObject(given['approval']) &&
    typeof given['approval']['id'] === 'string'
  )
}
