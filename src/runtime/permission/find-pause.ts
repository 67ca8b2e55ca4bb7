import type { CallError } from '../../contract/base/errors.ts'
import type { Registered } from '../../contract/registry.ts'
import type { PartOf } from '../state/part-of.ts'
import type { CallScope } from '../state/scope.ts'

/** Why a call may not run now, as a person paused it. The work of a job goes on, as what runs does, until it is aborted. */
export function findPause(
  { source, definition }: Registered,
  partOf: PartOf | undefined,
  { tenant, session }: CallScope,
): CallError | undefined {
  if (partOf?.segment !== undefined) return undefined
  const { principal } = session
  return tenant.stops.find({
    tenant: principal.tenant,
    actor: principal.actor,
    tool: definition.name,
    source,
  })
}
