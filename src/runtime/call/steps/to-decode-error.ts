import type { CallError } from '../../../contract/base/errors.ts'
import type { Treatment } from '../../../contract/obligations.ts'
import { callError } from '../../../kit/result/call-error.ts'
import { listFaults } from '../../../kit/json/list-faults.ts'
import { messageOf } from '../../../kit/text/message-of.ts'
import { toCallError } from '../../state/to-call-error.ts'

/** The faults of an input as one message for a model. */
export function describeFaults(
  tool: string,
  faults: readonly { pointer: string; message: string }[],
): string {
  return `The input does not fit "${tool}": ${listFaults(faults, 'input')}`
}

/** Why a tool could not take its input: what it threw while it decoded it, or mapped it from another presentation. */
export function toDecodeError(tool: string, error: unknown, treatment: Treatment | undefined): CallError {
  const failed = toCallError(error, tool)
  if (failed.code !== 'TOOL.FAILED') {
    const faults = failed.faults && (treatment?.faults(failed.faults, 'input') ?? failed.faults)
    const message = faults === undefined ? failed.message : describeFaults(tool, faults)
    return callError(failed.code, failed.reason, { message, ...(faults !== undefined && { faults }) })
  }
  return callError('SCHEMA.VALIDATION_FAILED', 'invalid_input', {
    message: `The input does not fit "${tool}": ${messageOf(error)}`,
  })
}
