import type { Counterpart } from '../../../contract/base/counterpart.ts'
import type { BeginRecord, EndRecord, StoredRecord } from '../../../contract/evidence.ts'
import type { Store } from '../../../contract/store.ts'
import { findResolution } from '../../../evidence/resolve-outcome.ts'
import { matchPattern } from '../../../kit/match/match-pattern.ts'
import { showLine } from '../../base/show-safely.ts'
import { mergeNewest, type Wanted } from './newest.ts'
import { readRecord } from '../../../kit/result/read-record.ts'

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
}

/** Who made a call; the end of it, and what a person found out since; of a call that has not ended, what its begin says. */
export type ListedCall = Pick<BeginRecord, 'actor' | 'role'> & { askedBy?: Counterpart } & (
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

function* findOfTenant(store: Store, tenant: string, wanted: WantedCalls): Iterable<ListedCall> {
  const { session, outcome } = wanted
  const begins = store.records({
    tenant,
    kind: 'begin',
    newestFirst: true,
    ...(session !== undefined && { session }),
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

function isWanted(begin: BeginRecord, { actor, tool, since = 0 }: WantedCalls): boolean {
  return (
    begin.at >= since &&
    (actor === undefined || begin.actor === actor) &&
    (tool === undefined || matchPattern(tool, begin.tool))
  )
}

/** The store keeps the text of records that Handrail wrote; verify tells where it does not. */
function toListed(store: Store, { sequence }: StoredRecord, begin: BeginRecord): ListedCall {
  const { tenant, session, call, tool, at, actor, role, counterpart } = begin
  const askedBy = counterpart && { askedBy: counterpart }
  const [ended] = store.records({ tenant, call, kind: 'end' })
  if (ended === undefined)
    return { tenant, session, call, tool, at, actor, role, ...askedBy, outcome: 'running', sequence }
  const end = readRecord(ended.text, 'end')
  const resolved = end.outcome === 'unknown' ? findResolution(store, end)?.data?.['outcome'] : undefined
  return {
    ...end,
    actor,
    role,
    ...askedBy,
    sequence: ended.sequence,
    ...(typeof resolved === 'string' && { resolved }),
  }
}

/** The lines of a listing. Who made a call is told where not all have the same. */
export function toCallLines(calls: readonly ListedCall[]): string[] {
  const nameOf = ({ tenant, actor }: ListedCall): string => `${tenant}/${actor}`
  const names = new Set(calls.map(nameOf))
  const width = Math.max(0, ...[...names].map((name) => name.length))
  return calls.map((listed) => {
    const { at, call, outcome, tool } = listed
    const who = names.size > 1 ? `${nameOf(listed).padEnd(width)}  ` : ''
    return `${new Date(at).toISOString()}  ${call}  ${outcome.padEnd(7)}  ${showLine(who + tool)}${toWhy(listed)}${showLine(toOthers(listed))}`
  })
}

/** Who has a record of the same call, and what they call it. */
function toOthers(listed: ListedCall): string {
  const { askedBy } = listed
  const doneBy = listed.outcome === 'running' ? undefined : listed.counterpart
  const asked = askedBy === undefined ? '' : `  asked by ${askedBy.domain} as ${askedBy.call}`
  return doneBy === undefined ? asked : `${asked}  done by ${doneBy.domain} as ${doneBy.call}`
}

function toWhy(listed: ListedCall): string {
  if (listed.outcome === 'running') return ''
  const { code, reason, resolved } = listed
  const why = code === undefined ? '' : `  ${code} (${reason ?? ''})`
  return `${why}${resolved === undefined ? '' : `, resolved: ${resolved.replace('_', ' ')}`}`
}
