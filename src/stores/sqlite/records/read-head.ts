import type { DatabaseSync } from 'node:sqlite'
import type { Head } from '../seals/heads.ts'

/** The end of a tenant's chain as the store keeps it beside the records. Whether its seal is right, this does not say. */
export function readHead(db: DatabaseSync, tenant: string): Head | undefined {
  const row = db
    .prepare('SELECT sequence, lower(hex(hash)) AS hash, bodiless FROM heads WHERE tenant = ?')
    .get(tenant)
  return (
    row && {
      sequence: Number(row['sequence']),
      hash: String(row['hash']),
      bodiless: Number(row['bodiless']),
    }
  )
}
