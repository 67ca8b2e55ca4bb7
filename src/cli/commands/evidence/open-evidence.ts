import { existsSync } from 'node:fs'
import type { Store } from '../../../contract/store.ts'
import { createSignedStore } from '../../../evidence/chain/create-signed-store.ts'
import { openKeyFiles, type KeyFiles } from '../../../evidence/chain/key-files.ts'
import { findNamed } from '../../arguments/find-named.ts'
import { showLine, showSafely } from '../../base/show-safely.ts'
import { makeHome, type Places } from '../../setup/wire.ts'
import { messageOf } from '../../../kit/text/message-of.ts'

/** The evidence in a home folder. */
export interface OpenEvidence {
  store: Store
  keys: KeyFiles
}

export interface OpenOptions {
  /** Whether calls of processes that died are ended first, as every start does. Default true. */
  recovers?: boolean
  /** Whether a store that is not there is made. Default false: nothing is made by looking. */
  makes?: boolean
  /** Whether what is written is signed at the end. Default true. */
  signs?: boolean
  /** Whether a store that takes no records is told of. Default true. */
  warns?: boolean
}

/** Does something with the evidence of the home folder. */
export async function withEvidence(
  places: Places,
  act: (evidence: OpenEvidence) => Promise<number>,
  { recovers = true, makes = false, signs = true, warns = true }: OpenOptions = {},
): Promise<number> {
  if (makes) await makeStore(places)
  const keys = openKeyFiles(places.keys)
  const onError = tell('')
  const opened = await openStore(places)
  if (warns) for (const message of keys.issues()) onError(message)
  const store = signs ? createSignedStore(opened, { keys, now: Date.now, onError }) : opened
  try {
    if (recovers) await endInterrupted(store, places)
    const code = await act({ store, keys })
    if (warns && store.readOnly !== undefined)
      process.stderr.write(`handrail: ${showSafely(store.readOnly)}\n`)
    return code
  } finally {
    await store.close()
  }
}

/** A store that is not there yet is an empty one. */
async function openStore({ store: path }: Places): Promise<Store> {
  if (!existsSync(path)) {
    process.stderr.write(`handrail: there is no store at "${path}" yet; it is made by the first call.\n`)
    const { createMemoryStore } = await import('../../../stores/memory/create-memory-store.ts')
    // It stands for the file: what the keys remember of one that was there is missing now.
    return { ...createMemoryStore(), durable: true }
  }
  const { openSqliteStore } = await import('../../../stores/sqlite/open-sqlite-store.ts')
  return openSqliteStore({ path })
}

async function makeStore({ home, store }: Places): Promise<void> {
  makeHome(home)
  const { openSqliteStore } = await import('../../../stores/sqlite/open-sqlite-store.ts')
  await (await openSqliteStore({ path: store })).close()
}

/** What stands in the way is told, and then verified. */
async function endInterrupted(store: Store, places: Places): Promise<void> {
  const { createEvidence } = await import('../../../evidence/create-evidence.ts')
  const { createRunArchive } = await import('../../../evidence/archive/create-run-archive.ts')
  const onError = tell('interrupted calls cannot be ended: ')
  const archive = createRunArchive({ dir: places.home, onError })
  const evidence = createEvidence({ store, archive, now: Date.now })
  await evidence.recover().catch(onError)
  await evidence.close()
}

const tell =
  (what: string) =>
  (error: unknown): void => {
    const message = messageOf(error)
    process.stderr.write(`handrail: ${what}${showSafely(message)}\n`)
  }

/** The tenants that are meant: the one that is named, or all. Undefined, and said so, where the store has no such tenant. */
export function findTenants(store: Store, tenant: string | undefined): string[] | undefined {
  const tenants = store.tenants()
  if (tenant === undefined) return tenants
  if (tenants.includes(tenant)) return [tenant]
  // What concerns all of them, such as their tools, is kept under the empty name.
  const named = tenants
    .filter((each) => each !== '')
    .slice(0, 20)
    .map(quote)
  const known = named.length === 0 ? 'It has no records of one yet' : `It has: ${named.join(', ')}`
  process.stderr.write(`handrail: the store has no tenant ${quote(tenant)}. ${known}.\n`)
  return undefined
}

/** A name as it is shown. */
function quote(name: string): string {
  return `"${showLine(name.slice(0, 100))}"`
}

/** A call or a session that a person names, if they name any. */
interface Wanted<Text> {
  what: 'call' | 'session'
  text: Text
  tenant: string | undefined
}

/** The tenants that are meant, and the id of the call or session. Undefined, and said so, where the store has none of these. */
export function findMeant(store: Store, wanted: Wanted<string>): { tenants: string[]; id: string } | undefined
export function findMeant(
  store: Store,
  wanted: Wanted<string | undefined>,
): { tenants: string[]; id: string | undefined } | undefined
export function findMeant(
  store: Store,
  { what, text, tenant }: Wanted<string | undefined>,
): { tenants: string[]; id: string | undefined } | undefined {
  const tenants = findTenants(store, tenant)
  if (tenants === undefined || text === undefined) return tenants && { tenants, id: undefined }
  const found = findNamed(store, { what, text, tenants })
  if ('id' in found) return { tenants, ...found }
  process.stderr.write(`handrail: ${found.issue}\n`)
  return undefined
}
