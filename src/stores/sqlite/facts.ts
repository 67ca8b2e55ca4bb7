import type { DatabaseSync } from 'node:sqlite'
import { parseJson } from '../../kit/json/parse-json.ts'
import type { Fact, FactChange, FactKind } from '../../contract/store.ts'
import { changedFact } from '../refusals.ts'
import type { Condition } from './condition.ts'
import { findBrokenSeal } from './seals/examine-seals.ts'
import { createSealedTable, describeRow, goodSeal, sealedTables, type Row } from './seals/sealed-table.ts'
import type { SealedWrites } from './seals/sealed-writes.ts'

/** Facts of a file that other processes change too. */
export interface Facts {
  read(kind: FactKind, tenant?: string): Fact[]
  version(): number
  /** Call it inside a transaction, and tell afterwards that it was committed. */
  change(changes: readonly FactChange[]): void
  /** This process wrote to the file: the version may be another one. */
  written(): void
}

/** In bytes. Definitions of tools are larger, and there may be thousands of them; of what others say, all is needed. */
const smallBytes = 1_000

export interface FactsOptions {
  db: DatabaseSync
  writes: SealedWrites
  condition: Condition
}

/** The facts of this file. One that was not written with the key of the store is none. */
export function createFacts({ db, writes, condition }: FactsOptions): Facts {
  const table = createSealedTable(db, writes, sealedTables.facts)
  const told = new Set<string>()
  const isGood = (row: Row): boolean => {
    if (goodSeal(sealedTables.facts, row, writes.sealer) !== undefined) return true
    const strange = describeRow(sealedTables.facts, row)
    if (told.has(strange)) return false
    told.add(strange)
    // One that was put in beside the others is none. One in the place of another may have taken away what that one forbade.
    const broken = findBrokenSeal(db, writes.sealer)
    if (broken === undefined) condition.notify(`${strange}, and does not count. Remove the row.`)
    else condition.stop(broken)
    return false
  }
  // A large value stays in the file until it is asked for.
  const select = `SELECT kind, tenant, id, CASE WHEN octet_length(value) <= ${smallBytes} THEN value END AS value, seal FROM facts WHERE kind = ?`
  const ofAll = db.prepare(`${select} ORDER BY tenant, id`)
  const ofTenant = db.prepare(`${select} AND tenant = ? ORDER BY id`)
  const selectOne = db.prepare(
    'SELECT kind, tenant, id, value, seal FROM facts WHERE kind = ? AND tenant = ? AND id = ?',
  )
  const readOne = ({ kind, tenant, id }: Omit<Fact, 'value'>): Fact['value'] => {
    const row = selectOne.get(kind, tenant, id)
    return row === undefined || !isGood(row) ? null : parseJson(String(row['value']))
  }
  const count = db.prepare(
    "INSERT INTO counters (name, value) VALUES ('facts', 1) " +
      'ON CONFLICT (name) DO UPDATE SET value = counters.value + 1',
  )
  const countOf = db.prepare("SELECT value FROM counters WHERE name = 'facts'")
  /** Another number as soon as another connection wrote anything to the file. */
  const dataVersion = db.prepare('PRAGMA data_version')
  let seen: unknown
  let version = 0
  const large = new Map<string, LargeFact>()
  /** The same object for as long as its row has the same seal, so that what was made of it can be kept with it. */
  const toLarge = ({ kind, tenant, id }: Omit<Fact, 'value'>, seal: string): LargeFact => {
    const name = JSON.stringify([kind, tenant, id])
    let fact = large.get(name)
    if (fact?.seal !== seal) large.set(name, (fact = new LargeFact({ kind, tenant, id }, seal, readOne)))
    return fact
  }
  return {
    read: (kind, tenant) =>
      (tenant === undefined ? ofAll.all(kind) : ofTenant.all(kind, tenant)).flatMap((row) => {
        const about = { tenant: String(row['tenant']), kind, id: String(row['id']) }
        const { value } = row
        if (typeof value !== 'string') return toLarge(about, String(row['seal']))
        return isGood(row) ? { ...about, value: parseJson(value) } : []
      }),
    version() {
      const now = dataVersion.get()?.['data_version']
      if (now === seen) return version
      version = Number(countOf.get()?.['value'] ?? 0)
      seen = now
      return version
    },
    change(changes) {
      for (const change of changes) {
        const { tenant, kind, id, value, was } = change
        if (was !== undefined && JSON.stringify(readOne(change)) !== JSON.stringify(was))
          throw changedFact(change)
        if (value === undefined) table.remove({ tenant, kind, id })
        else table.put({ tenant, kind, id, value: JSON.stringify(value) })
      }
      count.run()
    },
    written() {
      seen = undefined
    },
  }
}

/** Its value is read from the file whenever it is asked for; null if it is not there any more, or was not written here. */
class LargeFact implements Fact {
  readonly tenant: string
  readonly kind: FactKind
  readonly id: string
  readonly #seal: string
  readonly #read: (about: Omit<Fact, 'value'>) => Fact['value']

  constructor(
    { tenant, kind, id }: Omit<Fact, 'value'>,
    seal: string,
    read: (about: Omit<Fact, 'value'>) => Fact['value'],
  ) {
    this.tenant = tenant
    this.kind = kind
    this.id = id
    this.#seal = seal
    this.#read = read
  }

  /** What its row had for a seal when it was found. */
  get seal(): string {
    return this.#seal
  }

  get value(): Fact['value'] {
    return this.#read(this)
  }
}
