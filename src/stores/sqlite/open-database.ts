import { accessSync, closeSync, constants, mkdirSync, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { SetupError } from '../../contract/base/errors.ts'
import { schemaVersion } from '../schema-version.ts'
import { applicationId } from './base/application-id.ts'
import { describeProblem } from './base/sqlite-error.ts'
import { packsOf } from './packs/packed.ts'

/**
 * Opens a store's file, made readable for its owner only if it is missing, and brings its tables to the newest version.
 * Throws `store_unusable` where the file cannot be used and `store_newer` where a newer Handrail wrote it.
 */
export async function openDatabase(path: string, busyTimeoutMs: number): Promise<DatabaseSync> {
  let db: DatabaseSync | undefined
  try {
    prepareFile(path)
    db = new DatabaseSync(path, { timeout: busyTimeoutMs })
    // What is moved from a page leaves no copy there, which a prune would not find later.
    db.exec('PRAGMA secure_delete = FAST')
    await prepareTables(db, path)
    // A commit is on the disk when the log is synced, and that is done behind it.
    db.exec('PRAGMA synchronous = NORMAL')
    packsOf(db)
    return db
  } catch (error) {
    db?.close()
    if (error instanceof SetupError) throw error
    throw new SetupError(
      'store_unusable',
      `The store "${path}" cannot be used: ${describeProblem(error)}.`,
      [],
    )
  }
}

function prepareFile(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  try {
    closeSync(openSync(path, 'wx', 0o600))
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error) || error.code !== 'EEXIST') throw error
    // An existing file is not opened here: closing it would drop the locks of another connection of this process.
    if (!statSync(path).isFile())
      throw new Error('it is not a file; choose the path of a file', { cause: error })
    accessSync(path, constants.R_OK | constants.W_OK)
  }
}

async function prepareTables(db: DatabaseSync, path: string): Promise<void> {
  const { version, mark, tables } = readState(db)
  const foreign = mark !== applicationId && (mark !== 0 || version !== 0 || tables !== 0)
  if (foreign) throw new Error('it is the database of another program; choose another path')
  if (version > schemaVersion)
    throw new SetupError(
      'store_newer',
      `The store "${path}" was written by a newer Handrail (version ${version} of the tables, this program knows ` +
        `${schemaVersion}). Update Handrail, or choose another store. Nothing was changed.`,
    )
  if (version === schemaVersion) return
  const { migrate } = await import('./migrate.ts')
  // Records of about 1 KB leave a tenth of a 4 KB page empty.
  db.exec('PRAGMA page_size = 8192')
  db.exec('PRAGMA journal_mode = WAL')
  migrate(db, path)
}

/** In one statement, so that another process that makes the tables right now is seen as done or not begun. */
function readState(db: DatabaseSync): { version: number; mark: number; tables: number } {
  const row = db
    .prepare(
      'SELECT (SELECT count(*) FROM sqlite_schema) AS tables, user_version AS version, application_id AS mark ' +
        'FROM pragma_user_version, pragma_application_id',
    )
    .get()
  return { version: Number(row?.['version']), mark: Number(row?.['mark']), tables: Number(row?.['tables']) }
}
