import type { ApprovalAnswer, ApprovalBinding, ApprovalRequest, Approver } from '../../contract/approval.ts'
import type { CallError } from '../../contract/errors.ts'
import type { Plan, Preview } from '../../contract/plan.ts'
import type { Registered } from '../../contract/registry.ts'
import { callError } from '../../kit/call-error.ts'
import { canonicalJson } from '../../kit/canonical-json.ts'
import { isPlainObject } from '../../kit/is-plain-object.ts'
import {
  pass,
  stop,
  type Approved,
  type GivenApproval,
  type Hooked,
  type Planned,
  type Stopped,
} from '../passage.ts'
import { findExhausted } from '../budgets.ts'
import type { Road } from '../ground.ts'
import { planInTime } from '../plan-in-time.ts'
import { createRunWatch, type RunWatch } from '../run-watch.ts'
import { previewDigest } from './plan.ts'

/**
 * Step 6: where the decision is to ask, a person says yes to exactly this call. A yes is bound to the principal, the input,
 * the definition, the policy and the preview; if any of them is another one by now, nothing runs.
 */
export function approve(hooked: Hooked, road: Road): Approved | Promise<Approved | Stopped> {
  return hooked.decision.effect === 'allow'
    ? pass<Approved>(hooked, { approval: undefined })
    : approveByPerson(hooked, road)
}

async function approveByPerson(hooked: Hooked, road: Road): Promise<Approved | Stopped> {
  const { session, ground } = road
  const name = hooked.registered.definition.name
  if (session.approver === undefined) {
    return stop(
      'approve',
      hooked,
      callError('POLICY.APPROVAL_DENIED', 'no_callback', {
        message: `"${name}" needs a person's yes (${hooked.decision.reason}), and nobody can be asked here.`,
      }),
    )
  }
  const exhausted = findExhaustedBudget(hooked, road)
  if (exhausted !== undefined) return stop('approve', hooked, exhausted)
  const binding = bind(hooked, hooked.plan, road)
  ground.observer?.enters(hooked.call, 'approve')
  const answer = await ask(session.approver, hooked, road)
  if ('error' in answer) return stop('approve', hooked, answer.error)

  const now = await replan(hooked, road)
  if (now === undefined || !isSame(binding, bind(hooked, now, road)))
    return stop('approve', hooked, stale(name))
  if (answer.decision === 'allow_for_session' && hooked.decision.keepable !== false)
    session.grants.set(hooked.grantKey, {
      until: ground.now() + (hooked.registered.definition.consent.validForMs ?? Number.POSITIVE_INFINITY),
      call: hooked.call.id,
    })
  const approval: GivenApproval = {
    decision: answer.decision,
    reason: answer.reason,
    binding,
    expiresAt: ground.now() + ground.limits.approvalTtlMs,
  }
  return pass<Approved>(hooked, { approval, plan: now })
}

/** What keeps a call from running although everybody lets it: nobody is asked about one that no budget has room for. */
export function findExhaustedBudget(hooked: Hooked, { ground, session }: Road): CallError | undefined {
  const { principal } = session
  const { definition } = hooked.registered
  const budgets = ground.budgets?.budgetsFor(principal, definition) ?? []
  const { profile, bytesIn } = hooked
  const call = { principal, definition, profile, bytesIn, at: ground.now() }
  return findExhausted(budgets, call, ground.store)
}

/** What was approved is not what would happen now. */
export function stale(tool: string): CallError {
  return callError('POLICY.APPROVAL_DENIED', 'approval_stale', {
    message: `"${tool}" was approved, but what it would do has changed since, or the approval expired. Nothing was done. Look at the current state and call again.`,
  })
}

type Yes = { decision: 'allow_once' | 'allow_for_session'; reason: string | undefined }

async function ask(approver: Approver, hooked: Hooked, road: Road): Promise<Yes | { error: CallError }> {
  const { ground, session } = road
  const { name } = hooked.registered.definition
  const refused = (reason: string, message: string) => ({
    error: callError('POLICY.APPROVAL_DENIED', reason, { message }),
  })
  const about = { call: hooked.call.id, toolCallId: hooked.call.toolCallId, tool: name }
  session.emit({
    type: 'permission_requested',
    level: 'info',
    ...about,
    summary: `asks for ${name}: ${hooked.decision.reason}`,
  })
  const watch = createRunWatch(hooked, session.endings)
  try {
    const asked = Promise.resolve(approver(toRequest(hooked, road), watch.signal))
    const answered = await watch.firstOf(asked, ground.limits.approvalTimeoutMs)
    if (answered === 'ended') {
      if (watch.ended !== 'timeout') return { error: abortedError(name, watch.ended) }
      return refused(
        'callback_timeout',
        `Nobody answered for "${name}" within ${ground.limits.approvalTimeoutMs} ms, so it is denied.`,
      )
    }
    const answer = answered.value
    if (!isAnswer(answer))
      return refused('callback_failed', `Asking for "${name}" gave no valid answer, so it is denied.`)
    session.emit({
      type: 'permission_decided',
      level: answer.decision === 'deny' ? 'failure' : 'info',
      ...about,
      summary: `${answer.decision} for ${name}`,
    })
    if (answer.decision !== 'deny') return { decision: answer.decision, reason: answer.reason }
    return refused(
      'denied',
      `The person denied "${name}"${answer.reason === undefined ? '' : `: ${answer.reason}`}. Do not try the same again; ask what they want instead.`,
    )
  } catch (error) {
    ground.logFault({ call: hooked.call.id, tool: name, cause: error })
    return refused('callback_failed', `Asking for "${name}" failed, so it is denied.`)
  }
}

