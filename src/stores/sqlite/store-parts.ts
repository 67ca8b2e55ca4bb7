import { randomBytes } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import { newId } from '../../kit/new-id.ts'
import { dataVersion } from './base/data-version.ts'
import { createWriters, type Writers } from './base/writers.ts'
import { createBudgets, type Budgets } from './budgets/budgets.ts'
import { createLedger, type Ledger } from './budgets/ledger.ts'
import { createCondition, type Condition } from './condition.ts'
import { createDocuments, type Documents } from './documents.ts'
import { createFacts, type Facts } from './facts.ts'
import { createKeys, type Keys } from './keys.ts'
import { createLogSync, type LogSync } from './log-sync.ts'
import { findBrokenTail } from './records/find-broken-tail.ts'
import { findBrokenSeal } from './seals/examine-seals.ts'
import { createSealedWrites, type SealedWrites } from './seals/sealed-writes.ts'
import { createSealer, type Sealer } from './seals/sealer.ts'
import { adoptStoreKey, readStoreKey, type FoundKey } from './seals/store-key.ts'
import { hasSums } from './seals/sums.ts'
import { createSummaries, type Summaries } from './summaries/summaries.ts'
import { createUpkeep, type Upkeep } from './upkeep/create-upkeep.ts'
import { createPacking } from './upkeep/packing.ts'
import { watchPlace } from './watch-place.ts'

/** What a store in a file is made of. */
export interface StoreParts {
  db: DatabaseSync
  description: string
  /** Id of this process among the writers. */
  writer: string
  now: () => number
  condition: Condition
  sealing: Sealing
  writes: SealedWrites
  writers: Writers
  ledger: Ledger
  keys: Keys
  facts: Facts
  documents: Documents
  summaries: Summaries
  upkeep: Upkeep
  budgets: Budgets
  log: LogSync
}

interface Sealing {
  sealer: Sealer
  keyProblem: string | undefined
}

interface OpenFile {
  db: DatabaseSync
  path: string
  busyTimeoutMs: number
  now: () => number
  onError: (message: string) => void
}

/** The parts of the store in a file that is open. */
export function createStoreParts({ db, path, busyTimeoutMs, now, onError }: OpenFile): StoreParts {
  const description = `sqlite ${path}`
  const writer = newId('writer', now())
  const condition = createCondition({
    path,
    description,
    isThere: watchPlace(path),
    probe() {
      log.check()
      ledger.probe()
    },
    checkTables: () => void dataVersion(db),
    // The database waits inside of a statement, and the whole process with it.
    onFailing: (isFailing) => db.exec(`PRAGMA busy_timeout = ${isFailing ? 0 : busyTimeoutMs}`),
    onError,
  })
  const sealing = openSealer(db, path, condition)
  const writes = createSealedWrites(db, sealing.sealer)
  const writers = createWriters(db, writer, (work) => writes.write(work))
  const shared = { db, writers, writes, own: writer }
  const ledger = createLedger(shared)
  const log = createLogSync(path)
  const mayWrite = (): boolean => condition.refusal === undefined && condition.trouble === undefined
  const summaries = createSummaries({
    db,
    sealer: sealing.sealer,
    mayWrite,
    busyTimeoutMs,
    onDue: () => upkeep.start(),
  })
  const packing = createPacking({ db, busyTimeoutMs, mayWrite })
  const upkeep = createUpkeep({ makeOne: summaries.makeOne, packOne: packing.packOne })
  return {
    db,
    description,
    writer,
    now,
    condition,
    sealing,
    writes,
    writers,
    ledger,
    keys: createKeys(shared),
    facts: createFacts({ db, writes, condition }),
    documents: createDocuments(db, writes),
    summaries,
    upkeep,
    budgets: createBudgets({ ...shared, now }),
    log,
  }
}

/** The sealer of a store. One that does not hold, or has no key to use, takes no records from here on. */
function openSealer(db: DatabaseSync, path: string, condition: Condition): Sealing {
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
