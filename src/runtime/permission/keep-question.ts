import type { ApprovalRequest } from '../../contract/approval.ts'
import type { PendingApproval } from '../../contract/pending-approval.ts'
import type { AskedCall } from '../../contract/policy.ts'
import type { Registered } from '../../contract/registry.ts'
import { canonicalJson } from '../../kit/json/canonical-json.ts'
import { toAskedCall } from '../approvals/stored-question.ts'
import { redactorOf } from '../record/treatments.ts'
import type { KeptQuestion, Returns } from '../state/approval-book.ts'
import type { Hooked } from '../state/call-state.ts'
import { saidDigest } from '../state/said-digest.ts'
import type { CallScope } from '../state/scope.ts'
import type { Asked } from './asked.ts'
import { toReach } from './to-reach.ts'
import { toRequest } from './to-request.ts'

/** Keeps what is asked in the store, as evidence may keep it: what the policy obliges to hide is hidden. Rejects if the store does not take it. */
export function keepQuestion(asked: Asked, scope: CallScope, returns: Returns): Promise<KeptQuestion> {
  const { tenant } = scope
  const { approvalTimeoutMs, pendingApprovalMs } = tenant.limits
  const { timeoutMs: _, ...request } = shorten(
    toRequest(asked, scope, redactorOf(asked.hooked.registered, scope)),
  )
  return tenant.approvals.ask({
    request,
    reach: toReach(asked.hooked, scope),
    subject: subjectOf(asked.hooked, scope),
    digest: asked.digest,
    needed: tenant.policy.approvalsNeeded(askedNow(asked.hooked.registered, scope)),
    waitMs: returns === 'held' ? approvalTimeoutMs : pendingApprovalMs,
    returns,
  })
}

/** Letters of a preview that are kept. */
const mostShown = 256 * 1024

/** A preview that is too long to be kept says so. */
function shorten(request: ApprovalRequest): ApprovalRequest {
  const { body } = request.preview
  if (body.length <= mostShown) return request
  const note = `\n[${body.length - mostShown} more characters are shown only where the call itself waits. What is not seen here is agreed to unseen.]`
  return { ...request, preview: { ...request.preview, body: body.slice(0, mostShown) + note } }
}

/** The question that was asked about this call before, or about one that can come back as it; of a call that is resumed, that very one. */
export function findQuestion(hooked: Hooked, scope: CallScope): KeptQuestion | undefined {
  const { tenant, session } = scope
  const subject = subjectOf(hooked, scope)
  if (hooked.answers === undefined)
    return tenant.approvals.asked({
      tenant: session.principal.tenant,
      subject,
      session: session.id,
      toolCallId: hooked.call.toolCallId,
    })
  const found = tenant.approvals.read(hooked.answers)
  const isOf = found?.subject === subject && found.approval.tenant === session.principal.tenant
  return isOf && found.approval.state !== 'used' && !found.approval.request.ran ? found : undefined
}

/** Whether the policy says who may decide about a call, so that its question waits for them. */
export function namesApprovers(registered: Registered, scope: CallScope): boolean {
  const asked = askedNow(registered, scope)
  return scope.tenant.policy.approverIssue(asked, { by: '', at: asked.askedAt }) !== undefined
}

/** Whether a yes of this actor alone lets a call not through, by the policy. */
export function needsOthers(by: string, { registered }: Hooked, scope: CallScope): boolean {
  const asked = askedNow(registered, scope)
  const { policy } = scope.tenant
  return (
    policy.approverIssue(asked, { by, at: asked.askedAt }) !== undefined || policy.approvalsNeeded(asked) > 1
  )
}

/** A call that would be asked about now, as the policy takes it. */
function askedNow({ definition }: Registered, { tenant, session }: CallScope): AskedCall {
  const { tenant: name, actor: requester } = session.principal
  return { tenant: name, tool: definition.name, requester, askedAt: tenant.now() }
}

/** Whether the answers to a question are yeses of people who may give them, by the policy of now. */
export function isAllowed(approval: PendingApproval, { tenant: { policy } }: CallScope): boolean {
  const { state, answers } = approval
  const asked = toAskedCall(approval)
  const people = new Set(answers.map(({ by }) => by))
  return (
    state === 'allowed' &&
    people.size >= policy.approvalsNeeded(asked) &&
    answers.every(({ by, at }) => policy.approverIssue(asked, { by, at }) === undefined)
  )
}

/** What makes two calls the same for the person who answers: who asks, and what. */
export function subjectOf(hooked: Hooked, { tenant, session }: CallScope): string {
  return tenant.store.digest(
    canonicalJson([
      'approval',
      session.principal,
      (session.ancestors ?? []).map(({ principal }) => principal.role),
      hooked.registered.definition.name,
      saidDigest(hooked, tenant),
      hooked.kept?.begin.call ?? '',
    ]),
  )
}
