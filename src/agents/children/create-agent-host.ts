import type { AgentHost, StartingCall } from '../../contract/agent-host.ts'
import type {
  ChildAgents,
  ChildReport,
  ChildWish,
  WorkerOrder,
  WorkerReport,
} from '../../contract/services/child-agents.ts'
import { SetupError, ToolFailure } from '../../contract/base/errors.ts'
import type { Session } from '../../contract/runtime.ts'
import type { KeptRun } from '../loop/run-book.ts'
import { toAgent } from './background.ts'
import type { ChildPorts } from './child-ports.ts'
import { findDefinition } from './choose.ts'
import { closeSteps, toClaims, toWish } from './dispatch-worker.ts'
import {
  agentRuns,
  countChild,
  placeOf,
  placeOfResumed,
  unknownAgent,
  type ResumedAt,
} from './find-child-place.ts'
import { toPresent, toReport, toRunning } from './reports.ts'
import { followAgent, resumeAgents } from './resume-agents.ts'
import { prepareChild, prepareResumed, type PreparedChild, type Start } from './start-child.ts'
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
  const start = async (
    wish: ChildWish,
    about: Omit<Start, 'joined'>,
    resumedAt?: ResumedAt,
  ): Promise<ChildReport> => {
    const { call, id, before } = about
    if (about.ended !== undefined) return tellEnded(about.ended, wish, about)
    const member = toTeamCaller({ ...call, redact: (text) => text, ended: () => call.signal.aborted }, ports)
    const joined = wish.team && (await ports.teams.join(member, wish.team, id))
    let uncount: (() => void) | undefined
    try {
      const child =
        resumedAt === undefined
          ? prepareChild(wish, { ...about, joined })
          : prepareResumed(wish, { ...about, joined }, resumedAt)
      if (before === undefined) uncount = countChild(call.session, started, ports)
      return await (child.background === undefined ? toTheEnd : inBackground)(child, wish, about)
    } catch (error) {
      if (ports.book.load(call.session.principal.tenant, id) === undefined) {
        uncount?.()
        if (joined !== undefined) await ports.teams.leave(member, joined)
      }
      // Of two calls that go on with one agent at once, the other one was faster.
      if (resumedAt !== undefined && error instanceof SetupError && error.code === 'run_in_progress')
        throw agentRuns(id)
      throw error
    }
  }
  const dispatch = async (order: WorkerOrder, call: StartingCall): Promise<WorkerReport> => {
    const pool = pools.find(order)
    const claims = toClaims(order, ports.tasksOf(call.session, call.session.id))
    const definition = await findDefinition(pool.definition, call.session, ports)
    const { id, before, ended } = placeOf(call, { task: order.instruction }, ports)
    const worker = await pools.take(pool, {
      order,
      call,
      agent: id,
      isResumed: (before ?? ended) !== undefined,
    })
    try {
      const wish = toWish(order, { pool, worker, claims })
      const about = { call, ports, id, before, ended, definition, worker: { id: worker, claims } }
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
        const resumedAt = findResumed(wish, call, ports)
        const whole = resumedAt === undefined ? wish : asItWas(wish, resumedAt)
        const definition = await findDefinition(whole.definition, call.session, ports)
        const { id, before, ended, first } = resumedAt ?? placeOf(call, whole, ports)
        const about = { call, ports, id, before, ended, definition }
        if (whole.background === true && resumed.delete(first))
          return toRunning(first, await placeToShow(first, whole, about))
        return start(whole, about, resumedAt)
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

/** What the call that was cut off would have told of its agent. */
async function tellEnded(ended: KeptRun, wish: ChildWish, start: Start): Promise<ChildReport> {
  const { call, ports, id } = start
  if (wish.background !== true && ended.parent?.worktree !== undefined)
    await closeWorktree(id, call.session, ports)
  const place = await placeToShow(id, wish, start)
  return wish.background === true ? toRunning(id, place) : toPresent(ended, ports, place)
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

function findResumed(wish: ChildWish, call: StartingCall, ports: ChildPorts): ResumedAt | undefined {
  const { resume, task } = wish
  return resume === undefined ? undefined : placeOfResumed(call, { resume, task }, ports)
}

/** The wish for an agent that goes on: of the definition that it has. */
function asItWas(wish: ChildWish, { before: { id, parent } }: ResumedAt): ChildWish {
  const { definition } = parent
  if (wish.definition === undefined || wish.definition === definition) return { ...wish, definition }
  throw new ToolFailure({
    reason: 'other_definition',
    message: `The agent "${id}" is ${definition === undefined ? 'of no definition' : `of the definition "${definition}"`}, and stays that. Leave the definition out, or start a new agent.`,
    data: { agent: id },
  })
}
