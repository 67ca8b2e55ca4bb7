import type { AgentHost, StartingCall } from '../../contract/agent-host.ts'
import type { AgentRun } from '../../contract/agent-run.ts'
import type { ChildAgents, ChildWish, WorkerOrder, WorkerReport } from '../../contract/base/child-agents.ts'
import { ToolFailure } from '../../contract/base/errors.ts'
import type { Session } from '../../contract/runtime.ts'
import type { ChildPorts } from './child-ports.ts'
import { closeSteps, toClaims, toWish } from './dispatch-worker.ts'
import { findDefinition } from './find-means.ts'
import { countChild, placeOf } from './find-child-place.ts'
import { startChild, type Start } from './start-child.ts'
import { toTeamCaller } from './to-team-caller.ts'
import { emptyReport, named, toPresent, toReport } from './to-report.ts'
import { createWorkerPools } from './worker-pools.ts'

/** Starts agents for calls, and opens their teams. */
export function createAgentHost(ports: ChildPorts): AgentHost {
  const started = new WeakMap<Session, number>()
  const pools = createWorkerPools(ports)
  const start = async (wish: ChildWish, about: Omit<Start, 'joined'>): Promise<AgentRun> => {
    const { call, id, before } = about
    const member = toTeamCaller({ ...call, redact: (text) => text, ended: () => call.signal.aborted }, ports)
    const joined = wish.team && (await ports.teams.join(member, wish.team, id))
    try {
      const count = before === undefined ? countChild(call.session, started, ports) : undefined
      const starting = startChild(wish, { ...about, joined })
      count?.()
      return await starting
    } catch (error) {
      if (joined !== undefined && before === undefined) await ports.teams.leave(member, joined)
      throw error
    }
  }
  const dispatch = async (order: WorkerOrder, call: StartingCall): Promise<WorkerReport> => {
    const pool = pools.find(order)
    const claims = toClaims(order, ports.tasksOf(call.session, call.session.id))
    const definition = await findDefinition({ definition: pool.definition }, call.session, ports)
    const { id, before } = placeOf(call, ports)
    const worker = await pools.take(pool, { order, call, agent: id, isResumed: before !== undefined })
    try {
      const wish = toWish(order, { pool, worker, claims })
      const about = { call, ports, id, before, definition, worker: { id: worker, claims } }
      const run = await start(wish, about)
      const report = toReport(await run.result, pool.definition)
      const left = report.waiting === undefined ? await closeSteps(report, { call, claims, ports }) : []
      return { ...report, worker, pool: pool.id, left }
    } finally {
      await pools.release(worker, { pool, call, agent: id })
    }
  }
  return {
    open: (call): ChildAgents => ({
      async start(wish) {
        const definition = await findDefinition(wish, call.session, ports)
        const { id, before } = placeOf(call, ports)
        const run = await start(wish, { call, ports, id, before, definition })
        if (wish.background === true) {
          // How it ended stands in its run.
          run.result.catch(() => undefined)
          return { ...emptyReport, agent: id, ...named(wish), state: 'running' }
        }
        return toReport(await run.result, wish.definition)
      },
      async inspect(agent) {
        const run = ports.book.load(call.session.principal.tenant, agent)
        if (run?.parent?.session !== call.session.id) throw unknownAgent(agent)
        return toPresent(run, ports)
      },
      dispatch: (order) => dispatch(order, call),
      pools: async (pool) => pools.list(call.session, pool),
    }),
    openTeams: (call) => ports.teams.open(toTeamCaller(call, ports)),
  }
}

function unknownAgent(agent: string): ToolFailure {
  return new ToolFailure({
    reason: 'unknown_agent',
    message: `This session started no agent "${agent}".`,
    data: { agent },
  })
}
