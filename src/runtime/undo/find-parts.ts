import type { Store } from '../../contract/store.ts'
import { readRecord } from '../../kit/result/read-record.ts'

/** Ids of the calls that a call made as parts of itself, and of their parts; empty if it made none. */
export function findParts(call: string, tenant: string, store: Pick<Store, 'records'>): string[] {
  const [begun] = store.records({ tenant, call, kind: 'begin' })
  if (begun === undefined) return []
  const all = new Set([call])
  const { session, sequence } = begun
  for (const { text } of store.records({ tenant, session, kind: 'begin', after: sequence })) {
    const { partOf, call: part } = readRecord(text, 'begin')
    if (partOf !== undefined && all.has(partOf.call)) all.add(part)
  }
  all.delete(call)
  return [...all]
}
