import type { CallError } from '../../contract/errors.ts'
import type { Plan } from '../../contract/plan.ts'
import type { DecisionFacts } from '../../contract/policy.ts'
import { callError } from '../../kit/call-error.ts'
import { digest } from '../../kit/digest.ts'
import { operationAction, operationUrn } from '../../kit/urn.ts'
import { authoriseUse } from '../authorise-use.ts'
import { findMissingSupplies } from '../call-context.ts'
import { covers, endOf, holds, type ConsentBook, type ConsentUse } from '../consents.ts'
import type { TurnPlace } from '../open-reads.ts'
import { isStopped, pass, stop, type Authorised, type Planned, type Stopped } from '../passage.ts'
import type { Road } from '../ground.ts'
import { nothingPlanned, planInTime } from '../plan-in-time.ts'
import { createRunWatch } from '../run-watch.ts'
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
  const planned =
    tool.plan === undefined ? decideOn(nothingPlanned, authorised, road) : planWithTool(authorised, road)
  return authorised.place === undefined ? planned : keepOrder(planned, authorised.place, road)
}

/** A call of a turn that overlaps waits for those before it that touch what it touches. */
async function keepOrder(
  planning: Planned | Stopped | Promise<Planned | Stopped>,
  place: TurnPlace,
  road: Road,
): Promise<Planned | Stopped> {
  const planned = await planning
  if (isStopped(planned)) return planned
  const free = place.untilFree(planned.plan.operations)
  if (free === undefined) return planned
  const watch = createRunWatch(planned, road.session.endings)
  if (watch.ended === undefined && (await watch.firstOf(free, longestMs)) !== 'ended') return planned
  const { name } = planned.registered.definition
  return stop(
    'plan',
    planned,
    callError('TOOL.ABORTED', watch.ended === 'run_cancelled' ? 'run_cancelled' : 'aborted_by_user', {
      message: `"${name}" was aborted while it waited for calls before it. It did nothing.`,
    }),
  )
}

/** The longest time that a timer takes: the calls before end in their own. */
const longestMs = 2 ** 31 - 1

async function planWithTool(authorised: Authorised, road: Road): Promise<Planned | Stopped> {
  try {
    return await decideOn(await planInTime(authorised, road), authorised, road)
  } catch (error) {
    return stop('plan', authorised, toCallError(error, authorised.registered.definition.name))
  }
}

/** The guard first, then the policy with full knowledge, then whoever else has a say about what is reached. */
function decideOn(
  planned: Plan,
  authorised: Authorised,
  road: Road,
): Planned | Stopped | Promise<Planned | Stopped> {
  const { ground, session } = road
  const { definition } = authorised.registered
  const blocked = ground.policy.guard(authorised.profile, planned.operations)
  if (blocked !== undefined) return stop('plan', { ...authorised, plan: planned }, blocked)
  const scope = planned.scope ?? authorised.inputDigest
  const grantKey = `${definition.name} ${scope}`
  const answered = findAnswer(authorised, { grantKey, scope }, road)
  if ('code' in answered) return stop('plan', { ...authorised, plan: planned }, answered)
  const decision = ground.policy.decide({
    definition,
    principal: session.principal,
    mode: session.mode,
    ancestors: session.ancestors,
    operations: planned.operations,
    input: authorised.input,
    granted: answered.by,
  })
  const consent = decision.layer === 'grant' || decision.layer === 'consent' ? answered.consent : undefined
  const state = pass<Planned>(authorised, {
    plan: planned,
    decision,
    grantKey,
    consent,
    preview: planned.preview,
  })
  if (decision.effect !== 'deny') return authoriseOperations(state, road)
  return stop(
    'plan',
    state,
    callError('POLICY.DENY_TOOL', decision.denial ?? 'rule_denied', {
      message: `"${definition.name}" is denied here: ${decision.reason}.`,
      data: { layer: decision.layer, rule: decision.rule },
    }),
  )
}

/** Decision points other than the grants also see each thing that the call would reach. */
function authoriseOperations(planned: Planned, road: Road): Planned | Stopped | Promise<Planned | Stopped> {
  const { operations } = planned.plan
  const asksMore = road.ground.decisionPoints.some((point) => point.id !== 'grants')
  return operations.length === 0 || !asksMore ? planned : authoriseEach(planned, road)
}

async function authoriseEach(planned: Planned, road: Road): Promise<Planned | Stopped> {
  for (const operation of planned.plan.operations) {
    const use = { action: operationAction(operation), resource: operationUrn(operation), operation }
    const refused = await authoriseUse(planned, use, road)
    if (refused !== undefined) return stop('plan', { ...planned, decision: refused.decision }, refused.error)
  }
  return planned
}

interface Answered {
  by: DecisionFacts['granted']
  consent: string | undefined
}

/** What answers for the person: a yes for the session, the consent that the call refers to, or one that covers it. */
function findAnswer(
  { call, registered, inputDigest }: Authorised,
  about: { grantKey: string; scope: string },
  { ground, session }: Road,
): Answered | CallError {
  const { tenant, actor } = session.principal
  const { name: tool, consent: wanted } = registered.definition
  const at = ground.now()
  const use = { tenant, actor, tool, scope: about.scope, inputDigest, wanted, at }
  if (call.consent !== undefined) return readConsent(call.consent, use, ground.consents)
  const given = session.grants.get(about.grantKey)
  if (given !== undefined && given.until > at) return { by: 'grant', consent: given.call }
  const standing = ground.consents.covering(use)
  return standing === undefined
    ? { by: undefined, consent: undefined }
    : { by: 'consent', consent: standing.id }
}

function readConsent(id: string, use: ConsentUse, consents: ConsentBook): Answered | CallError {
  const consent = consents.find(use.tenant, id)
  const refuse = (reason: string, why: string) =>
    callError('AUTH.CONSENT_REQUIRED', reason, {
      message: `The consent "${id}" does not let "${use.tool}" through: ${why}. Ask the person for a new one.`,
      data: { consent: id },
    })
  if (consent === 'other')
    return callError('AUTH.FORBIDDEN', 'tenant_mismatch', {
      message: `The consent "${id}" was not given in the tenant "${use.tenant}". Use one of this tenant.`,
    })
  if (consent === undefined) return refuse('consent_missing', 'there is none with this id')
  if (consent.revokedAt !== undefined) return refuse('consent_revoked', 'it was revoked')
  if (use.wanted.scope === 'once')
    return refuse('consent_missing', 'the tool wants a yes for every single call')
  if (!holds(consent, use)) {
    const [from, until] = [consent.givenAt, endOf(consent, use.wanted)].map((at) =>
      new Date(at).toISOString(),
    )
    return refuse('consent_expired', `it holds from ${from} until ${until}`)
  }
  if (!covers(consent, use))
    return refuse(
      'consent_missing',
      `it covers "${consent.tool}" (${consent.scope}) for ${consent.actor} only`,
    )
  return { by: 'consent', consent: id }
}

/** Digest of what a person would see: the preview, the operations and the scope. */
export function previewDigest(plan: Plan): string {
  return digest(JSON.stringify([plan.preview ?? null, plan.operations, plan.scope ?? null]))
}
