import type { Approver } from '../contract/approval.ts'
import type { Call, CallRequest } from '../contract/call.ts'
import type { RuntimeEvent } from '../contract/events.ts'
import type { Responder } from '../contract/inquiry.ts'
import type { Mode, Principal } from '../contract/principal.ts'
import type { ToolResult } from '../contract/result.ts'
import type { Session, ToolRestriction } from '../contract/runtime.ts'
import { callError } from '../kit/call-error.ts'
import { newId } from '../kit/new-id.ts'
import { describeAvailable } from './describe-available.ts'
import { createDelivery } from './delivery.ts'
import { createCompanionShelf } from './companion-shelf.ts'
import { createInstructionShelf } from './instruction-shelf.ts'
import { createJobShelf } from './job-shelf.ts'
import { startPassage, stop, type Stopped } from './passage.ts'
import { preflight } from './preflight.ts'
import type { Endings } from './run-watch.ts'
import { createSlots } from './slots.ts'
import type { Family } from './family.ts'
import type { Road, Traveller } from './ground.ts'
import { travel } from './road.ts'
import { createSessionView, type ViewSeed } from './session-view.ts'
import { record } from './steps/record.ts'
import { runTurn, type InTurn } from './turn.ts'

/** What a session is made from; defaults are filled in, everything is checked. */
export interface SessionSeed extends ViewSeed {
  principal: Principal
  mode: Mode
  approver: Approver | undefined
  responder: Responder | undefined
  signal: AbortSignal | undefined
  /** Paths of files that it has to deliver. */
  deliverables: readonly string[]
  /** Narrows the set from now on; gives what takes that back. */
  restrict(restriction: ToolRestriction): () => void
  /** Sees every event of every session, while `watched` says so. */
  listener(event: RuntimeEvent): void
  watched(): boolean
  parent: Family | undefined
  /** Told when the session is closed and nothing of it runs any more. */
  onClosed(): void
}

