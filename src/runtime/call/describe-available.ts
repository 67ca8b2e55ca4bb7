import type { CallError } from '../../contract/base/errors.ts'
import type { Effect } from '../../contract/policy.ts'
import type { Profile } from '../../contract/base/profile.ts'
import type { Registered } from '../../contract/registry.ts'
import type { AvailableSpec, AvailableTool, BudgetState } from '../../contract/runtime.ts'
import { toolUrn } from '../../kit/match/urn.ts'
import { authoriseUse } from '../permission/authorise-use.ts'
import { describeBudgets, findExhausted, type BudgetedCall } from '../limits/budgets.ts'
import type { Road } from '../state/ground.ts'
import { deniedTool, factsOfTool, findExceededCalls, profileOf } from './steps/authorise.ts'
import { excludedTool } from './steps/find.ts'

/** What the session's principal could do with each of these tools right now. Reads, and changes nothing. */
export async function describeAvailable(tools: readonly Registered[], road: Road): Promise<AvailableSpec> {
  const { policy, policyVersion, registry } = road.ground
  return {
    policyDigest: policy.digest,
    policyVersion,
    registryVersion: registry.version(),
    tools: await Promise.all(tools.map((registered) => describeTool(registered, road))),
  }
}

async function describeTool(registered: Registered, road: Road): Promise<AvailableTool> {
  const { session } = road
  const { definition, digest } = registered
  const profile = profileOf(definition, road)
  const { effect, error } = await judge(registered, profile, road)
  const { timeoutMs, maxBytesIn, maxBytesOut } = profile
  return {
    tool: definition.name,
    version: definition.version,
    definition: digest,
    compatibility: definition.compatibility,
    state: session.standing(registered).state,
    effect,
    ...(error !== undefined && { error }),
    profileHash: profile.digest,
    limits: { ...definition.limits, timeoutMs, maxBytesIn, maxBytesOut },
    budgets: budgetsOf(registered, profile, road),
  }
}

/** The same questions, in the same order, as a call is asked before anything is known of its input. */
async function judge(
  registered: Registered,
  profile: Profile,
  road: Road,
): Promise<{ effect: Effect; error?: CallError }> {
  const { ground, session } = road
  const { definition } = registered
  const exclusion = session.exclusion(registered)
  if (exclusion !== undefined)
    return {
      effect: 'deny',
      error: excludedTool(registered, { exclusion, standing: session.standing(registered) }, road),
    }
  const decision = ground.policy.decide(factsOfTool(definition, session))
  if (decision.effect === 'deny') return { effect: 'deny', error: deniedTool(definition, decision) }
  const spent = findExceededCalls(road) ?? findSpent(registered, profile, road)
  if (spent !== undefined) return { effect: 'deny', error: spent }
  const use = { action: 'invoke', resource: toolUrn(definition.name) }
  const refused = await authoriseUse({ call: { origin: 'llm' }, registered }, use, road)
  return refused === undefined ? { effect: decision.effect } : { effect: 'deny', error: refused.error }
}

function findSpent(registered: Registered, profile: Profile, road: Road): CallError | undefined {
  const { budgets, store } = road.ground
  if (budgets === undefined) return undefined
  const call = toBudgeted(registered, profile, road)
  return findExhausted(budgets.budgetsFor(call.principal, call.definition), call, store)
}

function budgetsOf(registered: Registered, profile: Profile, road: Road): readonly BudgetState[] {
  const { budgets, store } = road.ground
  if (budgets === undefined) return []
  const call = toBudgeted(registered, profile, road)
  return describeBudgets(budgets.budgetsFor(call.principal, call.definition), call, store)
}

function toBudgeted({ definition }: Registered, profile: Profile, { ground, session }: Road): BudgetedCall {
  return { principal: session.principal, definition, profile, bytesIn: 0, at: ground.now() }
}
