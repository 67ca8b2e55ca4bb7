import type { DatabaseSync } from 'node:sqlite'

/** The end of a tenant's chain as the store keeps it beside the records. */
export function readHead(db: DatabaseSync, tenant: string): { sequence: number; hash: string } | undefined {
  const row = db.prepare('SELECT sequence, lower(hex(hash)) AS hash FROM heads WHERE tenant = ?').get(tenant)
  return row && { sequence: Number(row['sequence']), hash: String(row['hash']) }
}
