import type { Store } from '../../../contract/store.ts'
import { replayRun, type Replay } from '../../../compose/replay/replay-run.ts'
import { readText } from '../../arguments/caller.ts'
import { countOf } from '../../render/count-of.ts'
import { exitCodes } from '../../base/exit-codes.ts'
import { writeJson, writeText } from '../../base/show-safely.ts'
import { wireSimulation } from '../../setup/wire-simulation.ts'
import type { Asked, EvidenceVerb } from './verb.ts'
import { findMeant, withEvidence } from './open-evidence.ts'

/** `handrail evidence replay`. Exit code 0 where the run goes again as it went. Nothing is written, not even the ends of interrupted calls. */
export const replay: EvidenceVerb = (asked) =>
  withEvidence(asked.places, ({ store }) => replaySession(store, asked), { recovers: false })

async function replaySession(store: Store, { given, places, what: text }: Asked): Promise<number> {
  const tenant = readText(given, 'tenant')
  const meant = findMeant(store, { what: 'session', text, tenant })
  if (meant === undefined) return exitCodes.toolError
  const found = await replayRun({
    store,
    session: meant.id,
    runtime: await wireSimulation(places),
    ...(tenant !== undefined && { tenant }),
  })
  if (found.calls === 0) {
    process.stderr.write(`handrail: the session ${meant.id} made no call.\n`)
    return exitCodes.toolError
  }
  if (given.options['json'] === true) writeJson(found)
  else writeText(process.stdout, toPage(found))
  return found.divergence === undefined ? exitCodes.ok : exitCodes.toolError
}

function toPage({ session, calls, replayed, skipped, divergence, policies }: Replay): string {
  const lines = [`${session}: ${replayed} of ${countOf(calls, 'call')} replayed`]
  if (divergence !== undefined) {
    lines.push(
      `\n${divergence.call} ${divergence.tool} goes another way now, the calls after it were not replayed:`,
    )
    for (const { what, recorded, now } of divergence.differences)
      lines.push(`  ${what.padEnd(11)} recorded  ${recorded}`, `  ${' '.repeat(11)} now       ${now}`)
  }
  if (skipped.length > 0) lines.push('\nNot replayed:')
  for (const { call, tool, reason } of skipped) lines.push(`  ${call} ${tool}: ${reason}`)
  if (policies.now !== undefined && policies.recorded.some((digest) => digest !== policies.now))
    lines.push(`\nThe policy is another one now: ${policies.now}, recorded ${policies.recorded.join(', ')}`)
  if (divergence === undefined) lines.push('\nNo divergence.')
  return `${lines.join('\n')}\n`
}
