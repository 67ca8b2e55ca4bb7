import type { Json } from './base/json.ts'
import type { Operation } from './tool/plan.ts'
import type { Mode, Principal } from './base/principal.ts'
import type { Origin } from './base/call.ts'
import type { ToolDefinition } from './tool/tool.ts'

/** One question to a policy decision point: may this principal do this to this resource? */
export interface AuthorisationRequest {
  readonly principal: Principal
  /** `invoke` for the call itself; `read`, `write`, `execute`, `connect`, `use` for what it would reach. */
  readonly action: string
  /** A URN: `handrail:tool:code.read_file`, `handrail:file:/srv/a.txt`. */
  readonly resource: string
  readonly definition: ToolDefinition
  readonly mode: Mode
  readonly origin: Origin
  readonly session: string
  /** The operation behind the resource, where the call is planned already. */
  readonly operation?: Operation
}

/** A decision point's answer. Anything else, a rejection and a time-out count as forbid. */
export interface AuthorisationAnswer {
  readonly effect: 'permit' | 'forbid'
  /** The policies or grants that decided; kept in the evidence. */
  readonly decidedBy: string
  readonly reason: string
  readonly data?: { readonly [key: string]: Json }
}

/**
 * Decides who may use what. The grants of the policy are one; an external engine may stand beside them. A call runs only if
 * all of them permit, and every error of one forbids.
 */
export interface DecisionPoint {
  /** Such as `grants` or `cedar`; names the layer in explanations. */
  readonly id: string
  /** Digest of everything that decides; part of the policy digest. */
  readonly digest: string
  authorise(request: AuthorisationRequest): AuthorisationAnswer | Promise<AuthorisationAnswer>
}
