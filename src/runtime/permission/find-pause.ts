import type { CallError } from '../../contract/base/errors.ts'
import type { Registered } from '../../contract/registry.ts'
import type { Found } from '../state/call-state.ts'
import type { CallScope } from '../state/scope.ts'

/** Why a call may not run now, as a person paused what it is part of. What ends work of a session goes on: it starts nothing. */
export function findPause(
  { registered, partOf }: Pick<Found, 'partOf'> & { readonly registered: Registered },
  { tenant, session }: CallScope,
): CallError | undefined {
  if (partOf?.segment?.isLast === true) return undefined
  const { principal } = session
  return tenant.stops.find({
    tenant: principal.tenant,
    actor: principal.actor,
    tool: registered.definition.name,
    source: registered.source,
  })
}
