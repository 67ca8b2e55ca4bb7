import { randomBytes } from 'node:crypto'
import { resolve } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { ToolFailure } from '../../contract/base/errors.ts'
import type { KeyClaim, Store } from '../../contract/store.ts'
import { newId } from '../../kit/new-id.ts'
import { once } from '../../kit/time/once.ts'
import { createKeyedDigest } from '../keyed-digest.ts'
import type { PreparedEntry } from '../prepare-entry.ts'
import { createBudgets } from './budgets/budgets.ts'
import { createChanging } from './changing.ts'
import { createCondition, type Condition } from './condition.ts'
import { findBrokenSeal, findForgeries } from './seals/examine-seals.ts'
import { createFacts } from './facts.ts'
import { findBrokenTail } from './records/find-broken-tail.ts'
import { findOrphans } from './records/find-orphans.ts'
import { createGroupCommit } from './group-commit.ts'
import { createKeys } from './keys.ts'
import { createLedger } from './budgets/ledger.ts'
import { createLogSync } from './log-sync.ts'
import { openDatabase } from './open-database.ts'
import { pruneBodies } from './records/prune-bodies.ts'
import { readHead } from './records/read-head.ts'
import { readRecords, readTenants } from './records/read-records.ts'
import { readSecret } from './seals/secret.ts'
import { createSealedWrites } from './seals/sealed-writes.ts'
import { createSealer, type Sealer } from './seals/sealer.ts'
import { hitsWholeFile } from './base/sqlite-error.ts'
import { adoptStoreKey, readStoreKey, type FoundKey } from './seals/store-key.ts'
import { hasSums } from './seals/sums.ts'
import { Tampered } from './seals/tampered.ts'
import { watchPlace } from './watch-place.ts'
import { createWriters } from './base/writers.ts'

export interface SqliteStoreOptions {
  /** Where the file is, or shall be. Missing directories are made, for their owner only. */
  path: string
  /** Milliseconds since the epoch. Default `Date.now`. */
  now?: () => number
  /** How long a write waits for another process that holds the file; once one waited in vain, none waits until the file is free. Default 5,000. */
  busyTimeoutMs?: number
  /** Told why the store takes no records, when it does not or not any more, and of facts in it that do not count. */
  onError?: (message: string) => void
}

