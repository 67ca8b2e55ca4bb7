import type { AgentHost, StartingCall } from '../../contract/agent-host.ts'
import type {
  ChildAgents,
  ChildReport,
  ChildWish,
  WorkerOrder,
  WorkerReport,
} from '../../contract/base/child-agents.ts'
import { ToolFailure } from '../../contract/base/errors.ts'
import type { Session } from '../../contract/runtime.ts'
import { toAgent } from './background.ts'
import type { ChildPorts } from './child-ports.ts'
import { findDefinition } from './choose.ts'
import { closeSteps, toClaims, toWish } from './dispatch-worker.ts'
import { countChild, placeOf } from './find-child-place.ts'
import { toPresent, toReport, toRunning } from './reports.ts'
import { followAgent, resumeAgents } from './resume-agents.ts'
import { prepareChild, type PreparedChild, type Start } from './start-child.ts'
import { toTeamCaller } from './to-team-caller.ts'
import { createWorkerPools } from './worker-pools.ts'
import { closeWorktree, findWorktree } from './worktree.ts'

/** Starts agents, opens their teams, and goes on with the agents of a session. */
export interface ResumingHost extends Pick<AgentHost, 'open' | 'openTeams'> {
  /** Goes on with the agents that a session had in the background when it was interrupted. */
  resume(session: Session): Promise<void>
}

/** Starts agents for calls, and opens their teams. */
export function createAgentHost(ports: ChildPorts): ResumingHost {
  const started = new WeakMap<Session, number>()
  const pools = createWorkerPools(ports)
  /** Agents that went on with their session; the call that started one may be made again, as it was cut off too. */
  const resumed = new Set<string>()
  const start = async (wish: ChildWish, about: Omit<Start, 'joined'>): Promise<ChildReport> => {
    const { call, id, before } = about
    const member = toTeamCaller({ ...call, redact: (text) => text, ended: () => call.signal.aborted }, ports)
    const joined = wish.team && (await ports.teams.join(member, wish.team, id))
    let uncount: (() => void) | undefined
    try {
      const child = prepareChild(wish, { ...about, joined })
      if (before === undefined) uncount = countChild(call.session, started, ports)
      return await (child.background === undefined ? toTheEnd : inBackground)(child, wish, about)
    } catch (error) {
      if (ports.book.load(call.session.principal.tenant, id) === undefined) {
        uncount?.()
        if (joined !== undefined) await ports.teams.leave(member, joined)
      }
      throw error
    }
  }
  const dispatch = async (order: WorkerOrder, call: StartingCall): Promise<WorkerReport> => {
    const pool = pools.find(order)
    const claims = toClaims(order, ports.tasksOf(call.session, call.session.id))
    const definition = await findDefinition(pool.definition, call.session, ports)
    const { id, before } = placeOf(call, { task: order.instruction }, ports)
    const worker = await pools.take(pool, { order, call, agent: id, isResumed: before !== undefined })
    try {
      const wish = toWish(order, { pool, worker, claims })
      const about = { call, ports, id, before, definition, worker: { id: worker, claims } }
      const report = await start(wish, about)
      const left = report.waiting === undefined ? await closeSteps(report, { call, claims, ports }) : []
      return { ...report, worker, pool: pool.id, left }
    } finally {
      await pools.release(worker, { pool, call, agent: id })
    }
  }
  return {
    open: (call): ChildAgents => ({
      async start(wish) {
        const definition = await findDefinition(wish.definition, call.session, ports)
        const { id, before, first } = placeOf(call, wish, ports)
        const about = { call, ports, id, before, definition }
        if (wish.background === true && resumed.delete(first))
          return toRunning(first, await placeToShow(first, wish, about))
        return start(wish, about)
      },
      async inspect(agent) {
        const { id, principal } = call.session
        const run = ports.book.load(principal.tenant, agent)
        if (run?.parent?.session !== id || run.actor !== principal.actor) throw unknownAgent(agent)
        const worktree = await findWorktree(agent, call.session, ports)
        return toPresent(run, ports, { definition: run.parent.definition, worktree })
      },
      dispatch: (order) => dispatch(order, call),
      pools: async (pool) => pools.list(call.session, pool),
    }),
    openTeams: (call) => ports.teams.open(toTeamCaller(call, ports)),
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

function unknownAgent(agent: string): ToolFailure {
  return new ToolFailure({
    reason: 'unknown_agent',
    message: `This session started no agent "${agent}".`,
    data: { agent },
  })
}
