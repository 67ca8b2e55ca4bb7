import type { NoteRecord } from '../contract/evidence.ts'
import type { Store } from '../contract/store.ts'
import { readRecord } from '../kit/result/read-record.ts'
import { mergeNewest, type Wanted } from './merge-newest.ts'

/** A note and its place in the chain. */
export type ListedNote = NoteRecord & { sequence: number }

/** Which notes a listing shows. */
export interface WantedNotes extends Wanted {
  /** Of each tenant, only those before this place in its chain. */
  readonly before?: ReadonlyMap<string, number>
}

/** The latest notes, newest first. */
export function findNotes(store: Store, { tenants, session, limit, before }: WantedNotes): ListedNote[] {
  const query = { kind: 'note', newestFirst: true, limit, ...(session !== undefined && { session }) } as const
  const lists = tenants.map((tenant) => {
    const place = before?.get(tenant)
    const found = store.records({ ...query, tenant, ...(place !== undefined && { before: place }) })
    return [...found].map(({ text, sequence }) => ({ ...readRecord(text, 'note'), sequence }))
  })
  return mergeNewest(lists, limit)
}
