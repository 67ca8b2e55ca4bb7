import { ToolFailure, type CallError } from '../../contract/base/errors.ts'
import { errorTable } from '../../contract/errors/error-table.ts'
import { callError } from '../../kit/result/call-error.ts'
import { isIssue, toJson } from '../../kit/json/to-json.ts'
import { findErrorMisfits } from './find-misfits.ts'

/** What a tool or the sandbox threw, as the error of the call. Never a stack, never a cause. Never throws, whatever was thrown. */
export function toCallError(error: unknown, tool: string): CallError {
  try {
    if (error instanceof ToolFailure) return fromFailure(error)
    return callError('TOOL.FAILED', 'failed', { message: `"${tool}" failed: ${describe(error)}` })
  } catch {
    return callError('TOOL.FAILED', 'failed', { message: `"${tool}" threw something that cannot be read.` })
  }
}

function fromFailure(error: ToolFailure): CallError {
  const code = Object.hasOwn(errorTable, error.code) ? error.code : 'TOOL.FAILED'
  return callError(code, String(error.reason), { message: String(error.message), ...factsOf(error) })
}

/** A copy of what it says beside its message; nothing if that is of another form, as what happened is in the message. */
function factsOf({ issues, data }: ToolFailure): Pick<CallError, 'issues' | 'data'> {
  if (issues === undefined && data === undefined) return {}
  const copy = toJson({ reason: 'any', message: '', issues, data })
  if (isIssue(copy) || findErrorMisfits(copy.json).length > 0) return {}
  const { reason: _reason, message: _message, ...facts } = copy.json as Record<string, never>
  return facts
}

/** The same for a call that a person approved: what changed since its preview made their yes stale. */
export function toApprovedError(error: unknown, tool: string): CallError {
  const found = toCallError(error, tool)
  if (found.code !== 'TOOL.FAILED' || found.reason !== 'stale_preview') return found
  const { message, data } = found
  return callError('POLICY.APPROVAL_DENIED', 'approval_stale', {
    message,
    ...(data !== undefined && { data }),
  })
}

function describe(error: unknown): string {
  if (error instanceof Error && error.message !== '') return String(error.message).slice(0, 2_000)
  if (typeof error === 'string') return error.slice(0, 2_000)
  return 'it threw something that is not an error'
}
