import { SetupError } from '../../../contract/base/errors.ts'
import type { PendingApproval } from '../../../contract/pending-approval.ts'
import type { Refusal } from '../web/send-json.ts'

const statusOf: ReadonlyMap<string, number> = new Map([
  ['invalid_options', 400],
  ['not_approver', 403],
  ['unknown_approval', 404],
  ['approval_over', 409],
  ['approval_changed', 409],
])

/** Why an answer does not count, as HTTP says it; undefined for what is not about the answer. */
export function toRefusal(error: unknown, approval: PendingApproval | undefined): Refusal | undefined {
  const known = error instanceof SetupError ? statusOf.get(error.code) : undefined
  if (!(error instanceof SetupError) || known === undefined) return undefined
  const { code, message, issues } = error
  const isExpired = code === 'approval_over' && approval?.state === 'expired'
  return {
    status: isExpired ? 410 : known,
    message,
    data: {
      code,
      ...(issues.length > 0 && { issues }),
      ...(approval !== undefined && { state: approval.state, answers: approval.answers }),
    },
  }
}
