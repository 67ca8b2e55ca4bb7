import type { Store } from '../contract/store.ts'
import { readRecord } from '../kit/result/read-record.ts'

/** Which artifacts may go, after bodies were pruned. */
export interface NeededArtifacts {
  /** Those that are still named. */
  needed: ReadonlySet<string>
  /** Those that records of the tenant name, or did. */
  ofTenant: ReadonlySet<string>
  /** When the oldest call that runs began: what was made since then may be its own. `Infinity` when none runs. */
  runsSince: number
}

const anyDigest = /sha256:[0-9a-f]{64}/g

/** Artifacts that a body names which is still there, or a record since then. */
export function findNeededArtifacts(
  store: Store,
  { since, tenant }: { since: number; tenant: string | undefined },
): NeededArtifacts {
  const needed = new Set<string>()
  const ofTenant = new Set<string>()
  const running = new Map<string, number>()
  for (const { text, body } of store.records({})) {
    const record = readRecord(text)
    const named = `${text}\n${body ?? ''}`.match(anyDigest) ?? []
    if (body !== null || record.at >= since) for (const digest of named) needed.add(digest)
    if (record.tenant === tenant) for (const digest of named) ofTenant.add(digest)
    if (record.kind === 'begin') running.set(record.call, record.at)
    if (record.kind === 'end') running.delete(record.call)
  }
  return { needed, ofTenant, runsSince: Math.min(Number.POSITIVE_INFINITY, ...running.values()) }
}
