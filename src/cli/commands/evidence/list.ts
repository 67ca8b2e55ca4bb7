import type { Asked, EvidenceVerb } from './verb.ts'
import { readText } from '../../arguments/caller.ts'
import type { CommandLine } from '../../base/command.ts'
import { countOf } from '../../render/count-of.ts'
import { exitCodes } from '../../base/exit-codes.ts'
import { readChoice } from '../../terminal/read-choice.ts'
import { readDuration } from '../../arguments/read-duration.ts'
import { readLimit } from '../../arguments/read-limit.ts'
import { showJson } from '../../base/show-safely.ts'
import { UsageError } from '../../base/usage-error.ts'
import { findCalls, outcomes, type WantedCalls } from '../../../evidence/find-calls.ts'
import { toCallLine, toCallLines } from './call-lines.ts'
import { followCalls } from './follow-calls.ts'
import { findNotes } from '../../../evidence/find-notes.ts'
import { toNoteLine } from './to-note-line.ts'
import { findMeant, withEvidence } from './open-evidence.ts'

/** `handrail evidence list` */
export const list: EvidenceVerb = async ({ given, places }) => {
  const wanted = readWanted(given)
  if (given.options['follow'] === true) return follow({ given, places, wanted })
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

interface Following extends Pick<Asked, 'given' | 'places'> {
  readonly wanted: Criteria
}

/** The store stays open for long, so what was cut off before is ended first, and nothing is written from then on. */
async function follow({ given, places, wanted }: Following): Promise<number> {
  await withEvidence(places, async () => exitCodes.ok, { makes: true })
  const look = { recovers: false, signs: false, warns: false }
  return withEvidence(
    places,
    async ({ store }) => {
      const [tenant, text] = ['tenant', 'session'].map((name) => readText(given, name))
      const meant = findMeant(store, { what: 'session', text, tenant })
      if (meant === undefined) return exitCodes.toolError
      const { id: session } = meant
      await followCalls(store, {
        wanted: { ...wanted, ...(session !== undefined && { session }) },
        tenants: () => (tenant === undefined ? store.tenants() : meant.tenants),
        show(listed) {
          const line = given.options['json'] === true ? showJson(listed, 0) : toCallLine(listed)
          process.stdout.write(`${line}\n`)
        },
      })
      return exitCodes.ok
    },
    look,
  )
}

type Criteria = Omit<WantedCalls, 'tenants' | 'session'>

function readWanted(given: CommandLine): Criteria {
  const limit = readLimit(given)
  const [actor, tool] = ['actor', 'tool'].map((name) => readText(given, name))
  const outcome = readChoice(given, 'outcome', outcomes)
  const [sinceMs, untilMs] = ['since', 'until'].map((name) => readDuration(given, name))
  const own = ['actor', 'tool', 'outcome', 'since', 'until', 'follow'].find(
    (name) => given.options[name] !== undefined,
  )
  if (given.options['notes'] === true && own !== undefined)
    throw new UsageError(`Notes are of no call: leave out --${own}, or --notes.`)
  if (given.options['follow'] === true && outcome === 'running')
    throw new UsageError('--follow shows calls as they end: leave out --outcome running, or --follow.')
  if (given.options['follow'] === true && untilMs !== undefined)
    throw new UsageError('--follow shows calls as they end: leave out --until, or --follow.')
  if (sinceMs !== undefined && untilMs !== undefined && sinceMs <= untilMs)
    throw new UsageError('Nothing began between: give --since a longer time than --until.')
  const now = Date.now()
  return {
    limit,
    ...(actor !== undefined && { actor }),
    ...(tool !== undefined && { tool }),
    ...(outcome !== undefined && { outcome }),
    ...(sinceMs !== undefined && { since: now - sinceMs }),
    ...(untilMs !== undefined && { until: now - untilMs }),
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
