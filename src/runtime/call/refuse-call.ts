import type { ApprovalDecision } from '../../contract/pending-approval.ts'
import { toAsked, toPersonAnswer } from '../permission/ask-person.ts'
import { findQuestion } from '../permission/keep-question.ts'
import { denial } from '../permission/refusals.ts'
import { halt, isHalted, type Called, type Halted } from '../state/call-state.ts'
import type { CallScope } from '../state/scope.ts'
import { prepare } from './pipeline.ts'
import { recallForPreflight } from './steps/recall.ts'

/** A call that a person said no to elsewhere: it ends as if they had been asked here. What is kept of its question is used up. */
export async function refuseCall(called: Called, no: ApprovalDecision, scope: CallScope): Promise<Halted> {
  const hooked = await prepare<never>(called, scope, { recall: recallForPreflight, isPreflight: true })
  if (isHalted(hooked)) return hooked
  const { by, reason } = no
  const answer = { decision: no.decision, by, ...(reason !== undefined && { reason }) }
  hooked.answer = toPersonAnswer(answer, hooked, scope)
  const question = findQuestion(hooked, scope)
  const use = question && scope.tenant.approvals.use(question, hooked.call.id)
  return { ...halt('approve', hooked, denial(toAsked(hooked, ''), hooked.answer.reason)), use }
}
