import type { Hooked } from '../state/call-state.ts'
import { saidDigest } from '../state/said-digest.ts'
import type { CallScope } from '../state/scope.ts'
import { legsBefore } from './legs-before.ts'

/**
 * The call that a composition was before a part of it waited, if a person said yes to that one, and it is the same: input, definition, policy, preview.
 * They are not asked about it again when it comes back.
 */
export function findApprovedLeg(
  hooked: Hooked,
  preview: string,
  { tenant, session }: CallScope,
): string | undefined {
  const { call, registered, parks, shownDigest, shownText, saidText } = hooked
  if (registered.tool.composedOf === undefined || parks === false) return undefined
  const { definition, digest } = registered
  const own = {
    tenant: session.principal.tenant,
    session: session.id,
    call: call.id,
    toolCallId: call.toolCallId,
    tool: definition.name,
    input: shownDigest,
    ...(shownText !== saidText && { said: { input: saidDigest(hooked, tenant) } }),
  }
  return legsBefore(own, tenant.store).find(
    ({ approval, policy, definition: as }) =>
      approval?.preview === preview &&
      policy === tenant.latest().policy.digest &&
      as === `${definition.version} ${digest}`,
  )?.call
}
