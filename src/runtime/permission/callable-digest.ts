import type { Registered } from '../../contract/registry.ts'
import type { SessionState } from '../state/scope.ts'

/** The digest of a tool as the session may call it now. Empty if the session has no such tool any more, or it was paused meanwhile. */
export function callableDigest({ definition }: Registered, session: SessionState): string {
  const now = session.find(definition.name, 'canonical')
  return now === undefined || session.exclusion(now) !== undefined ? '' : now.digest
}
