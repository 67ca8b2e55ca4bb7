import type { BeginRecord, EndRecord, StoredRecord } from '../../../contract/evidence.ts'
import type { Store } from '../../../contract/store.ts'
import { findResolution } from '../../../evidence/resolve-outcome.ts'
import { showLine } from '../../show-safely.ts'
import { mergeNewest, type Wanted } from './newest.ts'

/** The end of a call, and what a person found out since; of a call that has not ended, what its begin says. */
export type ListedCall =
  | (EndRecord & { sequence: number; resolved?: string })
  | (Pick<BeginRecord, 'tenant' | 'session' | 'call' | 'tool' | 'at'> & {
      outcome: 'running'
      sequence: number
    })

/** The calls that began last, newest first. */
export function findCalls(store: Store, { tenants, session, limit }: Wanted): ListedCall[] {
  const query = {
    kind: 'begin',
    newestFirst: true,
    limit,
    ...(session !== undefined && { session }),
  } as const
  const lists = tenants.map((tenant) =>
    [...store.records({ ...query, tenant })].map((begin) => toListed(store, begin)),
  )
  return mergeNewest(lists, limit)
}

/** The store keeps the text of records that Handrail wrote; verify tells where it does not. */
function toListed(store: Store, { tenant, call, sequence, text }: StoredRecord): ListedCall {
  const [ended] = store.records({ tenant, call, kind: 'end' })
  if (ended === undefined) {
    const { session, tool, at } = JSON.parse(text) as BeginRecord
    return { tenant, session, call, tool, at, outcome: 'running', sequence }
  }
  const end = JSON.parse(ended.text) as EndRecord
  const resolved = end.outcome === 'unknown' ? findResolution(store, end)?.data?.['outcome'] : undefined
  return { ...end, sequence: ended.sequence, ...(typeof resolved === 'string' && { resolved }) }
}

/** One line of the listing. */
export function toCallLine(listed: ListedCall): string {
  const { at, call, outcome, tool } = listed
  const start = `${new Date(at).toISOString()}  ${call}  ${outcome.padEnd(7)}  ${showLine(tool)}`
  if (listed.outcome === 'running') return start
  const { code, reason, resolved } = listed
  const why = code === undefined ? '' : `  ${code} (${reason ?? ''})`
  return `${start}${why}${resolved === undefined ? '' : `, resolved: ${resolved.replace('_', ' ')}`}`
}
