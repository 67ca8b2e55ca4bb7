import type { ChildPorts } from '../agents/children/create-agent-host.ts'
import { createRunBook } from '../agents/loop/run-book.ts'
import type { OpenRun, RunPorts } from '../agents/loop/run-state.ts'
import { describeSkills } from '../agents/skills/describe-skills.ts'
import type { SkillRegistry } from '../contract/base/skill.ts'
import type { AgentDefinitionRegistry } from '../contract/base/agent-definition.ts'
import type { AgentHost } from '../contract/agent-host.ts'
import type { AgentRun, AgentRuns } from '../contract/agent-run.ts'
import type { PendingApprovals } from '../contract/pending-approval.ts'
import type { RunOptions, Session } from '../contract/runtime.ts'
import { reserveModelUse } from '../runtime/limits/model-budgets.ts'
import type { Family } from '../runtime/state/family.ts'
import type { AgentOptions } from './options/agent-options.ts'
import type { RuntimeParts } from './runtime-parts.ts'
import { localTenant } from './tenant-contexts.ts'

/** The agents of a runtime. */
export interface Agents {
  readonly runs: AgentRuns
  run(options: RunOptions): Promise<AgentRun>
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
  const ports = toPorts(parts, around, open)
  parts.agents.host = createLazyHost(ports)
  return {
    runs: ports.book,
    async run(options) {
      const { openRun } = await import('../agents/loop/open-run.ts')
      return openRun(options, ports)
    },
    async close() {
      const running = [...open]
      for (const run of running) run.abort('The runtime is closing.')
      await Promise.allSettled(running.map(({ result }) => result))
    },
  }
}

function toPorts(
  { stores: { store }, tenants, resolved }: RuntimeParts,
  { approvals, families, openSession, options }: AgentSurroundings,
  open: Set<AgentRun>,
): ChildPorts {
  const contextOf = ({ principal: { tenant } }: Session) => tenants.of(tenant).context
  const runs = new WeakMap<Session, OpenRun>()
  const { model, models = {}, childrenPerSession = 100 } = options
  const { context } = tenants.of(localTenant)
  return {
    book: createRunBook(store),
    store,
    approvals,
    openSession,
    checker: context.checker,
    now: resolved.now,
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
        reserveModelUse(
          contextOf(session).budgets?.modelBudgetsFor(session.principal) ?? [],
          { id, estimate, principal: session.principal, at: resolved.now() },
          store,
        ),
    },
    follow(run, state) {
      open.add(run)
      runs.set(state.session, state)
      return () => {
        open.delete(run)
        runs.delete(state.session)
      }
    },
    childrenPerSession,
    projectOf: (session) => contextOf(session).project,
    // A host hands it in as a service, for the tool that lists definitions too.
    definitions: context.services['agentDefinitions'] as AgentDefinitionRegistry | undefined,
    findModel: (name) =>
      name === undefined ? model : Object.hasOwn(models, name) ? models[name] : undefined,
    runOf: (session) => runs.get(session),
  }
}

function canLoadSkills(session: Session): boolean {
  return session.tools({ shared: true }).some(({ tool }) => tool === 'internal.load_skill')
}

/** What starts agents is loaded with the first call that does. */
function createLazyHost(ports: ChildPorts): AgentHost {
  const load = async () => {
    const { createAgentHost } = await import('../agents/children/create-agent-host.ts')
    return createAgentHost(ports)
  }
  let host: ReturnType<typeof load> | undefined
  return {
    open: (call) => ({
      start: async (wish) => (await (host ??= load())).open(call).start(wish),
      inspect: async (agent) => (await (host ??= load())).open(call).inspect(agent),
    }),
  }
}
