import type { ChainIssue, StoredRecord } from '../../contract/evidence.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import type { Store } from '../../contract/store.ts'
import { isBodiless } from './is-bodiless.ts'
import { parseRecord, timeOf } from './parse-record.ts'
import { toIssue } from './to-issue.ts'

/** The issue of a chain that lacks more bodies than were pruned: at the first one that no prune accounts for, if there is one. */
export function findMissingBody(
  store: Store,
  { tenant, bodiless, pruned }: { tenant: string; bodiless: number; pruned: number },
): ChainIssue {
  const prunes = [...store.records({ tenant, kind: 'note', event: 'bodies_pruned' })].flatMap(toPrune)
  const isAccountedFor = (record: StoredRecord): boolean =>
    prunes.some(
      ({ sequence, before }) =>
        sequence > record.sequence && (timeOf(record.text) ?? Number.POSITIVE_INFINITY) < before,
    )
  const counts = `${bodiless} bodies of "${tenant}" are gone, and ${pruned} were pruned or never here`
  for (const record of store.records({ tenant }))
    if (isBodiless(record) && !isAccountedFor(record))
      return toIssue(
        record,
        'body_missing',
        `The ${record.kind === 'end' ? 'result' : 'input'} of the call "${record.call}" was removed by hand: ${counts}.`,
      )
  return toIssue({ tenant, sequence: 0, call: '' }, 'body_missing', `Bodies were removed by hand: ${counts}.`)
}

function toPrune({ sequence, text }: StoredRecord): { sequence: number; before: number }[] {
  const { event, data } = parseRecord(text) ?? {}
  const before = event === 'bodies_pruned' && isPlainObject(data) ? data['before'] : undefined
  return typeof before === 'number' ? [{ sequence, before }] : []
}
