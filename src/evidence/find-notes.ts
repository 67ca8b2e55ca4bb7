import type { NoteRecord } from '../contract/evidence.ts'
import type { Store } from '../contract/store.ts'
import { readRecord } from '../kit/result/read-record.ts'
import { findPlace } from './find-place.ts'
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
  const { tenants, session, limit, before, actor, tool, event, until } = wanted
  const query = {
    kind: 'note',
    newestFirst: true,
    ...(session !== undefined && { session }),
    ...(actor !== undefined && { actor }),
    ...(tool !== undefined && { tool }),
    ...(event !== undefined && { event }),
  } as const
  const lists = tenants.map((tenant) => {
    const place = before?.get(tenant) ?? findPlace(store, tenant, until)
    const found = store.records({ ...query, tenant, ...(place !== undefined && { before: place }) })
    const notes: ListedNote[] = []
    for (const { text, sequence } of found) {
      const note = readRecord(text, 'note')
      if (event !== undefined && note.event !== event) continue
      if (until !== undefined && note.at >= until) continue
      if (notes.push({ ...note, sequence }) === limit) break
    }
    return notes
  })
  return mergeNewest(lists, limit)
}
