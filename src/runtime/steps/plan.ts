import type { Plan, PlanContext } from '../../contract/plan.ts'
import { callError } from '../../kit/call-error.ts'
import { digest } from '../../kit/digest.ts'
import { findMissingSupplies } from '../call-context.ts'
import { pass, stop, type Authorised, type Planned, type Stopped } from '../passage.ts'
import type { Road } from '../ground.ts'
import { toCallError } from '../to-call-error.ts'

/**
 * Step 4: what the call would do: its operations, inside the profile; its preview; and what the policy says now that the
 * resources are known.
 */
export function plan(authorised: Authorised, road: Road): Planned | Stopped | Promise<Planned | Stopped> {
  const { definition, tool } = authorised.registered
  const missing = findMissingSupplies(definition.needs, road)
  if (missing.length > 0) {
    return stop(
      'plan',
      authorised,
      callError('TOOL.FAILED', 'supply_missing', {
        message: `"${definition.name}" needs ${missing.join(', ')}, which this runtime was not given. Go on without the tool.`,
        data: { missing },
      }),
    )
  }
  return tool.plan === undefined ? decideOn(nothingPlanned, authorised, road) : planWithTool(authorised, road)
}

async function planWithTool(authorised: Authorised, road: Road): Promise<Planned | Stopped> {
  const { definition, tool } = authorised.registered
  try {
    const planned = (await tool.plan?.(authorised.decoded, toPlanContext(authorised, road))) ?? nothingPlanned
    return decideOn(planned, authorised, road)
  } catch (error) {
    return stop('plan', authorised, toCallError(error, definition.name))
  }
}

/** The guard first, then the policy with full knowledge. */
function decideOn(planned: Plan, authorised: Authorised, { ground, session }: Road): Planned | Stopped {
  const { definition } = authorised.registered
  const blocked = ground.policy.guard(authorised.profile, planned.operations)
  if (blocked !== undefined) return stop('plan', { ...authorised, plan: planned }, blocked)
  const grantKey = `${definition.name} ${planned.scope ?? authorised.inputDigest}`
  const decision = ground.policy.decide({
    definition,
    principal: session.principal,
    mode: session.mode,
    operations: planned.operations,
    granted: (session.grants.get(grantKey) ?? 0) > ground.now(),
  })
  const state = pass<Planned>(authorised, { plan: planned, decision, grantKey, preview: planned.preview })
  if (decision.effect !== 'deny') return state
  return stop(
    'plan',
    state,
    callError('POLICY.DENY_TOOL', decision.denial ?? 'rule_denied', {
      message: `"${definition.name}" is denied here: ${decision.reason}.`,
      data: { layer: decision.layer, rule: decision.rule },
    }),
  )
}

const nothingPlanned: Plan = { operations: [] }

/** The supplies of a plan read only: `enter` refuses their writing operations. */
export function toPlanContext(authorised: Authorised, { ground, session }: Road): PlanContext {
  const { files, search, commands } = ground.sandbox.enter(authorised.profile, { access: 'read' })
  return { principal: session.principal, project: ground.project, files, search, commands }
}

/** Digest of what a person would see: the preview, the operations and the scope. */
export function previewDigest(plan: Plan): string {
  return digest(JSON.stringify([plan.preview ?? null, plan.operations, plan.scope ?? null]))
}
