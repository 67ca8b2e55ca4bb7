import { spawnSync } from 'node:child_process'
import { chmod, chown, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { SetupError } from '../../contract/base/errors.ts'
import type { RecordQuery } from '../../contract/store.ts'
import { chainLink } from '../../kit/json/digest.ts'
import { verifyEvidence } from '../../evidence/chain/verify-evidence.ts'
import { keyName, shortName } from '../../kit/key-name.ts'
import { sampleBegin, sampleEnd, sampleInput } from '../../testing/store-checks/sample-records.ts'
import { migrations } from '../schema.ts'
import { schemaVersion } from '../schema-version.ts'
import { applicationId } from './base/application-id.ts'
import { migrationStatements } from './migrate.ts'
import { openDatabase } from './open-database.ts'
import { openSqliteStore } from './open-sqlite-store.ts'

async function tempDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'handrail-open-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  return directory
}

async function refusal(path: string): Promise<{ code: string; message: string }> {
  try {
    const store = await openSqliteStore({ path })
    await store.close()
  } catch (error) {
    if (error instanceof SetupError) return { code: error.code, message: error.message }
    throw error
  }
  throw new Error(`"${path}" was opened`)
}

test('makes the file and its directories for their owner only', async () => {
  const path = join(await tempDirectory(), 'deep', 'store.db')
  const db = await openDatabase(path, 5000)
  expect(db.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'wal' })
  expect(db.prepare('PRAGMA synchronous').get()).toEqual({ synchronous: 1 })
  expect(db.prepare('PRAGMA user_version').get()).toEqual({ user_version: schemaVersion })
  expect((await stat(path)).mode & 0o777).toBe(0o600)
  expect((await stat(`${path}-wal`)).mode & 0o777).toBe(0o600)
  expect((await stat(join(path, '..'))).mode & 0o777).toBe(0o700)
  db.close()
})

