import type { ApprovalBinding, Approver } from '../../../contract/approval.ts'
import type { CallError } from '../../../contract/base/errors.ts'
import type { Plan } from '../../../contract/tool/plan.ts'
import { canonicalJson } from '../../../kit/json/canonical-json.ts'
import { callError } from '../../../kit/result/call-error.ts'
import { findExhausted } from '../../limits/budgets.ts'
import { isSameQuestion, keptQuestionText } from '../../limits/create-running-calls.ts'
import { planInTime } from '../../limits/plan-in-time.ts'
import { createRunWatch } from '../../limits/run-watch.ts'
import {
  abortedWhileAsked,
  askPerson,
  toAsked,
  toPersonAnswer,
  type Yes,
} from '../../permission/ask-person.ts'
import type { Asked } from '../../permission/asked.ts'
import { callableDigest } from '../../permission/callable-digest.ts'
import { toAnswer } from '../../permission/hear-person.ts'
import {
  findQuestion,
  isAllowed,
  keepQuestion,
  namesApprovers,
  needsOthers,
} from '../../permission/keep-question.ts'
import { pendingError, refusal, unaskable, unreviewable } from '../../permission/refusals.ts'
import { keepApproval } from '../../permission/session-approvals.ts'
import { whoIsAsked } from '../../permission/who-is-asked.ts'
import { findApprovedLeg } from '../../parts/find-approved-leg.ts'
import { wasApproved } from '../../record/kept-call.ts'
import type { KeptQuestion } from '../../state/approval-book.ts'
import { advance } from '../../state/advance.ts'
import {
  halt,
  type Approved,
  type Halted,
  type Hooked,
  type Parked,
  type Planned,
} from '../../state/call-state.ts'
import type { Question } from '../../state/running-calls.ts'
import { saidDigest } from '../../state/said-digest.ts'
import type { CallScope } from '../../state/scope.ts'
import { toCallError } from '../../state/to-call-error.ts'
import { previewDigest } from './plan.ts'

/**
 * Step 6: if the decision is to ask, a person says yes to exactly this call. A yes is bound to the principal, the input,
 * the definition, the policy and the preview; if any of them is another one by now, nothing runs. An answer that was given since the call was
 * made before counts once.
 */
export function approve(hooked: Hooked, scope: CallScope): Asking | Promise<Asking> {
  const { decision } = hooked
  if (decision.effect === 'allow') return advance.approve(hooked, unaskedYes(hooked, hooked.consent))
  const earlier =
    answeredBefore(hooked, scope) ??
    answeredWithWhole(hooked, scope) ??
    findApprovedLeg(hooked, previewDigest(hooked.plan, scope.tenant), scope)
  return earlier === undefined
    ? approveByPerson(hooked, scope)
    : advance.approve(hooked, unaskedYes(hooked, earlier))
}

/** What becomes of a call that may ask. */
type Asking = Approved | Halted | Parked

function unaskedYes({ plan }: Hooked, consent: string | undefined) {
  return { approval: undefined, deferred: false, use: undefined, plan, consent }
}

/** The earlier call whose yes of a person this one need not ask for again, as it gets the result of that one. */
export function answeredBefore(planned: Planned, { session }: CallScope): string | undefined {
  const { kept } = planned
  return kept !== undefined && wasApproved(kept, planned, session) ? kept.begin.call : undefined
}

/**
 * The call that this one is a part of, if it goes on with that, or if the person who said yes to that one saw exactly this. What is for people that the policy names, for a person at each
 * call, or to be seen after the run, is asked about for itself.
 */
function answeredWithWhole(hooked: Hooked, scope: CallScope): string | undefined {
  const { partOf, registered, plan } = hooked
  if (partOf?.segment !== undefined) return partOf.call
  if (partOf?.seen === undefined || plan.held !== undefined) return undefined
  if (registered.definition.consent.personOnly === true || namesApprovers(registered, scope)) return undefined
  return isSame(partOf.seen, bind(hooked, plan, scope)) ? partOf.call : undefined
}

