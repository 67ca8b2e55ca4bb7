import type { Store } from '../../contract/store.ts'
import { readCalls, type RecordedCall } from '../../evidence/read-calls.ts'

/** Which calls of the past are looked at. */
export interface RecentCalls {
  readonly tenants: readonly string[]
  /** Those that began then or later, in milliseconds since the epoch. */
  readonly since: number
  /** So many of each tenant at most, the newest. */
  readonly most: number
}

/** Calls of the past, and whether there are more than were looked at. */
export interface FoundCalls {
  /** The oldest first. */
  readonly calls: readonly RecordedCall[]
  readonly isCut: boolean
}

/** The last calls of these tenants, with their ends. */
export function findRecentCalls(
  store: Pick<Store, 'records'>,
  { tenants, since, most }: RecentCalls,
): FoundCalls {
  let isCut = false
  const calls = tenants.flatMap((tenant) => {
    const found: RecordedCall[] = []
    for (const record of store.records({ tenant, kind: 'begin', newestFirst: true })) {
      const [call] = readCalls([record, ...store.records({ tenant, call: record.call, kind: 'end' })])
      if (call === undefined) continue
      if (call.begin.at < since) break
      if (found.length === most) {
        isCut = true
        break
      }
      found.push(call)
    }
    return found
  })
  return { calls: calls.toSorted((one, other) => one.begin.at - other.begin.at), isCut }
}

/** The answer of a person who let a call through that asked; undefined if none did. */
export function approvalOf({ begin, end }: RecordedCall): { readonly by: string | undefined } | undefined {
  const answer = begin.approval ?? end?.approval
  if (begin.decision?.effect === 'deny' || answer === undefined || answer.decision === 'deny')
    return undefined
  return { by: answer.by }
}
