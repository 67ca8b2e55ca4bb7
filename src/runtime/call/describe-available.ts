import type { CallError } from '../../contract/base/errors.ts'
import type { Effect } from '../../contract/policy.ts'
import type { Profile } from '../../contract/base/profile.ts'
import type { Registered } from '../../contract/registry.ts'
import type { AvailableSpec, AvailableTool, BudgetState } from '../../contract/runtime.ts'
import { toolUrn } from '../../kit/match/urn.ts'
import { authoriseUse } from '../permission/authorise-use.ts'
import { describeBudgets, findExhausted, type BudgetedCall } from '../limits/budgets.ts'
import type { CallScope } from '../state/scope.ts'
import { profileOf } from '../permission/profile-of.ts'
import { deniedTool, factsOfTool, findExceededCalls } from './steps/authorise.ts'
import { excludedTool } from './steps/find.ts'

/** What the session's principal could do with each of these tools right now. Reads, and changes nothing. */
export async function describeAvailable(
  tools: readonly Registered[],
  scope: CallScope,
): Promise<AvailableSpec> {
  const { policy, policyVersion, registry } = scope.tenant
  return {
    policyDigest: policy.digest,
    policyVersion,
    registryVersion: registry.version(),
    tools: await Promise.all(tools.map((registered) => describeTool(registered, scope))),
  }
}

async function describeTool(registered: Registered, scope: CallScope): Promise<AvailableTool> {
  const { session } = scope
  const { definition, digest } = registered
  const profile = profileOf(definition, scope)
  const { effect, error } = await judge(registered, profile, scope)
  const { timeoutMs, maxBytesIn, maxBytesOut } = profile
  return {
    tool: definition.name,
    version: definition.version,
    definition: digest,
    compatibility: definition.compatibility,
    state: session.status(registered).state,
    effect,
    ...(error !== undefined && { error }),
    profileHash: profile.digest,
    limits: { ...definition.limits, timeoutMs, maxBytesIn, maxBytesOut },
    budgets: budgetsOf(registered, profile, scope),
  }
}

/** The same questions, in the same order, as a call is asked before anything is known of its input. */
async function judge(
  registered: Registered,
  profile: Profile,
  scope: CallScope,
): Promise<{ effect: Effect; error?: CallError }> {
  const { tenant, session } = scope
  const { definition } = registered
  const exclusion = session.exclusion(registered)
  if (exclusion !== undefined)
    return {
      effect: 'deny',
      error: excludedTool(registered, { exclusion, status: session.status(registered) }, scope),
    }
  const decision = tenant.policy.decide(factsOfTool(definition, session))
  if (decision.effect === 'deny') return { effect: 'deny', error: deniedTool(definition, decision) }
  const spent = findExceededCalls(scope) ?? findSpent(registered, profile, scope)
  if (spent !== undefined) return { effect: 'deny', error: spent }
  const use = { action: 'invoke', resource: toolUrn(definition.name) }
  const refused = await authoriseUse({ call: { origin: 'llm' }, registered }, use, scope)
  return refused === undefined ? { effect: decision.effect } : { effect: 'deny', error: refused.error }
}

function findSpent(registered: Registered, profile: Profile, scope: CallScope): CallError | undefined {
  const { budgets, store } = scope.tenant
  if (budgets === undefined) return undefined
  const call = toBudgeted(registered, profile, scope)
  return findExhausted(budgets.budgetsFor(call.principal, call.definition), call, store)
}

function budgetsOf(registered: Registered, profile: Profile, scope: CallScope): readonly BudgetState[] {
  const { budgets, store } = scope.tenant
  if (budgets === undefined) return []
  const call = toBudgeted(registered, profile, scope)
  return describeBudgets(budgets.budgetsFor(call.principal, call.definition), call, store)
}

function toBudgeted(
  { definition }: Registered,
  profile: Profile,
  { tenant, session }: CallScope,
): BudgetedCall {
  return { principal: session.principal, definition, profile, bytesIn: 0, at: tenant.now() }
}
