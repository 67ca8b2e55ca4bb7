import type { DecisionPoint } from '../../contract/decision-point.ts'
import type { TenantPolicy } from '../../contract/policy.ts'
import { canonicalJson } from '../../kit/json/canonical-json.ts'
import { digest } from '../../kit/json/digest.ts'
import { defaultSensitivePaths } from '../../policy/sensitive-paths.ts'
import { resolveSandbox } from './resolve-sandbox.ts'
import type { ResolvedOptions } from './resolve-options.ts'
import type { RuntimeOptions } from './runtime-options.ts'

/**
 * Options that decide nothing about a call: where things are kept and told, who answers, and what is recorded by itself, such as tools, by their
 * definitions. Every other option counts in the digest of the policy, a new one too.
 */
const aside = [
  'approve',
  'archive',
  'artifacts',
  'deferredTools',
  'duplicates',
  'feeds',
  'lookup',
  'memory',
  'now',
  'observers',
  'onEvent',
  'onError',
  'elicit',
  'secrets',
  'signing',
  'store',
  'services',
  'telemetry',
  'tools',
  'undo',
] as const satisfies readonly (keyof RuntimeOptions)[]

/** Options whose meaning stands in the resolved ones, and does not hang on how they were written. */
const resolvedElsewhere = [
  'agents',
  'disallowedTools',
  'env',
  'home',
  'limits',
  'project',
  'readRoots',
  'sensitivePaths',
  'tmp',
  'writeRoots',
] as const satisfies readonly (keyof RuntimeOptions)[]

/** What decides about the calls of one tenant. */
interface Deciding {
  readonly options: RuntimeOptions
  readonly resolved: ResolvedOptions
  /** What the policy says of the tenant alone. */
  readonly own: TenantPolicy | undefined
  /** The grants of the policy too. */
  readonly points: readonly DecisionPoint[]
}

/** Names everything that decides about the calls of a tenant: what is decided by other options has another digest. */
export function digestOptions(deciding: Deciding): string {
  return digest(canonicalJson(describeOptions(deciding)))
}

/** Everything that decides about the calls of a tenant, as far as JSON can say it. */
export function describeOptions({ options, resolved, own, points }: Deciding): object {
  const left = new Set<string>([...aside, ...resolvedElsewhere])
  const rest = Object.entries(options).filter(([name]) => !left.has(name))
  const { now: _now, tick: _tick, agents: _agents, env, ...places } = resolved
  return {
    ...Object.fromEntries(rest),
    ...describeAgents(options.agents),
    allowedTools: options.allowedTools ?? [],
    decisionPoints: points.map((point) => [point.id, point.digest]),
    hooks: (options.hooks ?? []).map(describeHook),
    overlapCalls: options.overlapCalls ?? false,
    policy: { ...options.policy, tenants: undefined },
    projectConfiguration: (options.projectConfiguration?.rules ?? []).filter(isTightening),
    sandbox: describeSandbox(options.sandbox),
    own,
    resolved: { ...places, env: Object.keys(env).sort() },
    defaultSensitivePaths,
  }
}

/** How many agents there may be. With which models they work, and what those cost, decides nothing about a call, and not every command loads them. */
function describeAgents(agents: RuntimeOptions['agents'] = {}): object {
  const { model: _model, price: _price, models: _models, prices: _prices, ...bounds } = agents
  return Object.keys(bounds).length === 0 ? {} : { agents: bounds }
}

/** A sandbox of the host program's own is known as that only. */
function describeSandbox(chosen: RuntimeOptions['sandbox']): object {
  return typeof chosen === 'function' ? { kind: 'custom' } : resolveSandbox(chosen)
}

type Hook = NonNullable<RuntimeOptions['hooks']>[number]

/** A hook in code is known by its name and by the calls that it sees. */
function describeHook(hook: Hook): object {
  if ('command' in hook) return hook
  const { name, tools, tags, timeoutMs } = hook
  return { name, tools, tags, timeoutMs, when: 'before' in hook ? 'before' : 'after' }
}

function isTightening({ effect }: { effect: string }): boolean {
  return effect !== 'allow'
}
