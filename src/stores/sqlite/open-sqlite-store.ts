import { resolve } from 'node:path'
import { ToolFailure } from '../../contract/base/errors.ts'
import type { KeyClaim, Store } from '../../contract/store.ts'
import { once } from '../../kit/time/once.ts'
import { createKeyedDigest } from '../keyed-digest.ts'
import { checkDocumentQuery } from '../refusals.ts'
import { dataVersion } from './base/data-version.ts'
import { createStoreGroup } from './create-store-group.ts'
import { openDatabase } from './open-database.ts'
import { countEnds } from './records/count-ends.ts'
import { findOrphans } from './records/find-orphans.ts'
import { countPrunable, pruneBodies } from './records/prune-bodies.ts'
import { readHead } from './records/read-head.ts'
import { readRecords } from './records/read-records.ts'
import { readTenants } from './records/read-tenants.ts'
import { findForgeries } from './seals/examine-seals.ts'
import { readSecret } from './seals/secret.ts'
import { createStoreParts, type StoreParts } from './store-parts.ts'

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
 * `store_unusable` if the file cannot be used, `store_newer` if a newer Handrail wrote it. Ends with `close()`.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const path = resolve(options.path)
  const { busyTimeoutMs = 5000, now = Date.now, onError = () => {} } = options
  const db = await openDatabase(path, busyTimeoutMs)
  return createStore(createStoreParts({ db, path, busyTimeoutMs, now, onError }))
}

function createStore(parts: StoreParts): Store {
  const { db, description, condition, sealing, writers, keys, facts, documents } = parts
  const { budgets, log, now } = parts
  const { guarded, reading } = condition
  const group = createStoreGroup(parts)
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
    const answer = reading(ask)
    if (answer?.state !== 'running') return answer
    group.flush()
    return reading(ask)
  }
  let digestOf: ((text: string) => string) | undefined
  let closed = false
  condition.watch()
  return {
    description,
    writer: parts.writer,
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
      const isNothing = entries.length === 0 && changes === undefined
      return isNothing ? Promise.resolve() : Promise.reject(condition.refusal)
    },
    *records(query) {
      try {
        yield* readRecords(parts, query)
      } catch (error) {
        throw condition.toFailure(error)
      }
    },
    countEnds: (query) => reading(() => countEnds(parts, query)),
    tenants: () => reading(() => readTenants(db)),
    head: (tenant) => reading(() => readHead(db, tenant)),
    digest: (text) => (digestOf ??= createKeyedDigest(guarded(() => readSecret(db))))(text),
    lives: (id) => !closed && reading(() => writers.lives(id)),
    orphans: () => reading(() => findOrphans(db, writers, condition.readOnly === undefined)),
    findKey: (use) => settled(() => keys.find(use)),
    claimKey: (use) => settled(() => writing(() => keys.claim(use))),
    facts: (kind, tenant) => reading(() => facts.read(kind, tenant)),
    factsVersion: () => guarded(() => facts.version()),
    documents(query) {
      checkDocumentQuery(query)
      return reading(() => documents.read(query))
    },
    factsSince: (kind, version) => reading(() => facts.since(kind, version)),
    reserve: (request) => writing(() => budgets.reserve(request)),
    refund: (call) => reading(() => budgets.refund(call)),
    balance: (account, at) => reading(() => budgets.balance(account, at)),
    examine: () =>
      sealing.keyProblem === undefined
        ? reading(() => findForgeries(db, sealing.sealer))
        : [sealing.keyProblem],
    countPrunable: (before) => reading(() => countPrunable(parts, { ...before, now: now() })),
    prune: (before) => writing(() => prune(parts, before)),
    close: once(async () => {
      closed = true
      await group.settled()
      closeParts(parts)
    }),
  }
}

function prune(parts: StoreParts, before: Parameters<Store['prune']>[0]): number {
  const { writes, log, now } = parts
  const pruned = pruneBodies(parts, writes, { ...before, now: now() })
  if (pruned > 0) log.syncNow()
  return pruned
}

function closeParts({ db, condition, upkeep, ledger, budgets, writers, log }: StoreParts): void {
  condition.close()
  upkeep.stop()
  try {
    if (condition.readOnly !== undefined) return
    log.check()
    dataVersion(db)
    // What is not recorded here is found out by the next process, when this one is gone.
    const firstOpen = ledger.firstOpen()
    budgets.close()
    writers.recordClose(firstOpen)
    if (firstOpen !== undefined) log.syncNow()
  } catch (error) {
    condition.notify(`it could not be told that this process ends. ${condition.toFailure(error).message}`)
  } finally {
    log.close()
    db.close()
  }
}

function closedFailure(description: string): ToolFailure {
  return new ToolFailure({
    code: 'PROVIDER.UNAVAILABLE',
    reason: 'store_failed',
    message: `The store (${description}) is closed and takes no more records.`,
  })
}
