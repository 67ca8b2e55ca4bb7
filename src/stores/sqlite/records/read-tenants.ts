import type { DatabaseSync } from 'node:sqlite'

/** Every tenant with a record or a head, in order. Seeks from one to the next instead of reading all records. */
export function readTenants(db: DatabaseSync): string[] {
  const rows = db
    .prepare(
      'WITH RECURSIVE seek (tenant) AS (SELECT min(tenant) FROM records UNION ALL ' +
        'SELECT (SELECT min(tenant) FROM records WHERE tenant > seek.tenant) FROM seek WHERE seek.tenant IS NOT NULL) ' +
        'SELECT tenant FROM seek WHERE tenant IS NOT NULL UNION SELECT tenant FROM heads ORDER BY tenant',
    )
    .all()
  return rows.map((row) => String(row['tenant']))
}
