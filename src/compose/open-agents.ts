import { keptAgents } from '../agents/children/background.ts'
import type { ResumingHost } from '../agents/children/create-agent-host.ts'
import type { ChildPorts, PricedModel } from '../agents/children/child-ports.ts'
import { createTeamBook } from '../agents/teams/create-team-book.ts'
import { createRunBook } from '../agents/loop/run-book.ts'
import type { OpenRun, RunPorts } from '../agents/loop/run-state.ts'
import { describeSkills } from '../agents/skills/describe-skills.ts'
import type { SkillRegistry } from '../contract/services/skill.ts'
import type { AgentDefinitionRegistry } from '../contract/services/agent-definition.ts'
import { runtimeOver } from '../contract/agent-host.ts'
import type { CallError } from '../contract/base/errors.ts'
import type { AgentRun, AgentRuns, RunEvent } from '../contract/agent-run.ts'
import type { PendingApprovals } from '../contract/pending-approval.ts'
import type { RunOptions, Session } from '../contract/runtime.ts'
import { once } from '../kit/time/once.ts'
import type { RunningWork, Worker } from '../runtime/stops/work-book.ts'
import type { RuntimeStops } from './stops/create-stops.ts'
import { reserveModelUse } from '../runtime/limits/model-budgets.ts'
import type { Family } from '../runtime/state/family.ts'
import { createAgentWorktrees } from './agent-worktrees.ts'
import type { AgentOptions } from './options/agent-options.ts'
import type { RuntimeParts } from './runtime-parts.ts'
import { catchUp, createRunFiles } from './run-files.ts'
import { localTenant } from './tenant-contexts.ts'

/** The agents of a runtime. */
export interface Agents {
  readonly runs: AgentRuns
  run(options: RunOptions): Promise<AgentRun>
  /** Starts a run under this id. */
  runAs(id: string, options: RunOptions): Promise<AgentRun>
  /** Aborts the runs, and resolves when they have ended. */
  close(): Promise<void>
}

/** What of their runtime agents need beside its parts. */
export interface AgentSurroundings {
  readonly approvals: PendingApprovals
  readonly families: WeakMap<Session, Family>
  readonly openSession: RunPorts['openSession']
  readonly options: AgentOptions
}

/** Opens the agents of a runtime. What runs them is loaded with the first one. */
export function openAgents(parts: RuntimeParts, around: AgentSurroundings): Agents {
  const open = new Set<AgentRun>()
  const ports: ChildPorts = {
    ...toPorts(parts, around, open),
    resumeAgents: async ({ session }) => (await load()).resume(session),
  }
  const load = createLoader(ports)
  parts.agents.host = {
    open: (call) => ({
      start: async (wish) => (await load()).open(call).start(wish),
      inspect: async (agent) => (await load()).open(call).inspect(agent),
      dispatch: async (order) => (await load()).open(call).dispatch(order),
      pools: async (pool) => (await load()).open(call).pools(pool),
    }),
    openTeams: (call) => ({
      create: async (team) => (await load()).openTeams(call).create(team),
      send: async (message) => (await load()).openTeams(call).send(message),
      delete: async (team) => (await load()).openTeams(call).delete(team),
    }),
    kept: (session) => keptAgents(session, ports),
  }
  const { stores, redactor, onError } = parts
  const caughtUp = once(async () => {
    if (stores.archive === undefined) return
    const { store, archive } = stores
    await catchUp(archive, { store, book: ports.book, redactor }).catch((cause: unknown) =>
      onError({ call: '', tool: '', cause }),
    )
  })
  return {
    runs: ports.book,
    async run(options) {
      await caughtUp()
      const { openRun } = await import('../agents/loop/open-run.ts')
      return openRun(options, ports)
    },
    async runAs(id, options) {
      await caughtUp()
      const { openRun } = await import('../agents/loop/open-run.ts')
      return openRun(options, ports, { id, nodes: [], worktree: undefined })
    },
    async close() {
      const running = [...open]
      for (const run of running) run.abort(runtimeOver)
      await Promise.allSettled(running.map(({ result }) => result))
    },
  }
}

/** A run of whom nothing may run asks its model for nothing. */
function findPaused({ principal: { tenant, actor } }: Session, stops: RuntimeStops): CallError | undefined {
  return stops.find({ tenant, actor, tool: undefined, source: undefined })
}

/** A run, for one who stops it. */
function toWorker(
  run: AgentRun,
  { principal, id: session }: Session,
  { runs, at, lineage = [] }: Pick<Partial<Family>, 'lineage'> & { runs(this: void): boolean; at: number },
): Worker {
  const stop = (reason?: string): void => run.abort(reason)
  const work: RunningWork = { tool: undefined, source: undefined, call: undefined, at, stop }
  const above = lineage.map((each) => each.session).filter((each) => each !== session)
  return { principal, session, above, running: () => (runs() ? [work] : []) }
}

const usualPools = { default: { size: 4, description: 'Workers for the steps of any task.' } }

