import { copyFileSync } from 'node:fs'
import { hash } from 'node:crypto'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import fc from 'fast-check'
import { createRuntime } from 'handrail'
import { openKeyFiles, verifyEvidence, type ChainIssue } from 'handrail/evidence'
import { expect, test } from 'vitest'
import { makeTool } from '../support/make-tool.ts'
import { makeFolder } from '../support/project.ts'
import { rounds } from '../support/rounds.ts'

interface Place {
  folder: string
  store: string
  keys: ReturnType<typeof openKeyFiles>
}

/** A store in which two tenants made calls in several processes, one after the other. */
async function makeStore(): Promise<Place> {
  const folder = makeFolder()
  const store = join(folder, 'store.db')
  const signing = { dir: join(folder, 'keys') }
  for (let round = 0; round < 4; round++) {
    const options = { project: folder, tools: [makeTool('say.hello')], store: { path: store }, signing }
    const runtime = await createRuntime(options)
    for (const tenant of ['acme', 'local']) {
      const session = runtime.session({ tenant })
      for (let call = 0; call < 4; call++) await session.call('say.hello', {})
      await session.call('no.such')
    }
    await runtime.close()
  }
  return { folder, store, keys: openKeyFiles(signing.dir) }
}

/** What is done to the record at `at` of one tenant, and what verification must find. */
interface Tampering {
  do: (db: DatabaseSync, target: { tenant: string; at: number; other: number; last: number }) => void
  finds: readonly ChainIssue['problem'][]
  /** The first record that is affected. */
  first?: (target: { at: number; other: number }) => number
}

const set =
  (column: string, value: string) =>
  (db: DatabaseSync, { tenant, at }: { tenant: string; at: number }) => {
    db.prepare(`UPDATE records SET ${column} = ${value} WHERE tenant = ? AND sequence = ?`).run(tenant, at)
  }

function remove(db: DatabaseSync, tenant: string, at: number): void {
  db.prepare('DELETE FROM records WHERE tenant = ? AND sequence = ?').run(tenant, at)
}

/** Moves the records from `from` on by `by` places. */
function shift(db: DatabaseSync, tenant: string, { from, by }: { from: number; by: number }): void {
  const turn = 'UPDATE records SET sequence = -(sequence + ?) WHERE tenant = ? AND sequence >= ?'
  db.prepare(turn).run(by, tenant, from)
  db.prepare('UPDATE records SET sequence = -sequence WHERE tenant = ? AND sequence < 0').run(tenant)
}

/** Changes the text of a record, and the hashes from there to the end so that they fit, the head too. */
function rewrite(db: DatabaseSync, { tenant, at }: { tenant: string; at: number }): void {
  const rows = db.prepare('SELECT * FROM records WHERE tenant = ? ORDER BY sequence').all(tenant)
  let last = ''
  for (const row of rows) {
    const changed = Number(row['sequence']) === at
    const text = changed ? String(row['text']).replace(/"at":\d/, '"at":9') : String(row['text'])
    last = hash('sha256', `${last}\n${text}`, 'hex')
    const values = [text, Buffer.from(last, 'hex'), Number(row['position'])]
    db.prepare('UPDATE records SET text = ?, hash = ? WHERE position = ?').run(...values)
  }
  db.prepare('UPDATE heads SET hash = ? WHERE tenant = ?').run(Buffer.from(last, 'hex'), tenant)
}

