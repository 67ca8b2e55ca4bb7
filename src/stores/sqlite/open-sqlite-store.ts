import { resolve } from 'node:path'
import { ToolFailure } from '../../contract/errors.ts'
import type { KeyClaim, Store } from '../../contract/store.ts'
import { newId } from '../../kit/new-id.ts'
import type { PreparedEntry } from '../prepare-entry.ts'
import { createBudgets } from './budgets.ts'
import { createChanging } from './changing.ts'
import { createFacts } from './facts.ts'
import { findBrokenTail } from './find-broken-tail.ts'
import { findOrphans } from './find-orphans.ts'
import { createGroupCommit } from './group-commit.ts'
import { createKeys } from './keys.ts'
import { createLedger } from './ledger.ts'
import { createLogSync } from './log-sync.ts'
import { openDatabase } from './open-database.ts'
import { pruneBodies } from './prune-bodies.ts'
import { readHead } from './read-head.ts'
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
  const ledger = createLedger(db, writers, writer)
  const keys = createKeys(db, writers, writer)
  const facts = createFacts(db)
  const budgets = createBudgets({ db, writers, own: writer, now })
  const changing = createChanging({ facts, keys, budgets })
  const log = createLogSync(path)
  const settleKeys = (entries: readonly PreparedEntry[], begun: boolean): void => {
    for (const { record } of entries) if (record.kind === 'begin') keys.settle(record.call, begun)
  }
  const group = createGroupCommit({
    write(appends) {
      const entries = appends.flatMap((one) => one.entries)
      const changes = appends.flatMap((one) => one.changes ?? [])
      if (entries.length === 0 && changes.length === 0) return
      log.check()
      let committed: (() => void) | undefined
      ledger.write(entries, () => (committed = changing.write(changes)))
      committed?.()
    },
    sync: () => log.sync(),
    hitsAll: hitsWholeFile,
    kept: (entries) => settleKeys(entries, true),
    lost(entries, error) {
      settleKeys(entries, false)
      return storeFailure(description, error)
    },
  })
  const broken = findBrokenTail(db)
  const readOnly = broken && describeReadOnly(path, broken)
  const guarded = <T>(work: () => T): T => {
    try {
      return work()
    } catch (error) {
      throw storeFailure(description, error)
    }
  }
  const writing = <T>(work: () => T): T => {
    if (readOnly !== undefined) throw readOnlyFailure(readOnly)
    log.check()
    return guarded(work)
  }
  /** The end of a running call may be waiting to be written. */
  const settled = <T extends KeyClaim | undefined>(ask: () => T): T => {
    const answer = guarded(ask)
    if (answer?.state !== 'running') return answer
    group.flush()
    return guarded(ask)
  }
  let closing: Promise<void> | undefined
  const close = async (): Promise<void> => {
    await group.settled()
    const firstOpen = ledger.firstOpen()
    try {
      guarded(() => budgets.close())
      guarded(() => writers.sayClosed(firstOpen))
      if (firstOpen !== undefined) log.syncNow()
    } finally {
      log.close()
      db.close()
    }
  }
  return {
    description,
    writer,
    durable: true,
    readOnly,
    append(entries, changes) {
      if (closing !== undefined) return Promise.reject(closedFailure(description))
      if (readOnly === undefined) return group.append(entries, changes)
      // Nothing is lost by writing nothing.
      return entries.length === 0 && changes === undefined
        ? Promise.resolve()
        : Promise.reject(readOnlyFailure(readOnly))
    },
    *records(query) {
      try {
        yield* readRecords(db, query)
      } catch (error) {
        throw storeFailure(description, error)
      }
    },
    tenants: () => guarded(() => readTenants(db)),
    head: (tenant) => guarded(() => readHead(db, tenant)),
    orphans: () => guarded(() => findOrphans(db, writers, readOnly === undefined)),
    findKey: (use) => settled(() => keys.find(use)),
    claimKey: (use) => settled(() => writing(() => keys.claim(use))),
    facts: (kind, tenant) => guarded(() => facts.read(kind, tenant)),
    factsVersion: () => guarded(() => facts.version()),
    reserve: (request) => writing(() => budgets.reserve(request)),
    refund: (call) => guarded(() => budgets.refund(call)),
    balance: (account, at) => guarded(() => budgets.balance(account, at)),
    prune: (before) =>
      writing(() => {
        const pruned = pruneBodies(db, { ...before, now: now() })
        if (pruned > 0) log.syncNow()
        return pruned
      }),
    close: () => (closing ??= close()),
  }
}

function closedFailure(description: string): ToolFailure {
  return new ToolFailure({
    code: 'PROVIDER.UNAVAILABLE',
    reason: 'store_failed',
    message: `The store (${description}) is closed and takes no more records.`,
  })
}

function describeReadOnly(path: string, why: string): string {
  return (
    `The store "${path}" takes no records: ${why}. Keep the file, run "handrail evidence verify" to see the whole damage, ` +
    'and go on with a good copy or another path.'
  )
}

function readOnlyFailure(message: string): ToolFailure {
  return new ToolFailure({ code: 'PROVIDER.UNAVAILABLE', reason: 'store_read_only', message })
}
