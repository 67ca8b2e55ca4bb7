import { hash } from 'node:crypto'
import type { StartingCall } from '../../contract/agent-host.ts'
import type { ChildWish } from '../../contract/services/child-agents.ts'
import { ToolFailure } from '../../contract/base/errors.ts'
import type { Session } from '../../contract/runtime.ts'
import { newId } from '../../kit/new-id.ts'
import type { KeptRun, RunParent } from '../loop/run-book.ts'
import type { OpenRun } from '../loop/run-state.ts'
import { endOf } from './background.ts'
import type { ChildPorts } from './child-ports.ts'
import { isCallOf } from './is-call-of.ts'

/** Where the agent of a call is. */
export interface ChildAt {
  readonly id: string
  /** Its run, if it goes on. */
  readonly before: KeptRun | undefined
  /** Its run, if it has ended, and the call that started it was cut off before it could tell. */
  readonly ended?: KeptRun
  /** The id that the first agent of the call has. */
  readonly first: string
}

/**
 * The agent of a call: the one that it started before, if that one was cut off, waits or was interrupted in the background, or if the call was cut off;
 * else a new one. Providers count ids from zero, so an agent that has ended says nothing about a new call, unless a run gave the call its id, and an
 * interrupted one must have the same task.
 */
export function placeOf(
  { session, toolCallId }: StartingCall,
  { task }: Pick<ChildWish, 'task'>,
  ports: ChildPorts,
): ChildAt {
  const { book, store } = ports
  const { tenant } = session.principal
  const first = `run_${hash('sha256', JSON.stringify([tenant, session.id, toolCallId]), 'hex').slice(0, 24)}`
  const before = book.load(tenant, first)
  if (before === undefined) return { id: first, before, first }
  const isCutOff = before.state === 'running' && !store.lives(before.writer)
  const isInterrupted =
    before.parent?.background !== undefined &&
    endOf(before, store)?.how === 'interrupted' &&
    book.transcript(first, tenant).some((node) => node.type === 'user' && node.text.includes(task))
  const goesOn = isCutOff || isInterrupted || before.endReason === 'approval_pending'
  if (goesOn && before.prunedAt === undefined) return { id: first, before, first }
  return isOfCall(toolCallId, before, ports.runOf(session)) && before.state === 'ended'
    ? { id: first, before: undefined, ended: before, first }
    : { id: newId('run', ports.now()), before: undefined, first }
}

/** Where an agent is that goes on because a call asks for that. */
export interface ResumedAt extends Omit<ChildAt, 'before'> {
  readonly before: KeptRun & { readonly parent: RunParent }
  /** Whether it is told the task of the call; false if it was, and the call is made again, as it was cut off. */
  readonly isTold: boolean
}

/** The agent of this id, which the session started. Fails with `unknown_agent`, `agent_running`, `agent_waits` or `agent_pruned` if it cannot go on. */
export function placeOfResumed(
  { session, toolCallId }: StartingCall,
  { resume: id, task }: { readonly resume: string; readonly task: string },
  ports: ChildPorts,
): ResumedAt {
  const { book, store } = ports
  const { tenant, actor } = session.principal
  const run = book.load(tenant, id)
  const parent = run?.parent
  if (run === undefined || parent?.session !== session.id || run.actor !== actor) throw unknownAgent(id)
  if (parent.wish?.kind === 'worker')
    throw cannotGoOn('unknown_agent', id, 'is a worker. Dispatch one with agent.dispatch_worker.')
  if (run.prunedAt !== undefined)
    throw cannotGoOn('agent_pruned', id, 'has no conversation any more: it was pruned. Start a new agent.')
  const isCutOff = run.state === 'running'
  if (isCutOff && store.lives(run.writer)) throw agentRuns(id)
  const place = { id, before: { ...run, parent }, first: id }
  const said = book.transcript(id, tenant).findLast(({ type }) => type === 'user')
  const wasTold = parent.toolCallId === toolCallId && said?.type === 'user' && said.text.includes(task)
  const isOver = !isCutOff && run.endReason !== 'approval_pending' && endOf(run, store)?.how !== 'interrupted'
  if (wasTold && !isOver) return { ...place, isTold: false }
  if (wasTold && isOfCall(toolCallId, run, ports.runOf(session)))
    return { ...place, isTold: false, ended: run }
  if (run.hasOpenCalls)
    throw cannotGoOn(
      'agent_waits',
      id,
      'has calls that are not over: they wait for a person, or were cut off. Start a new agent with what this one found.',
    )
  return { ...place, isTold: true }
}

/** Whether an agent was started, or told to go on, by this very call of a run. */
function isOfCall(toolCallId: string, agent: KeptRun, run: OpenRun | undefined): boolean {
  return isCallOf(run, toolCallId) && agent.parent?.run === run.id
}

function cannotGoOn(reason: string, agent: string, why: string): ToolFailure {
  return new ToolFailure({ reason, message: `The agent "${agent}" ${why}`, data: { agent } })
}

export function agentRuns(agent: string): ToolFailure {
  return cannotGoOn('agent_running', agent, 'is at work, and goes on with its own task. Wait for its end.')
}

export function unknownAgent(agent: string): ToolFailure {
  return new ToolFailure({
    reason: 'unknown_agent',
    message: `This session started no agent "${agent}".`,
    data: { agent },
  })
}

/** Counts an agent, or refuses one too many. Returns what takes that back, for one that did not start. */
export function countChild(
  session: Session,
  started: WeakMap<Session, number>,
  ports: ChildPorts,
): () => void {
  const { tenant } = session.principal
  const before = started.get(session) ?? ports.book.children(tenant, session.id).length
  if (before >= ports.childrenPerSession)
    throw new ToolFailure({
      code: 'QUOTA.BUDGET_EXCEEDED',
      reason: 'agents',
      message: `This session has started ${before} agents, which is all that it may. Do the rest yourself.`,
      data: { limit: ports.childrenPerSession },
    })
  started.set(session, before + 1)
  return () => void started.set(session, (started.get(session) ?? 1) - 1)
}
