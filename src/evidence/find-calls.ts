import type { Counterpart } from '../contract/base/counterpart.ts'
import type { BeginRecord, EndRecord, StoredRecord } from '../contract/evidence.ts'
import type { Store } from '../contract/store.ts'
import { findPlace, findPlaceSoon, findStartSoon } from './find-place.ts'
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
  /** Those that began before then; of those with an outcome other than `ok`, that ended before then. */
  readonly until?: number
  /** Of each tenant, only those whose begin comes before this place in its chain. */
  readonly before?: ReadonlyMap<string, number>
}

/**
 * Who made a call, and where its begin stands in the chain; the end of it, and what a person found out since; of a call that has not ended, what its
 * begin says.
 */
export type ListedCall = Pick<BeginRecord, 'actor' | 'role' | 'parents'> & {
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

/** A part of a listing, and where the next one goes on. */
export interface CallPage {
  readonly calls: ListedCall[]
  /** Of each tenant the place before which nothing was looked at yet. Undefined if all was. */
  readonly next: ReadonlyMap<string, number> | undefined
}

/** The calls that began last, newest first. Of those with an outcome other than `ok`, the ones that ended last. */
export function findCalls(store: Store, wanted: WantedCalls): ListedCall[] {
  return findCallPage(store, wanted, Number.POSITIVE_INFINITY).calls
}

/** So many records are looked through at a time, and at most so many times for one page. */
const window = 50_000
const windows = 4

/**
 * The first of those calls. A page may have fewer calls than wanted, or none, and yet a next one: no page takes long, however rare what is wanted
 * is. Of a time, it leaves out calls that are further out of order than `mostOutOfOrder`.
 */
export function findCallPage(store: Store, wanted: WantedCalls, most = windows * window): CallPage {
  const parts = wanted.tenants.map((tenant) => ({ tenant, ...lookThrough(store, { tenant, wanted, most }) }))
  const calls = mergeNewest(
    parts.map(({ found }) => found),
    wanted.limit,
  )
  const taken = new Set(calls)
  const next = new Map<string, number>()
  for (const { tenant, found, reached } of parts) {
    const last = found.findLast((each) => taken.has(each))
    const place = found.at(-1) === last ? reached : (last?.place ?? wanted.before?.get(tenant) ?? top)
    next.set(tenant, place)
  }
  const isOver = [...next.values()].every((place) => place <= 1)
  return { calls: calls.map(({ place: _place, ...listed }) => listed), next: isOver ? undefined : next }
}

const top = Number.MAX_SAFE_INTEGER

type Placed = ListedCall & { place: number }

/** The newest calls of one tenant, each with the place in the chain that it was found at, and how far was looked. */
function lookThrough(
  store: Store,
  { tenant, wanted, most }: { tenant: string; wanted: WantedCalls; most: number },
): { found: Placed[]; reached: number } {
  const found: Placed[] = []
  const isRare = wanted.tool !== undefined || wanted.actor !== undefined
  const isPage = most !== Number.POSITIVE_INFINITY
  const { since, until } = wanted
  const find = isPage ? findPlaceSoon : findPlace
  const end = until === undefined ? (store.head(tenant)?.sequence ?? 0) + 1 : find(store, tenant, until)
  const start = Math.min(wanted.before?.get(tenant) ?? top, end)
  const bottom = Math.max(0, start - 1 - most)
  const floor = isPage && since !== undefined ? findStartSoon(store, tenant, since) : 0
  for (let before = start; before > floor + 1;) {
    const after = isRare ? Math.max(floor, before - 1 - window) : floor
    let looked = 0
    for (const one of candidates(store, { tenant, wanted, after, before })) {
      looked++
      if (one.listed !== undefined) found.push({ ...one.listed, place: one.place })
      if (found.length === wanted.limit) return { found, reached: one.place }
      if (looked >= mostOpened && isPage) return { found, reached: one.place }
    }
    before = after + 1
    if (before <= bottom) return { found, reached: before }
  }
  return { found, reached: 0 }
}

/** So many calls whose end has to be looked up are looked at for one page. */
const mostOpened = 500

interface Stretch {
  tenant: string
  wanted: WantedCalls
  after: number
  before: number
}

/** The calls of a stretch of a chain, newest first; without what is listed of those that are not wanted. */
function* candidates(
  store: Store,
  { tenant, wanted, after, before }: Stretch,
): Iterable<{ place: number; listed: ListedCall | undefined }> {
  const { session, tool, actor, since, outcome } = wanted
  const place = { tenant, newestFirst: true, after, before, ...(session !== undefined && { session }) }
  const about = { ...(tool !== undefined && { tool }), ...(since !== undefined && { since }) }
  const isBad = outcome !== undefined && outcome !== 'ok' && outcome !== 'running'
  if (isBad && session === undefined)
    for (const { call, sequence } of store.records({ ...place, ...about, kind: 'end', outcome })) {
      const [stored] = store.records({ tenant, call, kind: 'begin' })
      if (stored !== undefined) yield { place: sequence, listed: listIf(store, stored, wanted) }
    }
  else
    for (const stored of store.records({
      ...place,
      ...about,
      kind: 'begin',
      ...(outcome === 'running' && { open: true }),
      ...(actor !== undefined && { actor }),
    }))
      yield { place: stored.sequence, listed: listIf(store, stored, wanted) }
}

/** What a listing shows of a call, if it is wanted. A store may know of fewer criteria than there are. */
function listIf(store: Store, stored: StoredRecord, wanted: WantedCalls): ListedCall | undefined {
  const begin = readRecord(stored.text, 'begin')
  if (!isWanted(begin, wanted)) return undefined
  const listed = toListed(store, stored, begin)
  return wanted.outcome === undefined || listed.outcome === wanted.outcome ? listed : undefined
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

function isWanted(
  begin: BeginRecord,
  { actor, tool, since = 0, until = top }: Pick<WantedCalls, 'actor' | 'tool' | 'since' | 'until'>,
): boolean {
  return (
    begin.at >= since &&
    begin.at < until &&
    (actor === undefined || begin.actor === actor) &&
    (tool === undefined || matchPattern(tool, begin.tool))
  )
}

/** The store keeps the text of records that Handrail wrote; verify tells where it does not. */
function toListed(store: Store, { sequence }: StoredRecord, begin: BeginRecord): ListedCall {
  const { tenant, session, call, tool, at, actor, role, parents, counterpart } = begin
  const begun = { sequence, at }
  const more = {
    ...(parents !== undefined && { parents }),
    ...(counterpart !== undefined && { askedBy: counterpart }),
  }
  const [ended] = store.records({ tenant, call, kind: 'end' })
  if (ended === undefined)
    return { tenant, session, call, tool, at, actor, role, begun, ...more, outcome: 'running', sequence }
  const end = readRecord(ended.text, 'end')
  const resolved = end.outcome === 'unknown' ? findResolution(store, end)?.data?.['outcome'] : undefined
  return {
    ...end,
    actor,
    role,
    begun,
    ...more,
    sequence: ended.sequence,
    ...(typeof resolved === 'string' && { resolved }),
  }
}
