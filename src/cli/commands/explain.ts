import type { Face } from '../../contract/call.ts'
import { modes, roles } from '../../contract/principal.ts'
import type { Preflight } from '../../contract/runtime.ts'
import { exitCodes } from '../exit-codes.ts'
import type { Command } from '../command.ts'
import { parseInput } from '../parse-input.ts'
import { readChoice } from '../read-choice.ts'
import { writeText } from '../show-safely.ts'
import { createFixedApprover } from '../terminal-approver.ts'
import { UsageError } from '../usage-error.ts'
import { findPlaces, wireRuntime } from '../wire.ts'

/** `handrail explain` */
export const explain: Command = {
  usage: "<tool> '<json input>' [--json] [--role R] [--mode M] [--face canonical|familiar]",
  summary: 'Says what would happen to a call and which rule decides. Asks nobody and touches nothing.',
  options: {
    json: { type: 'boolean' },
    role: { type: 'string' },
    mode: { type: 'string' },
    face: { type: 'string' },
  },
  takes: 2,
  async run(given) {
    const [tool, text] = given.positionals
    if (tool === undefined) throw new UsageError(`Name a tool. Usage: handrail explain ${explain.usage}`)
    const input = await parseInput(text)
    const role = readChoice(given, 'role', roles)
    const mode = readChoice(given, 'mode', modes)
    const face = readChoice<Face>(given, 'face', ['canonical', 'familiar'])
    // Preflight asks nobody; with an approver in place it says `ask` where a person would be asked.
    const runtime = await wireRuntime(findPlaces(given), createFixedApprover('deny'), { keep: false })
    try {
      const session = runtime.session({
        ...(role !== undefined && { role }),
        ...(mode !== undefined && { mode }),
      })
      const report = await session.preflight(tool, input, face === undefined ? {} : { face })
      if (given.options['json'] === true) process.stdout.write(`${JSON.stringify(report, null, 2)}\n`)
      else writeText(process.stdout, toPage(report))
      return report.effect === 'deny'
        ? report.error?.code.startsWith('SCHEMA.') === true
          ? exitCodes.toolError
          : exitCodes.denied
        : exitCodes.ok
    } finally {
      await runtime.close()
    }
  },
}

const marks = { passed: '✓', stopped: '✗', would_ask: '?', not_reached: ' ' } as const

function toPage(report: Preflight): string {
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
