import type { DatabaseSync } from 'node:sqlite'
import { inTransaction } from './transaction.ts'

/** So many records are looked at in one transaction, so that other processes wait only for moments. */
const recordsPerTransaction = 500

/** Removes the bodies of records that are older than `at`, one tenant. Gives their number. */
export function pruneTenant(
  db: DatabaseSync,
  { tenant, at, now }: { tenant: string; at: number; now: number },
): number {
  const end = Number(db.prepare('SELECT sequence FROM heads WHERE tenant = ?').get(tenant)?.['sequence'] ?? 0)
  const needed = new Set(
    db
      .prepare('SELECT call FROM keys WHERE tenant = ? AND expires_at > ?')
      .all(tenant, now)
      .map((row) => String(row['call'])),
  )
  const select = db.prepare(
    'SELECT position, sequence, call, ' +
      "body IS NOT NULL AND json_extract(text, '$.at') < :at AND (kind = 'note' OR EXISTS (SELECT 1 FROM records AS ended " +
      "WHERE ended.call = records.call AND ended.tenant = records.tenant AND ended.kind = 'end')) AS old " +
      'FROM records WHERE tenant = :tenant AND sequence > :after AND sequence <= :end ORDER BY sequence LIMIT :limit',
  )
  const clear = db.prepare('UPDATE records SET body = NULL WHERE position = ?')
  let pruned = 0
  for (let after = 0; ;) {
    const rows = inTransaction(db, () => {
      const found = select.all({ tenant, at, after, end, limit: recordsPerTransaction })
      for (const { position, call, old } of found) {
        if (old !== 1 || needed.has(String(call))) continue
        clear.run(Number(position))
        pruned++
      }
      return found
    })
    const last = rows.at(-1)
    if (last === undefined) return pruned
    after = Number(last['sequence'])
  }
}
