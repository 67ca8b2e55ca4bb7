import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { Fact, FactChange, FactKind } from '../../contract/store.ts'

/** Facts of a file that other processes change too. */
export interface Facts {
  read(kind: FactKind, tenant?: string): Fact[]
  version(): number
  /** Call it inside a transaction, and tell afterwards that it was committed. */
  change(changes: readonly FactChange[]): void
  /** This process wrote to the file: the version may be another one. */
  written(): void
}

/** In letters. Definitions of tools are larger, and there may be thousands of them; of what others say, all is needed. */
const smallLength = 1_000

/** The facts of this file. */
export function createFacts(db: DatabaseSync): Facts {
  // A large value stays in the file until it is asked for.
  const select = `SELECT tenant, id, CASE WHEN length(value) <= ${smallLength} THEN value END AS value FROM facts WHERE kind = ?`
  const ofAll = db.prepare(`${select} ORDER BY tenant, id`)
  const ofTenant = db.prepare(`${select} AND tenant = ? ORDER BY id`)
  const one = db.prepare('SELECT value FROM facts WHERE kind = ? AND tenant = ? AND id = ?')
  const put = db.prepare(
    'INSERT INTO facts (tenant, kind, id, value) VALUES (?, ?, ?, ?) ' +
      'ON CONFLICT (kind, tenant, id) DO UPDATE SET value = excluded.value',
  )
  const remove = db.prepare('DELETE FROM facts WHERE tenant = ? AND kind = ? AND id = ?')
  const count = db.prepare(
    "INSERT INTO counters (name, value) VALUES ('facts', 1) " +
      'ON CONFLICT (name) DO UPDATE SET value = counters.value + 1',
  )
  const countOf = db.prepare("SELECT value FROM counters WHERE name = 'facts'")
  /** Another number as soon as another connection wrote anything to the file. */
  const dataVersion = db.prepare('PRAGMA data_version')
  dataVersion.setReturnArrays(true)
  let seen: unknown
  let version = 0
  return {
    read: (kind, tenant) =>
      (tenant === undefined ? ofAll.all(kind) : ofTenant.all(kind, tenant)).map((row) => {
        const about = { tenant: String(row['tenant']), kind, id: String(row['id']) }
        const { value } = row
        if (typeof value === 'string') return { ...about, value: JSON.parse(value) as Fact['value'] }
        return new LargeFact(about, one)
      }),
    version() {
      // Rows of this statement are arrays.
      const [now] = dataVersion.get() as unknown as [number]
      if (now === seen) return version
      version = Number(countOf.get()?.['value'] ?? 0)
      seen = now
      return version
    },
    change(changes) {
      for (const { tenant, kind, id, value } of changes)
        if (value === undefined) remove.run(tenant, kind, id)
        else put.run(tenant, kind, id, JSON.stringify(value))
      count.run()
    },
    written() {
      seen = undefined
    },
  }
}

/** Its value is read from the file whenever it is asked for; null where another process took it away meanwhile. */
class LargeFact implements Fact {
  readonly tenant: string
  readonly kind: FactKind
  readonly id: string
  readonly #select: StatementSync

  constructor({ tenant, kind, id }: Omit<Fact, 'value'>, select: StatementSync) {
    this.tenant = tenant
    this.kind = kind
    this.id = id
    this.#select = select
  }

  get value(): Fact['value'] {
    const text = this.#select.get(this.kind, this.tenant, this.id)?.['value'] ?? 'null'
    return JSON.parse(String(text)) as Fact['value']
  }
}
