import { ToolFailure } from '../../contract/base/errors.ts'

/** The failure of a call that was ended from outside. */
export function aborted(): ToolFailure {
  return new ToolFailure({
    code: 'TOOL.ABORTED',
    reason: 'aborted_by_user',
    message: 'The call was ended from outside before it was done.',
  })
}
