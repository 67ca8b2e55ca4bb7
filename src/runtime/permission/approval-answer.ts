import type { ApprovalAnswer } from '../../contract/approval.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'

const answerFields = new Set(['decision', 'reason', 'by', 'metadata'])

/** Only a well-formed answer counts. A field that is not part of one, such as a changed input, makes it none. */
export function isAnswer(answer: unknown): answer is ApprovalAnswer {
  if (!isPlainObject(answer) || !Object.keys(answer).every((field) => answerFields.has(field))) return false
  const { decision, reason, by, metadata } = answer
  if (by !== undefined && (typeof by !== 'string' || by === '')) return false
  if (reason !== undefined && typeof reason !== 'string') return false
  if (metadata !== undefined && !isPlainObject(metadata)) return false
  return decision === 'allow_once' || decision === 'allow_for_session' || decision === 'deny'
}

/** For the developer of the approver. */
export function noAnswer(given: unknown): string {
  return `"approve" answered with ${describeAnswer(given)}; an answer is { decision: "allow_once", "allow_for_session" or "deny", reason?: a text, by?: who answered, metadata?: an object } and nothing else`
}

function describeAnswer(given: unknown): string {
  if (typeof given === 'string') return JSON.stringify(given.slice(0, 80))
  if (!isPlainObject(given)) return `a value of the type ${typeof given}`
  const { decision } = given
  const said =
    typeof decision === 'string' ? ` and the decision ${JSON.stringify(decision.slice(0, 80))}` : ''
  return `the fields ${Object.keys(given).slice(0, 10).join(', ')}${said}`
}
