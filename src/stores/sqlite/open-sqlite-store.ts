import { resolve } from 'node:path'
import { ToolFailure } from '../../contract/errors.ts'
import type { KeyClaim, Store } from '../../contract/store.ts'
import { newId } from '../../kit/new-id.ts'
import type { PreparedEntry } from '../prepare-entry.ts'
import { createBudgets } from './budgets.ts'
import { createChanging } from './changing.ts'
import { createFacts } from './facts.ts'
import { findOrphans } from './find-orphans.ts'
import { createGroupCommit } from './group-commit.ts'
import { createKeys } from './keys.ts'
import { createLedger } from './ledger.ts'
import { openDatabase } from './open-database.ts'
import { pruneTenant } from './prune.ts'
import { readRecords, readTenants } from './read-records.ts'
import { hitsWholeFile, storeFailure } from './sqlite-error.ts'
import { createWriters } from './writers.ts'

export interface SqliteStoreOptions {
  /** Where the file is, or shall be. Missing directories are made, for their owner only. */
  path: string
  /** Milliseconds since the epoch. Default `Date.now`. */
  now?: () => number
  /** How long a write waits for another process that holds the file. Default 5,000. */
  busyTimeoutMs?: number
}

/**
 * Opens a store in a SQLite file that several processes of one machine may use at the same time. Throws a `SetupError`:
 * `store_unusable` where the file cannot be used, `store_newer` where a newer Handrail wrote it. Ends with `close()`.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const path = resolve(options.path)
  const description = `sqlite ${path}`
  const db = await openDatabase(path, options.busyTimeoutMs ?? 5000)
  const now = options.now ?? Date.now
  const writer = newId('writer', now())
  const writers = createWriters(db, writer)
  const ledger = createLedger(db, writers)
  const keys = createKeys(db, writers, writer)
  const facts = createFacts(db)
  const budgets = createBudgets(db, writers, writer)
  const changing = createChanging({ facts, keys, budgets })
  const settleKeys = (entries: readonly PreparedEntry[], begun: boolean): void => {
    for (const { record } of entries) if (record.kind === 'begin') keys.settle(record.call, begun)
  }
  const group = createGroupCommit({
    write(appends) {
      const entries = appends.flatMap((one) => one.entries)
      const changes = appends.flatMap((one) => one.changes ?? [])
      if (entries.length === 0 && changes.length === 0) return
      let committed: (() => void) | undefined
      ledger.write(entries, () => (committed = changing.write(changes)))
      committed?.()
      settleKeys(entries, true)
    },
    hitsAll: hitsWholeFile,
    lost(entries, error) {
      settleKeys(entries, false)
      return storeFailure(description, error)
    },
  })
  const guarded = <T>(work: () => T): T => {
    try {
      return work()
    } catch (error) {
      throw storeFailure(description, error)
    }
  }
  /** The end of a running call may be waiting to be written. */
  const settled = <T extends KeyClaim | undefined>(ask: () => T): T => {
    const answer = guarded(ask)
    if (answer?.state !== 'running') return answer
    group.flush()
    return guarded(ask)
  }
  let closed = false
  return {
    description,
    writer,
    durable: true,
    readOnly: undefined,
    append: (entries, changes) =>
      closed ? Promise.reject(closedFailure(description)) : group.append(entries, changes),
    *records(query) {
      try {
        yield* readRecords(db, query)
      } catch (error) {
        throw storeFailure(description, error)
      }
    },
    tenants: () => guarded(() => readTenants(db)),
    head(tenant) {
      const row = guarded(() =>
        db.prepare('SELECT sequence, lower(hex(hash)) AS hash FROM heads WHERE tenant = ?').get(tenant),
      )
      return row && { sequence: Number(row['sequence']), hash: String(row['hash']) }
    },
    orphans: () => guarded(() => findOrphans(db, writers)),
    findKey: (use) => settled(() => keys.find(use)),
    claimKey: (use) => settled(() => keys.claim(use)),
    facts: (kind, tenant) => guarded(() => facts.read(kind, tenant)),
    factsVersion: () => guarded(() => facts.version()),
    reserve: (request) => guarded(() => budgets.reserve(request)),
    refund: (call) => guarded(() => budgets.refund(call)),
    balance: (account, at) => guarded(() => budgets.balance(account, at)),
    prune: ({ tenant, at }) =>
      guarded(() =>
        (tenant === undefined ? readTenants(db) : [tenant]).reduce(
          (sum, one) => sum + pruneTenant(db, { tenant: one, at, now: now() }),
          0,
        ),
      ),
    async close() {
      if (closed) return
      closed = true
      group.flush()
      try {
        guarded(() => budgets.close())
        guarded(() => writers.sayClosed(ledger.firstOpen()))
      } finally {
        db.close()
      }
    },
  }
}

function closedFailure(description: string): ToolFailure {
  return new ToolFailure({
    code: 'PROVIDER.UNAVAILABLE',
    reason: 'store_failed',
    message: `The store (${description}) is closed and takes no more records.`,
  })
}