/**
 * Opens a store in a SQLite file that several processes of one machine may use at the same time. Throws a `SetupError`:
 * `store_unusable` where the file cannot be used, `store_newer` where a newer Handrail wrote it. Ends with `close()`.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const path = resolve(options.path)
  const description = `sqlite ${path}`
  const { busyTimeoutMs = 5000 } = options
  const db = await openDatabase(path, busyTimeoutMs)
  const now = options.now ?? Date.now
  const writer = newId('writer', now())
  const condition = createCondition({
    path,
    description,
    isThere: watchPlace(path),
    probe() {
      log.check()
      ledger.probe()
    },
    // The database waits inside of a statement, and the whole process with it.
    onFailing: (isFailing) => db.exec(`PRAGMA busy_timeout = ${isFailing ? 0 : busyTimeoutMs}`),
    onError: options.onError ?? (() => {}),
  })
  const { guarded } = condition
  const { sealer, keyProblem } = openSealer(db, path, condition)
  const writes = createSealedWrites(db, sealer)
  const writers = createWriters(db, writer, (work) => writes.write(work))
  const ledger = createLedger({ db, writers, writes, own: writer })
  const keys = createKeys({ db, writers, writes, own: writer })
  const facts = createFacts({ db, writes, condition })
  const budgets = createBudgets({ db, writers, writes, own: writer, now })
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
      condition.check()
      log.check()
      let committed: (() => void) | undefined
      ledger.write(entries, () => (committed = changing.write(changes)))
      committed?.()
      condition.worked()
    },
    sync: () => log.sync(),
    hitsAll: (error) => hitsWholeFile(error) || error instanceof Tampered,
    kept: (entries) => settleKeys(entries, true),
    lost(entries, error) {
      settleKeys(entries, false)
      return condition.toWriteFailure(error)
    },
  })
  const writing = <T>(work: () => T): T => {
    condition.check()
    log.check()
    try {
      return work()
    } catch (error) {
      throw condition.toWriteFailure(error)
    }
  }
  /** The end of a running call may be waiting to be written. */
  const settled = <T extends KeyClaim | undefined>(ask: () => T): T => {
    const answer = guarded(ask)
    if (answer?.state !== 'running') return answer
    group.flush()
    return guarded(ask)
  }
  /** Most processes need none of its digests. */
  let digestOf: ((text: string) => string) | undefined
  /** What is not said is found out by the next process, when this one is gone. */
  const sayClosed = (): void => {
    const firstOpen = ledger.firstOpen()
    budgets.close()
    writers.sayClosed(firstOpen)
    if (firstOpen !== undefined) log.syncNow()
  }
  let closed = false
  const close = once(async () => {
    closed = true
    await group.settled()
    condition.close()
    try {
      if (condition.readOnly === undefined) sayClosed()
    } catch (error) {
      condition.tell(`it could not be told that this process ends. ${condition.toFailure(error).message}`)
    } finally {
      log.close()
      db.close()
    }
  })
  condition.watch()
  return {
    description,
    writer,
    durable: true,
    get readOnly() {
      return condition.readOnly
    },
    get trouble() {
      return condition.trouble
    },
    append(entries, changes) {
      if (closed) return Promise.reject(closedFailure(description))
      if (condition.refusal === undefined) return group.append(entries, changes)
      // Nothing is lost by writing nothing.
      return entries.length === 0 && changes === undefined
        ? Promise.resolve()
        : Promise.reject(condition.refusal)
    },
    *records(query) {
      try {
        yield* readRecords(db, query)
      } catch (error) {
        throw condition.toFailure(error)
      }
    },
    tenants: () => guarded(() => readTenants(db)),
    head: (tenant) => guarded(() => readHead(db, tenant)),
    digest: (text) => (digestOf ??= createKeyedDigest(guarded(() => readSecret(db))))(text),
    lives: (id) => !closed && guarded(() => writers.lives(id)),
    orphans: () => guarded(() => findOrphans(db, writers, condition.readOnly === undefined)),
    findKey: (use) => settled(() => keys.find(use)),
    claimKey: (use) => settled(() => writing(() => keys.claim(use))),
    facts: (kind, tenant) => guarded(() => facts.read(kind, tenant)),
    factsVersion: () => guarded(() => facts.version()),
    reserve: (request) => writing(() => budgets.reserve(request)),
    refund: (call) => guarded(() => budgets.refund(call)),
    balance: (account, at) => guarded(() => budgets.balance(account, at)),
    examine: () => (keyProblem === undefined ? guarded(() => findForgeries(db, sealer)) : [keyProblem]),
    prune: (before) =>
      writing(() => {
        const pruned = pruneBodies(db, writes, { ...before, now: now() })
        if (pruned > 0) log.syncNow()
        return pruned
      }),
    close,
  }
}

function closedFailure(description: string): ToolFailure {
  return new ToolFailure({
    code: 'PROVIDER.UNAVAILABLE',
    reason: 'store_failed',
    message: `The store (${description}) is closed and takes no more records.`,
  })
}

/** The sealer of a store. One that does not hold, or has no key to use, takes no records from here on. */
function openSealer(
  db: DatabaseSync,
  path: string,
  condition: Condition,
): { sealer: Sealer; keyProblem: string | undefined } {
  const found = findStoreKey(db, path)
  const keyProblem = 'problem' in found ? found.problem : undefined
  if (keyProblem !== undefined) condition.stop(keyProblem)
  // Without its key, nothing in a store counts.
  const sealer = createSealer('key' in found ? found.key : randomBytes(32))
  const broken = findBrokenTail(db) ?? condition.guarded(() => findBrokenSeal(db, sealer))
  if (broken !== undefined) condition.stop(broken)
  return { sealer, keyProblem }
}

function findStoreKey(db: DatabaseSync, path: string): FoundKey {
  const found = readStoreKey(path)
  if ('key' in found || !found.isMissing) return found
  const key = adoptStoreKey(path, (drafted) => hasSums(db, createSealer(drafted)))
  return key === undefined ? found : { key }
}
