import type { CallError } from '../../contract/base/errors.ts'
import { preflightSteps, type BudgetState, type Preflight, type StepReport } from '../../contract/runtime.ts'
import { abortedEarly } from '../limits/aborted-early.ts'
import { boundError } from '../record/bound-error.ts'
import { describeBudgets } from '../limits/budgets.ts'
import { explainDecision } from './explain-decision.ts'
import { mayRunPrograms } from '../state/may-run-programs.ts'
import { isStopped, stop, type Called, type Hooked, type StepName, type Stopped } from '../state/passage.ts'
import type { Road } from '../state/ground.ts'
import { redactError, redactorOf, showError, treatmentOf } from '../record/treatments.ts'
import { createRunWatch } from '../limits/run-watch.ts'
import { saidDigest } from '../state/said-digest.ts'
import { recallForPreflight } from './steps/recall.ts'
import { answeredBefore, findExhaustedBudget, previewOf } from './steps/approve.ts'
import { prepare } from './road.ts'
import { countRepeats } from '../limits/repeats.ts'

/** The first six steps of the road, without asking anybody: what would happen to this call now. Has no effect, leaves no evidence. */
export async function preflight(called: Called | Stopped, road: Road): Promise<Preflight> {
  const reached = isStopped(called) ? called : await walkSteps(called, road)
  const stopped = isStopped(reached) ? reached : undefined
  const state: Partial<Hooked> & Called = stopped === undefined ? (reached as Hooked) : stopped.state
  const asks = asksPerson(state, road)
  const effect = stopped !== undefined ? 'deny' : asks ? askEffect(road) : 'allow'
  const { limits } = road.ground
  const { redactor } = road.ground
  const error = stopped && toShownError(stopped, road)
  const isChecked = state.shownText !== undefined
  const repeats = isChecked ? countRepeats(state as Hooked, road) : 0
  const report: Preflight = {
    tool: state.registered?.definition.name ?? String(state.call.tool),
    effect,
    steps: redactor.json(reportSteps(stopped && error && { at: stopped.at, error }, state, road)),
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
  if (explained !== undefined) Object.assign(report, redactor.json(explained))
  if (error !== undefined) report.error = error
  if (isChecked) report.inputDigest = saidDigest(state as Hooked, road.ground)
  if (state.kept !== undefined) report.keptFrom = state.kept.begin.call
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
    const { operations, scope } = state.plan
    report.plan = redactor.json({ operations, ...(scope !== undefined && { scope }) })
    if (state.decision !== undefined) report.preview = previewOf(state as Hooked, road)
  }
  return report
}

function toShownError({ stopped, state }: Stopped, road: Road): CallError {
  const redacted = redactError(stopped, redactorOf(state.registered, road))
  return boundError(showError(redacted, road.ground), road.ground.limits.inlineBytes)
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
  const prepared = await prepare<never>(called, road, { recall: recallForPreflight, isPreflight: true })
  if (isStopped(prepared)) return prepared
  const over = findEnded(prepared, road) ?? findExhaustedBudget(prepared, road)
  return over === undefined ? prepared : stop('approve', prepared, over)
}

/** The session may have been told to end: a call would then be aborted. */
function findEnded(hooked: Hooked, { session }: Road): CallError | undefined {
  const { ended } = createRunWatch(hooked, session.endings)
  return ended && abortedEarly(hooked.registered.definition.name, ended, 'before it ran')
}

function asksPerson(state: Partial<Hooked> & Called, road: Road): boolean {
  return state.decision?.effect === 'ask' && answeredBefore(state as Hooked, road) === undefined
}

/** Without anybody to ask, what needs asking is denied. */
function askEffect(road: Road): 'ask' | 'deny' {
  return road.session.approver === undefined ? 'deny' : 'ask'
}

function reportSteps(
  stopped: { at: StepName; error: CallError } | undefined,
  state: Partial<Hooked> & Called,
  road: Road,
): StepReport[] {
  const last =
    stopped === undefined ? preflightSteps.length : preflightSteps.findIndex((step) => step === stopped.at)
  return preflightSteps.map((step, index) => {
    if (index > last) return { step, outcome: 'not_reached', note: '' }
    if (stopped !== undefined && index === last)
      return {
        step,
        outcome: 'stopped',
        note: `${stopped.error.code} (${stopped.error.reason}): ${stopped.error.message}`,
      }
    if (step === 'approve' && asksPerson(state, road)) {
      const nobody = road.session.approver === undefined ? '; nobody can be asked here, so it is denied' : ''
      return { step, outcome: 'would_ask', note: `${state.decision?.reason ?? ''}${nobody}` }
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
      return `no rule forbids the tool; ${state.kept === undefined ? 'counts leave room' : `the result of ${state.kept.begin.call} is kept under its key, so nothing would run`}`
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
