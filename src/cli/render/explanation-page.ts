import type { BudgetState, Preflight } from '../../contract/runtime.ts'
import { toOutcome } from '../../kit/result/to-outcome.ts'
import { showDuration } from '../../kit/time/show-duration.ts'

const marks = { passed: '✓', stopped: '✗', would_ask: '?', not_reached: ' ' } as const

/** What a preflight found, as text for a terminal. */
export function toExplanationPage(report: Preflight): string {
  const blocks = [
    [`${report.tool}: ${isFailure(report) ? 'would fail' : report.effect}`],
    stepLines(report),
    decisionLines(report),
    aboutLines(report),
    profileLines(report),
    previewLines(report),
  ]
  return blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => `${lines.join('\n')}\n`)
    .join('\n')
}

/** Whether it would end as a call that failed, not as one that is denied. */
export function isFailure({ effect, error }: Preflight): boolean {
  // Without an error no person could be asked, and that denies.
  return effect === 'deny' && error !== undefined && toOutcome(error) !== 'denied'
}

/** Each step of the pipeline, and what it found. */
export function stepLines({ steps }: Preflight): string[] {
  return steps.map(({ step, outcome, note }) => `  ${marks[outcome]} ${step.padEnd(12)} ${note}`.trimEnd())
}

/** What decides, everything else that a layer says, and what would decide without it. Empty if nothing was decided. */
export function decisionLines({ decision, alternatives = [] }: Preflight): string[] {
  if (decision === undefined) return []
  const { layer, rule, effect, reason, verdicts } = decision
  return [
    `decided by ${layer}/${rule}: ${effect} – ${reason}`,
    ...verdicts
      .slice(1)
      .map((verdict) => `  also ${verdict.layer}/${verdict.rule}: ${verdict.effect} – ${verdict.reason}`),
    ...alternatives.map(
      ({ without, ...other }) =>
        `  without ${without.layer}/${without.rule}: ${other.effect}, by ${other.layer}/${other.rule} – ${other.reason}`,
    ),
  ]
}

/** What a consent would have to name, what is left to spend, and what happens to the result. */
function aboutLines({ plan, budget, obligations }: Preflight): string[] {
  return [
    ...(plan?.scope === undefined ? [] : [`scope ${plan.scope}`]),
    ...budget.accounts.map(toBudgetLine),
    ...(obligations.length === 0 ? [] : [`obligations ${obligations.join(', ')}`]),
  ]
}

function toBudgetLine({ id, unit, limit, spent, reserved, endsAt }: BudgetState): string {
  const held = reserved === 0 ? '' : `, ${reserved} held for calls that run or come next`
  const end = new Date(endsAt ?? Number.NaN)
  const until = Number.isNaN(end.getTime()) ? '' : `, until ${end.toISOString()}`
  return `budget ${id}: ${spent} of ${limit} ${unit} spent${held}${until}`
}

function profileLines({ profile, sandbox }: Preflight): string[] {
  if (profile === undefined) return []
  return [
    `profile ${profile.digest}`,
    `  reads      ${list(profile.readRoots)}`,
    `  writes     ${list(profile.writeRoots)}`,
    `  programs   ${list(profile.executables)}`,
    `  hosts      ${list(profile.hosts)}`,
    `  time       ${showDuration(profile.timeoutMs)}`,
    ...(sandbox === undefined ? [] : [`  sandbox    ${sandbox}`]),
  ]
}

function previewLines({ preview }: Preflight): string[] {
  if (preview === undefined) return []
  return [preview.title, ...preview.body.split('\n').map((line) => `  | ${line}`)]
}

function list(items: readonly string[]): string {
  return items.length === 0 ? 'nothing' : items.join(', ')
}
