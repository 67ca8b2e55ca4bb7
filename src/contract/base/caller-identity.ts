import type { SessionModel } from './call.ts'
import type { Mode, Role } from './principal.ts'

/** Whom the calls of a client are made for, and what of the tools that client is shown. */
export interface CallerIdentity {
  /** Default `local`. */
  tenant?: string
  actor: string
  /** Default `main`. */
  role?: Role
  /** Default: the policy's mode. */
  mode?: Mode
  /** The model that it works with; default none, so that it has tools for every model. */
  model?: SessionModel
  /** Canonical names or patterns; absent or empty means no filter. */
  allowedTools?: readonly string[]
  /** Canonical names or patterns; beats `allowedTools`. */
  disallowedTools?: readonly string[]
}
