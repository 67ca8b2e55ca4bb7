import type {
  ApprovalAnswer,
  ApprovalBinding,
  ApprovalRequest,
  Approver,
} from '../../../contract/approval.ts'
import type { CallError } from '../../../contract/base/errors.ts'
import { isJsonObject } from '../../../kit/json/is-json-object.ts'
import type { Plan, Preview } from '../../../contract/base/plan.ts'
import type { Registered } from '../../../contract/registry.ts'
import type { PersonAnswer } from '../../../contract/base/result.ts'
import { callError } from '../../../kit/result/call-error.ts'
import { canonicalJson } from '../../../kit/json/canonical-json.ts'
import { showControls, showControlsInLine } from '../../../kit/text/show-controls.ts'
import { isIssue, toJson } from '../../../kit/json/to-json.ts'
import { showDuration } from '../../../kit/time/show-duration.ts'
import {
  advance,
  halt,
  type Approved,
  type GivenApproval,
  type Hooked,
  type Planned,
  type Halted,
} from '../../state/call-state.ts'
import { adviseYes } from '../../permission/advise-yes.ts'
import { isAnswer, noAnswer } from '../../permission/approval-answer.ts'
import { findExhausted } from '../../limits/budgets.ts'
import type { CallScope } from '../../state/scope.ts'
import { wasApproved } from '../../record/kept-call.ts'
import { planInTime } from '../../limits/plan-in-time.ts'
import { createRunWatch, type RunWatch } from '../../limits/run-watch.ts'
import type { Question } from '../../state/running-calls.ts'
import { isSameQuestion } from '../../limits/create-running-calls.ts'
import { saidDigest } from '../../state/said-digest.ts'
import { keepApproval, thisInput } from '../../permission/session-approvals.ts'
import { previewDigest } from './plan.ts'

/**
 * Step 6: where the decision is to ask, a person says yes to exactly this call. A yes is bound to the principal, the input,
 * the definition, the policy and the preview; if any of them is another one by now, nothing runs.
 */
export function approve(hooked: Hooked, scope: CallScope): Approved | Promise<Approved | Halted> {
  const { decision, plan, consent } = hooked
  if (decision.effect === 'allow') return advance(hooked, 'approve', { approval: undefined, plan, consent })
  const earlier = answeredBefore(hooked, scope)
  return earlier === undefined
    ? approveByPerson(hooked, scope)
    : advance(hooked, 'approve', { approval: undefined, plan, consent: earlier })
}

/** The earlier call whose yes of a person this one need not ask for again, as it gets the result of that one. */
export function answeredBefore(planned: Planned, { session }: CallScope): string | undefined {
  const { kept } = planned
  return kept !== undefined && wasApproved(kept, planned, session) ? kept.begin.call : undefined
}

async function approveByPerson(hooked: Hooked, scope: CallScope): Promise<Approved | Halted> {
  const { session, tenant } = scope
  const { approve: approver } = hooked
  const name = hooked.registered.definition.name
  if (approver === undefined)
    return halt(
      'approve',
      hooked,
      unasked(
        hooked,
        scope,
        `"${name}" needs a person's yes (${hooked.decision.reason}), and no person can be asked here.`,
      ),
    )
  const exhausted = findExhaustedBudget(hooked, scope)
  if (exhausted !== undefined) return halt('approve', hooked, exhausted)
  const binding = bind(hooked, hooked.plan, scope)
  const question: Question = { binding, kept: hooked.kept?.begin.call, ancestors: session.ancestors }
  const { refused } = hooked
  if (refused !== undefined && isSameQuestion(refused.question, question))
    return halt('approve', hooked, refused.error)
  tenant.observer?.enters(hooked.call, 'approve')
  const askedAt = tenant.tick()
  const answer = await ask(approver, hooked, scope)
  hooked.waitedMs += tenant.tick() - askedAt
  if ('error' in answer) {
    if (answer.error.reason === 'denied') hooked.refused = { question, error: answer.error }
    return halt('approve', hooked, answer.error)
  }

  const now = await replan(hooked, scope)
  const { ended } = createRunWatch(hooked, session.endings)
  if (ended !== undefined) return halt('approve', hooked, abortedError(name, ended))
  if (now === undefined || !isSame(binding, bind(hooked, now, scope)))
    return halt('approve', hooked, stale(name))
  if (answer.decision === 'allow_for_session' && isKeepable(hooked)) keepApproval(hooked, now.scope, scope)
  const approval: GivenApproval = {
    decision: answer.decision,
    binding,
    expiresAt: tenant.tick() + tenant.limits.approvalTtlMs,
  }
  return advance(hooked, 'approve', { approval, plan: now, consent: hooked.consent })
}

