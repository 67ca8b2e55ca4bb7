import type { NoteRecord } from '../contract/evidence.ts'
import type { Store } from '../contract/store.ts'
import { readRecord } from '../kit/result/read-record.ts'
import { parseRecord } from './chain/parse-record.ts'
import { findPlace, findPlaceSoon } from './find-place.ts'
import { mergeNewest, type Wanted } from './merge-newest.ts'

/** A note and its place in the chain. */
export type ListedNote = NoteRecord & { sequence: number }

/** Which notes a listing shows. */
export interface WantedNotes extends Wanted {
  /** Of each tenant, only those before this place in its chain. */
  readonly before?: ReadonlyMap<string, number>
  readonly actor?: string
  /** A pattern of names of tools. */
  readonly tool?: string
  readonly event?: string
  /** Those that were made before then, in milliseconds since the epoch. */
  readonly until?: number
}

/** The latest notes, newest first. */
export function findNotes(store: Store, wanted: WantedNotes): ListedNote[] {
  return findNotePage(store, wanted, Number.POSITIVE_INFINITY).notes
}

/** So many records are looked through for one page. */
const mostLooked = 50_000

/**
 * The first of those notes, and of each tenant the place before which nothing was looked at yet; undefined if all was. A page may have fewer notes than wanted, or
 * none, and yet a next one: no page takes long, however few notes there are. Of a time, it leaves out notes that are further out of order than
 * `mostOutOfOrder`.
 */
export function findNotePage(
  store: Store,
  wanted: WantedNotes,
  most = mostLooked,
): { notes: ListedNote[]; next: ReadonlyMap<string, number> | undefined } {
  const parts = wanted.tenants.map((tenant) => ({ tenant, ...lookThrough(store, { tenant, wanted, most }) }))
  const notes = mergeNewest(
    parts.map(({ found }) => found),
    wanted.limit,
  )
  const taken = new Set(notes)
  const next = new Map(
    parts.map(({ tenant, found, start, reached }) => {
      const last = found.findLast((note) => taken.has(note))
      return [tenant, found.at(-1) === last ? reached : (last?.sequence ?? start)] as const
    }),
  )
  return { notes, next: [...next.values()].every((place) => place <= 1) ? undefined : next }
}

/** The newest notes of one tenant, from where on and how far was looked. */
function lookThrough(
  store: Store,
  { tenant, wanted, most }: { tenant: string; wanted: WantedNotes; most: number },
): { found: ListedNote[]; start: number; reached: number } {
  const { session, limit, before, actor, tool, event, until } = wanted
  const head = (store.head(tenant)?.sequence ?? 0) + 1
  const find = most === Number.POSITIVE_INFINITY ? findPlace : findPlaceSoon
  const start = before?.get(tenant) ?? (until === undefined ? head : find(store, tenant, until))
  const after = Math.max(0, start - 1 - most)
  const query = {
    kind: 'note',
    newestFirst: true,
    ...(session !== undefined && { session }),
    ...(actor !== undefined && { actor }),
    ...(tool !== undefined && { tool }),
    ...(event !== undefined && { event }),
  } as const
  const found: ListedNote[] = []
  for (const { text, sequence } of store.records({ ...query, tenant, after, before: start })) {
    // What is not a record any more is for verification to tell.
    if (parseRecord(text)?.['kind'] !== 'note') continue
    const note = readRecord(text, 'note')
    if (event !== undefined && note.event !== event) continue
    if (until !== undefined && note.at >= until) continue
    if (found.push({ ...note, sequence }) === limit) return { found, start, reached: sequence }
  }
  return { found, start, reached: after + 1 }
}
