import type { Policy, Rule } from '../../contract/policy.ts'
import type { Role } from '../../contract/base/principal.ts'
import type { RecordedCall } from '../../evidence/read-calls.ts'
import { canonicalJson } from '../../kit/json/canonical-json.ts'
import { digest } from '../../kit/json/digest.ts'
import { pointerTo } from '../../kit/json/json-pointer.ts'
import { meetsPatterns } from '../../kit/match/match-pattern.ts'
import type { RuntimeOptions } from '../options/runtime-options.ts'
import type { Simulation } from '../simulation/create-simulation.ts'
import { placeOfRule } from './add-rule.ts'
import { nameCall, type JudgedCall, type NamedCall } from './judged-call.ts'
import type { Judge } from './create-judge.ts'
import type { Reached } from './name-reach.ts'
import { openTrial, type LetThrough } from './try-rule.ts'

/** A rule that would have answered calls in the place of people. */
export interface SuggestedRule {
  readonly tenant: string
  readonly tool: string
  readonly rule: Rule
  /** The JSON pointer of its place in the policy. In `/rules` it holds for every tenant, as the policy names none. */
  readonly place: string
  /** The calls that it would have let through in the place of a person, the oldest first. */
  readonly approved: readonly NamedCall[]
  /** Who said yes to them, as far as they are known. */
  readonly approvers: readonly string[]
  /** What else it would have let through unasked. */
  readonly others: readonly LetThrough[]
  /** Calls of the tool of which nothing can be said. */
  readonly unjudged: number
}

/** A call that a rule is made for, and who said yes to it, if that is known. */
export interface Answered {
  readonly call: JudgedCall
  readonly by?: string | undefined
}

/** What suggestions of one tenant stand on. */
export interface Ground {
  readonly tenant: string
  /** Calls of the tenant: the rule is held against those of its tool. */
  readonly calls: readonly RecordedCall[]
  /** What decides now. */
  readonly runtime: RuntimeOptions
  readonly present: Simulation
  /** By what decides now. */
  readonly judge: Judge
}

/** The rule that lets these calls through and as little else as its words can say. Its id names what it says. */
export function makeRule(
  { tool, calls, reached }: { tool: string; calls: readonly JudgedCall[]; reached: Reached },
  { present, tenant }: Pick<Ground, 'present' | 'tenant'>,
): Rule {
  const roles = [...new Set(calls.flatMap(rolesOf))].sort()
  // A command is what the folder makes of it in which it runs.
  const projects = reached.commands === undefined ? {} : { projects: [present.projectOf(tenant)] }
  const says = { effect: 'allow' as const, tools: [tool], roles, ...projects, ...reached }
  return { id: `approved ${tool} ${digest(canonicalJson(says)).slice(0, 6)}`, ...says }
}

/** The roles that a rule has to speak of: those of the session, and of those above it. */
export function rolesOf({ caller: { role = 'main', parents = [] } }: JudgedCall): Role[] {
  return [...new Set([role, ...parents.map((parent) => parent.role)])].sort()
}

/** Tries a rule on what it is made for, and on all else; or says why it would not help, and which calls it would not let through. */
export async function trySuggestion(
  { rule, tool, answered }: { rule: Rule; tool: string; answered: readonly Answered[] },
  { tenant, calls, runtime, judge }: Ground,
): Promise<SuggestedRule | { readonly reason: string; readonly unhelped: readonly Answered[] }> {
  const trial = await openTrial({ tenant, rule, runtime, judge })
  if ('reason' in trial) return { reason: trial.reason, unhelped: answered }
  try {
    const unhelped: Answered[] = []
    let reason = ''
    for (const each of answered) {
      const obstacle = await trial.findObstacle(each.call)
      if (obstacle === undefined) continue
      reason ||= obstacle
      unhelped.push(each)
    }
    if (unhelped.length > 0) return { reason, unhelped }
    const own = new Set(answered.map(({ call }) => call.call))
    const others = await trial.findOthers(
      calls.filter(({ begin }) => begin.tool === tool && !own.has(begin.call)),
    )
    const approved = answered.map(({ call }) => nameCall(call))
    const approvers = [...new Set(answered.flatMap(({ by }) => (by === undefined ? [] : [by])))].sort()
    return {
      tenant,
      tool,
      rule,
      place: placeIn(runtime.policy ?? {}, tenant),
      approved,
      approvers,
      ...others,
    }
  } finally {
    await trial.close()
  }
}

function placeIn(policy: Policy, tenant: string): string {
  return placeOfRule(policy, tenant).reduce<string>(pointerTo, '')
}

/** Why no rule may answer in the place of people: the policy wants several of them, or others than who asks. */
export function findNeededPeople(
  { approvers = [] }: Policy,
  { tenant, tool }: { tenant: string; tool: string },
): string | undefined {
  const rule = approvers.find(
    ({ tenants, tools, needed = 1, notRequester = false }) =>
      meetsPatterns(tenants, tenant) && meetsPatterns(tools, tool) && (needed > 1 || notRequester),
  )
  if (rule === undefined) return undefined
  const { needed = 1 } = rule
  const who = needed > 1 ? `${needed} people` : 'somebody else than who asks'
  return `the policy wants ${who} to say yes to each such call (approvers), and a rule would answer in their place`
}
