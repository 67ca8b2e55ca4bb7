import type { CallError } from '../../../contract/base/errors.ts'
import type { Treatment } from '../../../contract/obligations.ts'
import { callError } from '../../../kit/result/call-error.ts'
import { listIssues } from '../../../kit/json/list-issues.ts'
import { messageOf } from '../../../kit/text/message-of.ts'
import { toCallError } from '../../state/to-call-error.ts'

/** The issues of an input as one message for a model. */
export function describeIssues(
  tool: string,
  issues: readonly { pointer: string; message: string }[],
): string {
  return `The input does not fit "${tool}": ${listIssues(issues, 'input')}`
}

/** Why a tool could not take its input: what it threw while it decoded it, or mapped it from another presentation. */
export function toDecodeError(tool: string, error: unknown, treatment: Treatment | undefined): CallError {
  const failed = toCallError(error, tool)
  if (failed.code !== 'TOOL.FAILED') {
    const issues = failed.issues && (treatment?.issues(failed.issues, 'input') ?? failed.issues)
    const message = issues === undefined ? failed.message : describeIssues(tool, issues)
    return callError(failed.code, failed.reason, { message, ...(issues !== undefined && { issues }) })
  }
  return callError('SCHEMA.VALIDATION_FAILED', 'invalid_input', {
    message: `The input does not fit "${tool}": ${messageOf(error)}`,
  })
}
