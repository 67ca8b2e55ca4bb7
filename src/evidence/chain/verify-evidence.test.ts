import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import type { Store } from '../../contract/store.ts'
import { chainLink, digest } from '../../kit/json/digest.ts'
import { createMemoryStore } from '../../stores/memory/create-memory-store.ts'
import { openSqliteStore } from '../../stores/sqlite/open-sqlite-store.ts'
import { sampleBegin, sampleEnd, sampleInput } from '../../testing/store-checks/sample-records.ts'
import { verifyEvidence } from './verify-evidence.ts'

/** A store with three calls (records 1 to 6), and a way to change the file behind its back. */
async function openStore(): Promise<{ store: Store; tamper: (change: (db: DatabaseSync) => void) => void }> {
  const directory = await mkdtemp(join(tmpdir(), 'handrail-verify-'))
  const path = join(directory, 'store.db')
  const store = await openSqliteStore({ path })
  onTestFinished(async () => {
    await store.close()
    await rm(directory, { recursive: true })
  })
  const { writer } = store
  for (const call of ['a', 'b', 'c']) {
    await store.append([sampleBegin(call, { writer })])
    await store.append([sampleEnd(call)])
  }
  const tamper = (change: (db: DatabaseSync) => void): void => {
    const db = new DatabaseSync(path)
    change(db)
    db.close()
  }
  return { store, tamper }
}

const sound = { ok: true, records: 6, calls: 3 }

test('finds nothing wrong with what was written (EVID-7)', async () => {
  const { store } = await openStore()
  await store.append([sampleBegin('d', { tenant: 'other', session: '"quoted" \\ \u0001' })])
  expect(verifyEvidence(store, { tenant: 'local' })).toEqual(sound)
  expect(verifyEvidence(store)).toEqual({ ok: true, records: 7, calls: 4 })
  expect(verifyEvidence(store, { tenant: 'nobody' })).toEqual({ ok: true, records: 0, calls: 0 })
})

test('does not mind a pruned body, and tells of results that are gone', async () => {
  const { store } = await openStore()
  expect(store.prune({ at: 1_763_667_600_500 })).toBe(6)
  expect(verifyEvidence(store)).toEqual({ ...sound, withoutResult: 3 })
})

const swap = (one: number, other: number): string =>
  `UPDATE records SET sequence = -1 WHERE sequence = ${one};` +
  `UPDATE records SET sequence = ${one} WHERE sequence = ${other};` +
  `UPDATE records SET sequence = ${other} WHERE sequence = -1`