const tamperings: { readonly [name: string]: Tampering } = {
  'a changed text': { do: set('text', `replace(text, '"tenant":', '"tenanT":')`), finds: ['changed'] },
  'a text with one more space': { do: set('text', `text || ' '`), finds: ['changed'] },
  'a changed time': { do: set('text', `replace(text, '"at":1', '"at":2')`), finds: ['changed'] },
  'a changed hash': { do: set('hash', 'randomblob(32)'), finds: ['changed', 'reordered'] },
  'a changed body': { do: set('body', `coalesce(body, '') || ' '`), finds: ['body_changed'] },
  'another tenant': { do: set('tenant', `'zoo'`), finds: ['missing', 'truncated'] },
  'another sequence': { do: set('sequence', '9999'), finds: ['missing'] },
  'a removed record': {
    do: (db, { tenant, at }) => remove(db, tenant, at),
    finds: ['missing', 'truncated'],
  },
  'a removed record whose gap was closed': {
    do(db, { tenant, at }) {
      remove(db, tenant, at)
      shift(db, tenant, { from: at, by: -1 })
    },
    finds: ['changed', 'truncated'],
  },
  'two swapped records': {
    do(db, { tenant, at, other }) {
      const move = db.prepare('UPDATE records SET sequence = ? WHERE tenant = ? AND sequence = ?')
      move.run(-1, tenant, at)
      move.run(at, tenant, other)
      move.run(other, tenant, -1)
    },
    finds: ['reordered'],
    first: ({ at, other }) => Math.min(at, other),
  },
  'a copy of a record at another place': {
    do(db, { tenant, at, other }) {
      const row = db
        .prepare('SELECT text, hash, body FROM records WHERE tenant = ? AND sequence = ?')
        .get(tenant, at)
      shift(db, tenant, { from: other, by: 1 })
      // It keeps a call from ending twice.
      db.exec('DROP INDEX records_end')
      db.prepare('INSERT INTO records (tenant, sequence, text, hash, body) VALUES (?, ?, ?, ?, ?)').run(
        tenant,
        other,
        String(row?.['text']),
        row?.['hash'] as Uint8Array,
        row?.['body'] as string | null,
      )
    },
    finds: ['changed', 'reordered'],
    first: ({ at, other }) => (other === at ? other + 1 : other),
  },
  'a cut-off end': {
    do(db, { tenant, at }) {
      db.prepare('DELETE FROM records WHERE tenant = ? AND sequence >= ?').run(tenant, at)
    },
    finds: ['truncated'],
  },
}

const anyTenant = fc.constantFrom('acme', 'local')
const anyPlace = fc.record({ tenant: anyTenant, at: fc.nat(), other: fc.nat() })

let copies = 0

/** A copy of the store in which this was done, and what verification says of it. */
async function findIssue(place: Place, change: (db: DatabaseSync) => void): Promise<ChainIssue | undefined> {
  const store = join(place.folder, `tampered-${copies++}.db`)
  copyFileSync(place.store, store)
  copyFileSync(`${place.store}.key`, `${store}.key`)
  const db = new DatabaseSync(store)
  db.exec('BEGIN')
  change(db)
  db.exec('COMMIT')
  db.close()
  const runtime = await createRuntime({ project: place.folder, store: { path: store } })
  try {
    return verifyEvidence(runtime.store, { keys: place.keys }).issue
  } finally {
    await runtime.close()
  }
}

function lastOf(place: Place, tenant: string): number {
  const db = new DatabaseSync(place.store)
  const row = db.prepare('SELECT max(sequence) AS last FROM records WHERE tenant = ?').get(tenant)
  db.close()
  return Number(row?.['last'])
}

test('the store that is tampered with below is sound (EVID-7)', async () => {
  const place = await makeStore()
  expect(lastOf(place, 'acme')).toBe(44)
  expect(await findIssue(place, () => {})).toBeUndefined()
})

for (const [name, { do: change, finds, first = (target: { at: number }) => target.at }] of Object.entries(
  tamperings,
))
  test(`finds ${name}, wherever it is, and names the first record that is affected (EVID-7)`, async () => {
    const place = await makeStore()
    const check = async ({ tenant, at, other }: { tenant: string; at: number; other: number }) => {
      const last = lastOf(place, tenant)
      const target = { tenant, last, at: (at % last) + 1, other: (other % last) + 1 }
      fc.pre(name !== 'two swapped records' || target.at !== target.other)
      const issue = await findIssue(place, (db) => change(db, target))
      expect(issue).toMatchObject({ tenant, sequence: first(target) })
      expect(finds).toContain(issue?.problem)
    }
    await fc.assert(fc.asyncProperty(anyPlace, check), { numRuns: rounds({ usual: 4, long: 20 }) })
  })

test('finds a record that was changed together with every hash after it, by the next signature (EVID-7)', async () => {
  const place = await makeStore()
  const check = async ({ tenant, at }: { tenant: string; at: number }) => {
    const last = lastOf(place, tenant)
    const target = { tenant, at: (at % last) + 1 }
    const issue = await findIssue(place, (db) => rewrite(db, target))
    expect(issue?.tenant).toBe(tenant)
    expect(issue?.sequence).toBeGreaterThanOrEqual(target.at)
    expect(['bad_signature', 'changed']).toContain(issue?.problem)
  }
  await fc.assert(fc.asyncProperty(anyPlace, check), { numRuns: rounds({ usual: 4, long: 50 }) })
})
