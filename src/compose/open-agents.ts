import { createRunBook } from '../agents/loop/run-book.ts'
import type { RunPorts } from '../agents/loop/run-state.ts'
import type { AgentRun, AgentRuns } from '../contract/agent-run.ts'
import type { RunOptions } from '../contract/runtime.ts'
import type { PendingApprovals } from '../contract/pending-approval.ts'
import type { Session, SessionOptions } from '../contract/runtime.ts'
import { reserveModelUse } from '../runtime/limits/model-budgets.ts'
import type { Family } from '../runtime/state/family.ts'
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
  readonly openSession: (options: SessionOptions) => Session
}

/** Opens the agents of a runtime. What runs them is loaded with the first one. */
export function openAgents(
  { stores: { store }, tenants, resolved }: RuntimeParts,
  { approvals, families, openSession }: AgentSurroundings,
): Agents {
  const book = createRunBook(store)
  const open = new Set<AgentRun>()
  const contextOf = ({ principal: { tenant } }: Session) => tenants.of(tenant).context
  const ports: RunPorts = {
    book,
    store,
    approvals,
    openSession,
    checker: tenants.of(localTenant).context.checker,
    now: resolved.now,
    hasApprover: (session) => families.get(session)?.approver !== undefined,
    account: {
      reserve: (session, { id, estimate }) =>
        reserveModelUse(
          contextOf(session).budgets?.modelBudgetsFor(session.principal) ?? [],
          { id, estimate, principal: session.principal, at: resolved.now() },
          store,
        ),
    },
    follow(run) {
      open.add(run)
      return () => void open.delete(run)
    },
  }
  return {
    runs: book,
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
