import { ToolFailure } from '../../contract/base/errors.ts'
import { describeFileError } from '../../kit/text/describe-file-error.ts'

/** Why nothing was changed: what would be replaced could not be kept. */
export function historyFailure(error: unknown): unknown {
  if (error instanceof ToolFailure) return error
  return new ToolFailure({
    code: 'PROVIDER.UNAVAILABLE',
    reason: 'history_failed',
    message: `What the call would replace cannot be kept for undo, so it was not replaced: ${describeFileError(error)}. Tell the operator: make room, or mend the folder "history" beside the store; "undo": false in the configuration keeps nothing.`,
  })
}

/** Why a kept content is not given out. */
export function notKept(digest: string, why: 'gone' | 'changed'): ToolFailure {
  const is = why === 'gone' ? 'is not kept any more' : 'was changed on the disk, so it is not used'
  return new ToolFailure({
    reason: 'not_kept',
    message: `What a file held before (${digest}) ${is}; nothing was taken back.`,
    data: { digest },
  })
}

export function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}
