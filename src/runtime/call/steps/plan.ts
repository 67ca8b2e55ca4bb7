import type { CallError } from '../../../contract/base/errors.ts'
import type { Plan } from '../../../contract/tool/plan.ts'
import type { DecisionFacts } from '../../../contract/policy.ts'
import { withoutStop } from '../../../kit/text/without-stop.ts'
import { callError } from '../../../kit/result/call-error.ts'
import { operationAction, operationUrn } from '../../../kit/match/urn.ts'
import { abortedEarly } from '../../limits/aborted-error.ts'
import { authoriseUse } from '../../permission/authorise-use.ts'
import { findFileLimit } from '../../limits/bound-effects.ts'
import { findMissingServices } from '../../../kit/find-missing-services.ts'
import type { ConsentBook, ConsentUse } from '../../state/consent-book.ts'
import { covers, endOf, holds, isForThisTool } from '../../permission/consents.ts'
import type { TurnPlace } from '../../state/turn-place.ts'
import { isDecidedAlike } from '../../record/kept-call.ts'
import { advance } from '../../state/advance.ts'
import {
  isHalted,
  halt,
  type KeptCall,
  type Planned,
  type Recalled,
  type Halted,
} from '../../state/call-state.ts'
import type { TenantContext, CallScope } from '../../state/scope.ts'
import { nothingPlanned, planInTime } from '../../limits/plan-in-time.ts'
import { createRunWatch } from '../../limits/run-watch.ts'
import { saidDigest } from '../../state/said-digest.ts'
import { findLostPart } from './find-lost-part.ts'
import { followedSkills } from '../../skills/followed-skills.ts'
import { approvalKey } from '../../permission/session-approvals.ts'
import { toCallError } from '../../state/to-call-error.ts'

/**
 * Step 4: what the call would do: its operations, inside the profile; its preview; and what the policy says now that the
 * resources are known.
 */
export function plan(recalled: Recalled, scope: CallScope): Planned | Halted | Promise<Planned | Halted> {
  const { definition, tool } = recalled.registered
  if (recalled.kept !== undefined) return decideKept(recalled.kept, recalled, scope)
  const missing = findMissingServices(definition.needs, scope.tenant.services)
  if (missing.length > 0) {
    return halt(
      'plan',
      recalled,
      callError('TOOL.FAILED', 'service_missing', {
        message: `"${definition.name}" needs ${missing.join(', ')}, which this runtime was not given. Go on without the tool.`,
        data: { missing },
      }),
    )
  }
  if (definition.needs.includes('browser') && !recalled.profile.browser) {
    return halt(
      'plan',
      recalled,
      callError('SANDBOX.CAPABILITY_BLOCKED', 'undeclared_capability', {
        message: `"${definition.name}" needs a browser, and its manifest does not declare that, or no grant of this session covers it.`,
      }),
    )
  }
  const planned =
    tool.plan === undefined || recalled.partOf?.segment !== undefined
      ? decideOn(nothingPlanned, recalled, scope)
      : planWithTool(recalled, scope)
  return recalled.place === undefined ? planned : keepOrder(planned, recalled.place, scope)
}

/** A call of a turn that overlaps waits for those before it that touch what it touches. */
async function keepOrder(
  planning: Planned | Halted | Promise<Planned | Halted>,
  place: TurnPlace,
  scope: CallScope,
): Promise<Planned | Halted> {
  const planned = await planning
  if (isHalted(planned)) return planned
  const free = place.untilFree(planned.plan.operations)
  if (free === undefined) return planned
  const watch = createRunWatch(planned, scope.session.endings)
  if (watch.ended === undefined && (await watch.firstOf(free, longestMs)) !== 'ended') return planned
  const { name } = planned.registered.definition
  return halt('plan', planned, abortedEarly(name, watch.ended, 'while it waited for calls before it'))
}

/** The longest time that a timer takes: the calls before end in their own. */
const longestMs = 2 ** 31 - 1

async function planWithTool(recalled: Recalled, scope: CallScope): Promise<Planned | Halted> {
  try {
    return await decideOn(await planInTime(recalled, scope), recalled, scope)
  } catch (error) {
    return halt('plan', recalled, toCallError(error, recalled.registered.definition.name))
  }
}

/** Nothing is planned: what the earlier call reached is what its result shows. */
function decideKept(
  kept: KeptCall,
  recalled: Recalled,
  scope: CallScope,
): Planned | Halted | Promise<Planned | Halted> {
  const { name } = recalled.registered.definition
  const { ended } = createRunWatch(recalled, scope.session.endings)
  if (ended !== undefined)
    return halt('plan', recalled, abortedEarly(name, ended, 'before it got a kept result'))
  if (!kept.hidden || isDecidedAlike(kept, recalled, scope))
    return recalled.registered.tool.composedOf === undefined
      ? decideOn(kept.plan, recalled, scope)
      : decideParts(kept, recalled, scope)
  return halt(
    'plan',
    recalled,
    callError('POLICY.DENY_TOOL', 'kept_undecided', {
      message: `"${name}" was called with this key before (call ${kept.begin.call}), and what that call reached is kept without its secrets: whether the policy of now lets it through cannot be told, so its result is withheld. Nothing was done again. Use a new key to make the call anew.`,
      data: { call: kept.begin.call },
    }),
  )
}

/** Of a composition, its parts are decided about as well. */
async function decideParts(kept: KeptCall, recalled: Recalled, scope: CallScope): Promise<Planned | Halted> {
  const { call, registered } = recalled
  const lost = await findLostPart({ call, registered, policy: kept.begin.policy }, scope)
  return lost === undefined ? decideOn(kept.plan, recalled, scope) : halt('plan', recalled, lost)
}

