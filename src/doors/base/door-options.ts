import type { Presentation } from '../../contract/base/call.ts'
import { SetupError } from '../../contract/base/errors.ts'
import type { PendingApprovals } from '../../contract/pending-approval.ts'
import { findUnknownFields } from '../../kit/json/find-unknown-fields.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'

/** How the tools of a session are handed to an agent SDK. Unknown fields are refused. */
export interface SdkDoorOptions {
  /** `runtime.approvals`: where answers are recorded that come back through the SDK. */
  approvals?: PendingApprovals
  /** Default `canonical`. */
  presentation?: Presentation
}

/** Throws a SetupError for options that the door does not have. */
export function checkDoorOptions(door: string, options: unknown, more: readonly string[] = []): void {
  if (!isPlainObject(options))
    throw new SetupError(
      'invalid_options',
      `${door} takes its options as an object, such as { approvals: runtime.approvals }.`,
    )
  const issues = findUnknownFields(options, ['approvals', 'presentation', ...more])
  if (issues.length > 0)
    throw new SetupError('invalid_options', `The options of ${door} are not right:`, issues)
}

/** The approvals of a door that records answers. Throws a SetupError if it has none. */
export function needApprovals(door: string, { approvals }: SdkDoorOptions): PendingApprovals {
  if (approvals !== undefined) return approvals
  throw new SetupError(
    'invalid_options',
    `${door} cannot record answers without the approvals of the runtime. Open it with { approvals: runtime.approvals }.`,
  )
}
