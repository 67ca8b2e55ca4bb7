import type { ArtifactStore, Store } from '../contract/store.ts'
import { findNeededArtifacts } from './find-needed-artifacts.ts'
import { pruneRuns } from './prune-runs.ts'

export interface PruneRequest {
  store: Store
  /** Bodies of records from before this go, in milliseconds since the epoch. */
  before: number
  /** Default: all. */
  tenant?: string
  /** Milliseconds since the epoch. */
  at: number
  actor: string
  /** Where artifacts are, of which those go that only old results named. Default: they stay. */
  artifacts?: Pick<ArtifactStore, 'prune'>
  /** Where the archive is, of which old runs go. Default: it stays. */
  archive?: { dir: string }
}

/** What went. */
export interface PrunedEvidence {
  /** Inputs and results, by tenant that lost some. */
  bodies: ReadonlyMap<string, number>
  artifacts: number
  /** Folders of the archive. */
  runs: number
}

/** Removes old inputs and results and keeps their records, with a note in the chain of each tenant that lost some. */
export async function pruneEvidence(request: PruneRequest): Promise<PrunedEvidence> {
  const { before, tenant, archive } = request
  return {
    bodies: await pruneBodies(request),
    artifacts: await pruneArtifacts(request),
    runs:
      archive === undefined
        ? 0
        : await pruneRuns({ dir: archive.dir, before, ...(tenant !== undefined && { tenant }) }),
  }
}

async function pruneBodies({
  store,
  before,
  tenant,
  at,
  actor,
}: PruneRequest): Promise<ReadonlyMap<string, number>> {
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

async function pruneArtifacts({ store, before, tenant, artifacts }: PruneRequest): Promise<number> {
  if (artifacts === undefined) return 0
  const { needed, ofTenant, runsSince } = findNeededArtifacts(store, { since: before, tenant })
  return artifacts.prune({
    at: Math.min(before, runsSince),
    mayGo: (digest) => !needed.has(digest) && (tenant === undefined || ofTenant.has(digest)),
  })
}
