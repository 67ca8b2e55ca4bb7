import type { CallError } from '../../contract/base/errors.ts'
import { preflightSteps, type BudgetState, type Preflight, type StepReport } from '../../contract/runtime.ts'
import { boundError } from '../record/bound-error.ts'
import { describeBudgets } from '../limits/budgets.ts'
import { explainDecision } from './explain-decision.ts'
import { mayRunPrograms } from '../state/may-run-programs.ts'
import {
  isChecked,
  isHalted,
  isPlanned,
  type Called,
  type StepName,
  type Halted,
} from '../state/call-state.ts'
import type { CallScope } from '../state/scope.ts'
import { redactError, redactorOf, showError, treatmentOf } from '../record/treatments.ts'
import { saidDigest } from '../state/said-digest.ts'
import { namesApprovers } from '../permission/keep-question.ts'
import { whoIsAsked } from '../permission/who-is-asked.ts'
import { previewOf } from '../permission/to-request.ts'
import { asksPerson, lookAhead } from './would-ask.ts'
import { countRepeats } from '../limits/repeats.ts'

/** The first six steps of the pipeline, without asking a person: what would happen to this call now. Has no effect, leaves no evidence. */
export async function preflight(called: Called | Halted, scope: CallScope): Promise<Preflight> {
  const reached = isHalted(called) ? called : await lookAhead(called, scope)
  const halted = isHalted(reached) ? reached : undefined
  const state: Halted['state'] = isHalted(reached) ? reached.state : reached
  const asks = asksPerson(state, scope)
  const effect = halted !== undefined ? 'deny' : asks ? askEffect(state, scope) : 'allow'
  const { limits } = scope.tenant
  const redactor = redactorOf(state.registered, scope)
  const error = halted && toShownError(halted, scope)
  const repeats = isChecked(state) ? countRepeats(state, scope) : 0
  const report: Preflight = {
    tool: state.registered?.definition.name ?? String(state.call.tool),
    effect,
    steps: redactor.json(reportSteps(halted && error && { at: halted.at, error }, state, scope)),
    budget: {
      calls: { used: scope.session.counts.family.made, limit: limits.callsPerSession ?? null },
      repeats: { used: repeats, limit: limits.repeatsPerSession },
      accounts: budgetStates(state, scope),
    },
    obligations: [
      'redact:secrets',
      ...(treatmentOf(state.registered, scope)?.ids ?? []),
      `cap:${limits.inlineBytes} bytes inline, the rest as an artifact`,
    ],
    policyDigest: scope.tenant.policy.digest,
  }
  const explained = explainDecision(state, scope)
  if (explained !== undefined) Object.assign(report, redactor.json(explained))
  if (error !== undefined) report.error = error
  if (isChecked(state)) report.inputDigest = saidDigest(state, scope.tenant)
  if (state.kept !== undefined) report.keptFrom = state.kept.begin.call
  if (state.profile !== undefined) {
    report.profile = state.profile
    report.profileHash = state.profile.digest
    if (mayRunPrograms(state)) report.sandbox = scope.tenant.sandbox.describe()
    Object.assign(report.budget, {
      timeoutMs: state.profile.timeoutMs,
      maxBytesIn: state.profile.maxBytesIn,
      maxBytesOut: state.profile.maxBytesOut,
    })
  }
  if (state.plan !== undefined) {
    const { operations, scope: covered } = state.plan
    report.plan = redactor.json({ operations, ...(covered !== undefined && { scope: covered }) })
    if (isPlanned(state)) report.preview = previewOf(state, scope)
  }
  return report
}

function toShownError({ halted, state }: Halted, scope: CallScope): CallError {
  const redacted = redactError(halted, redactorOf(state.registered, scope))
  return boundError(showError(redacted, scope.tenant), scope.tenant.limits.inlineBytes)
}

function budgetStates(state: Halted['state'], { tenant, session }: CallScope): readonly BudgetState[] {
  const { registered, profile, bytesIn } = state
  if (tenant.budgets === undefined || registered === undefined || profile === undefined) return []
  const { principal } = session
  const { definition } = registered
  const call = { principal, definition, profile, bytesIn: bytesIn ?? 0, at: tenant.now() }
  return describeBudgets(tenant.budgets.budgetsFor(principal, definition), call, tenant.store)
}

/** Without a person to ask, what needs asking is denied, but if the policy names who may decide: it waits for them. */
function askEffect({ approve, registered }: Halted['state'], scope: CallScope): 'ask' | 'deny' {
  if (registered === undefined) return approve === undefined ? 'deny' : 'ask'
  const isAsked = whoIsAsked(approve, registered, scope) !== undefined
  return isAsked || namesApprovers(registered, scope) ? 'ask' : 'deny'
}

function reportSteps(
  halted: { at: StepName; error: CallError } | undefined,
  state: Halted['state'],
  scope: CallScope,
): StepReport[] {
  const last =
    halted === undefined ? preflightSteps.length : preflightSteps.findIndex((step) => step === halted.at)
  return preflightSteps.map((step, index) => {
    if (index > last) return { step, outcome: 'not_reached', note: '' }
    if (halted !== undefined && index === last)
      return {
        step,
        outcome: 'stopped',
        note: `${halted.error.code} (${halted.error.reason}): ${halted.error.message}`,
      }
    if (step === 'approve' && asksPerson(state, scope)) {
      const denied =
        askEffect(state, scope) === 'deny' ? '; no person can be asked here, so it is denied' : ''
      return { step, outcome: 'would_ask', note: `${state.decision?.reason ?? ''}${denied}` }
    }
    return { step, outcome: 'passed', note: describeStep(step, state) }
  })
}

function describeStep(step: StepReport['step'], state: Halted['state']): string {
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
