import type { DatabaseSync } from 'node:sqlite'
import { DummyDriver, Kysely, sql, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely'
import { migrations, type ColumnTypes } from '../schema.ts'
import { applicationId } from './application-id.ts'

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

/** Brings the tables to the newest version in one transaction. Does nothing where another process was faster. */
export function migrate(db: DatabaseSync): void {
  db.exec('BEGIN IMMEDIATE')
  try {
    const from = Number(db.prepare('PRAGMA user_version').get()?.['user_version'])
    for (const statement of migrationStatements(from)) db.exec(statement)
    db.exec(`PRAGMA application_id = ${applicationId}`)
    db.exec(`PRAGMA user_version = ${Math.max(from, migrations.length)}`)
    db.exec('COMMIT')
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK')
    throw error
  }
}
