import { pruneConversations } from '../../agents/loop/prune-runs.ts'
import { pruneEvidence as pruneRecords, type PruneRequest } from '../../evidence/prune-evidence.ts'

/** What went. */
export interface PruneReport {
  /** Inputs and results, by tenant that lost some. */
  bodies: ReadonlyMap<string, number>
  artifacts: number
  /** Folders of the archive. */
  runs: number
  /** Conversations of runs, each as a whole. */
  conversations: number
}

/**
 * Removes old inputs, results and conversations of runs, and keeps the records, with a note in the chain of each tenant that lost inputs or results.
 */
export async function pruneEvidence(request: PruneRequest): Promise<PruneReport> {
  const { store, before, at, tenant } = request
  let conversations = 0
  for (const name of tenant === undefined ? store.tenants() : [tenant])
    conversations += await pruneConversations({ store, before, at, tenant: name })
  return { ...(await pruneRecords(request)), conversations }
}
