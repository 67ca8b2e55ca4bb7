import { copyFileSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { verifyEvidence } from '../../../evidence/chain/verify-evidence.ts'
import { chainLink } from '../../../kit/json/digest.ts'
import { sampleBegin, sampleEnd } from '../../../testing/store-checks/sample-records.ts'
import { applicationId } from '../base/application-id.ts'
import { migrationStatements } from '../migrate.ts'
import { openSqliteStore } from '../open-sqlite-store.ts'

function makePath(): string {
  const directory = mkdtempSync(join(tmpdir(), 'handrail-key-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  return join(directory, 'store.db')
}

/** A store as version 0.1 made it: two calls, a consent, a key, units that were spent. */
function makeOlder(path: string): void {
  const db = new DatabaseSync(path)
  for (const statement of migrationStatements(0).slice(
    0,
    migrationStatements(0).length - migrationStatements(2).length,
  ))
    db.exec(statement)
  db.exec(`PRAGMA journal_mode = WAL; PRAGMA application_id = ${applicationId}; PRAGMA user_version = 2`)
  const insert = db.prepare(
    "INSERT INTO records (tenant, sequence, text, hash, body) VALUES ('local', ?, ?, ?, ?)",
  )
  let last = ''
  const entries = [sampleBegin('a'), sampleEnd('a'), sampleBegin('b'), sampleEnd('b')]
  for (const [index, { record, body }] of entries.entries()) {
    const text = JSON.stringify(record)
    const hash = Buffer.from((last = chainLink(last, text)), 'hex')
    // One body was pruned.
    insert.run(index + 1, text, hash, index === 0 ? null : body)
  }
  db.prepare('INSERT INTO heads VALUES (?, ?, ?)').run('local', 4, Buffer.from(last, 'hex'))
  db.exec(
    `INSERT INTO facts VALUES ('local', 'consent', 'c', '{"a":1}'); INSERT INTO shares VALUES ('x', '', 7, 0, 0, NULL)`,
  )
  db.close()
}

async function verify(path: string) {
  const messages: string[] = []
  const store = await openSqliteStore({ path, onError: (message) => messages.push(message) })
  const found = verifyEvidence(store)
  const about = { facts: store.facts('consent'), spent: store.balance('x', 1).spent }
  await store.close()
  return { ...found, ...about, messages }
}

test('a store of version 0.1 keeps what is in it, and is sealed (EVID-7)', async () => {
  const path = makePath()
  makeOlder(path)
  const found = { ok: true, records: 4, calls: 2, messages: [], spent: 7 }
  expect(await verify(path)).toMatchObject({ ...found, facts: [{ id: 'c', value: { a: 1 } }] })
  expect(statSync(`${path}.key`).mode & 0o777).toBe(0o600)
  expect(existsSync(`${path}.key.new`)).toBe(false)
  expect(await verify(path)).toMatchObject(found)
})

test('a program of version 0.1 that still runs cannot write into a sealed store (EVID-7)', async () => {
  const path = makePath()
  makeOlder(path)
  const older = new DatabaseSync(path)
  const head = older.prepare(
    'INSERT INTO heads (tenant, sequence, hash) VALUES (?, ?, ?) ' +
      'ON CONFLICT (tenant) DO UPDATE SET sequence = excluded.sequence, hash = excluded.hash',
  )
  const key = older.prepare(
    'INSERT INTO keys (tenant, tool, key, input_digest, call, writer, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?)',
  )
  await verify(path)
  expect(() => head.run('local', 5, Buffer.alloc(32))).toThrow('NOT NULL')
  expect(() => key.run('local', 't', 'k', 'i', 'a', 'w', 1)).toThrow('NOT NULL')
  older.close()
  expect((await verify(path)).ok).toBe(true)
})

test('a store of version 0.1 beside a key was set back, and is not taken (EVID-7)', async () => {
  const path = makePath()
  makeOlder(path)
  copyFileSync(path, `${path}.old`)
  await verify(path)
  copyFileSync(`${path}.old`, path)
  await expect(openSqliteStore({ path })).rejects.toMatchObject({
    code: 'store_unusable',
    message: expect.stringContaining(
      `it is older than its key "${path}.key", so it was set back or replaced`,
    ),
  })
})

test('a new store beside a key has that key', async () => {
  const path = makePath()
  await verify(path)
  const key = readFileSync(`${path}.key`, 'utf8')
  rmSync(path)
  expect((await verify(path)).ok).toBe(true)
  expect(readFileSync(`${path}.key`, 'utf8')).toBe(key)
})

test('a key whose process ended before it had its name is found, and no other (EVID-7)', async () => {
  const path = makePath()
  await verify(path)
  renameSync(`${path}.key`, `${path}.key.new`)
  expect(await verify(path)).toMatchObject({ ok: true, messages: [] })
  expect(existsSync(`${path}.key.new`)).toBe(false)
  const other = makePath()
  await verify(other)
  rmSync(`${path}.key`)
  copyFileSync(`${other}.key`, `${path}.key.new`)
  expect((await verify(path)).messages).toEqual([
    expect.stringContaining(`its key "${path}.key" is not there`),
  ])
})
