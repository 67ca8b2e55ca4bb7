import type { CallRequest } from '../../contract/call-request.ts'
import type { RuntimeEvent } from '../../contract/events.ts'
import type { ObservedCalls } from '../../contract/observed.ts'
import type { Session } from '../../contract/runtime.ts'
import { Bag } from '../../kit/bag.ts'
import { copyJson } from '../../kit/json/copy-json.ts'
import { requireOptions } from '../../kit/json/find-wrong-kinds.ts'
import { once } from '../../kit/time/once.ts'
import { endAllObserved, endObserved } from '../call/end-observed.ts'
import { describeAvailable } from '../call/describe-available.ts'
import { preflight } from '../call/preflight.ts'
import { mayAsk, wouldAsk } from '../call/would-ask.ts'
import { adoptJobs } from '../keep/long/adopt-jobs.ts'
import { forgetJobs } from '../keep/long/clear-jobs.ts'
import { holdAgent } from '../keep/hold-agent.ts'
import { listJobs } from '../keep/session-jobs.ts'
import { listApprovals, revokeApproval } from '../permission/session-approvals.ts'
import type { Endings } from '../state/endings.ts'
import type { Family } from '../state/family.ts'
import type { CallScope, SessionState } from '../state/scope.ts'
import { createDelivery, type DeliveryReport } from './delivery.ts'
import { joinSignals } from './join-signals.ts'
import { closedStop, createSessionCalls, type SessionCalls } from './session-calls.ts'
import { observeCall } from './observe-call.ts'
import type { SessionSeed } from './session-seed.ts'
import { createPartCalls } from './session-part-calls.ts'
import { createSessionState } from './session-state.ts'
import { createSessionTurns } from './session-turns.ts'
import { createSessionView, type SessionView } from './session-view.ts'

