import type { FileEffect, HeldChanges, PermitChanges } from '../../contract/base/effects.ts'
import { ToolFailure, type CallError } from '../../contract/base/errors.ts'
import type { Operation } from '../../contract/tool/plan.ts'
import type { Decision } from '../../contract/policy.ts'
import { isInside } from '../../kit/match/is-inside.ts'
import { operationAction, operationUrn } from '../../kit/match/urn.ts'
import { callError } from '../../kit/result/call-error.ts'
import { withoutStop } from '../../kit/text/without-stop.ts'
import { abortedError } from '../limits/aborted-error.ts'
import type { RunWatch } from '../limits/run-watch.ts'
import type { Admitted } from '../state/call-state.ts'
import type { CallScope, TenantContext } from '../state/scope.ts'
import { abortedWhileAsked, askPerson } from './ask-person.ts'
import { unasked } from './refusals.ts'
import { authoriseUse } from './authorise-use.ts'
import { callFacts } from './call-facts.ts'
import { callableDigest } from './callable-digest.ts'
import { findPause } from './find-pause.ts'
import { keepApproval } from './session-approvals.ts'
import { showHeld } from './show-held.ts'

/** The call whose changes are held, and the time that it has. */
export interface HoldingCall {
  readonly admitted: Admitted
  readonly scope: CallScope
  readonly watch: RunWatch
}

/**
 * Decides whether what a program wrote lands, as if the call had named each path in the first place: profile, rules, decision points, and the
 * person if they are to be asked, with what it did. Their yes holds for exactly these bytes. The time of the call stands still meanwhile.
 */
export function createChangesPermit(holding: HoldingCall): PermitChanges {
  return async (held) => {
    const effects = await held.effects()
    const judged = await judge(effects, holding, holding.scope.tenant.latest())
    if ('code' in judged) return refuse(judged, holding)
    const { deferred, plan } = holding.admitted
    if (judged.effect === 'allow' && !deferred && (plan.held?.review !== 'always' || effects.length === 0))
      return 'land'
    if (judged.effect === 'ask' && isLookOfGit(holding.admitted.decision, effects)) return 'drop'
    if (!deferred && isAnswered(judged, holding)) return 'land'
    if (!deferred && plan.held?.review === 'never') return refuse(unreviewed(judged, holding), holding)
    const refused = await review({ held, effects, decision: judged, holding })
    return refused === undefined ? 'land' : refuse(refused, holding)
  }
}

/**
 * Decides the same of what a program wrote that runs on. Its call was answered, so no person is asked: what they would be asked about does not land,
 * unless their yes to the call answers it.
 */
export function createLivePermit(of: Pick<HoldingCall, 'admitted' | 'scope'>): PermitChanges {
  const holding = { ...of, goesOn: true }
  return async (held) => {
    const judged = await judge(await held.effects(), holding, holding.scope.tenant.latest())
    if ('code' in judged) return new ToolFailure(judged)
    if (judged.effect === 'allow' || isAnswered(judged, holding)) return 'land'
    return new ToolFailure(unaskable(judged))
  }
}

/** Paths among which the one that is denied is looked for. */
const mostLookedAt = 10_000

/** A call that was let through before it ran may tell what its program printed. */
function refuse(error: CallError, { admitted }: HoldingCall): ToolFailure {
  const failure = new ToolFailure(error)
  if (admitted.deferred) throw failure
  return failure
}

interface Judging extends Pick<HoldingCall, 'admitted' | 'scope'> {
  /** Whether the program runs on, so that each path lands by itself. */
  readonly goesOn?: boolean
}

async function judge(
  effects: readonly FileEffect[],
  { admitted, scope, goesOn = false }: Judging,
  { policy, decisionPoints }: TenantContext,
): Promise<Decision | CallError> {
  const { registered, profile, plan } = admitted
  const { definition } = registered
  const writes = effects.map((effect) => toWrite(effect, plan.operations))
  const blocked = policy.guard(profile, writes)
  if (blocked !== undefined) return blocked
  const facts = callFacts(admitted, scope)
  const decision = policy.decide({ ...facts, operations: [...plan.operations, ...writes] })
  if (decision.effect === 'deny') {
    const denies = (operation: Operation) =>
      policy.decide({ ...facts, operations: [...plan.operations, operation] }).effect === 'deny'
    const denied = writes.slice(0, mostLookedAt).find(denies)
    const where = denied?.kind === 'fs.write' ? `"${denied.path}": ` : ''
    return callError('POLICY.DENY_TOOL', decision.denial ?? 'rule_denied', {
      message: goesOn
        ? `${withoutStop(decision.reason)}.`
        : `What "${definition.name}" wrote was not kept, nothing of it: ${where}${withoutStop(decision.reason)}.`,
      data: {
        layer: decision.layer,
        rule: decision.rule,
        ...(denied?.kind === 'fs.write' && { path: denied.path }),
      },
    })
  }
  if (decisionPoints.some(({ id }) => id !== 'grants'))
    for (const operation of writes) {
      const use = { action: operationAction(operation), resource: operationUrn(operation), operation }
      const refused = await authoriseUse(admitted, use, scope)
      if (refused !== undefined) return refused.error
    }
  return decision
}

