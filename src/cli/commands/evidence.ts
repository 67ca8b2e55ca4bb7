import { existsSync } from 'node:fs'
import type { BeginRecord, EndRecord, StoredRecord, Verification } from '../../contract/evidence.ts'
import type { Store } from '../../contract/store.ts'
import { splitBeginBody } from '../../kit/split-begin-body.ts'
import { exitCodes } from '../exit-codes.ts'
import type { Command, CommandLine } from '../command.ts'
import { showLine, showSafely } from '../show-safely.ts'
import { UsageError } from '../usage-error.ts'
import { findPlaces, type Places } from '../wire.ts'

/** `handrail evidence` */
export const evidence: Command = {
  usage: 'list [--limit N] [--session S] | show <call> | verify | replay <session> [--tenant T]   [--json]',
  summary:
    'Shows what was done, checks that no record was changed, removed or reordered, and says whether a run would go again as it went.',
  options: {
    json: { type: 'boolean' },
    limit: { type: 'string' },
    session: { type: 'string' },
    tenant: { type: 'string' },
  },
  takes: 2,
  async run(given) {
    const [verb, call] = given.positionals
    const act = verb === undefined || !Object.hasOwn(verbs, verb) ? undefined : verbs[verb]
    if (act === undefined)
      throw new UsageError(
        `${verb === undefined ? 'Say what to do' : `There is no "evidence ${verb}"`}.\nUsage: handrail evidence ${evidence.usage}`,
      )
    if (verb === 'show' && call === undefined)
      throw new UsageError(
        'Name a call: handrail evidence show <call>. "handrail evidence list" shows their ids.',
      )
    if (verb === 'replay' && call === undefined)
      throw new UsageError(
        'Name a session: handrail evidence replay <session>. "handrail evidence list --json" shows their ids.',
      )
    if (verb !== 'show' && verb !== 'replay' && call !== undefined)
      throw new UsageError(`"handrail evidence ${verb}" takes no further argument; it was given "${call}".`)
    const places = findPlaces(given)
    return withStore(places, verb !== 'replay', (store) => act(store, { given, places, call: call ?? '' }))
  },
}

interface Asked {
  given: CommandLine
  places: Places
  call: string
}

type Verb = (store: Store, asked: Asked) => Promise<number>

const verbs: { readonly [verb: string]: Verb } = {
  list: listCalls,
  show: showCall,
  verify: verifyStore,
  replay: async (store, { given, places, call: session }) =>
    (await import('./evidence/replay.ts')).replay(store, { given, places, session }),
}

/** The store of the home folder; one that is not there yet is an empty one, and is not made by looking. */
async function withStore(
  places: Places,
  recovers: boolean,
  act: (store: Store) => Promise<number>,
): Promise<number> {
  if (!existsSync(places.store)) {
    process.stderr.write(
      `handrail: there is no store at "${places.store}" yet; it is made by the first call.\n`,
    )
    const { createMemoryStore } = await import('../../stores/memory/create-memory-store.ts')
    return act(createMemoryStore())
  }
  const { openSqliteStore } = await import('../../stores/sqlite/open-sqlite-store.ts')
  const store = await openSqliteStore({ path: places.store })
  try {
    if (recovers) await endInterrupted(store, places)
    return await act(store)
  } finally {
    await store.close()
  }
}

/** Ends the calls of processes that died, as every start does, so that they are seen. What stands in the way is told, and then verified. */
async function endInterrupted(store: Store, places: Places): Promise<void> {
  const { createEvidence } = await import('../../evidence/create-evidence.ts')
  const { createCheckpoints } = await import('../../evidence/create-checkpoints.ts')
  const { openKeyFiles } = await import('../../evidence/key-files.ts')
  const { createRunArchive } = await import('../../evidence/create-run-archive.ts')
  const tell = (error: unknown): void => {
    const message = error instanceof Error ? error.message : String(error)
    process.stderr.write(`handrail: interrupted calls cannot be ended: ${showSafely(message)}\n`)
  }
  const archive = createRunArchive({ dir: places.home, onError: tell })
  const keys = openKeyFiles(places.keys)
  const checkpoints = createCheckpoints({ store, keys, now: Date.now, onError: tell })
  const evidence = createEvidence({ store, archive, checkpoints, now: Date.now })
  await evidence.recover().catch(tell)
  await evidence.close()
}

