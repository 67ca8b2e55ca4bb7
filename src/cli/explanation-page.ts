import type { Preflight } from '../contract/runtime.ts'

const marks = { passed: '✓', stopped: '✗', would_ask: '?', not_reached: ' ' } as const

/** What a preflight found, as text for a terminal. */
export function toExplanationPage(report: Preflight): string {
  const lines = [`${report.tool}: ${report.effect}`, '']
  for (const step of report.steps) lines.push(`  ${marks[step.outcome]} ${step.step.padEnd(12)} ${step.note}`)
  if (report.decision !== undefined) {
    lines.push(
      '',
      `decided by ${report.decision.layer}/${report.decision.rule}: ${report.decision.effect} – ${report.decision.reason}`,
    )
    for (const verdict of report.decision.verdicts.slice(1))
      lines.push(`  also ${verdict.layer}/${verdict.rule}: ${verdict.effect} – ${verdict.reason}`)
    for (const { without, ...other } of report.alternatives ?? [])
      lines.push(
        `  without ${without.layer}/${without.rule}: ${other.effect}, by ${other.layer}/${other.rule} – ${other.reason}`,
      )
  }
  if (report.profile !== undefined) {
    const { profile } = report
    lines.push(
      '',
      `profile ${profile.digest}`,
      `  reads      ${list(profile.readRoots)}`,
      `  writes     ${list(profile.writeRoots)}`,
      `  programs   ${list(profile.executables)}`,
      `  hosts      ${list(profile.hosts)}`,
      `  time       ${profile.timeoutMs} ms`,
    )
  }
  if (report.preview !== undefined)
    lines.push('', report.preview.title, ...report.preview.body.split('\n').map((line) => `  | ${line}`))
  return `${lines.join('\n')}\n`
}

function list(items: readonly string[]): string {
  return items.length === 0 ? 'nothing' : items.join(', ')
}
