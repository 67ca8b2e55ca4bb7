import { createRunBook, type KeptRun, type RunBook } from '../../agents/loop/run-book.ts'
import type { Store } from '../../contract/store.ts'
import type { ArchivedRun } from '../../evidence/archive/create-run-archive.ts'
import { rebuildArchive as rebuildLogs, type RebuildReport } from '../../evidence/archive/rebuild-archive.ts'
import { createRedactor } from '../../kit/secrets/redact.ts'
import { roleOf, taskFiles, toArchivedRun } from '../run-files.ts'

/** What is rebuilt. */
export interface RebuildRequest {
  store: Store
  /** Holds `runs/`. */
  dir: string
  /** Default: all. */
  tenant?: string
  /** Default: all. */
  session?: string
  /** Values that no file shows: the conversations of runs have them as they were said. Tokens are known by their shapes. */
  secrets?: readonly string[]
}

/**
 * Writes the logs and conversations of runs again from the store, as they were written live, in place of those that are there. Events, and what a session
 * delivered, stand in no store: an `events.jsonl` or `run.json` that is there stays, and no event is made up.
 */
export async function rebuildArchive({ secrets = [], ...request }: RebuildRequest): Promise<RebuildReport> {
  return rebuildLogs({ ...request, runs: findRuns(request, secrets) })
}

function findRuns(
  { store, tenant, session }: Omit<RebuildRequest, 'secrets'>,
  secrets: readonly string[],
): ArchivedRun[] {
  const book = createRunBook(store)
  const redactor = createRedactor(secrets)
  const tenants = tenant === undefined ? store.tenants() : [tenant]
  return tenants.flatMap((each) =>
    listRuns(store, book, each)
      .filter((run) => run.prunedAt === undefined && (session ?? run.session) === run.session)
      .map((kept) => {
        const nodes = book.transcript(kept.id, each)
        return toArchivedRun(
          { kept, nodes, files: new Map(taskFiles(kept, nodes)), isWhole: true },
          { redactor, book, role: roleOf(kept, book) },
        )
      }),
  )
}

function listRuns(store: Store, book: RunBook, tenant: string): KeptRun[] {
  return store.documents({ tenant, kind: 'run' }).flatMap(({ id }) => book.load(tenant, id) ?? [])
}