async function listCalls(store: Store, { given: { options } }: Asked): Promise<number> {
  const limit = Number(options['limit'] ?? 20)
  if (!Number.isSafeInteger(limit) || limit < 1)
    throw new UsageError(`--limit is "${String(options['limit'])}"; it must be a whole number from 1 on.`)
  const session = options['session']
  const calls = store
    .tenants()
    .flatMap((tenant) => [
      ...store.records({
        tenant,
        kind: 'end',
        newestFirst: true,
        limit,
        ...(typeof session === 'string' && { session }),
      }),
    ])
    .map((record) => ({ ...readRecord<EndRecord>(record), sequence: record.sequence }))
    .sort((left, right) => right.at - left.at)
    .slice(0, limit)
  if (options['json'] === true) {
    process.stdout.write(`${JSON.stringify(calls, null, 2)}\n`)
    return exitCodes.ok
  }
  for (const call of calls) {
    const why = call.code === undefined ? '' : `  ${call.code} (${call.reason ?? ''})`
    process.stdout.write(
      `${new Date(call.at).toISOString()}  ${call.call}  ${call.outcome.padEnd(7)}  ${showLine(call.tool)}${why}\n`,
    )
  }
  process.stdout.write(`${calls.length} calls\n`)
  return exitCodes.ok
}

async function showCall(store: Store, { given: { options }, call }: Asked): Promise<number> {
  const records = store.tenants().flatMap((tenant) => [...store.records({ tenant, call })])
  if (records.length === 0) {
    process.stderr.write(
      `handrail: the store has no call "${showLine(call.slice(0, 100))}". "handrail evidence list" shows the latest.\n`,
    )
    return exitCodes.toolError
  }
  const shown = records.map((record) => ({
    sequence: record.sequence,
    hash: record.hash,
    record: readRecord<BeginRecord | EndRecord>(record),
    body: record.body === null ? null : readBody(record, record.body),
  }))
  if (options['json'] === true) process.stdout.write(`${JSON.stringify(shown, null, 2)}\n`)
  else for (const each of shown) process.stdout.write(showSafely(toPage(each)))
  return exitCodes.ok
}

function toPage(shown: {
  sequence: number
  hash: string
  record: BeginRecord | EndRecord
  body: unknown
}): string {
  const rows = Object.entries({ ...shown.record, hash: shown.hash }).map(
    ([name, value]) =>
      `  ${name.padEnd(15)} ${typeof value === 'object' ? JSON.stringify(value) : String(value)}`,
  )
  const body =
    shown.body === null ? '  (no body kept)' : JSON.stringify(shown.body, null, 2).replace(/^/gm, '  ')
  return `#${shown.sequence} ${shown.record.kind}\n${rows.join('\n')}\n${shown.record.kind === 'begin' ? '  input' : '  result'}\n${body}\n\n`
}

async function verifyStore(store: Store, { given: { options }, places }: Asked): Promise<number> {
  const { verifyEvidence } = await import('../../evidence/verify-evidence.ts')
  const { openKeyFiles } = await import('../../evidence/key-files.ts')
  const found = verifyEvidence(store, { keys: openKeyFiles(places.keys) })
  if (options['json'] === true) process.stdout.write(`${JSON.stringify(found, null, 2)}\n`)
  else if (found.ok)
    process.stdout.write(
      `The chain holds: ${found.records} records of ${found.calls} calls.\n${describeSignatures(found)}`,
    )
  else
    process.stdout.write(
      showSafely(
        `The chain is broken: ${found.fault?.message ?? ''}\n  tenant ${found.fault?.tenant ?? ''}, record ${found.fault?.sequence ?? 0}, call ${found.fault?.call ?? ''}: ${found.fault?.problem ?? ''}\n`,
      ),
    )
  return found.ok ? exitCodes.ok : exitCodes.toolError
}

/** The body of a begin is its input, and the operations that were planned with it. */
function readBody({ kind }: StoredRecord, body: string): unknown {
  if (kind !== 'begin') return JSON.parse(body)
  const { input, operations } = splitBeginBody(body)
  if (operations === undefined) return JSON.parse(input)
  return { input: JSON.parse(input) as unknown, operations: JSON.parse(operations) as unknown }
}

function describeSignatures({ signed }: Verification): string {
  if (signed === undefined) return ''
  if (signed.keys.length === 0) return `No record is signed yet.\n`
  const pending = signed.pending === 0 ? '' : `; ${signed.pending} later ones are not signed yet`
  return `Signed: ${signed.records} records by ${signed.keys.join(', ')}${pending}.\n`
}

function readRecord<Record>(record: StoredRecord): Record & { at: number } {
  // The store keeps the text of records that Handrail wrote; verify tells where it does not.
  return JSON.parse(record.text) as Record & { at: number }
}
