import type { CallError } from '../../contract/base/errors.ts'
import { callError } from '../../kit/result/call-error.ts'
import type { RunEnd } from './run-watch.ts'

/** The error of a call that was told to end before its tool ran; `when` goes on after "was aborted". */
export function abortedEarly(tool: string, ended: RunEnd | undefined, when: string): CallError {
  return callError('TOOL.ABORTED', ended === 'run_cancelled' ? 'run_cancelled' : 'aborted_by_user', {
    message: `"${tool}" was aborted ${when}. It did nothing.`,
  })
}
