import { SetupError } from '../../contract/base/errors.ts'
import type { Issue } from '../../contract/base/json.ts'
import type { ApprovalDecision } from '../../contract/pending-approval.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'

const decisions = ['allow_once', 'allow_for_session', 'deny']
const fields = ['decision', 'by', 'reason', 'digest']

/** Characters of a name and of a reason at most. */
const longestName = 200
const longestReason = 4_096

/** A copy of an answer that was handed in. Throws a SetupError with every issue. */
export function checkDecision(given: unknown): ApprovalDecision {
  const issues: Issue[] = []
  const add = (field: string, code: string, message: string): void =>
    void issues.push({ pointer: `/${field}`, code, message })
  if (!isPlainObject(given))
    throw new SetupError('invalid_options', 'An answer to an approval is { decision, by, reason?, digest? }.')
  const { decision, by, reason, digest } = given
  for (const field of Object.keys(given))
    if (!fields.includes(field)) add(field, 'unknown_field', `An answer has no field "${field}".`)
  if (!isDecision(decision)) add('decision', 'invalid_value', `Decide with one of ${decisions.join(', ')}.`)
  if (typeof by !== 'string' || by === '' || by.length > longestName)
    add('by', 'missing', `Say who decides, in at most ${longestName} characters.`)
  if (reason !== undefined && (typeof reason !== 'string' || reason.length > longestReason))
    add('reason', 'wrong_type', `A reason is text of at most ${longestReason} characters.`)
  if (digest !== undefined && typeof digest !== 'string')
    add('digest', 'wrong_type', 'The digest of the question is text; leave it out if you have none.')
  if (issues.length > 0) throw new SetupError('invalid_options', 'The answer cannot be taken:', issues)
  return {
    decision: isDecision(decision) ? decision : 'deny',
    by: String(by),
    ...(typeof reason === 'string' && { reason }),
    ...(typeof digest === 'string' && { digest }),
  }
}

function isDecision(given: unknown): given is ApprovalDecision['decision'] {
  return typeof given === 'string' && decisions.includes(given)
}