function toPorts(
  { stores, stops, tenants, resolved, redactor, onError }: RuntimeParts,
  { approvals, families, openSession, options }: AgentSurroundings,
  open: Set<AgentRun>,
): Omit<ChildPorts, 'resumeAgents'> {
  const { store } = stores
  const contextOf = ({ principal: { tenant } }: Session) => tenants.of(tenant).context
  const runs = new WeakMap<Session, OpenRun>()
  const { childrenPerSession = 100, workerPools = usualPools } = options
  const teams = createTeamBook({ store, now: resolved.now })
  const { context } = tenants.of(localTenant)
  return {
    book: createRunBook(store),
    store,
    approvals,
    openSession,
    checker: context.checker,
    now: resolved.now,
    redact: (value) => redactor.json(value),
    narrowingOf: (session) => families.get(session)?.narrowing() ?? { restrictions: [] },
    async describeSkills(session) {
      const { services, project, redactor } = contextOf(session)
      const registry = services['skillRegistry'] as SkillRegistry | undefined
      if (registry === undefined || !canLoadSkills(session)) return undefined
      const text = describeSkills((await registry.list(project)).skills)
      return text && redactor.text(text)
    },
    hasApprover: (session) => families.get(session)?.approver !== undefined,
    account: {
      reserve: (session, { id, estimate }) =>
        findPaused(session, stops) ??
        reserveModelUse(
          contextOf(session).budgets?.modelBudgetsFor(session.principal) ?? [],
          { id, estimate, principal: session.principal, at: resolved.now() },
          store,
        ),
    },
    follow(run, state) {
      open.add(run)
      const lineage = families.get(state.session)?.lineage
      stops.add(toWorker(run, state.session, { lineage, runs: () => open.has(run), at: resolved.now() }))
      runs.set(state.session, state)
      return () => {
        open.delete(run)
        runs.delete(state.session)
      }
    },
    kept: createRunFiles(stores.archive, { redactor, tenants, onError }),
    told: (run, event) => tell(families.get(run.session), event),
    childrenPerSession,
    workerPools,
    teams,
    mailboxes: teams,
    tasksOf(session, id) {
      const { tenant, actor, role } = session.principal
      const caller = { tenant, actor, role, session: id, claims: [], ended: () => false }
      return contextOf(session).tasks.open({ ...caller, redact: (value) => value })
    },
    projectOf: (session) => contextOf(session).project,
    // A host hands it in as a service, for the tool that lists definitions too.
    definitions: context.services['agentDefinitions'] as AgentDefinitionRegistry | undefined,
    findModel: (name) => findModel(name, options),
    runOf: (session) => runs.get(session),
    worktrees: createAgentWorktrees(tenants),
    async hold(session, agent) {
      const family = families.get(session)
      if (family === undefined) throw new Error('An agent can be held by a session of its runtime alone.')
      await family.hold(agent)
    },
    report: (agent, cause) => onError({ call: '', tool: `agent ${agent}`, cause }),
  }
}

function findModel(
  name: string | undefined,
  { model, price, models = {}, prices = {} }: AgentOptions,
): PricedModel | undefined {
  if (name === undefined) return model && { model, ...(price !== undefined && { price }) }
  const found = Object.hasOwn(models, name) ? models[name] : undefined
  const itsPrice = Object.hasOwn(prices, name) ? prices[name] : undefined
  return found && { model: found, ...(itsPrice !== undefined && { price: itsPrice }) }
}

/** Tells those who follow the session of a run what happens in it: what a call does, they are told by the call. */
function tell(family: Family | undefined, event: RunEvent): void {
  switch (event.type) {
    case 'run_started':
      return family?.emit({
        type: event.type,
        level: 'info',
        summary: `run ${event.run} ${event.resumed ? 'goes on' : 'starts'}`,
        data: { run: event.run, resumed: event.resumed },
      })
    case 'turn_ended':
      return family?.emit({
        type: event.type,
        level: 'info',
        summary: `turn ${event.turn} answered`,
        data: { turn: event.turn, usage: { ...event.usage } },
      })
    case 'compacted':
      return family?.emit({ type: event.type, level: 'info', summary: 'conversation summarised' })
    case 'run_ended': {
      const { id, endReason, turns, usage } = event.result
      return family?.emit({
        type: event.type,
        level: endReason === 'failed' ? 'fault' : 'info',
        summary: `run ${id} ended with ${endReason}`,
        data: { run: id, end_reason: endReason, turns, usage: { ...usage } },
      })
    }
    default:
      return undefined
  }
}

function canLoadSkills(session: Session): boolean {
  return session.tools({ shared: true }).some(({ tool }) => tool === 'internal.load_skill')
}

/** What starts agents is loaded with the first call that does. */
function createLoader(ports: ChildPorts): () => Promise<ResumingHost> {
  let host: Promise<ResumingHost> | undefined
  const load = async () => {
    const { createAgentHost } = await import('../agents/children/create-agent-host.ts')
    return createAgentHost(ports)
  }
  return () => (host ??= load())
}
