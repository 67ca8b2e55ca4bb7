import type { Call } from '../../contract/base/call.ts'
import type { CallError } from '../../contract/base/errors.ts'
import type { ToolResult } from '../../contract/base/result.ts'
import type { CallRequest } from '../../contract/call-request.ts'
import { Bag, type InBag } from '../../kit/bag.ts'
import { callError } from '../../kit/result/call-error.ts'
import { runCall } from '../call/pipeline.ts'
import { record } from '../call/steps/record.ts'
import { toCall } from '../call/to-call.ts'
import { abortCalls } from './abort-calls.ts'
import { partOf, type Requested } from '../state/part-of.ts'
import { halt, startCall, type Called, type CallerOptions, type Halted } from '../state/call-state.ts'
import type { Endings } from '../state/endings.ts'
import type { CallScope, SessionState, TenantContext } from '../state/scope.ts'
import type { InTurn } from '../turn/turn.ts'
import { followCall } from '../keep/long/follow-call.ts'
import { joinSignals } from './join-signals.ts'
import { toWorker } from './to-worker.ts'
import type { SessionSeed } from './session-seed.ts'

/** The calls of a session: those that run, and how each begins and ends. */
export interface SessionCalls {
  /** How many were made. */
  readonly made: number
  readonly running: Bag<Call>
  /** The context of now. A call keeps the one it starts with. */
  scope(): CallScope
  start(
    request: Returning,
    origin: Call['origin'],
    inTurn?: InTurn & Pick<CallerOptions, 'parks'>,
  ): Promise<ToolResult>
  /** Ends a call of a model without running it, with its evidence: with this error, or as the function says. */
  skip(
    request: CallRequest,
    end: CallError | ((called: Called, scope: CallScope) => Promise<Halted>),
  ): Promise<ToolResult>
  /** A call as it would come to the pipeline, for one who looks what would become of it. */
  look(request: CallRequest): Called
  /** A call that an agent runs itself, which counts as one of the session. `keeps` says whether its question waits in the store. */
  observed(request: CallRequest, keeps: boolean): Called
  abort(id: string, reason: string | undefined): boolean
  /** Makes a stop reach what runs here, jobs too. Each call that starts does the same. */
  watch(): void
  /** Resolves when none runs. */
  settled(): Promise<void>
}

/** Of a call that comes back: the pending approval that it waited for. Callers of a session cannot name one. */
export const answers = Symbol('answers')

/** Of a call that comes back as one of its own calls waited: the id that it had then. Callers of a session cannot name one. */
export const goesOn = Symbol('goesOn')

/** A call that comes to a session, or comes back. */
export type Returning = Requested & { readonly [answers]?: string; readonly [goesOn]?: string }

export interface SessionCallsOptions {
  seed: SessionSeed
  session: SessionState
  signal: AbortSignal | undefined
  /** Told of each call that begins to run. */
  onStart: () => void
  /** Told when none runs any more. */
  onIdle: () => void
}

/** No calls yet. */
export function createSessionCalls(options: SessionCallsOptions): SessionCalls {
  const { seed, session, signal, onStart, onIdle } = options
  const { endings } = session
  const first = seed.tenant()
  const running = new Bag<Call>()
  let made = 0
  let idle: (() => void) | undefined
  const scope = createScope(seed, session)
  const worker = toWorker(session, running)
  const settle = (call: InBag<Call>, result: ToolResult): ToolResult => {
    running.remove(call)
    endings.aborted.delete(call.thing.id)
    if (running.size > 0) return result
    onIdle()
    idle?.()
    return result
  }
  const begin = (request: CallRequest, origin: Call['origin'], { tenant }: CallScope): Call => {
    const call = toCall(withShownName(request, session, tenant), { origin, session, now: first.now() })
    made++
    tenant.observer?.began(call)
    return call
  }
  const toCalled = (call: Call, request: CallRequest): Called =>
    startCall(call, first.tick(), { ...toSurroundings(request, { seed, signal }), ...comesBackForNothing })
  const look = (asked: CallRequest, origin: Call['origin'] = 'api'): Called => {
    const request = withShownName(asked, session, scope().tenant)
    return toCalled(toCall(request, { origin, session, now: first.now() }), asked)
  }
  return {
    get made() {
      return made
    },
    running,
    scope,
    start(request, origin, inTurn) {
      const isLast = request[partOf]?.segment?.isLast === true
      const own = isLast ? afterAll(scope()) : scope()
      const call = begin(request, origin, own)
      const place = running.add(call)
      onStart()
      own.tenant.stops.add(worker)
      const settled = (result: ToolResult) => settle(place, result)
      const within = isLast ? request.signal : joinSignals(signal, inTurn?.signal, request.signal)
      const called = startCall(
        call,
        own.tenant.tick(),
        toSurroundings(request, { inTurn, seed, signal: within }),
      )
      if (endings.closed && !isLast)
        return recordEnd(closedStop(called, seed.isRuntimeClosed()), own).then(settled)
      const ended = runCall(called, own).then(settled, async (cause: unknown) =>
        settled(await recordDefect(called, cause, own)),
      )
      return request.follow === true ? ended.then((result) => followCall(result, session, called)) : ended
    },
    async skip(request, end) {
      const own = scope()
      const called = toCalled(begin(request, 'llm', own), request)
      if (endings.closed) return recordEnd(closedStop(called, seed.isRuntimeClosed()), own)
      return Promise.resolve(typeof end === 'function' ? end(called, own) : halt('find', called, end))
        .then((halted) => recordEnd(halted, own))
        .catch((cause: unknown) => recordDefect(called, cause, own))
    },
    look,
    observed(request, keeps) {
      made++
      return { ...look(request, 'llm'), parks: keeps && 'anew' }
    },
    abort: (id, reason) => abortCalls(running, endings, { id, reason }),
    watch: () => seed.tenant().stops.add(worker),
    async settled() {
      if (running.size > 0) await new Promise<void>((resolve) => (idle = resolve))
    },
  }
}

