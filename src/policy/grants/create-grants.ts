import type {
  AuthorisationAnswer,
  AuthorisationRequest,
  DecisionPoint,
} from '../../contract/decision-point.ts'
import type { Bounds, Policy } from '../../contract/policy.ts'
import type { Principal } from '../../contract/base/principal.ts'
import type { ToolDefinition } from '../../contract/tool/tool.ts'
import { canonicalJson } from '../../kit/json/canonical-json.ts'
import { digest } from '../../kit/json/digest.ts'
import {
  compileGrant,
  givesScope,
  isForPrincipal,
  isForTool,
  type CompiledGrant,
  type GrantPlaces,
} from './compile-grant.ts'
import { narrowBounds } from './narrow-bounds.ts'

/** The decision point of a policy's own grants. */
export interface Grants extends DecisionPoint {
  authorise(request: AuthorisationRequest): AuthorisationAnswer
  /** What the grants for this principal and tool leave of these bounds: the same object for the same bounds and grants. */
  bounds(principal: Principal, definition: ToolDefinition, base: Bounds): Bounds
}

/**
 * Decides by the grants of a policy whether a principal may invoke a tool. Without grants everybody may; with some, also with an
 * empty list, only what they say. What a call reaches is bounded by its profile, which `bounds` narrows.
 */
export function createGrants(policy: Policy, places: GrantPlaces): Grants {
  const grants = policy.grants?.map((grant, index) => compileGrant(grant, index, places))
  const find = grants === undefined ? () => everything : createFinder(grants)
  return {
    id: 'grants',
    digest: digest(canonicalJson(grants ?? null)),
    authorise: ({ action, principal, definition }) =>
      action === 'invoke' ? find(principal, definition).answer : boundedByProfile,
    bounds: (principal, definition, base) => find(principal, definition).bounds(base),
  }
}

/** What the grants say of one principal and tool. */
interface Permitted {
  readonly answer: AuthorisationAnswer
  bounds(base: Bounds): Bounds
}

const everything: Permitted = {
  answer: { effect: 'permit', decidedBy: 'default', reason: 'the policy has no grants' },
  bounds: (base) => base,
}

const boundedByProfile: AuthorisationAnswer = {
  effect: 'permit',
  decidedBy: 'profile',
  reason: 'what a call reaches is bounded by its profile',
}

/** Looks at all grants once for each tool, and at those of a tool once for each principal. */
function createFinder(grants: readonly CompiledGrant[]) {
  const ofTools = new WeakMap<
    ToolDefinition,
    { grants: CompiledGrant[]; known: WeakMap<Principal, Permitted> }
  >()
  const narrow = createNarrower(grants)
  return (principal: Principal, definition: ToolDefinition): Permitted => {
    let ofTool = ofTools.get(definition)
    if (ofTool === undefined) {
      ofTool = { grants: grants.filter((grant) => isForTool(grant, definition)), known: new WeakMap() }
      ofTools.set(definition, ofTool)
    }
    let permitted = ofTool.known.get(principal)
    if (permitted === undefined) {
      const own = ofTool.grants.filter((grant) => isForPrincipal(grant, principal))
      permitted = { answer: answerOf(own, principal, definition), bounds: narrow(own) }
      ofTool.known.set(principal, permitted)
    }
    return permitted
  }
}

/** Returns one object for the same grants and bounds to every caller: profiles are kept by it. */
function createNarrower(all: readonly CompiledGrant[]) {
  const narrowers = new Map<string, Permitted['bounds']>()
  return (grants: readonly CompiledGrant[]): Permitted['bounds'] => {
    const key = grants.map((grant) => all.indexOf(grant)).join(' ')
    let narrower = narrowers.get(key)
    if (narrower === undefined) {
      const known = new WeakMap<Bounds, Bounds>()
      narrower = (base) => {
        let bounds = known.get(base)
        if (bounds === undefined) known.set(base, (bounds = narrowBounds(grants, base)))
        return bounds
      }
      narrowers.set(key, narrower)
    }
    return narrower
  }
}

function answerOf(
  grants: readonly CompiledGrant[],
  { tenant, actor, role }: Principal,
  { name, scopes }: ToolDefinition,
): AuthorisationAnswer {
  if (grants.length === 0)
    return {
      effect: 'forbid',
      decidedBy: 'no grant',
      reason: `no grant of the policy gives "${name}" to "${actor}" of tenant "${tenant}" as ${role}`,
      data: { reason: 'no_grant' },
    }
  const ids = grants.map((grant) => grant.id).join(', ')
  const missing = scopes.filter((scope) => !grants.some((grant) => givesScope(grant, scope)))
  if (missing.length === 0)
    return { effect: 'permit', decidedBy: ids, reason: `the policy grants "${name}" to "${actor}"` }
  const named = missing.map(({ resource, action }) => `${action} on ${resource}`)
  return {
    effect: 'forbid',
    decidedBy: ids,
    reason: `the grants that give "${name}" lack scopes that it requires: ${named.join(', ')}`,
    data: { reason: 'scope_missing', missing: named },
  }
}