const attacks: readonly [string, string, { problem: string; sequence: number; call?: string }][] = [
  [
    'a changed text',
    `UPDATE records SET text = replace(text, '"actor":"user"', '"actor":"eve"') WHERE sequence = 3`,
    { problem: 'changed', sequence: 3, call: 'b' },
  ],
  [
    'a changed last text',
    `UPDATE records SET text = text || ' ' WHERE sequence = 6`,
    { problem: 'changed', sequence: 6 },
  ],
  [
    'a changed hash',
    `UPDATE records SET hash = zeroblob(32) WHERE sequence = 4`,
    { problem: 'changed', sequence: 4 },
  ],
  ['a removed record', `DELETE FROM records WHERE sequence = 4`, { problem: 'missing', sequence: 4 }],
  ['a removed first record', `DELETE FROM records WHERE sequence = 1`, { problem: 'missing', sequence: 1 }],
  [
    'a removed record whose gap was closed',
    `DELETE FROM records WHERE sequence = 4; UPDATE records SET sequence = 4 WHERE sequence = 5;
     UPDATE records SET sequence = 5 WHERE sequence = 6`,
    { problem: 'changed', sequence: 4 },
  ],
  ['two swapped records', swap(3, 5), { problem: 'reordered', sequence: 3 }],
  ['two swapped neighbours', swap(3, 4), { problem: 'reordered', sequence: 3 }],
  [
    'an inserted record',
    `UPDATE records SET sequence = 7 WHERE sequence = 6; UPDATE records SET sequence = 6 WHERE sequence = 5;
     INSERT INTO records (tenant, sequence, text, hash, body)
     SELECT tenant, 5, '{"kind":"note"}', hash, NULL FROM records WHERE sequence = 4`,
    { problem: 'reordered', sequence: 5 },
  ],
  ['a cut-off end', `DELETE FROM records WHERE sequence = 6`, { problem: 'truncated', sequence: 6 }],
  ['a chain that is gone', `DELETE FROM records`, { problem: 'truncated', sequence: 1 }],
  ['a removed head', `DELETE FROM heads`, { problem: 'truncated', sequence: 1 }],
  [
    'a head that was set back',
    `UPDATE heads SET (sequence, hash) = (SELECT sequence, hash FROM records WHERE sequence = 5)`,
    { problem: 'truncated', sequence: 6 },
  ],
  ['a changed tenant of all', `UPDATE records SET tenant = 'other'`, { problem: 'truncated', sequence: 1 }],
  [
    'a changed input',
    `UPDATE records SET body = '{"path":"other.md"}' WHERE sequence = 3`,
    { problem: 'body_changed', sequence: 3, call: 'b' },
  ],
  [
    'a changed result',
    `UPDATE records SET body = '{}' WHERE sequence = 6`,
    { problem: 'body_changed', sequence: 6, call: 'c' },
  ],
]

for (const [what, sql, issue] of attacks)
  test(`finds ${what} (EVID-7)`, async () => {
    const { store, tamper } = await openStore()
    tamper((db) => db.exec(sql))
    expect(verifyEvidence(store)).toMatchObject({ ok: false, issue })
  })

/** An attacker who knows how the chain is made writes a record of his own at its end. */
function forge(db: DatabaseSync, text: string): void {
  const last = db.prepare('SELECT lower(hex(hash)) AS hash FROM records WHERE sequence = 6').get()
  const hash = Buffer.from(chainLink(String(last?.['hash']), text), 'hex')
  db.prepare('INSERT INTO records (tenant, sequence, text, hash, body) VALUES (?, 7, ?, ?, NULL)').run(
    'local',
    text,
    hash,
  )
}

test('finds a record that was added behind the end (EVID-7)', async () => {
  const { store, tamper } = await openStore()
  tamper((db) => forge(db, JSON.stringify(sampleBegin('x').record)))
  expect(verifyEvidence(store)).toMatchObject({ ok: false, issue: { problem: 'truncated', sequence: 7 } })
})

test('finds a last record that was changed together with its hash (EVID-7)', async () => {
  const { store, tamper } = await openStore()
  tamper((db) => {
    const text = JSON.stringify(sampleEnd('c', { outcome: 'failed' }).record)
    const hash = Buffer.from(chainLink([...store.records({ after: 4 })][0]?.hash ?? '', text), 'hex')
    db.prepare('UPDATE records SET text = ?, hash = ? WHERE sequence = 6').run(text, hash)
  })
  expect(verifyEvidence(store)).toMatchObject({
    ok: false,
    issue: { problem: 'changed', sequence: 6, call: 'c' },
  })
})

test('finds an end without a begin (EVID-1)', async () => {
  const { store, tamper } = await openStore()
  tamper((db) => {
    forge(db, JSON.stringify(sampleEnd('x').record))
    db.exec('UPDATE heads SET (sequence, hash) = (SELECT sequence, hash FROM records WHERE sequence = 7)')
  })
  const issue = { problem: 'end_without_begin', sequence: 7, call: 'x' }
  expect(verifyEvidence(store)).toMatchObject({ ok: false, issue })
})

