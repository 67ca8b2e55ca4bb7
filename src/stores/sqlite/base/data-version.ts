import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { schemaVersion } from '../../schema-version.ts'

/** A newer Handrail brought the tables of the file to a version that this one does not know, while it was open here. */
export class Upgraded extends Error {
  constructor(version: number) {
    super(
      `a newer Handrail upgraded it while it was open here (version ${version} of the tables, this program knows ${schemaVersion})`,
    )
  }
}

interface Watched {
  data: StatementSync
  tables: StatementSync
  checked: unknown
}

const watched = new WeakMap<DatabaseSync, Watched>()

/**
 * A number that is another one as soon as another connection wrote anything to the file. Throws `Upgraded` if that has tables of a newer Handrail: what
 * was read may not be what it looks like. In a transaction that writes, none can come until it ends.
 */
export function dataVersion(db: DatabaseSync): unknown {
  let of = watched.get(db)
  if (of === undefined) {
    const [data, tables] = [db.prepare('PRAGMA data_version'), db.prepare('PRAGMA user_version')]
    watched.set(db, (of = { data, tables, checked: undefined }))
  }
  const now = of.data.get()?.['data_version']
  if (now === of.checked) return now
  const version = Number(of.tables.get()?.['user_version'])
  if (version > schemaVersion) throw new Upgraded(version)
  of.checked = now
  return now
}
