import { errorTable, ToolFailure, type CallError } from '../contract/errors.ts'
import { callError } from '../kit/call-error.ts'

/** What a tool or the sandbox threw, as the error of the call. Never a stack, never a cause. */
export function toCallError(error: unknown, tool: string): CallError {
  if (error instanceof ToolFailure) {
    const code = error.code in errorTable ? error.code : 'TOOL.FAILED'
    const failure =
      code === 'TOOL.FAILED' && error.reason === 'stale_preview' ? ('POLICY.APPROVAL_DENIED' as const) : code
    const reason =
      failure === 'POLICY.APPROVAL_DENIED' && error.reason === 'stale_preview'
        ? 'approval_stale'
        : error.reason
    return callError(failure, reason, {
      message: error.message,
      ...(error.faults !== undefined && { faults: error.faults }),
      ...(error.data !== undefined && { data: error.data }),
    })
  }
  return callError('TOOL.FAILED', 'failed', { message: `"${tool}" failed: ${describe(error)}` })
}

function describe(error: unknown): string {
  if (error instanceof Error && error.message !== '') return error.message.slice(0, 2_000)
  if (typeof error === 'string') return error.slice(0, 2_000)
  return 'it threw something that is no error'
}
