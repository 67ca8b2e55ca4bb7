import type { Profile } from '../../contract/base/profile.ts'
import type { ToolDefinition } from '../../contract/tool/tool.ts'
import { boundsWith, copiesOf } from '../skills/copies-of.ts'
import type { CallScope } from '../state/scope.ts'

/**
 * What a call of this session to this tool may reach at most: what is left of the bounds by everybody's grants, manifest and policy. Files of the skills that
 * the session follows are within its bounds.
 */
export function profileOf(definition: ToolDefinition, { tenant, session }: CallScope): Profile {
  const copies = copiesOf(session.skills())
  let bounds = tenant.grantBounds(session.principal, definition, boundsWith(tenant.bounds, copies))
  for (const { principal } of session.ancestors ?? [])
    bounds = tenant.grantBounds(principal, definition, bounds)
  return tenant.policy.profile(bounds, definition, copies)
}