async function approveByPerson(hooked: Hooked, scope: CallScope): Promise<Asking> {
  const { session } = scope
  const approver = whoIsAsked(hooked.approve, hooked.registered, scope)
  const binding = bind(hooked, hooked.plan, scope)
  const question: Question = { binding, kept: hooked.kept?.begin.call, ancestors: session.ancestors }
  const asked = toAsked(hooked, scope.tenant.store.digest(keptQuestionText(question)))
  const found = await findAnswer(asked, scope)
  const answered = found && goOn(found, { asked, binding }, scope)
  if (answered !== undefined) return answered
  const parks =
    approver === undefined
      ? hooked.parks !== false || namesApprovers(hooked.registered, scope)
      : (hooked.parks !== false || asksInVain(approver, hooked, scope)) && approver.ahead !== true
  if (approver === undefined && !parks) return halt('approve', hooked, unaskable(asked, scope))
  const exhausted = findExhaustedBudget(hooked, scope)
  if (exhausted !== undefined) return halt('approve', hooked, exhausted)
  const { refused } = hooked
  if (refused !== undefined && isSameQuestion(refused.question, question))
    return halt('approve', hooked, refused.error)
  if (approver === undefined || parks) return park(found, asked, scope)
  if (isTriedFirst(hooked)) return runFirst(hooked, scope)
  return askNow(approver, { asked: { ...asked, kept: found }, question }, scope)
}

/** Whether a call needs people whom its process does not ask, and its caller cannot wait for them. */
function asksInVain(approver: Approver, hooked: Hooked, scope: CallScope): boolean {
  return approver.only !== undefined && needsOthers(approver.only, hooked, scope)
}

/** The answer counts for a call whose changes are held, and the person is asked once it has ended. */
function runFirst(hooked: Hooked, { session }: CallScope): Approved {
  const { plan, consent, call } = hooked
  const { name } = hooked.registered.definition
  session.emit({
    type: 'permission_deferred',
    level: 'info',
    call: call.id,
    toolCallId: call.toolCallId,
    tool: name,
    summary: `${name} runs with what it changes held back, and the person is asked when it has ended`,
  })
  return advance.approve(hooked, { approval: undefined, deferred: true, use: undefined, plan, consent })
}

async function askNow(
  approver: Approver,
  { asked, question }: { asked: Asked; question: Question },
  scope: CallScope,
): Promise<Approved | Halted> {
  const { session, tenant } = scope
  const { hooked } = asked
  const { binding } = question
  const { name } = hooked.registered.definition
  tenant.observer?.enters(hooked.call, 'approve')
  const askedAt = tenant.tick()
  const answer = await askPerson(approver, asked, scope)
  hooked.waitedMs += tenant.tick() - askedAt
  if ('error' in answer) {
    if (answer.error.reason === 'denied') hooked.refused = { question, error: answer.error }
    return halt('approve', hooked, answer.error)
  }

  const now = await replan(hooked, scope)
  const { ended } = createRunWatch(hooked, session.endings)
  if (ended !== undefined)
    return { ...halt('approve', hooked, abortedWhileAsked(name, ended)), use: answer.use }
  if (now === undefined || !isSame(binding, bind(hooked, now, scope)))
    return { ...halt('approve', hooked, stale(name)), use: answer.use }
  return advance.approve(hooked, toYes({ ...answer, binding, plan: now }, hooked, scope))
}

/** What a yes adds to its call. A yes for the session counts once the call has begun. */
function toYes(
  yes: Yes & { binding: ApprovalBinding; plan: Plan },
  hooked: Hooked,
  scope: CallScope,
): Pick<Approved, 'approval' | 'deferred' | 'use' | 'plan' | 'consent'> {
  const { decision, use, binding, plan } = yes
  const expiresAt = scope.tenant.tick() + scope.tenant.limits.approvalTtlMs
  return { approval: { decision, binding, expiresAt }, deferred: false, use, plan, consent: hooked.consent }
}

/** What is kept of this very question. One of the same call that was about something else is taken back. */
async function findAnswer(asked: Asked, scope: CallScope): Promise<KeptQuestion | undefined> {
  const found = findQuestion(asked.hooked, scope)
  if (found === undefined || found.approval.state === 'denied' || found.approval.state === 'expired')
    return found
  if (found.approval.digest === asked.digest && isStillAnswerable(found, scope)) return found
  // The question of another call stays: what changed here may be as it was there.
  if (isOwn(found, asked.hooked)) await scope.tenant.approvals.withdraw(found.approval.id)
  return undefined
}

function isOwn({ approval: { id, request } }: KeptQuestion, { call, answers }: Hooked): boolean {
  return answers === id || (request.session === call.session && request.toolCallId === call.toolCallId)
}

/** By the policy of now, its yeses count, or more can be given. */
function isStillAnswerable({ approval }: KeptQuestion, scope: CallScope): boolean {
  return approval.state === 'waiting' || isAllowed(approval, scope)
}