/** A person who lets an earlier result be given has not seen a call that runs. */
function isKeepable({ decision, kept }: Hooked): boolean {
  return decision.keepable !== false && kept === undefined
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

/** Some clients decline by themselves: then the operator alone can help. */
function adviceFor(
  { registered, decision, approve: approver }: Hooked,
  { tenant, session }: CallScope,
): { advice?: string } {
  const isAsked = approver !== undefined
  const call = { tool: registered.definition.name, decision, tenant: session.principal.tenant, isAsked }
  const advice = adviseYes(call, tenant.operatedBy)
  return advice === undefined ? {} : { advice }
}

/** No person said anything, so that only the operator can help. */
function unasked(hooked: Hooked, scope: CallScope, why: string): CallError {
  const { advice } = adviceFor(hooked, scope)
  return callError('POLICY.APPROVAL_DENIED', 'no_callback', {
    message: advice === undefined ? why : `${why} ${advice}`,
    ...(advice !== undefined && { data: { advice } }),
  })
}

type Yes = { decision: 'allow_once' | 'allow_for_session' }

async function ask(
  approver: Approver,
  hooked: Hooked,
  scope: CallScope,
): Promise<Yes | { error: CallError }> {
  const { tenant, session } = scope
  const { name } = hooked.registered.definition
  const refused = (reason: string, message: string) => ({
    error: callError('POLICY.APPROVAL_DENIED', reason, { message }),
  })
  const about = { call: hooked.call.id, toolCallId: hooked.call.toolCallId, tool: name }
  session.emit({
    type: 'permission_requested',
    level: 'info',
    ...about,
    summary: tenant.redactor.text(`asks for ${name}: ${hooked.decision.reason}`),
  })
  const watch = createRunWatch(hooked, session.endings)
  try {
    const asked = Promise.resolve(approver(toRequest(hooked, scope), watch.signal))
    const answered = await watch.firstOf(asked, tenant.limits.approvalTimeoutMs)
    if (answered === 'ended') {
      if (watch.ended !== 'timeout') return { error: abortedError(name, watch.ended) }
      return refused(
        'callback_timeout',
        `No person answered for "${name}" within ${showDuration(tenant.limits.approvalTimeoutMs)}, so it is denied.`,
      )
    }
    const answer = answered.value
    if (!isAnswer(answer)) {
      tenant.logError({ call: hooked.call.id, tool: name, cause: new Error(noAnswer(answer)) })
      return refused('callback_failed', `Asking for "${name}" gave no valid answer, so it is denied.`)
    }
    const kept = toPersonAnswer(answer, hooked, scope)
    hooked.answer = kept
    session.emit({
      type: 'permission_decided',
      level: answer.decision === 'deny' ? 'failure' : 'info',
      ...about,
      summary: `${answer.decision} for ${name}`,
      data: { ...kept, ...(answer.decision === 'deny' && adviceFor(hooked, scope)) },
    })
    if (answer.decision !== 'deny') return { decision: answer.decision }
    if (answer.metadata?.['unanswered'] === true)
      return {
        error: unasked(
          hooked,
          scope,
          `"${name}" needs a person's yes (${hooked.decision.reason}), and no person gave it: it was ${answer.reason ?? 'not answered'}.`,
        ),
      }
    return refused(
      'denied',
      // The reason stays whole, also if it ends with a stop: a secret in it is looked for as it is.
      `The person denied "${name}"${answer.reason === undefined ? '.' : `: ${answer.reason.replace(/(?<![.!?])$/, '.')}`} Do not try the same again; ask what they want instead.`,
    )
  } catch (error) {
    tenant.logError({ call: hooked.call.id, tool: name, cause: error })
    return refused('callback_failed', `Asking for "${name}" failed, so it is denied.`)
  }
}

function abortedError(tool: string, ended: RunWatch['ended']): CallError {
  return callError('TOOL.ABORTED', ended === 'run_cancelled' ? 'run_cancelled' : 'aborted_by_user', {
    message: `"${tool}" was aborted while a person was asked.`,
  })
}

/** Characters of what is kept of an answer beside its reason. */
const longestMetadata = 4_096

/** An answer as it is kept: a copy, without secrets. Metadata that is too long or not JSON is left out, and the log reports it. */
function toPersonAnswer(
  { decision, reason, metadata }: ApprovalAnswer,
  { call, registered }: Hooked,
  { tenant }: CallScope,
): PersonAnswer {
  const kept: PersonAnswer = { decision }
  if (reason !== undefined) kept.reason = tenant.redactor.text(reason)
  if (metadata === undefined) return kept
  const copied = toJson(metadata)
  if (!isIssue(copied) && copied.size <= longestMetadata && isJsonObject(copied.json))
    kept.metadata = tenant.redactor.json(copied.json)
  else
    tenant.logError({
      call: call.id,
      tool: registered.definition.name,
      cause: new Error(
        `The "metadata" of an approval is not kept: it is not JSON, or has more than ${longestMetadata} characters`,
      ),
    })
  return kept
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

function bind(hooked: Hooked, plan: Plan, { tenant, session }: CallScope): ApprovalBinding {
  return {
    principal: canonicalJson(session.principal),
    inputDigest: saidDigest(hooked, tenant),
    definitionDigest: callableDigest(hooked.registered, session),
    policyDigest: tenant.latest().policy.digest,
    previewDigest: previewDigest(plan, tenant),
  }
}

/** Nothing if the session has no such tool any more, or it was paused meanwhile. */
function callableDigest({ definition }: Registered, session: CallScope['session']): string {
  const now = session.find(definition.name, 'canonical')
  return now === undefined || session.exclusion(now) !== undefined ? '' : now.digest
}

function isSame(left: ApprovalBinding, right: ApprovalBinding): boolean {
  return canonicalJson(left) === canonicalJson(right)
}

/** What a person sees: nothing in it is hidden. If the tool returns no preview, the input itself. */
export function previewOf(planned: Planned, { tenant }: CallScope): Preview {
  const { kind, title, body } = planned.preview ?? inputPreview(planned)
  const { redactor } = tenant
  return {
    kind,
    title: showControlsInLine(redactor.text(title)),
    body: showControls(redactor.text(body)),
  }
}

function inputPreview({ registered, input, kept }: Planned): Preview {
  const body = JSON.stringify(input, null, 2)
  const { title } = registered.definition
  if (kept === undefined) return { kind: 'text', title: `${title} with this input`, body }
  const { call, at } = kept.begin
  const when = new Date(at).toISOString()
  return {
    kind: 'text',
    title: `${title}: the result of the earlier call ${call} (${when}) is given again; nothing runs`,
    body,
  }
}

const keptScope = 'this earlier result only'

function toRequest(hooked: Hooked, scope: CallScope): ApprovalRequest {
  const { tenant, session } = scope
  const { definition } = hooked.registered
  const commands = hooked.plan.operations.filter((operation) => operation.kind === 'process')
  const hosts = hooked.plan.operations.filter((operation) => operation.kind === 'net')
  const dangerous = definition.safety === 'high' || definition.tags.includes('dangerous')
  const { redactor } = tenant
  const shown = (text: string): string => showControlsInLine(redactor.text(text))
  return {
    callId: hooked.call.id,
    toolCallId: hooked.call.toolCallId,
    session: session.id,
    principal: session.principal,
    tool: definition.name,
    title: definition.title,
    permission: definition.permission,
    tags: [...definition.tags],
    dangerous,
    inputSummary: showControlsInLine(summarise(hooked.shownText)),
    scope: shown(hooked.kept === undefined ? (hooked.plan.scope ?? thisInput) : keptScope),
    preview: previewOf(hooked, scope),
    cwd: commands[0] && shown(commands[0].cwd),
    env: commands.length === 0 ? [] : [...tenant.env],
    hosts: hosts.map((operation) => shown(operation.host)),
    because: {
      ...redactor.json(
        hooked.decision.verdicts[0] ?? {
          layer: hooked.decision.layer,
          rule: hooked.decision.rule,
          effect: 'ask',
          reason: hooked.decision.reason,
        },
      ),
    },
    hookNotes: hooked.hookNotes.map((note) => showControls(redactor.text(note))),
    suggested: dangerous ? 'deny' : 'allow_once',
    timeoutMs: tenant.limits.approvalTimeoutMs,
    parents: (session.ancestors ?? []).map(({ session: id, principal: { role, agent } }) => ({
      session: id,
      role,
      ...(agent !== undefined && { agent }),
    })),
  }
}

function summarise(text: string): string {
  return text.length <= 300 ? text : `${text.slice(0, 300)}… (${text.length} characters)`
}