/** The guard first, then the policy with full knowledge, then the decision points that also see what is reached. */
function decideOn(
  planned: Plan,
  recalled: Recalled,
  scope: CallScope,
): Planned | Halted | Promise<Planned | Halted> {
  const { tenant, session } = scope
  const { definition } = recalled.registered
  const blocked =
    tenant.policy.guard(recalled.profile, planned.operations) ?? findFileLimit(definition, planned.operations)
  if (blocked !== undefined) return halt('plan', { ...recalled, plan: planned }, blocked)
  const answered = findAnswer(recalled, planned.scope, scope)
  if ('code' in answered) return halt('plan', { ...recalled, plan: planned }, answered)
  const decision = tenant.policy.decide({
    definition,
    principal: session.principal,
    mode: session.mode,
    ancestors: session.ancestors,
    skills: followedSkills(scope),
    operations: planned.operations,
    input: recalled.input,
    granted: answered.by,
  })
  const consent =
    decision.layer === 'session-approval' || decision.layer === 'consent' ? answered.consent : undefined
  const state = advance.plan(recalled, {
    plan: planned,
    decision,
    consent,
    preview: planned.preview,
  })
  if (decision.effect !== 'deny') return authoriseOperations(state, scope)
  return halt(
    'plan',
    state,
    callError('POLICY.DENY_TOOL', decision.denial ?? 'rule_denied', {
      message: `"${definition.name}" is denied here: ${withoutStop(decision.reason)}.`,
      data: { layer: decision.layer, rule: decision.rule },
    }),
  )
}

/** Decision points other than the grants also see each thing that the call would reach. */
function authoriseOperations(
  planned: Planned,
  scope: CallScope,
): Planned | Halted | Promise<Planned | Halted> {
  const { operations } = planned.plan
  const asksMore = scope.tenant.decisionPoints.some((point) => point.id !== 'grants')
  return operations.length === 0 || !asksMore ? planned : authoriseEach(planned, scope)
}

async function authoriseEach(planned: Planned, scope: CallScope): Promise<Planned | Halted> {
  for (const operation of planned.plan.operations) {
    const use = { action: operationAction(operation), resource: operationUrn(operation), operation }
    const refused = await authoriseUse(planned, use, scope)
    if (refused !== undefined) return halt('plan', { ...planned, decision: refused.decision }, refused.error)
  }
  return planned
}

interface Answered {
  by: DecisionFacts['granted']
  consent: string | undefined
}

/** What answers for the person: a yes for the session, the consent that the call refers to, or one that covers it. */
function findAnswer(
  recalled: Recalled,
  covered: string | undefined,
  { tenant, session }: CallScope,
): Answered | CallError {
  const { call, registered } = recalled
  const { principal } = session
  const mayStand =
    session.standingConsents && (call.consent !== undefined || tenant.consents.any(principal.tenant))
  // Most calls end here.
  if (!mayStand && session.approvals.size === 0) return unanswered
  const at = tenant.now()
  const use = {
    tenant: principal.tenant,
    actor: principal.actor,
    registered,
    scope: covered,
    input: () => saidDigest(recalled, tenant),
    at,
  }
  if (call.consent !== undefined && mayStand) return readConsent(call.consent, use, tenant.consents)
  const given =
    session.approvals.size === 0 ? undefined : session.approvals.get(approvalKey(recalled, covered, tenant))
  if (given !== undefined && given.until > tenant.tick())
    return { by: 'session-approval', consent: given.call }
  const standing = mayStand ? tenant.consents.covering(use) : undefined
  return standing === undefined ? unanswered : { by: 'consent', consent: standing.id }
}

const unanswered: Answered = { by: undefined, consent: undefined }

function readConsent(id: string, use: ConsentUse, consents: ConsentBook): Answered | CallError {
  const consent = consents.find(use.tenant, id)
  const { name, consent: wanted } = use.registered.definition
  const refuse = (reason: string, why: string) =>
    callError('AUTH.CONSENT_REQUIRED', reason, {
      message: `The consent "${id}" does not let "${name}" through: ${why}. Ask the person for a new one.`,
      data: { consent: id },
    })
  if (consent === 'other')
    return callError('AUTH.FORBIDDEN', 'tenant_mismatch', {
      message: `The consent "${id}" was not given in the tenant "${use.tenant}". Use one of this tenant.`,
    })
  if (consent === undefined) return refuse('consent_missing', 'there is none with this id')
  if (consent.revokedAt !== undefined) return refuse('consent_revoked', 'it was revoked')
  if (wanted.scope === 'once') return refuse('consent_missing', 'the tool wants a yes for every single call')
  if (!holds(consent, use)) {
    const [from, until] = [consent.givenAt, endOf(consent, wanted)].map((at) => new Date(at).toISOString())
    return refuse('consent_expired', `it holds from ${from} until ${until}`)
  }
  if (consent.tool === name && !isForThisTool(consent, use))
    return refuse(
      'consent_missing',
      'it was given to another definition of the tool, or to one of another source',
    )
  if (!covers(consent, use))
    return refuse(
      'consent_missing',
      `it covers "${consent.tool}" (${consent.scope}) for ${consent.actor} only`,
    )
  return { by: 'consent', consent: id }
}

/** Digest of what a person would see, but for what is only so now: the preview, the operations and the scope. Evidence has it, so it is keyed. */
export function previewDigest(plan: Plan, { store }: TenantContext): string {
  const { asOfNow: _, ...bound } = plan.preview ?? {}
  const preview = plan.preview === undefined ? null : bound
  return store.digest(JSON.stringify([preview, plan.operations, plan.scope ?? null]))
}
