import type { Approver } from '../../contract/approval.ts'
import type { Call } from '../../contract/base/call.ts'
import type { CallRequest } from '../../contract/call-request.ts'
import type { RuntimeEvent } from '../../contract/events.ts'
import type { ElicitationHandler } from '../../contract/base/elicitation.ts'
import type { Mode, Principal } from '../../contract/base/principal.ts'
import type { ToolResult } from '../../contract/base/result.ts'
import type { Session, ToolRestriction } from '../../contract/runtime.ts'
import { callError } from '../../kit/result/call-error.ts'
import { copyJson } from '../../kit/json/copy-json.ts'
import { newId } from '../../kit/new-id.ts'
import { once } from '../../kit/time/once.ts'
import { tellWatcher } from '../../kit/time/tell-watcher.ts'
import { describeAvailable } from '../call/describe-available.ts'
import { createDelivery } from './delivery.ts'
import { createResourcePool } from '../keep/create-resource-pool.ts'
import { createReadInstructions } from '../keep/create-read-instructions.ts'
import { createJobTable } from '../keep/create-job-table.ts'
import { startCall, halt, type Called, type CallerOptions, type Halted } from '../state/call-state.ts'
import { preflight } from '../call/preflight.ts'
import type { Endings } from '../state/endings.ts'
import { listApprovals, revokeApproval } from '../permission/session-approvals.ts'
import { createSlots } from '../limits/create-slots.ts'
import type { Family } from '../state/family.ts'
import type { TenantContext, CallScope, SessionState } from '../state/scope.ts'
import { runCall } from '../call/pipeline.ts'
import { toCall, toRawId } from '../call/to-call.ts'
import { createSessionView, type ViewSeed } from './session-view.ts'
import { record } from '../call/steps/record.ts'
import { runTurn, type InTurn } from '../turn/turn.ts'

/** What a session is made from; defaults are filled in, everything is checked. */
export interface SessionSeed extends ViewSeed {
  principal: Principal
  mode: Mode
  approver: Approver | undefined
  elicit: ElicitationHandler | undefined
  standingConsents: boolean
  signal: AbortSignal | undefined
  /** Paths of files that it has to deliver. */
  deliverables: readonly string[]
  /** Narrows the set from now on; returns the function that takes that back. */
  restrict(restriction: ToolRestriction): () => void
  /** Sees every event of every session, while `watched` says so. */
  listener(event: RuntimeEvent): void
  watched(): boolean
  parent: Family | undefined
  /** Told when the session is closed and nothing of it runs any more. */
  onClosed(): void
  /** Whether the runtime is closed, so that no other session can be opened either. */
  isRuntimeClosed(): boolean
}

