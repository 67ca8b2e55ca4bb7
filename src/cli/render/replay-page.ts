import type { AgentReplay } from '../../compose/replay/agent/replay-agent-run.ts'
import type { SkippedPart } from '../../compose/replay/agent/replaying.ts'
import type { Difference } from '../../compose/replay/compare-calls.ts'
import type { Replay } from '../../compose/replay/replay-run.ts'
import { countOf } from './count-of.ts'

/** The replay of a session, for people. */
export function toReplayPage({ session, calls, replayed, skipped, divergence, policies }: Replay): string {
  const lines = [`${session}: ${replayed} of ${countOf(calls, 'call')} replayed`]
  if (divergence !== undefined)
    lines.push(
      `\n${divergence.call} ${divergence.tool} goes another way now, the calls after it were not replayed:`,
      ...toLines(divergence.differences),
    )
  if (skipped.length > 0) lines.push('\nNot replayed:')
  for (const { call, tool, reason } of skipped) lines.push(`  ${call} ${tool}: ${reason}`)
  return finish(lines, { policies, isSame: divergence === undefined })
}

/** The replay of a run of an agent, for people. */
export function toAgentReplayPage(found: AgentReplay): string {
  const { run, turns, calls, replayed, children, skipped, divergence, policies } = found
  const started = children.length === 0 ? '' : `, with ${countOf(children.length, 'run')} that it started`
  const lines = [
    `${run}: ${countOf(turns, 'turn')}, ${replayed} of ${countOf(calls, 'call')} replayed${started}`,
  ]
  if (divergence !== undefined) {
    const { turn, call, tool, differences } = divergence
    const where = [
      ...(turn === undefined ? [] : [`in turn ${turn}`]),
      ...(call === undefined ? [] : [`at ${call}`]),
      ...(tool === undefined ? [] : [tool]),
    ]
    lines.push(
      `\n${[divergence.run, 'parts', ...where].join(' ')}, what comes after was not replayed:`,
      ...toLines(differences),
    )
  }
  if (skipped.length > 0) lines.push('\nNot replayed:', ...skipped.map(toSkippedLine))
  return finish(lines, { policies, isSame: divergence === undefined })
}

function toSkippedLine({ run, turn, call, tool, reason }: SkippedPart): string {
  const where = [
    run,
    ...(turn === undefined ? [] : [`turn ${turn}`]),
    ...(call === undefined ? [] : [call, tool]),
  ]
  return `  ${where.join(' ')}: ${reason}`
}

function toLines(differences: readonly Difference[]): string[] {
  const width = Math.max(11, ...differences.map(({ what }) => what.length))
  return differences.flatMap(({ what, recorded, now }) => [
    `  ${what.padEnd(width)} recorded  ${recorded}`,
    `  ${' '.repeat(width)} now       ${now}`,
  ])
}

function finish(
  lines: readonly string[],
  {
    policies,
    isSame,
  }: { policies: { recorded: readonly string[]; now: string | undefined }; isSame: boolean },
): string {
  const { recorded, now } = policies
  const other = now !== undefined && recorded.some((digest) => digest !== now)
  return [
    ...lines,
    ...(other ? [`\nThe policy is another one now: ${now}, recorded ${recorded.join(', ')}`] : []),
    ...(isSame ? ['\nNo divergence.'] : []),
    '',
  ].join('\n')
}
