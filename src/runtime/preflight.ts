import type { BudgetState, Preflight, StepReport } from '../contract/runtime.ts'
import { describeBudgets } from './budgets.ts'
import { explainDecision } from './explain-decision.ts'
import { mayRunPrograms } from './may-run-programs.ts'
import { isStopped, stop, type Called, type Hooked, type StepName, type Stopped } from './passage.ts'
import type { Road } from './ground.ts'
import { redactError, redactorOf, treatmentOf } from './treatments.ts'
import { findExhaustedBudget, previewOf } from './steps/approve.ts'
import { authorise, countRepeats } from './steps/authorise.ts'
import { checkInput } from './steps/check-input.ts'
import { find } from './steps/find.ts'
import { askHooks } from './steps/hook.ts'
import { plan } from './steps/plan.ts'

const steps = [
  'find',
  'check-input',
  'authorise',
  'plan',
  'hook',
  'approve',
] as const satisfies readonly StepName[]

/** The first six steps of the road, without asking anybody: what would happen to this call now. Has no effect, leaves no evidence. */
export async function preflight(called: Called, road: Road): Promise<Preflight> {
  const reached = await walkSteps(called, road)
  const stopped = isStopped(reached) ? reached : undefined
  const state: Partial<Hooked> & Called = stopped === undefined ? (reached as Hooked) : stopped.state
  const effect = stopped !== undefined ? 'deny' : state.decision?.effect === 'ask' ? askEffect(road) : 'allow'
  const { limits } = road.ground
  const repeats = state.inputDigest === undefined ? 0 : countRepeats(state as Hooked, road.session)
  const report: Preflight = {
    tool: state.registered?.definition.name ?? String(called.call.tool),
    effect,
    steps: reportSteps(stopped, state, road),
    budget: {
      calls: { used: road.session.counts.family.made, limit: limits.callsPerSession ?? null },
      repeats: { used: repeats, limit: limits.repeatsPerSession },
      accounts: budgetStates(state, road),
    },
    obligations: [
      'redact:secrets',
      ...(treatmentOf(state.registered, road)?.ids ?? []),
      `cap:${limits.inlineBytes} bytes inline, the rest as an artifact`,
    ],
    policyDigest: road.ground.policy.digest,
  }
  const explained = explainDecision(state, road)
  if (explained !== undefined) Object.assign(report, explained)
  if (stopped !== undefined) report.error = redactError(stopped.stopped, redactorOf(state.registered, road))
  if (state.inputDigest !== undefined) report.inputDigest = state.inputDigest
  if (state.profile !== undefined) {
    report.profile = state.profile
    report.profileHash = state.profile.digest
    if (mayRunPrograms(state)) report.sandbox = road.ground.sandbox.describe()
    Object.assign(report.budget, {
      timeoutMs: state.profile.timeoutMs,
      maxBytesIn: state.profile.maxBytesIn,
      maxBytesOut: state.profile.maxBytesOut,
    })
  }
  if (state.plan !== undefined) {
    report.plan = {
      operations: state.plan.operations,
      ...(state.plan.scope !== undefined && { scope: state.plan.scope }),
    }
    if (state.decision !== undefined) report.preview = previewOf(state as Hooked, road)
  }
  return report
}

function budgetStates(state: Partial<Hooked> & Called, { ground, session }: Road): readonly BudgetState[] {
  const { registered, profile, bytesIn } = state
  if (ground.budgets === undefined || registered === undefined || profile === undefined) return []
  const { principal } = session
  const { definition } = registered
  const call = { principal, definition, profile, bytesIn: bytesIn ?? 0, at: ground.now() }
  return describeBudgets(ground.budgets.budgetsFor(principal, definition), call, ground.store)
}

async function walkSteps(called: Called, road: Road): Promise<Hooked | Stopped> {
  const found = find(called, road)
  if (isStopped(found)) return found
  const checked = checkInput(found, road)
  if (isStopped(checked)) return checked
  const authorised = await authorise(checked, road)
  if (isStopped(authorised)) return authorised
  const planned = await plan(authorised, road)
  if (isStopped(planned)) return planned
  const hooked = await askHooks(planned, road)
  if (isStopped(hooked)) return hooked
  const exhausted = findExhaustedBudget(hooked, road)
  return exhausted === undefined ? hooked : stop('approve', hooked, exhausted)
}

/** Without anybody to ask, what needs asking is denied. */
function askEffect(road: Road): 'ask' | 'deny' {
  return road.session.approver === undefined ? 'deny' : 'ask'
}

function reportSteps(stopped: Stopped | undefined, state: Partial<Hooked>, road: Road): StepReport[] {
  const last = stopped === undefined ? steps.length : steps.findIndex((step) => step === stopped.at)
  return steps.map((step, index) => {
    if (index > last) return { step, outcome: 'not_reached', note: '' }
    if (stopped !== undefined && index === last)
      return {
        step,
        outcome: 'stopped',
        note: `${stopped.stopped.code} (${stopped.stopped.reason}): ${stopped.stopped.message}`,
      }
    if (step === 'approve' && state.decision?.effect === 'ask') {
      const nobody = road.session.approver === undefined ? '; nobody can be asked here, so it is denied' : ''
      return { step, outcome: 'would_ask', note: `${state.decision.reason}${nobody}` }
    }
    return { step, outcome: 'passed', note: describeStep(step, state) }
  })
}

function describeStep(step: StepReport['step'], state: Partial<Hooked>): string {
  switch (step) {
    case 'find':
      return `${state.registered?.definition.name ?? ''} ${state.registered?.definition.version ?? ''} of ${state.registered?.source ?? ''}`
    case 'check-input':
      return (state.repairs ?? []).length === 0
        ? 'fits its schema'
        : `fits its schema after ${state.repairs?.length} lossless repairs`
    case 'authorise':
      return 'no rule forbids the tool; counts leave room'
    case 'plan':
      return (
        (state.plan?.operations ?? [])
          .map(
            (operation) =>
              `${operation.kind} ${'path' in operation ? operation.path : 'executable' in operation ? operation.executable : 'host' in operation ? operation.host : operation.resource}`,
          )
          .join(', ') || 'nothing outside'
      )
    case 'hook':
      return (state.hookNotes ?? []).join('; ') || 'no objection'
    case 'approve':
      return `${state.decision?.layer ?? ''}/${state.decision?.rule ?? ''}: ${state.decision?.reason ?? ''}`
  }
}