test('has a step for every version of the tables, and never changes a released one', () => {
  expect(migrations).toHaveLength(schemaVersion)
  expect(migrationStatements(0)).toEqual([
    'create table "records" ("position" integer primary key, "tenant" text not null, "sequence" bigint not null, ' +
      '"kind" text not null, "session" text not null, "call" text not null, "text" text not null, ' +
      '"hash" blob not null, "body" text)',
    'create unique index "records_sequence" on "records" ("tenant", "sequence")',
    `create index "records_call" on "records" ("call") where "kind" <> 'end'`,
    `create unique index "records_end" on "records" ("call") where "kind" = 'end'`,
    'create table "heads" ("tenant" text not null primary key, "sequence" bigint not null, "hash" blob not null)',
    'create table "writers" ("id" text not null primary key, "pid" integer not null, "started" text not null, ' +
      '"first_open" bigint not null, "closed" integer not null)',
    'create table "keys" ("tenant" text not null, "tool" text not null, "key" text not null, ' +
      '"input_digest" text not null, "call" text not null, "writer" text not null, "expires_at" bigint not null, ' +
      'constraint "keys_primary" primary key ("tenant", "tool", "key"))',
    'drop index "records_call"',
    'drop index "records_end"',
    'alter table "records" drop column "kind"',
    'alter table "records" drop column "session"',
    'alter table "records" drop column "call"',
    `alter table "records" add column "kind" text generated always as (json_extract("text", '$.kind'))`,
    `alter table "records" add column "session" text generated always as (json_extract("text", '$.session'))`,
    `alter table "records" add column "call" text generated always as (json_extract("text", '$.call'))`,
    `create index "records_call" on "records" ("call") where "kind" <> 'end'`,
    `create unique index "records_end" on "records" ("call") where "kind" = 'end'`,
    'alter table "keys" add column "result" text',
    'create index "keys_expires_at" on "keys" ("expires_at")',
    'create table "facts" ("tenant" text not null, "kind" text not null, "id" text not null, "value" text not null, ' +
      'constraint "facts_primary" primary key ("kind", "tenant", "id"))',
    'create table "counters" ("name" text not null primary key, "value" bigint not null)',
    'create table "shares" ("account" text not null, "writer" text not null, "spent" bigint not null, ' +
      '"held" bigint not null, "held_until" bigint not null, "ends_at" bigint, ' +
      'constraint "shares_primary" primary key ("account", "writer"))',
    'create index "shares_ends_at" on "shares" ("ends_at")',
    'create table "secrets" ("name" text not null primary key, "value" blob not null)',
    'drop index "keys_expires_at"',
    'drop index "shares_ends_at"',
    'alter table "heads" rename to "unsealed_heads"',
    'alter table "facts" rename to "unsealed_facts"',
    'alter table "keys" rename to "unsealed_keys"',
    'alter table "shares" rename to "unsealed_shares"',
    'create table "heads" ("tenant" text not null primary key, "sequence" bigint not null, "hash" blob not null, ' +
      '"bodiless" bigint not null, "generation" bigint not null, "seal" text not null)',
    'create table "facts" ("tenant" text not null, "kind" text not null, "id" text not null, "seal" text not null, ' +
      '"value" text not null, constraint "facts_primary" primary key ("kind", "tenant", "id"))',
    'create table "keys" ("tenant" text not null, "tool" text not null, "key" text not null, ' +
      '"input_digest" text not null, "call" text not null, "writer" text not null, "expires_at" bigint not null, ' +
      '"seal" text not null, "result" text, constraint "keys_primary" primary key ("tenant", "tool", "key"))',
    'create index "keys_expires_at" on "keys" ("expires_at")',
    'create table "shares" ("account" text not null, "writer" text not null, "spent" bigint not null, ' +
      '"held" bigint not null, "held_until" bigint not null, "ends_at" bigint, "seal" text not null, ' +
      'constraint "shares_primary" primary key ("account", "writer"))',
    'create index "shares_ends_at" on "shares" ("ends_at")',
    'create table "sums" ("name" text not null primary key, "generation" bigint not null, "facts" blob not null, ' +
      '"uses" blob not null, "seal" text not null)',
    'create table "documents" ("tenant" text not null, "kind" text not null, "within" text not null, ' +
      '"id" text not null, "seal" text not null, "value" text not null, ' +
      'constraint "documents_primary" primary key ("kind", "tenant", "within", "id"))',
    'create table "fact_changes" ("version" integer primary key, "kind" text not null, "tenant" text not null, ' +
      '"id" text not null, "seal" text not null)',
    'create index "records_session" on "records" ("tenant", "session", "sequence") ' +
      `where ("session" < 'ses_' or "session" >= 'ses\`')`,
    'create table "summaries" ("tenant" text not null, "number" bigint not null, "bodies" bigint not null, ' +
      '"seal" text not null, "value" blob not null, constraint "summaries_primary" primary key ("tenant", "number"))',
    'alter table "records" add column "packed" integer',
    'create table "packs" ("tenant" text not null, "number" bigint not null, "hashes" blob not null, ' +
      '"value" blob not null, constraint "packs_primary" primary key ("tenant", "number"))',
    'create table "outlines" ("tenant" text not null, "number" bigint not null, "seal" text not null, ' +
      '"value" blob not null, constraint "outlines_primary" primary key ("tenant", "number"))',
  ])
})