/** What the plan named was judged and shown as its own. */
function toWrite({ path, effect }: FileEffect, planned: readonly Operation[]): Operation {
  const isPlanned = planned.some((each) => each.kind === 'fs.write' && isInside(path, each.path))
  if (isPlanned) return { kind: 'fs.write', path }
  return { kind: 'fs.write', path, by: 'program', ...(effect === 'removed' && { removed: true }) }
}

/** Whether a call that was let through without a question only had git note in its index what it saw. */
function isLookOfGit({ effect: before }: Decision, effects: readonly FileEffect[]): boolean {
  return before === 'allow' && effects.every(({ path }) => path.endsWith('/.git/index'))
}

/** Whether the person said yes to the call, for the reason for which they would be asked now. */
function isAnswered(decision: Decision, { admitted }: Pick<HoldingCall, 'admitted'>): boolean {
  const { approval, decision: before } = admitted
  return (
    decision.effect === 'ask' &&
    approval !== undefined &&
    !/^(?:sensitive|protected)-path$/.test(decision.rule) &&
    admitted.plan.held?.review !== 'always' &&
    before.verdicts.some(({ layer, rule }) => layer === decision.layer && rule === decision.rule)
  )
}

interface Reviewed {
  readonly held: HeldChanges
  readonly effects: readonly FileEffect[]
  readonly decision: Decision
  readonly holding: HoldingCall
}

/** Asks the person, and judges once more what they were asked about by what is in force after their answer. */
async function review(reviewed: Reviewed): Promise<CallError | undefined> {
  const { held, effects, decision, holding } = reviewed
  const { admitted, scope, watch } = holding
  const { tenant, session } = scope
  const { name } = admitted.registered.definition
  if (watch.ended !== undefined && watch.ended !== 'timeout')
    return abortedError(watch.ended, `"${name}" was stopped while it ran. Nothing of what it wrote was kept.`)
  const digest = await held.digest()
  const preview = await showHeld(held, { effects, digest }, { admitted, scope })
  const shown = tenant.store.digest(JSON.stringify([preview, digest]))
  const asked = {
    hooked: admitted,
    decision: toQuestion(decision, admitted),
    preview,
    ran: true,
    digest: shown,
    kept: undefined,
  }
  // A call of a step waits for no person.
  const approver = admitted.parks !== false ? undefined : admitted.approve
  if (approver === undefined)
    return unasked(
      asked,
      scope,
      `What "${name}" wrote needs a person's yes (${asked.decision.reason}), and no person can be asked here. Nothing of it was kept.`,
    )
  const letGo = watch.hold(tenant.limits.approvalTimeoutMs)
  try {
    admitted.reviewed = shown
    const answer = await askPerson(approver, asked, scope)
    if ('error' in answer) return answer.error
    if (watch.ended !== undefined) return abortedWhileAsked(name, watch.ended)
    const paused = findPause(admitted.registered, admitted.partOf, scope)
    if (paused !== undefined) return pausedMeanwhile(name, paused)
    const now = await judge(effects, holding, tenant.latest())
    if ('code' in now) return now
    const isSame = callableDigest(admitted.registered, session) === admitted.registered.digest
    if (!isSame || (await held.digest()) !== digest) return staleYes(name)
    if (answer.decision === 'allow_for_session' && asked.decision.keepable !== false)
      keepApproval(admitted, admitted.plan.scope, scope)
    return undefined
  } finally {
    letGo()
  }
}

/** What is allowed is asked about only because all changes are reviewed. */
function toQuestion(decision: Decision, { decision: before }: Admitted): Decision {
  if (decision.effect === 'ask') return decision
  if (before.effect === 'ask') return before
  const reason = 'all that commands change is shown before it lands'
  return {
    ...decision,
    effect: 'ask',
    layer: 'defaults',
    rule: 'review',
    reason,
    verdicts: [],
    keepable: false,
  }
}

function unreviewed(decision: Decision, { admitted }: HoldingCall): CallError {
  const { name } = admitted.registered.definition
  return callError('POLICY.APPROVAL_DENIED', 'no_callback', {
    message: `What "${name}" wrote was not kept, nothing of it: ${withoutStop(decision.reason)}, and no person is asked about changes ("review": "never").`,
    data: { layer: decision.layer, rule: decision.rule },
  })
}

function unaskable({ reason, layer, rule }: Decision): CallError {
  return callError('POLICY.APPROVAL_DENIED', 'no_callback', {
    message: `It needs a person's yes (${withoutStop(reason)}), and no person is asked about what a job writes. Run the command in the foreground, or let a rule of the policy allow it.`,
    data: { layer, rule },
  })
}

function pausedMeanwhile(tool: string, { data }: CallError): CallError {
  const why = data?.['why']
  return callError('POLICY.DENY_TOOL', 'calls_paused', {
    message: `It was paused while the person decided about what "${tool}" wrote, and nothing of that was kept${typeof why === 'string' ? `: ${withoutStop(why)}` : ''}. Stop here, and say so.`,
    ...(data !== undefined && { data }),
  })
}

function staleYes(tool: string): CallError {
  return callError('POLICY.APPROVAL_DENIED', 'approval_stale', {
    message: `"${tool}", or what it wrote, was changed while the person decided. Nothing of it was kept. Look at the current state and call again.`,
  })
}