test('finds a call that begins twice (EVID-1)', async () => {
  const { store } = await openStore()
  await store.append([sampleBegin('x'), sampleBegin('x'), sampleEnd('x')])
  const issue = { problem: 'second_begin', sequence: 8, call: 'x' }
  expect(verifyEvidence(store)).toMatchObject({ ok: false, issue })
})

test('finds a begin that a dead process left open, and none of a live one (EVID-1)', async () => {
  const { store, tamper } = await openStore()
  await store.append([sampleBegin('running', { writer: store.writer })])
  expect(verifyEvidence(store).ok).toBe(true)
  await store.append([sampleBegin('left', { writer: 'dead' })])
  tamper((db) =>
    db.exec(
      `INSERT INTO writers (id, pid, started, first_open, closed) VALUES ('dead', 1, 'long ago', 1, 0)`,
    ),
  )
  const issue = { problem: 'open_begin', sequence: 8, call: 'left' }
  expect(verifyEvidence(store)).toMatchObject({ ok: false, issue })
})

test('finds changed inputs, plans and results wherever their digests stand in a record (EVID-7)', async () => {
  const { store } = await openStore()
  const { writer } = store
  const operations = '[{"kind":"read","resource":"notes.md"}]'
  for (const [call, toolCallId, planned] of [
    ['d', 'short', true],
    ['e', 'a much longer one', true],
    ['f', 'short', false],
  ] as const) {
    const plan = planned ? { plan: digest(operations) } : {}
    const { record } = sampleBegin(call, { toolCallId, writer, ...plan })
    await store.append([{ record, body: planned ? `${sampleInput}\n${operations}` : sampleInput }])
    await store.append([sampleEnd(call, { tool: `tool.${toolCallId.length}` })])
  }
  expect(verifyEvidence(store)).toEqual({ ok: true, records: 12, calls: 6 })
  const changed: readonly [number, string][] = [
    [9, `{"path":"other.md"}\n${operations}`],
    [9, `${sampleInput}\n[]`],
    [9, sampleInput],
    [11, `${sampleInput}\n${operations}`],
    [12, '{"ok":false}'],
  ]
  for (const [sequence, body] of changed) {
    const changing: Store = {
      ...store,
      *records(query) {
        for (const record of store.records(query))
          yield record.sequence === sequence ? { ...record, body } : record
      },
    }
    expect(verifyEvidence(changing), body).toMatchObject({
      ok: false,
      issue: { problem: 'body_changed', sequence },
    })
  }
})

test.each(['session', 'call'] as const)(
  'finds that the store gives another %s than the text (EVID-7)',
  async (column) => {
    const { store } = await openStore()
    const lying: Store = {
      ...store,
      *records(query) {
        for (const record of store.records(query))
          yield record.sequence === 3 ? { ...record, [column]: 'x' } : record
      },
    }
    expect(verifyEvidence(lying)).toMatchObject({
      ok: false,
      issue: { problem: 'column_mismatch', sequence: 3 },
    })
  },
)

test('verifies a chain whose start was dropped from memory', async () => {
  const store = createMemoryStore({ maxRecords: 3 })
  for (const call of ['a', 'b', 'c']) await store.append([sampleBegin(call), sampleEnd(call)])
  expect(verifyEvidence(store)).toEqual({ ok: true, records: 3, calls: 1 })
})

test('verifies while others write', async () => {
  const { store } = await openStore()
  let more = 0
  const busy: Store = {
    ...store,
    *records(query) {
      for (const record of store.records(query)) {
        yield record
        if (more++ < 2) void store.append([sampleBegin(`more_${more}`, { writer: store.writer })])
        // Claiming a key that runs writes what is waiting.
        store.claimKey({
          tenant: 'local',
          tool: 't',
          key: 'k',
          inputDigest: '',
          call: 'k',
          at: 0,
          windowMs: 1,
        })
      }
    },
  }
  expect(verifyEvidence(busy).ok).toBe(true)
  expect(verifyEvidence(store)).toEqual({ ok: true, records: 8, calls: 5 })
})
