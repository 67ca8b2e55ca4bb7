import type { EvidenceVerb } from './verb.ts'
import { readText } from '../../arguments/caller.ts'
import type { CommandLine } from '../../base/command.ts'
import { countOf } from '../../render/count-of.ts'
import { exitCodes } from '../../base/exit-codes.ts'
import { readChoice } from '../../terminal/read-choice.ts'
import { readDuration } from '../../arguments/read-duration.ts'
import { showJson } from '../../base/show-safely.ts'
import { UsageError } from '../../base/usage-error.ts'
import { findCalls, outcomes, type WantedCalls } from '../../../evidence/find-calls.ts'
import { toCallLines } from './call-lines.ts'
import { findNotes } from '../../../evidence/find-notes.ts'
import { toNoteLine } from './to-note-line.ts'
import { findMeant, withEvidence } from './open-evidence.ts'

/** `handrail evidence list` */
export const list: EvidenceVerb = async ({ given, places }) => {
  const wanted = readWanted(given)
  return withEvidence(places, async ({ store }) => {
    const [tenant, text] = ['tenant', 'session'].map((name) => readText(given, name))
    const meant = findMeant(store, { what: 'session', text, tenant })
    if (meant === undefined) return exitCodes.toolError
    const { tenants, id: session } = meant
    const named = session !== undefined && { session }
    if (given.options['notes'] === true) {
      const notes = findNotes(store, { ...wanted, ...named, tenants })
      print(given, { found: notes, lines: notes.map(toNoteLine), what: 'note' })
    } else {
      const calls = findCalls(store, { ...wanted, ...named, tenants })
      print(given, { found: calls, lines: toCallLines(calls), what: 'call' })
    }
    return exitCodes.ok
  })
}

function readWanted(given: CommandLine): Omit<WantedCalls, 'tenants' | 'session'> {
  const limit = Number(given.options['limit'] ?? 20)
  if (!Number.isSafeInteger(limit) || limit < 1)
    throw new UsageError(
      `--limit is "${String(given.options['limit'])}"; it must be a whole number from 1 on.`,
    )
  const [actor, tool] = ['actor', 'tool'].map((name) => readText(given, name))
  const outcome = readChoice(given, 'outcome', outcomes)
  const ageMs = readDuration(given, 'since')
  const own = ['actor', 'tool', 'outcome', 'since'].find((name) => given.options[name] !== undefined)
  if (given.options['notes'] === true && own !== undefined)
    throw new UsageError(`Notes are of no call: leave out --${own}, or --notes.`)
  return {
    limit,
    ...(actor !== undefined && { actor }),
    ...(tool !== undefined && { tool }),
    ...(outcome !== undefined && { outcome }),
    ...(ageMs !== undefined && { since: Date.now() - ageMs }),
  }
}

interface Found {
  readonly found: readonly unknown[]
  readonly lines: readonly string[]
  readonly what: string
}

function print(given: CommandLine, { found, lines, what }: Found): void {
  const count = countOf(found.length, what)
  const text = given.options['json'] === true ? showJson(found) : [...lines, count].join('\n')
  process.stdout.write(`${text}\n`)
}
