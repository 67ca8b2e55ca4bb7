import type { SessionModel } from '../contract/base/call.ts'
import type { Mode, Role } from '../contract/base/principal.ts'
import type { Registered } from '../contract/registry.ts'
import { matchPattern } from '../kit/match/match-pattern.ts'
import type { Restrictions } from './create-restrictions.ts'

/** Why a known tool is not in a session's set. */
export type Exclusion = 'role_denied' | 'mode_denied' | 'model_denied' | 'tool_not_available'

/** What a session may use. */
export interface EffectiveSetRequest {
  role: Role
  mode: Mode
  /** The model behind the session, where it names one. */
  model: SessionModel | undefined
  /** Lists of what the configuration lets through at most: names or patterns; a tool must meet each. */
  configured: readonly (readonly string[])[]
  /** What the session asks for: names or patterns; undefined or empty means the default of the role. */
  allowed: readonly string[] | undefined
  /** Names or patterns; beats both. */
  disallowed: readonly string[]
  /** What narrows the set for a while. */
  restrictions: Pick<Restrictions, 'permits'>
}

/** Never for sub, fork and worker, whatever is asked for; nor any other tool that starts agents, nor any task tool but a worker's. */
const delegationTools: readonly string[] = [
  'agent.plan_template',
  'agent.create_sub_agent',
  'agent.fork_agent',
  'agent.list_agent_definitions',
  'agent.list_workers',
  'agent.dispatch_worker',
  'agent.create_team',
  'agent.delete_team',
  'cron.create',
  'cron.delete',
  'internal.recall_memory',
  'internal.write_memory',
]

/** What a worker needs for a step of its own. */
const workerTools: readonly string[] = [
  'agent.task_get',
  'agent.task_query_steps',
  'agent.task_claim_step',
  'agent.task_update_step',
]

/**
 * Why a tool is not in the effective set of a session; undefined when it is. A hard boundary: what is excluded here cannot be
 * called, whatever the model asks for.
 */
export function findExclusion(registered: Registered, request: EffectiveSetRequest): Exclusion | undefined {
  const { definition } = registered
  if (isDelegated(request.role) && delegates(definition)) return 'role_denied'
  if (request.disallowed.some((pattern) => matchPattern(pattern, definition.name)))
    return 'tool_not_available'
  if (!isConfigured(definition.name, request) || !isAllowed(registered, request)) return 'tool_not_available'
  if (!request.restrictions.permits(definition.name)) return 'tool_not_available'
  if (!worksWith(request.model, definition)) return 'model_denied'
  if (request.mode === 'plan' && definition.permission === 'write') return 'mode_denied'
  return undefined
}

/** Whether a tool works with a model: with any, if none is named. A model without a name is one of its provider's. */
export function worksWith(
  model: SessionModel | undefined,
  { compatibility: { providers, models } }: Registered['definition'],
): boolean {
  if (model === undefined) return true
  const { provider, name } = model
  const isAmong = (patterns: readonly string[], wanted: string | undefined): boolean =>
    patterns.length === 0 || wanted === undefined || patterns.some((pattern) => matchPattern(pattern, wanted))
  return isAmong(providers, provider) && isAmong(models, name)
}

function isDelegated(role: Role): boolean {
  return role === 'sub' || role === 'fork' || role === 'worker'
}

/** The tag `agent` marks tools that start agents, from any source. */
function delegates({ name, tags }: Registered['definition']): boolean {
  if (workerTools.includes(name)) return false
  return delegationTools.includes(name) || name.startsWith('agent.task_') || tags.includes('agent')
}

function isConfigured(name: string, { configured }: EffectiveSetRequest): boolean {
  return configured.every((list) => list.some((pattern) => matchPattern(pattern, name)))
}

/** A worker, a fork or a sub-agent without a list of its own gets its role's default, not its parent's set. */
function isAllowed({ definition }: Registered, request: EffectiveSetRequest): boolean {
  if (request.allowed !== undefined && request.allowed.length > 0) {
    return request.allowed.some((pattern) => matchPattern(pattern, definition.name))
  }
  const readsCode = definition.permission === 'readonly' && definition.name.startsWith('code.')
  switch (request.role) {
    case 'main':
    case 'orchestrator':
      return true
    case 'sub':
    case 'fork':
      return readsCode
    case 'worker':
      return readsCode || workerTools.includes(definition.name)
  }
}