/** A session. Close it to abort what runs and to forget what the person allowed. */
export function createSession(seed: SessionSeed): { session: Session; family: Family } {
  const first = seed.tenant()
  const now = (): number => first.now()
  const id = newId('ses', now())
  const view = createSessionView(seed)
  const signal = joinSignals(seed.parent?.signal, seed.signal)
  const ancestors = seed.parent?.lineage
  const children = new Set<Session>()
  const listeners = new Set<(event: RuntimeEvent) => void>()
  const endings: { closed: boolean } & Endings = { closed: false, aborted: new Map(), listeners: new Set() }
  const running = new Set<Call>()
  const delivery = createDelivery(seed.deliverables, () => seed.tenant())
  let made = 0
  let started = false
  let idle: (() => void) | undefined
  let sequence = 0

  const session: SessionState = {
    id,
    principal: seed.principal,
    mode: seed.mode,
    standingConsents: seed.standingConsents,
    approvals: new Map(),
    agentSlots: seed.parent?.agentSlots ?? createSlots(),
    endings,
    jobs: createJobTable(signal),
    sessionResources: createResourcePool(signal),
    instructions: createReadInstructions(),
    ancestors,
    counts: { calls: 0, family: seed.parent?.calls ?? { made: 0, changes: 0 }, repeats: new Map() },
    find: (name, presentation) => view.find(name, presentation),
    exclusion: (registered) => view.exclusion(registered),
    status: (registered) => view.status(registered),
    names: () => view.names(),
    watched: () => listeners.size > 0 || seed.watched(),
    emit(event) {
      const { tenant, actor, role } = seed.principal
      const full = { ...event, sequence: ++sequence, at: now(), tenant, session: id, actor, role }
      const onError = (cause: unknown): void =>
        first.logError({ call: event.call ?? '', tool: event.tool ?? '', cause })
      for (const listener of listeners) tellWatcher(listener, copyJson(full), onError)
      tellWatcher((said: RuntimeEvent) => seed.listener(said), full, onError)
    },
  }
  let lastScope: CallScope = { tenant: first, session }
  /** A call keeps the context it starts with. */
  const scope = (): CallScope => {
    const tenant = seed.tenant()
    if (tenant !== lastScope.tenant) lastScope = { tenant, session }
    return lastScope
  }

  /** With the first call: a session that made none leaves no trace. */
  const sayStarted = (): void => {
    if (started || !session.watched()) return
    started = true
    session.emit({
      type: 'session_started',
      level: 'info',
      summary: `session of ${seed.principal.actor} as ${seed.principal.role} in mode ${seed.mode}`,
    })
  }
  const settle = (call: Call, result: ToolResult): ToolResult => {
    running.delete(call)
    endings.aborted.delete(call.id)
    if (running.size > 0) return result
    view.rest()
    idle?.()
    return result
  }
  const begin = (request: CallRequest, origin: Call['origin'], { tenant }: CallScope): Call => {
    const call = toCall(withShownName(request, session, tenant), { origin, session, now: now() })
    made++
    tenant.observer?.began(call)
    return call
  }
  const start = (request: CallRequest, origin: Call['origin'], inTurn?: InTurn): Promise<ToolResult> => {
    const own = scope()
    const call = begin(request, origin, own)
    running.add(call)
    sayStarted()
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
  }

  const close = once(async () => {
    endings.closed = true
    for (const listener of endings.listeners) listener(undefined)
    session.approvals.clear()
    await Promise.all([
      session.jobs.close(),
      session.sessionResources.close(),
      ...[...children].map((child) => child.close()),
    ])
    if (running.size > 0) await new Promise<void>((resolve) => (idle = resolve))
    const delivered = made === 0 ? undefined : await delivery.settle(session)
    if (started)
      session.emit({
        type: 'session_ended',
        level: delivered?.status === 'incomplete' ? 'failure' : 'info',
        summary: `session ended after ${made} ${made === 1 ? 'call' : 'calls'}${delivered === undefined ? '' : `, ${delivered.status}`}`,
        ...(delivered !== undefined && { data: delivered }),
      })
    view.close()
    seed.parent?.children.delete(opened)
    seed.onClosed()
  })

  const opened: Session = {
    id,
    principal: seed.principal,
    mode: seed.mode,
    tools: ({ presentation = 'canonical', shared = false } = {}) =>
      shared ? view.tools(presentation) : copyJson(view.tools(presentation)),
    available: () => describeAvailable(view.all(), scope()),
    refresh() {
      view.refresh()
      if (running.size === 0) view.rest()
    },
    restrict: (restriction) => seed.restrict(restriction),
    call: (tool, input, options = {}) => start({ ...options, tool, input }, 'api'),
    turn: (calls, options = {}) =>
      runTurn(calls, {
        scope: scope(),
        signal: options.signal,
        isClosed: () => endings.closed || signal?.aborted === true,
        start: (request, inTurn) => start(withOrigin(request, options.origin), 'llm', inTurn),
        skip: (request, error) => {
          const own = scope()
          const call = begin(withOrigin(request, options.origin), 'llm', own)
          return record(halt('find', startCall(call, own.tenant.tick()), error), own)
        },
      }),
    preflight(tool, input, options = {}) {
      const own = scope()
      const request = withShownName({ tool, input, ...options }, session, own.tenant)
      const call = toCall(request, { origin: 'api', session, now: now() })
      const called = startCall(call, first.tick(), {
        signal,
        place: undefined,
        ...toCallerOptions(request, seed),
      })
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
    instructions: () => session.instructions.list(),
    jobs: () => session.jobs.list().map((job) => job.view()),
    approvals: () => listApprovals(session, first.tick()),
    revokeApproval: (call, by) => revokeApproval(call, by, scope()),
    deliverables: () => delivery.look(),
    on(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    close,
  }
  seed.parent?.children.add(opened)
  const { principal, mode, approver, elicit, standingConsents } = seed
  return {
    session: opened,
    family: {
      principal,
      mode,
      approver,
      elicit,
      standingConsents,
      signal,
      calls: session.counts.family,
      agentSlots: session.agentSlots,
      lineage: [{ session: id, principal, mode }, ...(ancestors ?? [])],
      children,
      isClosed: () => endings.closed,
      exclusion: (registered) => view.exclusion(registered),
      edition: () => view.edition(),
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

/** That of a turn holds for those of its calls that name none. */
function withOrigin(request: CallRequest, origin: Call['origin'] | undefined): CallRequest {
  return origin === undefined || request.origin !== undefined ? request : { ...request, origin }
}

/** Whom the session asks, where the call does not say. */
function toCallerOptions(request: CallRequest, { approver, elicit }: SessionSeed): CallerOptions {
  const { onProgress, caller } = request
  return { approve: request.approve ?? approver, elicit: request.elicit ?? elicit, onProgress, caller }
}

function joinSignals(...signals: readonly (AbortSignal | undefined)[]): AbortSignal | undefined {
  let joined: AbortSignal | undefined
  for (const signal of signals) {
    if (signal === undefined || signal === joined) continue
    joined = joined === undefined ? signal : AbortSignal.any([joined, signal])
  }
  return joined
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