/** A session. Close it to abort what runs and to forget what the person allowed. */
export function createSession(seed: SessionSeed): { session: Session; family: Family } {
  const first = seed.ground()
  const now = (): number => first.now()
  const id = newId('ses', now())
  const view = createSessionView(seed)
  const signal = joinSignals(seed.parent?.signal, seed.signal)
  const ancestors = seed.parent?.lineage
  const children = new Set<Session>()
  const listeners = new Set<(event: RuntimeEvent) => void>()
  const endings: { closed: boolean } & Endings = { closed: false, aborted: new Map(), listeners: new Set() }
  const running = new Set<Call>()
  const delivery = createDelivery(seed.deliverables, () => seed.ground())
  let started = false
  let idle: (() => void) | undefined
  let sequence = 0

  const session: Traveller = {
    id,
    principal: seed.principal,
    mode: seed.mode,
    approver: seed.approver,
    responder: seed.responder,
    grants: new Map(),
    agentSlots: createSlots(),
    endings,
    jobs: createJobShelf(signal),
    companions: createCompanionShelf(signal),
    instructions: createInstructionShelf(),
    ancestors,
    counts: { calls: 0, family: seed.parent?.calls ?? { made: 0 }, repeats: new Map() },
    find: (name, face) => view.find(name, face),
    exclusion: (registered) => view.exclusion(registered),
    standing: (registered) => view.standing(registered),
    names: () => view.names(),
    watched: () => listeners.size > 0 || seed.watched(),
    emit(event) {
      const { tenant, actor, role } = seed.principal
      const full = { ...event, sequence: ++sequence, at: now(), tenant, session: id, actor, role }
      for (const listener of [...listeners, (each: RuntimeEvent) => seed.listener(each)]) {
        try {
          listener(full)
        } catch (cause) {
          first.logFault({ call: event.call ?? '', tool: event.tool ?? '', cause })
        }
      }
    },
  }
  let lastRoad: Road = { ground: first, session }
  /** A call keeps the ground it starts on. */
  const road = (): Road => {
    const ground = seed.ground()
    if (ground !== lastRoad.ground) lastRoad = { ground, session }
    return lastRoad
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
  const begin = (request: CallRequest, origin: Call['origin'], { ground }: Road): Call => {
    const call = toCall(request, { origin, session, now: now() })
    ground.observer?.began(call)
    return call
  }
  const start = (request: CallRequest, origin: Call['origin'], inTurn?: InTurn): Promise<ToolResult> => {
    const own = road()
    const call = begin(request, origin, own)
    running.add(call)
    sayStarted()
    const settled = (result: ToolResult) => settle(call, result)
    if (endings.closed) return record(closedStop(call), own).then(settled)
    const passage = startPassage(call, joinSignals(signal, inTurn?.signal, request.signal), inTurn?.place)
    return travel(passage, own).then(settled, async (cause: unknown) =>
      settled(await recordDefect(call, cause, own)),
    )
  }

  const opened: Session = {
    id,
    principal: seed.principal,
    mode: seed.mode,
    tools: ({ face = 'canonical' } = {}) => view.tools(face),
    available: () => describeAvailable(view.all(), road()),
    refresh() {
      view.refresh()
      if (running.size === 0) view.rest()
    },
    restrict: (restriction) => seed.restrict(restriction),
    call: (tool, input, options = {}) => start({ ...options, tool, input }, options.origin ?? 'api'),
    turn: (calls, options = {}) =>
      runTurn(calls, {
        road: road(),
        signal: options.signal,
        isClosed: () => endings.closed || signal?.aborted === true,
        start: (request, inTurn) => start(request, request.origin ?? options.origin ?? 'llm', inTurn),
        skip: (request, error) => {
          const own = road()
          const call = begin(request, request.origin ?? options.origin ?? 'llm', own)
          return record(stop('find', startPassage(call), error), own)
        },
      }),
    preflight: (tool, input, options = {}) =>
      preflight(
        startPassage(
          toCall({ tool, input, ...options }, { origin: options.origin ?? 'api', session, now: now() }),
        ),
        road(),
      ),
    abort(id, reason) {
      const found = [...running].filter((call) => call.id === id || call.toolCallId === id)
      for (const call of found) {
        endings.aborted.set(call.id, reason)
        for (const listener of endings.listeners) listener(call.id)
      }
      return found.length > 0
    },
    instructions: () => session.instructions.list(),
    deliverables: () => delivery.look(),
    on(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    async close() {
      endings.closed = true
      for (const listener of endings.listeners) listener(undefined)
      session.grants.clear()
      await Promise.all([
        session.jobs.close(),
        session.companions.close(),
        ...[...children].map((child) => child.close()),
      ])
      if (running.size > 0) await new Promise<void>((resolve) => (idle = resolve))
      const delivered = session.counts.calls === 0 ? undefined : await delivery.settle(session)
      if (started)
        session.emit({
          type: 'session_ended',
          level: delivered?.status === 'incomplete' ? 'failure' : 'info',
          summary: `session ended after ${session.counts.calls} calls${delivered === undefined ? '' : `, ${delivered.status}`}`,
          ...(delivered !== undefined && { data: delivered }),
        })
      view.close()
      seed.parent?.children.delete(opened)
      seed.onClosed()
    },
  }
  seed.parent?.children.add(opened)
  const { principal, mode, approver, responder } = seed
  return {
    session: opened,
    family: {
      principal,
      mode,
      approver,
      responder,
      signal,
      calls: session.counts.family,
      lineage: [{ session: id, principal, mode }, ...(ancestors ?? [])],
      children,
      isClosed: () => endings.closed,
      exclusion: (registered) => view.exclusion(registered),
      edition: () => view.edition(),
    },
  }
}

function toCall(
  request: CallRequest,
  about: { origin: Call['origin']; session: Traveller; now: number },
): Call {
  const id = newId('call', about.now)
  const rawId = typeof request.id === 'string' && request.id !== '' ? request.id.slice(0, 256) : undefined
  const call: Call = {
    id,
    toolCallId: rawId ?? id,
    tool: request.tool,
    input: request.input,
    face: request.face ?? 'canonical',
    principal: about.session.principal,
    session: about.session.id,
    origin: about.origin,
    at: about.now,
    ...(request.idempotencyKey !== undefined && { idempotencyKey: request.idempotencyKey }),
    ...(request.consent !== undefined && { consent: request.consent }),
    ...(isTraceParent(request.trace) && { trace: request.trace }),
    ...(request.rawName !== undefined && { rawName: request.rawName }),
    ...(rawId !== undefined && { rawId }),
  }
  return call
}

/** W3C Trace Context, section 3.2: version, trace id, parent id and flags. */
const traceParent = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/

function isTraceParent(trace: unknown): trace is string {
  return typeof trace === 'string' && traceParent.test(trace)
}

function joinSignals(...signals: readonly (AbortSignal | undefined)[]): AbortSignal | undefined {
  let joined: AbortSignal | undefined
  for (const signal of signals) {
    if (signal === undefined || signal === joined) continue
    joined = joined === undefined ? signal : AbortSignal.any([joined, signal])
  }
  return joined
}

function closedStop(call: Call): Stopped {
  return stop(
    'find',
    startPassage(call),
    callError('TOOL.ABORTED', 'run_cancelled', { message: 'The session is closed. Open a new one.' }),
  )
}

/** A defect on the road is the call's error too, told to nobody but the log. */
function recordDefect(call: Call, cause: unknown, road: Road): Promise<ToolResult> {
  road.ground.logFault({ call: call.id, tool: String(call.tool), cause })
  const error = callError('UNKNOWN.INTERNAL', 'internal', {
    message: `Handrail failed on this call; the operator finds the cause in the log under ${call.id}.`,
  })
  return record(stop('find', startPassage(call), error), road)
}
