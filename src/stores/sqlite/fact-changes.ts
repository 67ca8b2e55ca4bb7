import type { DatabaseSync } from 'node:sqlite'
import type { Fact } from '../../contract/store.ts'
import type { Sealer } from './seals/sealer.ts'

/** Which facts of a file changed last, so that a reader need not read all of them anew. */
export interface FactChanges {
  /** The version of the facts as the file has it. */
  version(): number
  /** Names of what changed since a version, and the version so reached; undefined if that is not known so far back. */
  since(version: number): { version: number; names: readonly Omit<Fact, 'value'>[] } | undefined
  /** Counts these changes. Call it inside a transaction. */
  add(changed: readonly Omit<Fact, 'value'>[]): void
}

/** So many changes are remembered. */
const rememberedChanges = 1_000

/**
 * The changes of this file. Each has a version of its own, so that one that is missing is noticed, and a seal: what a process without the key of the
 * store wrote makes its readers read all facts.
 */
export function createFactChanges(db: DatabaseSync, sealer: Sealer): FactChanges {
  const count = db.prepare(
    "INSERT INTO counters (name, value) VALUES ('facts', ?) " +
      'ON CONFLICT (name) DO UPDATE SET value = counters.value + excluded.value RETURNING value',
  )
  const latest = db.prepare("SELECT value FROM counters WHERE name = 'facts'")
  const insert = db.prepare(
    'INSERT INTO fact_changes (version, kind, tenant, id, seal) VALUES (?, ?, ?, ?, ?)',
  )
  const forget = db.prepare('DELETE FROM fact_changes WHERE version <= ?')
  const select = db.prepare(
    'SELECT version, kind, tenant, id, seal FROM fact_changes WHERE version > ? ORDER BY version',
  )
  const sealOf = (version: number, { kind, tenant, id }: Omit<Fact, 'value'>): string =>
    sealer.seal('fact_changes', version, kind, tenant, id)
  const version = (): number => Number(latest.get()?.['value'] ?? 0)
  return {
    version,
    since(since) {
      const before = version()
      if (since > before) return undefined
      const names: Omit<Fact, 'value'>[] = []
      let reached = since
      for (const row of select.iterate(since)) {
        const name = {
          tenant: String(row['tenant']),
          kind: row['kind'] as Fact['kind'],
          id: String(row['id']),
        }
        if (row['version'] !== ++reached || row['seal'] !== sealOf(reached, name)) return undefined
        names.push(name)
      }
      return reached < before ? undefined : { version: reached, names }
    },
    add(changed) {
      const last = Number(count.get(changed.length)?.['value'])
      forget.run(last - rememberedChanges)
      // A reader that is so far behind reads all.
      if (changed.length > rememberedChanges) return
      const first = last - changed.length + 1
      for (const [index, name] of changed.entries())
        insert.run(first + index, name.kind, name.tenant, name.id, sealOf(first + index, name))
    },
  }
}
