import { type CallError, type ErrorCode } from '../../contract/base/errors.ts'
import { errorTable, type ErrorRow } from '../../contract/errors/error-table.ts'

/** A call error with who acts and what next filled in from the error table. */
export function callError(
  code: ErrorCode,
  reason: string,
  about: Pick<CallError, 'message' | 'issues' | 'data'>,
): CallError {
  const { actor, next } = whoActs(code, reason)
  const error: CallError = { code, reason, message: about.message, actor, next }
  if (about.issues !== undefined) error.issues = about.issues
  if (about.data !== undefined) error.data = about.data
  return error
}

/** Who acts on an error of this reason, and what next. */
export function whoActs(code: ErrorCode, reason: string): Pick<CallError, 'actor' | 'next'> {
  const row: ErrorRow = errorTable[code]
  const { except } = row
  return except !== undefined && Object.hasOwn(except, reason) ? (except[reason] ?? row) : row
}
