import type { Approver } from '../../contract/approval.ts'
import type { Registered } from '../../contract/registry.ts'
import type { CallScope } from '../state/scope.ts'
import { namesApprovers } from './keep-question.ts'

/** What was decided ahead is not the yes of a person: if the policy or the tool says who may decide, it does not count. */
export function whoIsAsked(
  approver: Approver | undefined,
  registered: Registered,
  scope: CallScope,
): Approver | undefined {
  const { personOnly = false } = registered.definition.consent
  return approver?.ahead === true && (personOnly || namesApprovers(registered, scope)) ? undefined : approver
}
