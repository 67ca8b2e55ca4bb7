import { Scheduler } from '../agents/schedules/create-scheduler.ts'
import type { PendingApprovals } from '../contract/pending-approval.ts'
import type { Session, SessionOptions } from '../contract/runtime.ts'
import { isBuiltin } from '../kit/builtin-tools.ts'
import type { Agents } from './open-agents.ts'
import type { RuntimeParts } from './runtime-parts.ts'

/** What of their runtime schedules need beside its parts. */
export interface ScheduleSurroundings {
  readonly agents: Agents
  readonly approvals: PendingApprovals
  readonly openSession: (options: SessionOptions) => Session
}

/** Opens the schedules of a runtime. None runs before it is started. */
export function openSchedules(
  { stores: { store }, tenants, registry, resolved, onError, redactor }: RuntimeParts,
  { agents, approvals, openSession }: ScheduleSurroundings,
): Scheduler {
  return new Scheduler({
    store,
    approvals,
    openSession,
    now: resolved.now,
    logError: (cause) => onError({ call: '', tool: 'schedules', cause }),
    defaultMode: (tenant) => tenants.of(tenant).context.policy.defaultMode,
    findTool(name, tenant) {
      const found = registry.view(tenant).find(name)
      if (found === undefined) return undefined
      const { definition, tool, line, identity } = found
      return { definition, identity: isBuiltin(tool) ? line : identity }
    },
    startAgent: (options, id) => agents.runAs(id, options),
    agentRuns: agents.runs,
    model: resolved.agents.model,
    price: resolved.agents.price,
    redact: (text) => redactor.text(text),
  })
}
