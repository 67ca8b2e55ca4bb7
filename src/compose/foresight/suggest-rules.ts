import type { Store } from '../../contract/store.ts'
import type { RecordedCall } from '../../evidence/read-calls.ts'
import type { RuntimeOptions } from '../options/runtime-options.ts'
import { createSimulation } from '../simulation/create-simulation.ts'
import { readsInput } from '../simulation/read-recorded.ts'
import { createJudge } from './create-judge.ts'
import { nameCall, toJudgedCall, type NamedCall } from './judged-call.ts'
import { nameReach, type NamedReach } from './name-reach.ts'
import { findCandidates, kinOf } from './narrowest-rules.ts'
import { approvalOf, findRecentCalls } from './recent-calls.ts'
import {
  findNeededPeople,
  makeRule,
  rolesOf,
  trySuggestion,
  type Answered,
  type Ground,
  type SuggestedRule,
} from './suggested-rule.ts'
import { decide } from './try-rule.ts'

/** Which approvals of the past are looked at, and what decides now. */
export interface SuggestRequest {
  /** It is only read. */
  readonly store: Pick<Store, 'records' | 'tenants'>
  /** As for `createRuntime`: the tools, and the policy that is in force. */
  readonly runtime: RuntimeOptions
  /** Calls since then, in milliseconds since the epoch. Default: of the last seven days. */
  readonly since?: number
  /** Default: all. Each tenant is looked at by itself. */
  readonly tenants?: readonly string[]
  /** How often people must have said yes to calls that are alike. Default 2. */
  readonly fewest?: number
}

/** Approved calls that no rule answers, and why. */
export interface WithoutRule {
  readonly tenant: string
  readonly tool: string
  readonly calls: readonly NamedCall[]
  readonly reason: string
}

export interface Suggestions {
  /** Those that answer most first. */
  readonly suggested: readonly SuggestedRule[]
  readonly withoutRule: readonly WithoutRule[]
  /** Whether only the newest calls, or those that were approved most, were looked at, as there are too many. */
  readonly isCut: boolean
}

/** How far back is looked. */
export const week = 7 * 86_400_000
/** Kinds of calls of one tenant that rules are made for, those that were approved most. */
const mostFamilies = 20
/** Calls of one tenant that are looked at. */
export const mostCalls = 5_000

/**
 * The narrowest rules that would have answered what people said yes to more than once. Each is tried on the calls of the same time, in the pipeline of every
 * call: a rule that would not help is not suggested, and the reason is told. Nothing runs, and nothing is written.
 *
 * @example
 * const { suggested } = await suggestRules({ store: runtime.store, runtime: options })
 * for (const { rule, others } of suggested) console.log(JSON.stringify(rule), others.length)
 */
export async function suggestRules(request: SuggestRequest): Promise<Suggestions> {
  const { store, runtime, since = Date.now() - week, tenants = store.tenants(), fewest = 2 } = request
  const present = await createSimulation({ ...runtime, onError: () => {} })
  const judge = createJudge(present, readsInput(runtime.policy ?? {}))
  try {
    const suggested: SuggestedRule[] = []
    const withoutRule: WithoutRule[] = []
    let isCut = false
    for (const tenant of tenants) {
      const found = findRecentCalls(store, { tenants: [tenant], since, most: mostCalls })
      isCut ||= found.isCut
      const ground = { tenant, calls: found.calls, runtime, present, judge }
      const { families, others } = await findFamilies(ground)
      isCut ||= families.length > mostFamilies
      withoutRule.push(...others.filter(({ calls }) => calls.length >= fewest))
      for (const family of families.slice(0, mostFamilies)) {
        const made = await suggestFor(family, fewest, ground)
        suggested.push(...made.suggested)
        withoutRule.push(...made.withoutRule)
      }
    }
    const sorted = suggested.toSorted((one, other) => other.approved.length - one.approved.length)
    return { suggested: sorted, withoutRule, isCut }
  } finally {
    await present.close()
  }
}

/** Approved calls of one tool and role that are alike. */
interface Family {
  readonly tool: string
  readonly members: { readonly item: Answered; readonly reach: NamedReach }[]
}

/** Calls that people said yes to and that would be asked about now, those that are alike together; and those that no rule can name. */
async function findFamilies(ground: Ground): Promise<{ families: Family[]; others: WithoutRule[] }> {
  const { tenant, calls, present, judge } = ground
  const families = new Map<string, Family>()
  const others = new Map<string, WithoutRule & { calls: NamedCall[] }>()
  for (const recorded of calls) {
    const approval = approvalOf(recorded)
    if (approval === undefined) continue
    const call = toJudgedCall(recorded)
    const { tool } = call
    const reach = nameApproved(recorded, ground)
    if ('reason' in reach) {
      const key = JSON.stringify([tool, reach.reason])
      const known = others.get(key) ?? { tenant, tool, calls: [], reason: reach.reason }
      known.calls.push(nameCall(call))
      others.set(key, known)
      continue
    }
    // What a program wrote is judged with its call, beside what the plan named.
    const now = call.wrote ? await decide(call, present) : await judge(recorded)
    if ('effect' in now && now.effect === 'allow') continue
    const key = JSON.stringify([tool, rolesOf(call), kinOf(reach)])
    const family = families.get(key) ?? { tool, members: [] }
    family.members.push({ item: { call, by: approval.by }, reach })
    families.set(key, family)
  }
  const sorted = [...families.values()].toSorted((one, other) => other.members.length - one.members.length)
  return { families: sorted, others: [...others.values()] }
}

function nameApproved(
  recorded: RecordedCall,
  { tenant, present, runtime }: Ground,
): NamedReach | { readonly reason: string } {
  const { begin, inputText, changed } = recorded
  const { tool } = begin
  const registered = present.find(tool, tenant)
  if (registered === undefined)
    return { reason: 'the tool is not here, so that no rule of this policy speaks of it' }
  if (begin.definition !== `${registered.definition.version} ${registered.digest}`)
    return { reason: 'the tool is another one by now than the one that people said yes to' }
  const people = findNeededPeople(runtime.policy ?? {}, { tenant, tool })
  if (people !== undefined) return { reason: people }
  if (inputText === undefined) return { reason: 'what it said was pruned, or not kept' }
  if (changed.includes('input') || changed.includes('operations'))
    return { reason: 'what was kept of it is not what its record has the digest of' }
  return nameReach(toJudgedCall(recorded), { project: present.projectOf(tenant), registered })
}

async function suggestFor(
  { tool, members }: Family,
  fewest: number,
  ground: Ground,
): Promise<{ suggested: SuggestedRule[]; withoutRule: WithoutRule[] }> {
  const suggested: SuggestedRule[] = []
  const withoutRule: WithoutRule[] = []
  for (const { reached, items } of findCandidates({ members }, fewest)) {
    const rule = makeRule({ tool, calls: items.map(({ call }) => call), reached }, ground)
    const tried = await trySuggestion({ rule, tool, answered: items }, ground)
    if (!('reason' in tried)) {
      suggested.push(tried)
      continue
    }
    const { reason, unhelped } = tried
    withoutRule.push({
      tenant: ground.tenant,
      tool,
      calls: unhelped.map(({ call }) => nameCall(call)),
      reason,
    })
    const isUnhelped = new Set(unhelped)
    const rest = members.filter(({ item }) => !isUnhelped.has(item) && items.includes(item))
    if (rest.length < fewest) continue
    const again = await suggestFor({ tool, members: rest }, fewest, ground)
    suggested.push(...again.suggested)
    withoutRule.push(...again.withoutRule)
  }
  return { suggested, withoutRule }
}
