import type { DatabaseSync } from 'node:sqlite'
import type { Fact, FactChange, FactKind, Store } from '../../contract/store.ts'
import { afterPromises } from '../../kit/time/after-promises.ts'
import { changedFact } from '../refusals.ts'
import type { Condition } from './condition.ts'
import { createFactChanges } from './fact-changes.ts'
import { createFactRows } from './fact-rows.ts'
import { createSealedTable, sealedTables } from './seals/sealed-table.ts'
import type { SealedWrites } from './seals/sealed-writes.ts'

/** Facts of a file that other processes change too. */
export interface Facts {
  read(kind: FactKind, tenant?: string): Fact[]
  version(): number
  since: Store['factsSince']
  /** Call it inside a transaction, and tell afterwards that it was committed. */
  change(changes: readonly FactChange[]): void
  /** This process wrote to the file: the version may be another one. */
  written(): void
}

export interface FactsOptions {
  db: DatabaseSync
  writes: SealedWrites
  condition: Condition
}

/** The facts of this file. */
export function createFacts({ db, writes, condition }: FactsOptions): Facts {
  const table = createSealedTable(db, writes, sealedTables.facts)
  const rows = createFactRows(db, writes.sealer, condition)
  const log = createFactChanges(db, writes.sealer)
  /** Another number as soon as another connection wrote anything to the file. */
  const dataVersion = db.prepare('PRAGMA data_version')
  let seen: unknown
  let version = 0
  /** Whether the file was asked a moment ago. */
  let isFresh = false
  return {
    read: (kind, tenant) => rows.all(kind, tenant),
    since(kind, since) {
      const found = log.since(since)
      if (found === undefined) return undefined
      const names = new Map(
        found.names.flatMap((each) => (each.kind === kind ? [[JSON.stringify(each), each]] : [])),
      )
      return {
        version: found.version,
        changed: [...names.values()].map((each) => ({ ...each, fact: rows.one(each) })),
      }
    },
    version() {
      // What follows from one event asks once, over all of its promises. What is heard of another process is an event of its own.
      if (isFresh) return version
      isFresh = true
      afterPromises(() => (isFresh = false))
      const now = dataVersion.get()?.['data_version']
      if (now === seen) return version
      version = log.version()
      seen = now
      return version
    },
    change(changes) {
      for (const change of changes) {
        const { tenant, kind, id, value, was } = change
        if (was !== undefined && JSON.stringify(rows.valueOf(change)) !== JSON.stringify(was))
          throw changedFact(change)
        if (value === undefined) table.remove({ tenant, kind, id })
        else table.put({ tenant, kind, id, value: JSON.stringify(value) })
      }
      log.add(changes)
    },
    written() {
      seen = undefined
      isFresh = false
    },
  }
}
