import type { Call } from '../../contract/base/call.ts'
import type { CallError } from '../../contract/base/errors.ts'
import type { ToolResult } from '../../contract/base/result.ts'
import type { CallRequest } from '../../contract/call-request.ts'
import type { Preflight } from '../../contract/runtime.ts'
import { callError } from '../../kit/result/call-error.ts'
import { runCall } from '../call/pipeline.ts'
import { preflight } from '../call/preflight.ts'
import { record } from '../call/steps/record.ts'
import { toCall, toRawId } from '../call/to-call.ts'
import { halt, startCall, type Called, type CallerOptions, type Halted } from '../state/call-state.ts'
import type { CallScope, SessionState, TenantContext } from '../state/scope.ts'
import type { InTurn } from '../turn/turn.ts'
import { joinSignals } from './join-signals.ts'
import type { SessionSeed } from './session-seed.ts'

/** The calls of a session: those that run, and how each begins and ends. */
export interface SessionCalls {
  /** How many were made. */
  readonly made: number
  readonly running: ReadonlySet<Call>
  /** The context of now. A call keeps the one it starts with. */
  scope(): CallScope
  start(request: CallRequest, origin: Call['origin'], inTurn?: InTurn): Promise<ToolResult>
  /** Ends a call of a model without running it, with its evidence. */
  skip(request: CallRequest, error: CallError): Promise<ToolResult>
  preflight(request: CallRequest): Promise<Preflight>
  abort(id: string, reason: string | undefined): boolean
  /** Resolves when none runs. */
  settled(): Promise<void>
}

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
  const running = new Set<Call>()
  let made = 0
  let idle: (() => void) | undefined
  let lastScope: CallScope = { tenant: first, session }
  const scope = (): CallScope => {
    const tenant = seed.tenant()
    if (tenant !== lastScope.tenant) lastScope = { tenant, session }
    return lastScope
  }
  const settle = (call: Call, result: ToolResult): ToolResult => {
    running.delete(call)
    endings.aborted.delete(call.id)
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
  return {
    get made() {
      return made
    },
    running,
    scope,
    start(request, origin, inTurn) {
      const own = scope()
      const call = begin(request, origin, own)
      running.add(call)
      onStart()
      const settled = (result: ToolResult) => settle(call, result)
      const called = startCall(call, own.tenant.tick(), {
        signal: joinSignals(signal, inTurn?.signal, request.signal),
        place: inTurn?.place,
        ...toCallerOptions(request, seed),
      })
      if (endings.closed) return record(closedStop(called, seed.isRuntimeClosed()), own).then(settled)
      return runCall(called, own).then(settled, async (cause: unknown) =>
        settled(await recordDefect(called, cause, own)),
      )
    },
    skip(request, error) {
      const own = scope()
      return record(halt('find', startCall(begin(request, 'llm', own), own.tenant.tick()), error), own)
    },
    preflight(asked) {
      const own = scope()
      const request = withShownName(asked, session, own.tenant)
      const call = toCall(request, { origin: 'api', session, now: first.now() })
      const caller = toCallerOptions(request, seed)
      const called = startCall(call, first.tick(), { signal, place: undefined, ...caller })
      return preflight(endings.closed ? closedStop(called, seed.isRuntimeClosed()) : called, own)
    },
    abort(id, reason) {
      const found = [...running].filter((call) => call.id === id || call.toolCallId === toRawId(id))
      for (const call of found) {
        endings.aborted.set(call.id, reason)
        for (const listener of endings.listeners) listener(call.id)
      }
      return found.length > 0
    },
    async settled() {
      if (running.size > 0) await new Promise<void>((resolve) => (idle = resolve))
    },
  }
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

/** Whom the session asks, where the call does not say. */
function toCallerOptions(request: CallRequest, { approver, elicit }: SessionSeed): CallerOptions {
  const { onProgress, caller } = request
  return { approve: request.approve ?? approver, elicit: request.elicit ?? elicit, onProgress, caller }
}

function closedStop(called: Called, isRuntimeClosed: boolean): Halted {
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
  const { call, registered } = called
  const begun = called.startedAt !== undefined
  scope.tenant.logError({ call: call.id, tool: registered?.definition.name ?? String(call.tool), cause })
  const error = callError('UNKNOWN.INTERNAL', 'internal', {
    message: `Handrail failed on this call${begun ? ' after its call had begun: its tool may have run, so look before you call it again' : ', and its tool did not run'}. The operator finds the cause in the log under ${call.id}.`,
  })
  return record({ ...halt(begun ? 'run' : 'find', called, error), begun }, scope)
}
