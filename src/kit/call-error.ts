import { errorTable, type CallError, type ErrorCode } from '../contract/errors.ts'

/** A call error with who acts and what next filled in from the error table. */
export function callError(
  code: ErrorCode,
  reason: string,
  about: Pick<CallError, 'message' | 'faults' | 'data'>,
): CallError {
  const { actor, next } = errorTable[code]
  const error: CallError = { code, reason, message: about.message, actor, next }
  if (about.faults !== undefined) error.faults = about.faults
  if (about.data !== undefined) error.data = about.data
  return error
}
