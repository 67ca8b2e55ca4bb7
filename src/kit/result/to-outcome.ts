import type { CallError } from '../../contract/base/errors.ts'
import type { Outcome } from '../../contract/base/result.ts'

/** How a call ended, by its error. */
export function toOutcome(error: Pick<CallError, 'code' | 'reason'> | undefined): Outcome {
  if (error === undefined) return 'ok'
  if (error.code === 'POLICY.APPROVAL_PENDING') return 'waiting'
  if (/^(POLICY|AUTH|QUOTA|SANDBOX)\./.test(error.code)) return 'denied'
  if (error.code === 'TOOL.ABORTED') return 'aborted'
  return error.code === 'IDEMPOTENCY.OUTCOME_UNKNOWN' ||
    error.reason === 'still_running' ||
    error.reason === 'connection_lost'
    ? 'unknown'
    : 'failed'
}