function abortedError(tool: string, ended: RunWatch['ended']): CallError {
  return callError('TOOL.ABORTED', ended === 'run_cancelled' ? 'run_cancelled' : 'aborted_by_user', {
    message: `"${tool}" was aborted while a person was asked.`,
  })
}

const answerFields = new Set(['decision', 'reason', 'metadata'])

/** Only a well-formed answer counts. A field that is not part of one, such as a changed input, makes it none. */
function isAnswer(answer: unknown): answer is ApprovalAnswer {
  if (!isPlainObject(answer) || !Object.keys(answer).every((field) => answerFields.has(field))) return false
  if (answer['reason'] !== undefined && typeof answer['reason'] !== 'string') return false
  return (
    answer['decision'] === 'allow_once' ||
    answer['decision'] === 'allow_for_session' ||
    answer['decision'] === 'deny'
  )
}

async function replan(hooked: Hooked, road: Road): Promise<Plan | undefined> {
  const { tool } = hooked.registered
  if (tool.plan === undefined) return hooked.plan
  try {
    return await planInTime(hooked, road)
  } catch {
    // It could be planned a moment ago and cannot now: that is a change, and a change makes the yes stale.
    return undefined
  }
}

function bind(hooked: Hooked, plan: Plan, { ground, session }: Road): ApprovalBinding {
  return {
    principal: canonicalJson(session.principal),
    inputDigest: hooked.inputDigest,
    definitionDigest: callableDigest(hooked.registered, session),
    policyDigest: ground.latest().policy.digest,
    previewDigest: previewDigest(plan),
  }
}

/** Nothing where the session has no such tool any more, or it was paused meanwhile. */
function callableDigest({ definition }: Registered, session: Road['session']): string {
  const now = session.find(definition.name, 'canonical')
  return now === undefined || session.exclusion(now) !== undefined ? '' : now.digest
}

function isSame(left: ApprovalBinding, right: ApprovalBinding): boolean {
  return canonicalJson(left) === canonicalJson(right)
}

/** What a person sees where a tool gives no preview: the input itself. */
export function previewOf(planned: Planned, road: Road): Preview {
  const { preview, registered, input } = planned
  if (preview !== undefined) return { ...preview, body: road.ground.redactor.text(preview.body) }
  const body = road.ground.redactor.text(JSON.stringify(input, null, 2))
  return { kind: 'text', title: `${registered.definition.title} with this input`, body }
}

function toRequest(hooked: Hooked, road: Road): ApprovalRequest {
  const { ground, session } = road
  const { definition } = hooked.registered
  const commands = hooked.plan.operations.filter((operation) => operation.kind === 'process')
  const hosts = hooked.plan.operations.filter((operation) => operation.kind === 'net')
  const dangerous = definition.safety === 'high' || definition.tags.includes('dangerous')
  return {
    callId: hooked.call.id,
    toolCallId: hooked.call.toolCallId,
    session: session.id,
    principal: session.principal,
    tool: definition.name,
    title: definition.title,
    permission: definition.permission,
    tags: definition.tags,
    dangerous,
    inputSummary: summarise(hooked.inputText),
    scope: hooked.plan.scope ?? 'this very input',
    preview: previewOf(hooked, road),
    cwd: commands[0]?.cwd,
    env: commands.length === 0 ? [] : ground.env,
    hosts: hosts.map((operation) => operation.host),
    because: hooked.decision.verdicts[0] ?? {
      layer: hooked.decision.layer,
      rule: hooked.decision.rule,
      effect: 'ask',
      reason: hooked.decision.reason,
    },
    hookNotes: hooked.hookNotes,
    suggested: dangerous ? 'deny' : 'allow_once',
    timeoutMs: ground.limits.approvalTimeoutMs,
  }
}

function summarise(text: string): string {
  return text.length <= 300 ? text : `${text.slice(0, 300)}… (${text.length} characters)`
}
