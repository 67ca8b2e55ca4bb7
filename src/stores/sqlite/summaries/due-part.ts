import type { DatabaseSync } from 'node:sqlite'

/** A part of a chain, by its number. */
export interface Part {
  tenant: string
  number: number
}

/** Finds a whole part of a chain, of so many records, that has no row in a table yet. */
export function prepareDue(
  db: DatabaseSync,
  table: 'summaries' | 'outlines',
  records: number,
): () => Part | undefined {
  // The first without a next one, if the very first is there.
  const statement = db.prepare(
    `SELECT tenant, CASE WHEN EXISTS (SELECT 1 FROM ${table} WHERE tenant = heads.tenant AND number = 0) ` +
      `THEN (SELECT number + 1 FROM ${table} AS last WHERE tenant = heads.tenant AND NOT EXISTS ` +
      `(SELECT 1 FROM ${table} WHERE tenant = last.tenant AND number = last.number + 1) ORDER BY number LIMIT 1) ` +
      'ELSE 0 END AS number FROM heads ' +
      `WHERE sequence >= ${records} AND sequence / ${records} >` +
      ` (SELECT count(*) FROM ${table} WHERE tenant = heads.tenant) LIMIT 1`,
  )
  return () => {
    const row = statement.get()
    return row && { tenant: String(row['tenant']), number: Number(row['number']) }
  }
}
