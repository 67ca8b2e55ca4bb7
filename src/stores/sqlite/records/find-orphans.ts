import type { DatabaseSync } from 'node:sqlite'
import type { Writers } from '../base/writers.ts'
import { recordText } from '../packs/record-sql.ts'

/**
 * Calls begun by processes that are gone and never ended. Looks only at records since the oldest one that such a process may
 * have left open, and forgets those that left none, where it `mayForget`.
 */
export function findOrphans(
  db: DatabaseSync,
  writers: Writers,
  mayForget: boolean,
): { tenant: string; call: string }[] {
  const gone = new Map(writers.gone().map(({ id, firstOpen }) => [id, firstOpen]))
  if (gone.size === 0) return []
  const open = db
    .prepare(
      `SELECT tenant, call, json_extract(${recordText}, '$.writer') AS writer FROM records AS begun ` +
        "WHERE position >= ? AND kind = 'begin' AND NOT EXISTS (SELECT 1 FROM records AS ended " +
        "WHERE ended.call = begun.call AND ended.tenant = begun.tenant AND ended.kind = 'end') ORDER BY position",
    )
    .all(Math.min(...gone.values()))
    .map((row) => ({
      tenant: String(row['tenant']),
      call: String(row['call']),
      writer: String(row['writer']),
    }))
    // A writer that was never here: its begin was imported, and its end may follow.
    .filter(({ writer }) => gone.has(writer))
  const leaving = new Set(open.map(({ writer }) => writer))
  if (mayForget) writers.forget([...gone.keys()].filter((id) => !leaving.has(id)))
  return open.map(({ tenant, call }) => ({ tenant, call }))
}
