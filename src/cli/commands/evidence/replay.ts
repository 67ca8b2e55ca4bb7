import { createRunBook, type RunBook } from '../../../agents/loop/run-book.ts'
import { replayRun } from '../../../compose/replay/replay-run.ts'
import { policyForm } from '../../../config/check-file.ts'
import { loadFile } from '../../../config/load-configuration.ts'
import type { StoredRun } from '../../../contract/agent-run.ts'
import type { Store } from '../../../contract/store.ts'
import { createSchemaChecker } from '../../../schema/create-schema-checker.ts'
import { readText } from '../../arguments/caller.ts'
import { findAmong, shortestEnd } from '../../arguments/find-named.ts'
import { readFile } from '../../arguments/read-file.ts'
import type { CommandLine } from '../../base/command.ts'
import { exitCodes } from '../../base/exit-codes.ts'
import { showLine, writeJson, writeText } from '../../base/show-safely.ts'
import { UsageError } from '../../base/usage-error.ts'
import { toAgentReplayPage, toReplayPage } from '../../render/replay-page.ts'
import { replayKeptRun } from '../../run/replay-kept-run.ts'
import type { Places } from '../../setup/wire.ts'
import { wireSimulation } from '../../setup/wire-simulation.ts'
import type { Asked, EvidenceVerb } from './verb.ts'
import { findMeant, findTenants, withEvidence } from './open-evidence.ts'

/** `handrail evidence replay`. Exit code 0 where the run goes again as it went. Nothing is written, not even the ends of interrupted calls. */
export const replay: EvidenceVerb = (asked) =>
  withEvidence(asked.places, ({ store }) => replayNamed(store, asked), { recovers: false })

async function replayNamed(store: Store, asked: Asked): Promise<number> {
  const { given, what: text } = asked
  const tenant = readText(given, 'tenant')
  const tenants = findTenants(store, tenant)
  if (tenants === undefined) return exitCodes.toolError
  const book = createRunBook(store)
  const named = text === 'last' ? undefined : findNamedRun(store, book, { text, tenants })
  if (named !== undefined) return replayOneRun(store, named, asked)
  const meant = findMeant(store, { what: 'session', text, tenant })
  if (meant === undefined) return exitCodes.toolError
  const run = text === 'last' ? findLastRun(book, meant) : undefined
  if (run !== undefined) return replayOneRun(store, run, asked)
  return replaySession(store, meant.id, asked)
}

/** The run of a person's word; undefined if no run has such an id. */
function findNamedRun(
  store: Store,
  book: RunBook,
  { text, tenants }: { text: string; tenants: readonly string[] },
): StoredRun | undefined {
  const exact = tenants.flatMap((tenant) => book.find(text, tenant) ?? [])
  if (exact[0] !== undefined || text.length < shortestEnd) return exact[0]
  const found = tenants.flatMap((tenant) =>
    store
      .documents({ tenant, kind: 'run' })
      .filter(({ id }) => id.endsWith(text))
      .flatMap(({ id }) => book.find(id, tenant) ?? []),
  )
  if (found.length === 0) return undefined
  const chosen = findAmong(found, { what: 'run', text, none: '' })
  if ('issue' in chosen) throw new UsageError(showLine(chosen.issue))
  return chosen.item
}

/** The run of the last call; of an agent that another one started, the run of that one. */
function findLastRun(
  book: RunBook,
  { tenants, id }: { tenants: readonly string[]; id: string },
): StoredRun | undefined {
  const [run] = tenants.flatMap((tenant) => book.find(id, tenant) ?? [])
  return run && topOf(run, book)
}

function topOf(run: StoredRun, book: RunBook): StoredRun {
  const above = run.parent?.run === undefined ? undefined : book.find(run.parent.run, run.tenant)
  return above === undefined ? run : topOf(above, book)
}

async function replayOneRun(store: Store, run: StoredRun, { given, places }: Asked): Promise<number> {
  const system = readText(given, 'system')
  const found = await replayKeptRun(store, run, {
    places,
    runtime: await wireNow(given, places),
    ...(system !== undefined && { system: readFile(system) }),
  })
  show(given, found, toAgentReplayPage)
  return found.divergence === undefined ? exitCodes.ok : exitCodes.toolError
}

async function replaySession(store: Store, session: string, { given, places }: Asked): Promise<number> {
  if (given.options['system'] !== undefined)
    throw new UsageError(
      `The session ${session} is not a run of an agent, so --system says nothing about it.`,
    )
  const tenant = readText(given, 'tenant')
  const found = await replayRun({
    store,
    session,
    runtime: await wireNow(given, places),
    ...(tenant !== undefined && { tenant }),
  })
  if (found.calls === 0) {
    process.stderr.write(`handrail: the session ${session} made no call.\n`)
    return exitCodes.toolError
  }
  show(given, found, toReplayPage)
  return found.divergence === undefined ? exitCodes.ok : exitCodes.toolError
}

function wireNow(given: CommandLine, places: Places): ReturnType<typeof wireSimulation> {
  const policy = readText(given, 'policy')
  return wireSimulation(
    places,
    policy === undefined ? undefined : loadFile(policy, policyForm, createSchemaChecker()),
  )
}

function show<Found extends object>(
  given: CommandLine,
  found: Found,
  toPage: (found: Found) => string,
): void {
  if (given.options['json'] === true) writeJson(found)
  else writeText(process.stdout, toPage(found))
}
