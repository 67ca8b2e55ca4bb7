import type { Store } from '../contract/store.ts'

export interface PruneRequest {
  store: Store
  /** Bodies of records from before this go, in milliseconds since the epoch. */
  before: number
  /** Default: all. */
  tenant?: string
  /** Milliseconds since the epoch. */
  at: number
  actor: string
}

/**
 * Removes old inputs and results and keeps their records, with a note in the chain of each tenant that lost some. Gives how many each
 * tenant lost.
 */
export async function pruneEvidence(request: PruneRequest): Promise<ReadonlyMap<string, number>> {
  const { store, before, tenant, at, actor } = request
  const pruned = new Map<string, number>()
  for (const name of tenant === undefined ? store.tenants() : [tenant]) {
    const count = store.prune({ tenant: name, at: before })
    if (count === 0) continue
    pruned.set(name, count)
    const message = `${count} inputs and results from before ${new Date(before).toISOString()} were removed.`
    const about = { tenant: name, session: '', at, message, actor, data: { count, before } }
    await store.append([{ record: { kind: 'note', event: 'bodies_pruned', ...about }, body: null }])
  }
  return pruned
}
