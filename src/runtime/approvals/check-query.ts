import { SetupError } from '../../contract/base/errors.ts'
import type { ApprovalQuery } from '../../contract/pending-approval.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import { findUnknownFields } from '../../kit/json/find-unknown-fields.ts'
import { findUnknownValue } from '../../kit/json/find-unknown-value.ts'

const fields: readonly (keyof ApprovalQuery)[] = ['tenant', 'session', 'state']
const states = ['waiting', 'allowed', 'denied', 'expired', 'used', 'all']

/** A query that was handed in. Throws a SetupError with every issue: what is misspelt would leave nothing out. */
export function checkQuery(given: ApprovalQuery): ApprovalQuery {
  const { state } = given ?? {}
  if (!isPlainObject(given))
    throw new SetupError('invalid_options', 'A query for approvals is { tenant?, session?, state? }.')
  const issues = [...findUnknownFields(given, fields), ...findUnknownValue('/state', state, states)]
  if (issues.length > 0) throw new SetupError('invalid_options', 'The approvals cannot be listed:', issues)
  return given
}
