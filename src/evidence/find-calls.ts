import type { Counterpart } from '../contract/base/counterpart.ts'
import type { BeginRecord, EndRecord, StoredRecord } from '../contract/evidence.ts'
import type { Store } from '../contract/store.ts'
import { findResolution } from './resolve-outcome.ts'
import { matchPattern } from '../kit/match/match-pattern.ts'
import { mergeNewest, type Wanted } from './merge-newest.ts'
import { readRecord } from '../kit/result/read-record.ts'

/** How a call can stand. */
export const outcomes = ['ok', 'failed', 'denied', 'aborted', 'unknown', 'running'] as const

/** Which calls a listing shows; what is absent says nothing. */
export interface WantedCalls extends Wanted {
  readonly actor?: string
  /** A pattern of names of tools. */
  readonly tool?: string
  readonly outcome?: (typeof outcomes)[number]
  /** Those that began then or later, in milliseconds since the epoch. */
  readonly since?: number
  /** Of each tenant, only those whose begin comes before this place in its chain. */
  readonly before?: ReadonlyMap<string, number>
}

/**
 * Who made a call, and where its begin stands in the chain; the end of it, and what a person found out since; of a call that has not ended, what its
 * begin says.
 */
export type ListedCall = Pick<BeginRecord, 'actor' | 'role'> & {
  begun: { sequence: number; at: number }
  /** Who asked for it in another domain, and what they call it. */
  askedBy?: Counterpart
} & (
    | (EndRecord & { sequence: number; resolved?: string })
    | (Pick<BeginRecord, 'tenant' | 'session' | 'call' | 'tool' | 'at'> & {
        outcome: 'running'
        sequence: number
      })
  )

/** The calls that began last, newest first. */
export function findCalls(store: Store, wanted: WantedCalls): ListedCall[] {
  const lists = wanted.tenants.map((tenant) => [...findOfTenant(store, tenant, wanted)])
  return mergeNewest(lists, wanted.limit)
}

/**
 * The calls of one tenant whose end comes after this place in its chain, in the order in which they ended. None that
 * runs is among them.
 */
export function* findEndedCalls(
  store: Store,
  wanted: Omit<WantedCalls, 'tenants' | 'limit' | 'before'> & { tenant: string; after: number },
): Iterable<ListedCall> {
  const { tenant, after, session, outcome } = wanted
  const named = session !== undefined && { session }
  for (const { call } of store.records({ tenant, kind: 'end', after, ...named })) {
    const [stored] = store.records({ tenant, call, kind: 'begin' })
    if (stored === undefined) continue
    const begin = readRecord(stored.text, 'begin')
    if (!isWanted(begin, wanted)) continue
    const listed = toListed(store, stored, begin)
    if (outcome === undefined || listed.outcome === outcome) yield listed
  }
}

function* findOfTenant(store: Store, tenant: string, wanted: WantedCalls): Iterable<ListedCall> {
  const { session, outcome } = wanted
  const before = wanted.before?.get(tenant)
  const begins = store.records({
    tenant,
    kind: 'begin',
    newestFirst: true,
    ...(session !== undefined && { session }),
    ...(before !== undefined && { before }),
  })
  let left = wanted.limit
  for (const stored of begins) {
    const begin = readRecord(stored.text, 'begin')
    if (!isWanted(begin, wanted)) continue
    const listed = toListed(store, stored, begin)
    if (outcome !== undefined && listed.outcome !== outcome) continue
    yield listed
    if (--left === 0) return
  }
}

function isWanted(
  begin: BeginRecord,
  { actor, tool, since = 0 }: Pick<WantedCalls, 'actor' | 'tool' | 'since'>,
): boolean {
  return (
    begin.at >= since &&
    (actor === undefined || begin.actor === actor) &&
    (tool === undefined || matchPattern(tool, begin.tool))
  )
}

/** The store keeps the text of records that Handrail wrote; verify tells where it does not. */
function toListed(store: Store, { sequence }: StoredRecord, begin: BeginRecord): ListedCall {
  const { tenant, session, call, tool, at, actor, role, counterpart } = begin
  const begun = { sequence, at }
  const askedBy = counterpart && { askedBy: counterpart }
  const [ended] = store.records({ tenant, call, kind: 'end' })
  if (ended === undefined)
    return { tenant, session, call, tool, at, actor, role, begun, ...askedBy, outcome: 'running', sequence }
  const end = readRecord(ended.text, 'end')
  const resolved = end.outcome === 'unknown' ? findResolution(store, end)?.data?.['outcome'] : undefined
  return {
    ...end,
    actor,
    role,
    begun,
    ...askedBy,
    sequence: ended.sequence,
    ...(typeof resolved === 'string' && { resolved }),
  }
}
