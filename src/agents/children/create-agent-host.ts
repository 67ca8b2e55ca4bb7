import { hash } from 'node:crypto'
import type { AgentHost, StartingCall } from '../../contract/agent-host.ts'
import type { ChildAgents, ChildReport, ChildWish } from '../../contract/base/child-agents.ts'
import { ToolFailure } from '../../contract/base/errors.ts'
import type { Session } from '../../contract/runtime.ts'
import { newId } from '../../kit/new-id.ts'
import type { KeptRun } from '../loop/run-book.ts'
import { endOf, toAgent } from './background.ts'
import type { ChildPorts } from './child-ports.ts'
import { findDefinition } from './choose.ts'
import { toPresent, toReport, toRunning } from './reports.ts'
import { followAgent, resumeAgents } from './resume-agents.ts'
import { prepareChild, type PreparedChild, type Start } from './start-child.ts'
import { closeWorktree, findWorktree } from './worktree.ts'

/** Starts agents, and goes on with those of a session. */
export interface ResumingHost extends Pick<AgentHost, 'open'> {
  /** Goes on with the agents that a session had in the background when it was interrupted. */
  resume(session: Session): Promise<void>
}

/** Starts agents for calls. */
export function createAgentHost(ports: ChildPorts): ResumingHost {
  const started = new WeakMap<Session, number>()
  /** Agents that went on with their session; the call that started one may be made again, as it was cut off too. */
  const resumed = new Set<string>()
  return {
    open: (call): ChildAgents => ({
      async start(wish) {
        const definition = await findDefinition(wish.definition, call.session, ports)
        const { id, before, first } = placeOf(call, wish, ports)
        const start: Start = { call, ports, id, before, definition }
        if (wish.background === true && resumed.delete(first))
          return toRunning(first, await placeToShow(first, wish, start))
        const child = prepareChild(wish, start)
        const uncount = before === undefined ? countChild(call.session, started, ports) : undefined
        try {
          return await (child.background === undefined ? toTheEnd : inBackground)(child, wish, start)
        } catch (error) {
          if (ports.book.load(call.session.principal.tenant, id) === undefined) uncount?.()
          throw error
        }
      },
      async inspect(agent) {
        const { id, principal } = call.session
        const run = ports.book.load(principal.tenant, agent)
        if (run?.parent?.session !== id || run.actor !== principal.actor) throw unknownAgent(agent)
        const worktree = await findWorktree(agent, call.session, ports)
        return toPresent(run, ports, { definition: run.parent.definition, worktree })
      },
    }),
    async resume(session) {
      for (const id of await resumeAgents(session, ports)) resumed.add(id)
    },
  }
}

/** Starts an agent that the call waits for. One that waits for a person keeps its worktree. */
async function toTheEnd(child: PreparedChild, wish: ChildWish, start: Start): Promise<ChildReport> {
  const { call, ports, id } = start
  const run = await child.start(call.signal)
  const settle = () => (child.isolated ? closeWorktree(id, call.session, ports) : Promise.resolve(undefined))
  try {
    const result = await run.result
    const worktree =
      result.endReason === 'approval_pending' ? await findWorktree(id, call.session, ports) : await settle()
    return toReport(result, { definition: wish.definition, worktree })
  } catch (error) {
    await settle()
    throw error
  }
}

/** Starts an agent as a job of the session. */
async function inBackground(child: PreparedChild, wish: ChildWish, start: Start): Promise<ChildReport> {
  const { call, ports, id, before } = start
  const { background, isolated } = child
  if (background === undefined) throw new Error('Only an agent in the background is a job.')
  const { session } = call
  const first = { id, tenant: session.principal.tenant, startedAt: before?.startedAt ?? ports.now() }
  await ports.hold(session, {
    ...toAgent(first, background, ports.book),
    async start(signal) {
      const run = await child.start(signal)
      return { ended: followAgent(run, { session, ports, isolated }) }
    },
  })
  return toRunning(id, await placeToShow(id, wish, start))
}

async function placeToShow(id: string, { definition }: ChildWish, { call, ports }: Start) {
  return { definition, worktree: await findWorktree(id, call.session, ports) }
}

/**
 * The id of the agent of a call: that of the one that it started before, if that one was cut off, waits or was interrupted in the background; else a
 * new one. Providers count ids from zero, so an agent that has ended says nothing about a new call, and an interrupted one must have the same task.
 */
function placeOf(
  { session, toolCallId }: StartingCall,
  { task }: ChildWish,
  ports: ChildPorts,
): { id: string; before: KeptRun | undefined; first: string } {
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
  return goesOn && before.prunedAt === undefined
    ? { id: first, before, first }
    : { id: newId('run', ports.now()), before: undefined, first }
}

/** Counts an agent, or refuses one too many. Returns what takes that back, for one that did not start. */
function countChild(session: Session, started: WeakMap<Session, number>, ports: ChildPorts): () => void {
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

function unknownAgent(agent: string): ToolFailure {
  return new ToolFailure({
    reason: 'unknown_agent',
    message: `This session started no agent "${agent}".`,
    data: { agent },
  })
}