test('brings a store of an older Handrail to the newest tables and keeps what is in it', async () => {
  const path = join(await tempDirectory(), 'store.db')
  const db = new DatabaseSync(path)
  // The first step alone.
  for (const statement of migrationStatements(0).slice(0, 7)) db.exec(statement)
  db.exec(`PRAGMA journal_mode = WAL; PRAGMA application_id = ${applicationId}; PRAGMA user_version = 1`)
  const insert = db.prepare(
    'INSERT INTO records (tenant, sequence, kind, session, call, text, hash, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
  )
  const entries = [sampleBegin('a'), sampleEnd('a'), sampleBegin('b', { session: 'session_2' })]
  let last = ''
  for (const [index, { record, body }] of entries.entries()) {
    const text = JSON.stringify(record)
    const hash = Buffer.from((last = chainLink(last, text)), 'hex')
    insert.run(record.tenant, index + 1, record.kind, record.session, record.call, text, hash, body)
  }
  db.prepare('INSERT INTO heads VALUES (?, ?, ?)').run('local', 3, Buffer.from(last, 'hex'))
  db.exec("INSERT INTO keys VALUES ('local', 't', 'k', 'i', 'a', 'writer_1', 1000)")
  db.exec("INSERT INTO keys VALUES ('local', 't', 'never began', 'i', 'z', 'writer_1', 1000)")
  db.close()

  const store = await openSqliteStore({ path })
  expect(store.readOnly).toBeUndefined()
  const found = (query: RecordQuery): unknown[] =>
    [...store.records(query)].map(({ text, body }) => [text, body])
  const written = entries.map(({ record, body }) => [JSON.stringify(record), body])
  expect(found({})).toEqual(written)
  expect(found({ call: 'a' })).toEqual(written.slice(0, 2))
  expect(found({ session: 'session_2' })).toEqual(written.slice(2))
  expect(found({ kind: 'end' })).toEqual(written.slice(1, 2))
  const held = (key: string, input: string) => {
    const names = {
      key: keyName('user', key, (text) => store.digest(text)),
      inputDigest: shortName(store.digest(input)),
    }
    return store.findKey({ tenant: 'local', tool: 't', ...names, call: 'c', at: 1, windowMs: 1 })?.state
  }
  expect(held('k', sampleInput)).toBe('ended')
  expect(held('k', '{"path":"other.md"}')).toBe('conflict')
  expect(held('never began', sampleInput)).toBeUndefined()
  await expect(store.append([sampleEnd('a')])).rejects.toMatchObject({ reason: 'store_failed' })
  await store.append([sampleEnd('b')])
  expect(store.head('local')?.sequence).toBe(4)
  await store.close()
})

/** Takes a store back to before there were packs. */
const withoutPacks = 'DROP TABLE outlines; DROP TABLE packs; ALTER TABLE records DROP COLUMN packed'

test('adds documents to a store that has none yet', async () => {
  const path = join(await tempDirectory(), 'store.db')
  const older = await openSqliteStore({ path })
  const fact = { tenant: 'local', kind: 'consent' as const, id: 'c', value: 1 }
  await older.append([sampleBegin('a'), sampleEnd('a')], { facts: [fact] })
  await older.close()
  const db = new DatabaseSync(path)
  db.exec(
    `DROP TABLE documents; DROP TABLE fact_changes; DROP INDEX records_session; DROP TABLE summaries; ${withoutPacks}; PRAGMA user_version = 4`,
  )
  db.close()

  const store = await openSqliteStore({ path })
  expect(store.readOnly).toBeUndefined()
  expect(store.facts('consent')).toEqual([fact])
  const document = { tenant: 'local', kind: 'task' as const, group: '', id: 't', value: {} }
  await store.append([sampleBegin('b'), sampleEnd('b')], { documents: [document] })
  expect(store.documents({ tenant: 'local', kind: 'task' })).toEqual([document])
  expect(store.examine()).toEqual([])
  await store.close()
})

test('brings a store of the version before to the newest tables, where its calls are found and its chain holds', async () => {
  const path = join(await tempDirectory(), 'store.db')
  const older = await openSqliteStore({ path })
  await older.append([sampleBegin('a'), sampleEnd('a'), sampleBegin('b', { actor: 'ann' })])
  await older.append([sampleEnd('b', { outcome: 'denied', at: 1_763_667_600_500 })])
  const head = older.head('local')
  await older.close()
  const db = new DatabaseSync(path)
  db.exec(`DROP TABLE summaries; ${withoutPacks}; PRAGMA user_version = 7`)
  db.close()

  const store = await openSqliteStore({ path })
  expect([store.readOnly, store.head('local')]).toEqual([undefined, head])
  const found = (query: RecordQuery): unknown[] => [...store.records(query)].map(({ call }) => call)
  expect(found({ tenant: 'local', kind: 'begin', actor: 'ann' })).toEqual(['b'])
  expect(found({ tenant: 'local', kind: 'end', outcome: 'denied' })).toEqual(['b'])
  expect(found({ tenant: 'local', kind: 'begin', tool: 'code.*' })).toEqual(['a', 'b'])
  expect(verifyEvidence(store)).toMatchObject({ ok: true, calls: 2 })
  await store.close()
})

