import type { PendingApproval } from '../../contract/pending-approval.ts'
import { createSimulation } from '../simulation/create-simulation.ts'
import { readsInput } from '../simulation/read-recorded.ts'
import { createJudge } from './create-judge.ts'
import { toWaitingCall } from './judged-call.ts'
import { nameReach } from './name-reach.ts'
import { list } from './narrowest-rules.ts'
import { findRecentCalls } from './recent-calls.ts'
import { findNeededPeople, makeRule, trySuggestion, type SuggestedRule } from './suggested-rule.ts'
import { mostCalls, week, type SuggestRequest } from './suggest-rules.ts'

/**
 * The narrowest rule that would let the call of a question through, with what else it would have let through of the calls of its tenant; or why there is
 * none.
 */
export async function suggestForApproval(
  approval: PendingApproval,
  { store, runtime, since = Date.now() - week }: Omit<SuggestRequest, 'tenants' | 'fewest'>,
): Promise<SuggestedRule | { readonly reason: string }> {
  const { tenant, needed, request } = approval
  const { tool } = request
  const call = toWaitingCall(approval)
  if (call === undefined) return { reason: 'what the call reaches is not kept with the question' }
  const policy = runtime.policy ?? {}
  const people =
    needed > 1
      ? `${needed} people have to say yes to each such call, and a rule would answer in their place`
      : findNeededPeople(policy, { tenant, tool })
  if (people !== undefined) return { reason: people }
  const present = await createSimulation({ ...runtime, onError: () => {} })
  try {
    const registered = present.find(tool, tenant)
    if (registered === undefined)
      return { reason: `the tool "${tool}" is not here: the program that asks has a policy of its own` }
    if (call.definition !== `${registered.definition.version} ${registered.digest}`)
      return { reason: 'the tool that asks is another one than the one of that name here' }
    const reach = nameReach(call, { project: present.projectOf(tenant), registered })
    if ('reason' in reach) return reach
    const reached = list([reach])
    if (reached === undefined) return { reason: 'it reaches nothing that a rule could name' }
    const { calls } = findRecentCalls(store, { tenants: [tenant], since, most: mostCalls })
    const judge = createJudge(present, readsInput(policy))
    const ground = { tenant, calls, runtime, present, judge }
    const rule = makeRule({ tool, calls: [call], reached }, ground)
    const tried = await trySuggestion({ rule, tool, answered: [{ call }] }, ground)
    return 'reason' in tried ? { reason: tried.reason } : tried
  } finally {
    await present.close()
  }
}
