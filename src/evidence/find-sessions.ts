import type { BeginRecord } from '../contract/evidence.ts'
import type { Store } from '../contract/store.ts'
import { readRecord } from '../kit/result/read-record.ts'
import { mergeNewest } from './merge-newest.ts'

/** Which sessions a listing shows; what is absent says nothing. */
export interface WantedSessions {
  readonly tenants: readonly string[]
  readonly actor?: string
  /** Those with a call that began then or later, in milliseconds since the epoch. */
  readonly since?: number
  readonly limit: number
}

/** A session that made calls. */
export interface ListedSession extends Pick<BeginRecord, 'tenant' | 'session' | 'actor' | 'role'> {
  /** The session that it was opened under, if any. */
  readonly parent?: string
  readonly calls: number
  /** When its first call began, in milliseconds since the epoch. */
  readonly from: number
  /** When its last call began. */
  readonly at: number
}

/** The sessions whose last call is the newest, newest first. */
export function findSessions(store: Store, wanted: WantedSessions): ListedSession[] {
  const lists = wanted.tenants.map((tenant) => [...findOfTenant(store, tenant, wanted)])
  return mergeNewest(lists, wanted.limit)
}

function* findOfTenant(
  store: Store,
  tenant: string,
  { actor, since = 0, limit }: WantedSessions,
): Iterable<ListedSession> {
  const seen = new Set<string>()
  let left = limit
  for (const { session, text } of store.records({ tenant, kind: 'begin', newestFirst: true, since })) {
    if (seen.has(session)) continue
    seen.add(session)
    const last = readRecord(text, 'begin')
    if (last.at < since || (actor !== undefined && last.actor !== actor)) continue
    yield toListed(store, last)
    if (--left === 0) return
  }
}

function toListed(store: Store, { tenant, session, actor, role, at, parents }: BeginRecord): ListedSession {
  let calls = 0
  let from = at
  for (const { text } of store.records({ tenant, session, kind: 'begin' })) {
    if (calls === 0) from = readRecord(text, 'begin').at
    calls += 1
  }
  const parent = parents?.[0]?.session
  return { tenant, session, actor, role, ...(parent !== undefined && { parent }), calls, from, at }
}