test('opens an existing store without loading what makes tables', async () => {
  const path = join(await tempDirectory(), 'store.db')
  await (await openSqliteStore({ path })).close()
  const program = `
    import { registerHooks } from 'node:module'
    registerHooks({ resolve(specifier, context, next) {
      if (specifier === 'kysely') throw new Error('kysely was loaded')
      return next(specifier, context)
    } })
    const { openSqliteStore } = await import(${JSON.stringify(new URL('open-sqlite-store.ts', import.meta.url).href)})
    const store = await openSqliteStore({ path: ${JSON.stringify(path)} })
    await store.close()`
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    encoding: 'utf8',
  })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
})

test('refuses a store of a newer Handrail and leaves it as it is (store_newer)', async () => {
  const path = join(await tempDirectory(), 'store.db')
  await (await openSqliteStore({ path })).close()
  const db = new DatabaseSync(path)
  db.exec(`PRAGMA user_version = ${schemaVersion + 1}`)
  db.close()
  const before = await readFile(path)
  const { code, message } = await refusal(path)
  expect(code).toBe('store_newer')
  expect(message).toContain('Update Handrail')
  expect((await readFile(path)).equals(before)).toBe(true)
})

test('refuses a file that is not a database and leaves it as it is (store_unusable)', async () => {
  const path = join(await tempDirectory(), 'notes.txt')
  await writeFile(path, 'my notes\n'.repeat(100))
  const { code, message } = await refusal(path)
  expect(code).toBe('store_unusable')
  expect(message).toContain('not a SQLite database')
  expect(await readFile(path, 'utf8')).toBe('my notes\n'.repeat(100))
})

test('refuses the database of another program and leaves it as it is (store_unusable)', async () => {
  const path = join(await tempDirectory(), 'browser.db')
  const db = new DatabaseSync(path)
  db.exec('CREATE TABLE cookies (name text)')
  db.close()
  const before = await readFile(path)
  const { code, message } = await refusal(path)
  expect(code).toBe('store_unusable')
  expect(message).toContain('another program')
  expect((await readFile(path)).equals(before)).toBe(true)
})

test('refuses a directory, and a path below a file (store_unusable)', async () => {
  const directory = await tempDirectory()
  const onDirectory = await refusal(directory)
  expect(onDirectory.code).toBe('store_unusable')
  expect(onDirectory.message).toContain('not a file')
  await writeFile(join(directory, 'file'), '')
  expect((await refusal(join(directory, 'file', 'store.db'))).code).toBe('store_unusable')
})

test.skipIf(process.platform === 'win32')('says so where it may not write (store_unusable)', async () => {
  const directory = await tempDirectory()
  const path = join(directory, 'store.db')
  await (await openSqliteStore({ path })).close()
  await chmod(path, 0o444)
  await mkdir(join(directory, 'closed'), { mode: 0o555 })
  // Root may write everywhere, so another user opens the store.
  const somebody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : undefined
  if (somebody !== undefined) await chown(directory, somebody.uid, somebody.gid)
  const program = `
    const { openSqliteStore } = await import(${JSON.stringify(new URL('open-sqlite-store.ts', import.meta.url).href)})
    for (const path of ${JSON.stringify([path, join(directory, 'closed', 'store.db')])})
      await openSqliteStore({ path }).then(() => console.log('opened'), (error) => console.log(error.code, error.message))`
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    encoding: 'utf8',
    ...somebody,
  })
  const said = stdout.trim().split('\n')
  expect(said).toHaveLength(2)
  for (const line of said) expect(line).toMatch(/^store_unusable .*permission/)
})
