import type { ApprovalAnswer } from '../../contract/approval.ts'
import type { CallError } from '../../contract/base/errors.ts'
import type { PendingApproval } from '../../contract/pending-approval.ts'
import { callError } from '../../kit/result/call-error.ts'
import type { CallScope } from '../state/scope.ts'
import { adviseYes } from './advise-yes.ts'
import type { Asked } from './asked.ts'

/** Some clients decline by themselves: then the operator alone can help. */
export function adviceFor(
  { hooked: { registered, approve: approver }, decision }: Asked,
  { tenant, session }: CallScope,
): { advice?: string } {
  const isAsked = approver !== undefined
  const call = { tool: registered.definition.name, decision, tenant: session.principal.tenant, isAsked }
  const advice = adviseYes(call, tenant.operatedBy)
  return advice === undefined ? {} : { advice }
}

/** No person said anything, so that only the operator can help. */
export function unasked(asked: Asked, scope: CallScope, why: string): CallError {
  const { advice } = adviceFor(asked, scope)
  return callError('POLICY.APPROVAL_DENIED', 'no_callback', {
    message: advice === undefined ? why : `${why} ${advice}`,
    ...(advice !== undefined && { data: { advice } }),
  })
}

/** No person can be asked. */
export function unaskable(asked: Asked, scope: CallScope): CallError {
  const { registered, decision } = asked.hooked
  const why = `"${registered.definition.name}" needs a person's yes (${decision.reason}), and no person can be asked here.`
  return unasked(asked, scope, why)
}

/** What it does has to be seen after it ran, by a person who is asked then. */
export function unreviewable(asked: Asked, scope: CallScope): CallError {
  const { name } = asked.hooked.registered.definition
  const why = `What "${name}" changes has to be reviewed after it ran, so a person has to be asked while it waits; a call of a step does not wait. It did not run.`
  return unasked(asked, scope, why)
}

/** What became of a question that was answered elsewhere: a no, or, without an answer, its end. */
export function refusal(asked: Asked, answer: ApprovalAnswer | undefined, { tenant }: CallScope): CallError {
  if (answer !== undefined) return denial(asked, answer.reason && tenant.redactor.text(answer.reason))
  const { name } = asked.hooked.registered.definition
  return callError('POLICY.APPROVAL_DENIED', 'callback_timeout', {
    message: `No person answered for "${name}" in time, so it is denied.`,
  })
}

/** A person said no. */
export function denial({ hooked, ran }: Asked, reason: string | undefined): CallError {
  const { name } = hooked.registered.definition
  // The reason stays whole, also if it ends with a stop: a secret in it is looked for as it is.
  const why = reason === undefined ? '.' : `: ${reason.replace(/(?<![.!?])$/, '.')}`
  return callError('POLICY.APPROVAL_DENIED', 'denied', {
    message: `The person denied "${name}"${why}${ran ? ' What it had done was dropped.' : ''} Do not try the same again; ask what they want instead.`,
    ...(ran && { data: { ran: true } }),
  })
}

/** A person has not answered yet. */
export function pendingError({ hooked, decision }: Asked, { id, expiresAt }: PendingApproval): CallError {
  const { name } = hooked.registered.definition
  const until = new Date(expiresAt).toISOString()
  return callError('POLICY.APPROVAL_PENDING', 'waiting', {
    message: `"${name}" needs a person's yes (${decision.reason}), and waits for it as ${id} until ${until}. It did nothing yet. Once they answered, make the same call again.`,
    data: { approval: id, expiresAt },
  })
}