/** Goes on with what was answered elsewhere; undefined if that is open. */
function goOn(
  question: KeptQuestion,
  { asked, binding }: { asked: Asked; binding: ApprovalBinding },
  scope: CallScope,
): Approved | Halted | undefined {
  const { hooked } = asked
  const { approval } = question
  if (approval.state === 'waiting') return undefined
  const use = scope.tenant.approvals.use(question, hooked.call.id)
  const answer = toAnswer(approval)
  if (answer !== undefined) hooked.answer = { ...toPersonAnswer(answer, hooked, scope), id: approval.id }
  if (answer === undefined || answer.decision === 'deny')
    return { ...halt('approve', hooked, refusal(asked, answer, scope)), use }
  return advance.approve(
    hooked,
    toYes({ decision: answer.decision, use, binding, plan: hooked.plan }, hooked, scope),
  )
}

/** Keeps the question for the person who answers it later, and lets the call come back. What is to be seen after the run cannot wait. */
async function park(
  found: KeptQuestion | undefined,
  asked: Asked,
  scope: CallScope,
): Promise<Parked | Halted> {
  const { hooked } = asked
  if (hooked.plan.held?.review === 'always') return halt('approve', hooked, unreviewable(asked, scope))
  try {
    // That of a process that has ended is asked anew, with all the time that there is.
    const open = found?.approval.digest === asked.digest && found.returns !== 'held' ? found : undefined
    if (found !== undefined && open === undefined) await scope.tenant.approvals.withdraw(found.approval.id)
    const { approval } = open ?? (await keepQuestion(asked, scope, hooked.parks || 'anew'))
    return { parked: approval, error: pendingError(asked, approval), state: hooked }
  } catch (error) {
    return halt('approve', hooked, toCallError(error, hooked.registered.definition.name))
  }
}

/**
 * Whether a call runs before the person is asked: all that it does is held back, so that they see what it did and decide whether that lands. One with
 * a key is asked about first: what it takes stands for later calls.
 */
function isTriedFirst({ plan, kept, key, approve: approver }: Hooked): boolean {
  return plan.held?.tryFirst === true && approver?.ahead !== true && kept === undefined && key === undefined
}

/** Keeps a yes for the session, once its call has begun. A person who lets an earlier result be given has not seen a call that runs. */
export function keepYes(approved: Approved, scope: CallScope): void {
  const { approval, decision, kept, plan } = approved
  if (approval?.decision === 'allow_for_session' && decision.keepable !== false && kept === undefined)
    keepApproval(approved, plan.scope, scope)
}

/** What keeps a call from running although it is let through: no person is asked about a call that a budget has no room for. */
export function findExhaustedBudget(hooked: Hooked, { tenant, session }: CallScope): CallError | undefined {
  if (hooked.kept !== undefined) return undefined
  const { principal } = session
  const { definition } = hooked.registered
  const budgets = tenant.budgets?.budgetsFor(principal, definition) ?? []
  const { profile, bytesIn } = hooked
  const call = { principal, definition, profile, bytesIn, at: tenant.now() }
  return findExhausted(budgets, call, tenant.store)
}

/** What was approved is not what would happen now. */
export function stale(tool: string): CallError {
  return callError('POLICY.APPROVAL_DENIED', 'approval_stale', {
    message: `"${tool}" was approved, but what it would do has changed since, or the approval expired. Nothing was done. Look at the current state and call again.`,
  })
}

/** Each answer of a person is for one call. */
export function usedBefore(tool: string): CallError {
  return callError('POLICY.APPROVAL_DENIED', 'approval_stale', {
    message: `The person's answer for "${tool}" was used by another call, or changed, so this one did nothing. Call again to ask anew.`,
  })
}

async function replan(hooked: Hooked, scope: CallScope): Promise<Plan | undefined> {
  const { tool } = hooked.registered
  if (tool.plan === undefined || hooked.kept !== undefined) return hooked.plan
  try {
    return await planInTime(hooked, scope)
  } catch {
    // It could be planned a moment ago and cannot now: that is a change, and a change makes the yes stale.
    return undefined
  }
}

/** What a yes to a call with this plan holds for. */
export function bind(hooked: Hooked, plan: Plan, { tenant, session }: CallScope): ApprovalBinding {
  return {
    principal: canonicalJson(session.principal),
    inputDigest: saidDigest(hooked, tenant),
    definitionDigest: callableDigest(hooked.registered, session),
    policyDigest: tenant.latest().policy.digest,
    previewDigest: previewDigest(plan, tenant),
  }
}

function isSame(left: ApprovalBinding, right: ApprovalBinding): boolean {
  return canonicalJson(left) === canonicalJson(right)
}
