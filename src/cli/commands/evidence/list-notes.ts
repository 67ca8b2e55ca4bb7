import type { NoteRecord } from '../../../contract/evidence.ts'
import type { Store } from '../../../contract/store.ts'
import { showLine } from '../../base/show-safely.ts'
import { mergeNewest, type Wanted } from '../../../evidence/merge-newest.ts'
import { readRecord } from '../../../kit/result/read-record.ts'

/** A note and its place in the chain. */
export type ListedNote = NoteRecord & { sequence: number }

/** The latest notes, newest first. */
export function findNotes(store: Store, { tenants, session, limit }: Wanted): ListedNote[] {
  const query = { kind: 'note', newestFirst: true, limit, ...(session !== undefined && { session }) } as const
  const lists = tenants.map((tenant) =>
    [...store.records({ ...query, tenant })].map(({ text, sequence }) => {
      const note = readRecord(text, 'note')
      return { ...note, sequence }
    }),
  )
  return mergeNewest(lists, limit)
}

/** One line of the listing. Most messages name the tool and who did it already. */
export function toNoteLine({ at, event, tool, actor, message }: ListedNote): string {
  const what = tool === undefined || message.includes(tool) ? [] : [tool]
  const who = actor === undefined || actor === '' || message.includes(actor) ? [] : [`by ${actor}`]
  const about = showLine([...what, message, ...who].filter((part) => part !== '').join('  '))
  return `${new Date(at).toISOString()}  ${event.padEnd(19)}  ${about}`
}
