import type { CallError } from '../../contract/base/errors.ts'
import { callError } from '../../kit/result/call-error.ts'
import type { RunEnd } from './run-watch.ts'

/** The error of a call that was told to end. */
export function abortedError(ended: RunEnd | undefined, message: string): CallError {
  return callError('TOOL.ABORTED', ended === 'run_cancelled' ? 'run_cancelled' : 'aborted_by_user', {
    message,
  })
}

/** The same of a call whose tool did not run yet; `when` goes on after "was aborted". */
export function abortedEarly(tool: string, ended: RunEnd | undefined, when: string): CallError {
  return abortedError(ended, `"${tool}" was aborted ${when}. It did nothing.`)
}