/** The scope of now: the same object for as long as nothing changed. */
function createScope(seed: SessionSeed, session: SessionState): () => CallScope {
  let last: CallScope = { tenant: seed.tenant(), session }
  return () => {
    const tenant = seed.tenant()
    if (tenant !== last.tenant) last = { tenant, session }
    return last
  }
}

/** Who made a call, and what surrounds it: as its request, its turn and its session say. */
function toSurroundings(
  request: Returning,
  { inTurn, seed, signal }: Surrounding,
): CallerOptions & Pick<Called, 'place' | 'signal'> {
  return {
    signal,
    place: inTurn?.place,
    // Whom the session asks, if the call does not say.
    approve: request.approve ?? seed.approver,
    elicit: request.elicit ?? seed.elicit,
    onProgress: request.onProgress,
    caller: request.caller,
    parks: inTurn?.parks ?? false,
    answers: request[answers],
    goesOn: request[goesOn],
    partOf: request[partOf],
  }
}

interface Surrounding {
  readonly inTurn?: (InTurn & Pick<CallerOptions, 'parks'>) | undefined
  readonly seed: SessionSeed
  readonly signal: AbortSignal | undefined
}

/** For what ends work of a session that is over, or about to be. */
function afterAll({ tenant, session }: CallScope): CallScope {
  const endings: Endings = { closed: false, aborted: new Map(), listeners: new Bag() }
  return { tenant, session: Object.create(session, { endings: { value: endings } }) }
}

/** A name that names nothing is text of the caller: what is secret in it stands in no answer and no record, and no observer is told. */
function withShownName(
  request: CallRequest,
  session: SessionState,
  { redactor }: TenantContext,
): CallRequest {
  const { tool, presentation = 'canonical' } = request
  if (typeof tool !== 'string' || session.find(tool, presentation) !== undefined) return request
  return { ...request, tool: redactor.text(tool) }
}

/** What a call says of itself that is only looked at, or ends at once. */
const comesBackForNothing = { answers: undefined, goesOn: undefined, partOf: undefined } as const

/** A call of a session that is over. */
export function closedStop(called: Called, isRuntimeClosed: boolean): Halted {
  const message = isRuntimeClosed
    ? 'The runtime is closed. Make a new one with createRuntime.'
    : 'The session is closed. Open a new one.'
  return halt('find', called, callError('TOOL.ABORTED', 'run_cancelled', { message }))
}

/**
 * A defect in the pipeline is the call's error too; its cause goes only to the log. It ends the call that was under way: what the call began
 * and took is ended and given back with it.
 */
function recordDefect(called: Halted['state'], cause: unknown, scope: CallScope): Promise<ToolResult> {
  return recordEnd(toDefect(called, cause, scope), scope)
}

/** Records an end. Rejects with whatever is thrown on the way. */
async function recordEnd(halted: Halted, scope: CallScope): Promise<ToolResult> {
  return record(halted, scope)
}

/** A defect as the end of its call, before that is recorded. */
export function toDefect(called: Halted['state'], cause: unknown, scope: CallScope): Halted {
  const { call, registered } = called
  const begun = called.startedAt !== undefined
  scope.tenant.logError({ call: call.id, tool: registered?.definition.name ?? String(call.tool), cause })
  const error = callError('UNKNOWN.INTERNAL', 'internal', {
    message: `Handrail failed on this call${begun ? ' after its call had begun: its tool may have run, so look before you call it again' : ', and its tool did not run'}. The operator finds the cause in the log under ${call.id}.`,
  })
  return { ...halt(begun ? 'run' : 'find', called, error), begun }
}