/** A session. Close it to abort what runs and to forget what the person allowed. */
export function createSession(seed: SessionSeed): { session: Session; family: Family } {
  const { tick } = seed.tenant()
  const view = createSessionView(seed)
  const signal = joinSignals(seed.parent?.signal, seed.signal)
  const children = new Set<Session>()
  const listeners = new Set<(event: RuntimeEvent) => void>()
  const endings: { closed: boolean } & Endings = { closed: false, aborted: new Map(), listeners: new Bag() }
  const made = { opened: () => session, parts: () => parts }
  const state = createSessionState({ seed, view, signal, listeners, endings, ...made })
  const delivery = createDelivery(seed.deliverables, () => seed.tenant())
  const events = createLifeEvents(seed, state)
  const calls = createSessionCalls({
    seed,
    session: state,
    signal,
    onStart: () => events.started(),
    onIdle: () => view.rest(),
  })
  const parts = createPartCalls(calls)
  const close = once(async () => {
    endings.closed = true
    for (const listener of endings.listeners) listener(undefined)
    state.approvals.clear()
    await Promise.all([
      state.jobs.close(),
      state.sessionResources.close(),
      ...[...children].map((child) => child.close()),
    ])
    await calls.settled()
    await forgetJobs(calls.scope())
    events.ended(calls.made, calls.made === 0 ? undefined : await delivery.settle(state))
    view.close()
    seed.parent?.children.delete(session)
    seed.onClosed()
  })
  const session: Session = {
    id: state.id,
    principal: seed.principal,
    get mode() {
      return seed.mode.current()
    },
    tools(given = {}) {
      const { shared = false, ...options } = requireOptions(given, 'session.tools')
      return shared ? view.tools(options) : copyJson(view.tools(options))
    },
    available: () => describeAvailable(view.all(), calls.scope()),
    refresh() {
      view.refresh()
      if (calls.running.size === 0) view.rest()
    },
    restrict: (restriction) => seed.restrict(restriction),
    call: (tool, input, options = {}) => calls.start({ ...options, tool, input }, 'api'),
    ...createSessionTurns(calls, () => endings.closed || signal?.aborted === true),
    preflight(tool, input, options = {}) {
      const called = calls.look({ tool, input, ...options })
      return preflight(endings.closed ? closedStop(called, seed.isRuntimeClosed()) : called, calls.scope())
    },
    asks: async (tool, input, options = {}) => !endings.closed && asks({ ...options, tool, input }, calls),
    ...(seed.observes !== undefined && { observed: toObserved(calls, seed) }),
    abort: (id, reason) => calls.abort(id, reason),
    instructions: () => state.instructions.list(),
    todos: () => copyJson(state.todos.read() ?? []),
    jobs: () => listJobs(calls.scope()),
    skills: () => copyJson(state.skills()),
    endSkills: () => seed.ownSkills.remove(seed.ownSkills.list().map(({ name }) => name)),
    approvals: () => listApprovals(state, tick()),
    revokeApproval: (call, by) => revokeApproval(call, by, calls.scope()),
    deliverables: () => delivery.look(),
    on(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    close: ({ forget = false } = {}) => (forget ? closeAndForget(state, close, seed.kept) : close()),
  }
  seed.parent?.children.add(session)
  if (seed.kept !== undefined || seed.id !== undefined) adopt(calls)
  const hold: Family['hold'] = (agent) => holdAgent(agent, toHolder(agent.tool, calls.scope()))
  return { session, family: { ...toFamily(seed, state, view), signal, children, hold } }
}

/** Closes a session that is not opened again. What goes on without its session would be without an owner, so it is ended. */
async function closeAndForget(
  { jobs }: SessionState,
  close: () => Promise<void>,
  kept: SessionSeed['kept'],
): Promise<void> {
  for (const job of jobs.list()) job.stop('the session was forgotten')
  await close()
  await kept?.forget()
}

/** Goes on with jobs from before, which a stop reaches as others. */
function adopt(calls: SessionCalls): void {
  adoptJobs(calls.scope())
  calls.watch()
}

/** What holds an agent as a job of the session. */
function toHolder(tool: string, scope: CallScope): Parameters<typeof holdAgent>[1] {
  return { scope, registered: scope.session.find(tool, 'canonical'), toolCallId: undefined }
}

/** Whether a call would ask. */
async function asks(request: CallRequest, calls: SessionCalls): Promise<boolean> {
  const scope = calls.scope()
  const { tool, presentation = 'canonical', idempotencyKey } = request
  const registered = scope.session.find(tool, presentation)
  // Most calls end here.
  if (registered === undefined || !(idempotencyKey !== undefined || mayAsk(registered, scope))) return false
  return wouldAsk(calls.look(request), scope)
}

/** Calls that the agent of a session runs itself. */
function toObserved(calls: SessionCalls, seed: SessionSeed): ObservedCalls {
  return {
    begin(tool, input, { id, name, presentation = 'canonical', asks = false, keeps = false, own }) {
      const request = { tool, input, id, rawName: name, presentation }
      return observeCall(calls.observed(request, keeps), calls.scope(), {
        asks,
        own: own && seed.ownTool(tool, own),
        isRuntimeClosed: () => seed.isRuntimeClosed(),
      })
    },
    end: (id, end) => endObserved(id, end, calls.scope()),
    endAll: () => endAllObserved(calls.scope()),
  }
}

/** What a session hands to those that it opens. */
function toFamily(
  { principal, mode, approver, elicit, standingConsents, claims, parent, worktree, narrowing }: SessionSeed,
  state: SessionState,
  view: SessionView,
): Omit<Family, 'signal' | 'children' | 'hold'> {
  return {
    principal,
    mode,
    approver,
    elicit,
    standingConsents,
    claims,
    calls: state.counts.family,
    skills: state.skills,
    catchUp: state.catchUp,
    agentSlots: state.agentSlots,
    lineage: [
      {
        session: state.id,
        principal,
        get mode() {
          return mode.current()
        },
      },
      ...(parent?.lineage ?? []),
    ],
    worktree,
    isClosed: () => state.endings.closed,
    narrowing,
    emit: (event) => state.emit(event),
    exclusion: (registered) => view.exclusion(registered),
    edition: () => view.edition(),
  }
}

/** The events of a session that begins and ends. One without a call, or without a watcher, leaves no trace. */
function createLifeEvents({ principal, mode }: SessionSeed, state: SessionState) {
  let started = false
  return {
    started() {
      if (started || !state.watched()) return
      started = true
      state.emit({
        type: 'session_started',
        level: 'info',
        summary: `session of ${principal.actor} as ${principal.role} in mode ${mode.current()}`,
      })
    },
    ended(made: number, delivered: DeliveryReport | undefined) {
      if (!started) return
      state.emit({
        type: 'session_ended',
        level: delivered?.status === 'incomplete' ? 'failure' : 'info',
        summary: `session ended after ${made} ${made === 1 ? 'call' : 'calls'}${delivered === undefined ? '' : `, ${delivered.status}`}`,
        ...(delivered !== undefined && { data: delivered }),
      })
    },
  }
}
