import type { DatabaseSync } from 'node:sqlite'
import { DummyDriver, Kysely, sql, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely'
import { SetupError } from '../../contract/base/errors.ts'
import { keysNamedSince, sealedSince } from '../schema-version.ts'
import { migrations, type ColumnTypes } from '../schema.ts'
import { applicationId } from './base/application-id.ts'
import { renameKeys } from './rename-keys.ts'
import { moveRows, sealStore } from './seals/seal-store.ts'
import { readSecret } from './seals/secret.ts'
import { createSealer } from './seals/sealer.ts'
import { draftStoreKey, readStoreKey, storeKeyPath, type DraftedKey } from './seals/store-key.ts'

/** Compiles queries; never runs one. */
const builder = new Kysely<unknown>({
  dialect: {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  },
})

const types: ColumnTypes = {
  counter: 'integer',
  bytes: 'blob',
  member: (column, name) => sql`json_extract(${sql.ref(column)}, ${sql.lit(`$.${name}`)})`,
}

/** The statements that bring tables of this version to the newest one. */
export function migrationStatements(from: number): string[] {
  return migrations
    .slice(from)
    .flatMap((migration) => migration(builder.schema, types))
    .map((query) => query.compile().sql)
}

/** Brings the tables of the database at this path to the newest version in one transaction. Does nothing if another process was faster. */
export function migrate(db: DatabaseSync, path: string): void {
  db.exec('BEGIN IMMEDIATE')
  let key: DraftedKey | undefined
  try {
    const from = Number(db.prepare('PRAGMA user_version').get()?.['user_version'])
    for (const statement of migrationStatements(from)) db.exec(statement)
    // Made now, so that the seals are over it.
    readSecret(db)
    if (from < sealedSince) {
      key = keyFor(path, from)
      moveRows(db)
      if (from > 0 && from < keysNamedSince) renameKeys(db)
      sealStore(db, createSealer(key.key), 1)
    }
    db.exec(`PRAGMA application_id = ${applicationId}`)
    db.exec(`PRAGMA user_version = ${Math.max(from, migrations.length)}`)
    db.exec('COMMIT')
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK')
    throw error
  }
  key?.keep()
}

/** A key that is there is of this store only if the store is a new one. */
function keyFor(path: string, from: number): DraftedKey {
  const found = readStoreKey(path)
  if ('key' in found && from === 0) return { key: found.key, keep() {} }
  if ('problem' in found && found.isMissing) return draftStoreKey(path)
  const file = storeKeyPath(path)
  const why =
    'problem' in found
      ? found.problem
      : `it is older than its key "${file}", so it was set back or replaced; put the newer one back, or, to go on with this one, remove the key`
  throw new SetupError('store_unusable', `The store "${path}" cannot be used: ${why}.`)
}
