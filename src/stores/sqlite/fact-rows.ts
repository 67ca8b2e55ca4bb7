import type { DatabaseSync } from 'node:sqlite'
import { parseJson } from '../../kit/json/parse-json.ts'
import type { Fact, FactKind } from '../../contract/store.ts'
import type { Condition } from './condition.ts'
import { findBrokenSeal } from './seals/examine-seals.ts'
import { describeRow, goodSeal, sealedTables, type Row } from './seals/sealed-table.ts'
import type { Sealer } from './seals/sealer.ts'

/** Facts as they stand in their table. */
export interface FactRows {
  all(kind: FactKind, tenant?: string): Fact[]
  one(name: Omit<Fact, 'value'>): Fact | undefined
  /** Null if there is none. */
  valueOf(name: Omit<Fact, 'value'>): Fact['value']
}

/** In bytes. Definitions of tools are larger, and there may be thousands of them; of what others say, all is needed. */
const smallBytes = 1_000

/** The rows of this file. One that was not written with the key of the store is none. */
export function createFactRows(db: DatabaseSync, sealer: Sealer, condition: Condition): FactRows {
  const told = new Set<string>()
  const isGood = (row: Row): boolean => {
    if (goodSeal(sealedTables.facts, row, sealer) !== undefined) return true
    const strange = describeRow(sealedTables.facts, row)
    if (told.has(strange)) return false
    told.add(strange)
    // One that was put in beside the others is none. One in the place of another may have taken away what that one forbade.
    const broken = findBrokenSeal(db, sealer)
    if (broken === undefined) condition.notify(`${strange}, and does not count. Remove the row.`)
    else condition.stop(broken)
    return false
  }
  // A large value stays in the file until it is asked for.
  const select = `SELECT kind, tenant, id, CASE WHEN octet_length(value) <= ${smallBytes} THEN value END AS value, seal FROM facts WHERE kind = ?`
  const ofAll = db.prepare(`${select} ORDER BY tenant, id`)
  const ofTenant = db.prepare(`${select} AND tenant = ? ORDER BY id`)
  const ofOne = db.prepare(`${select} AND tenant = ? AND id = ?`)
  const whole = db.prepare(
    'SELECT kind, tenant, id, value, seal FROM facts WHERE kind = ? AND tenant = ? AND id = ?',
  )
  const valueOf = ({ kind, tenant, id }: Omit<Fact, 'value'>): Fact['value'] => {
    const row = whole.get(kind, tenant, id)
    return row === undefined || !isGood(row) ? null : parseJson(String(row['value']))
  }
  const large = new Map<string, LargeFact>()
  /** The same object for as long as its row has the same seal, so that what was made of it can be kept with it. */
  const toLarge = ({ kind, tenant, id }: Omit<Fact, 'value'>, seal: string): LargeFact => {
    const name = nameOf({ kind, tenant, id })
    let fact = large.get(name)
    if (fact?.seal !== seal) large.set(name, (fact = new LargeFact({ kind, tenant, id }, seal, valueOf)))
    return fact
  }
  const toFact = (kind: FactKind, row: Row): Fact | undefined => {
    const about = { tenant: String(row['tenant']), kind, id: String(row['id']) }
    const { value } = row
    if (typeof value !== 'string') return toLarge(about, String(row['seal']))
    return isGood(row) ? { ...about, value: parseJson(value) } : undefined
  }
  return {
    all: (kind, tenant) =>
      (tenant === undefined ? ofAll.all(kind) : ofTenant.all(kind, tenant)).flatMap(
        (row) => toFact(kind, row) ?? [],
      ),
    one(name) {
      const row = ofOne.get(name.kind, name.tenant, name.id)
      if (row === undefined) large.delete(nameOf(name))
      return row && toFact(name.kind, row)
    },
    valueOf,
  }
}

function nameOf({ kind, tenant, id }: Omit<Fact, 'value'>): string {
  return JSON.stringify([kind, tenant, id])
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
