import type { ApproverRule, AskedCall } from '../contract/policy.ts'
import { meetsPatterns } from '../kit/match/match-pattern.ts'
import { toCallingActor } from '../kit/names/calling-actor.ts'

/** How many different people have to say yes to this call. */
export function countNeeded(rules: readonly ApproverRule[], asked: AskedCall): number {
  return Math.max(1, ...matching(rules, asked).map(({ needed = 1 }) => needed))
}

/** Why this actor cannot say yes to the call; undefined if they can. An empty name is that of a person of whom nothing is known. */
export function findApproverIssue(
  rules: readonly ApproverRule[],
  asked: AskedCall,
  { by, at }: { by: string; at: number },
): string | undefined {
  for (const rule of matching(rules, asked)) {
    const { approvers, notRequester = false, needed = 1, escalate } = rule
    const escalated =
      escalate !== undefined && at >= asked.askedAt + escalate.afterMs ? escalate.approvers : []
    if (by === '' && (approvers !== undefined || notRequester || needed > 1))
      return 'the policy says who may decide, and the answer does not say who gave it'
    if (notRequester && toCallingActor(by) === asked.requester)
      return 'the policy wants the yes of another person than the one who asks'
    if (approvers !== undefined && !meetsPatterns([...approvers, ...escalated], by))
      return `the policy wants the yes of ${approvers.join(' or ')}`
  }
  return undefined
}

function matching(rules: readonly ApproverRule[], { tenant, tool }: AskedCall): readonly ApproverRule[] {
  return rules.filter(({ tenants, tools }) => meetsPatterns(tenants, tenant) && meetsPatterns(tools, tool))
}
