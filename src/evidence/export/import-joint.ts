import type { ChainIssue, StoredRecord } from '../../contract/evidence.ts'
import type { Store } from '../../contract/store.ts'
import type { ExportHeader } from './export-format.ts'
import { parseRecord } from '../chain/parse-record.ts'
import { toIssue } from '../chain/to-issue.ts'

/** Where the chains of an export and of a store meet. */
export interface Joint {
  /** Takes the next record of the export. */
  see(record: StoredRecord): void
  /** Sequence of the last record of a tenant that the store had at the start. */
  endOf(tenant: string): number
  /** Why the export does not continue what is in the store, once all of it was seen. */
  findIssue(header: ExportHeader | undefined): ChainIssue | undefined
}

/** The joint with what is in the store now. */
export function createJoint(store: Store): Joint {
  const heads = new Map<string, { sequence: number; hash: string }>()
  const last = new Map<string, StoredRecord>()
  let issue: ChainIssue | undefined
  const headOf = (tenant: string): { sequence: number; hash: string } => {
    let head = heads.get(tenant)
    if (head === undefined) heads.set(tenant, (head = store.head(tenant) ?? { sequence: 0, hash: '' }))
    return head
  }
  return {
    see(record) {
      const head = headOf(record.tenant)
      last.set(record.tenant, record)
      if (record.sequence === head.sequence && record.hash !== head.hash) issue ??= differs(record)
      if (record.sequence > head.sequence && JSON.stringify(parseRecord(record.text)) !== record.text)
        issue ??= toIssue(
          record,
          'changed',
          `The record ${record.sequence} is not the JSON text that a store writes.`,
        )
    },
    endOf: (tenant) => headOf(tenant).sequence,
    findIssue(header) {
      for (const { tenant, after, hash } of header?.tenants ?? []) {
        const head = headOf(tenant)
        const place = { tenant, sequence: after, call: '' }
        if (after > head.sequence) issue ??= gap(place, head.sequence)
        if (after === head.sequence && hash !== head.hash) issue ??= differs(place)
      }
      // What ends before the store does is not news, but must be of the same chain.
      for (const record of last.values())
        if (record.sequence < headOf(record.tenant).sequence && !holds(store, record))
          issue ??= differs(record)
      return issue
    },
  }
}

type Place = Pick<ChainIssue, 'tenant' | 'sequence' | 'call'>

function holds(store: Store, { tenant, sequence, hash }: StoredRecord): boolean {
  const [found] = store.records({ tenant, after: sequence - 1, limit: 1 })
  return found?.hash === hash
}

function gap(place: Place, end: number): ChainIssue {
  const message =
    `The export goes on after the record ${place.sequence} of "${place.tenant}", and the store has ${end}: what is between is missing. ` +
    'Import that first, or an export of the whole chain.'
  return toIssue({ ...place, sequence: end + 1 }, 'missing', message)
}

function differs(place: Place): ChainIssue {
  const message =
    `The store has another record ${place.sequence} of "${place.tenant}" than the export: they are not parts of one chain. ` +
    'Take the export into a home folder of its own.'
  return toIssue(place, 'changed', message)
}
