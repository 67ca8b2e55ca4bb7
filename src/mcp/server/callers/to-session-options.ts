import type { CallerIdentity } from '../../../contract/base/caller-identity.ts'
import type { Caller } from './caller.ts'

/** How the sessions of a caller are opened. */
export function toSessionOptions(identity: CallerIdentity): Caller['session'] {
  const { tenant, actor, role, mode, model, allowedTools, disallowedTools } = identity
  return {
    actor,
    ...(tenant !== undefined && { tenant }),
    ...(role !== undefined && { role }),
    ...(mode !== undefined && { mode }),
    ...(model !== undefined && { model }),
    ...(allowedTools !== undefined && { allowedTools }),
    ...(disallowedTools !== undefined && { disallowedTools }),
  }
}
