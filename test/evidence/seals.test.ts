import { generateKeyPairSync, hash } from 'node:crypto'
import { chmodSync, copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createRuntime, type Runtime, type RuntimeOptions, type ToolResult } from 'handrail'
import { openKeyFiles, verifyEvidence, type NoteRecord } from 'handrail/evidence'
import { expect, test } from 'vitest'
import { atEnd } from '../support/at-end.ts'
import { makeTool } from '../support/make-tool.ts'
import { makeFolder } from '../support/project.ts'

const say = makeTool('demo.say')
const write = makeTool('demo.write', { permission: 'write' })
const once = makeTool('demo.once', { permission: 'write', idempotency: 'keyed', keyFrom: 'call' })

/** A folder with a store, and what can be done to it. */
function makePlace(options: RuntimeOptions = {}) {
  const folder = makeFolder()
  const path = join(folder, 'store.db')
  const signing = { dir: join(folder, 'keys') }
  const told: string[] = []
  const open = async (): Promise<Runtime> => {
    const runtime = await createRuntime({
      project: folder,
      home: folder,
      tools: [say, write, once],
      store: { path },
      signing,
      onError: ({ cause }) => told.push(cause instanceof Error ? cause.message : String(cause)),
      ...options,
    })
    atEnd(() => runtime.close())
    return runtime
  }
  return {
    path,
    told,
    open,
    /** What a process of its own does. */
    within: async <T>(work: (runtime: Runtime) => Promise<T>): Promise<T> => {
      const runtime = await open()
      const done = await work(runtime)
      await runtime.close()
      return done
    },
    /** What somebody with the file and without its key does. */
    tamper: <T>(change: (db: DatabaseSync) => T): T => {
      const db = new DatabaseSync(path)
      try {
        return change(db)
      } finally {
        db.close()
      }
    },
    verify: (runtime: Runtime) => verifyEvidence(runtime.store, { keys: openKeyFiles(signing.dir) }),
  }
}

const call = (runtime: Runtime, tool = 'demo.say', key?: string): Promise<ToolResult> =>
  runtime.session().call(tool, {}, key === undefined ? {} : { idempotencyKey: key })

/** A begin and an end like those of the last call, well hashed, at the end of the chain, its head too. */
function forgeCall(db: DatabaseSync): void {
  const rows = db
    .prepare("SELECT text, body FROM records WHERE kind IN ('begin', 'end') ORDER BY sequence DESC LIMIT 2")
    .all()
    .toReversed()
  for (const { text, body } of rows) {
    const head = db
      .prepare("SELECT sequence, lower(hex(hash)) AS hash FROM heads WHERE tenant = 'local'")
      .get()
    const forged = String(text).replaceAll('call_', 'call_9')
    const link = Buffer.from(hash('sha256', `${String(head?.['hash'])}\n${forged}`, 'hex'), 'hex')
    const sequence = Number(head?.['sequence']) + 1
    db.prepare("INSERT INTO records (tenant, sequence, text, hash, body) VALUES ('local', ?, ?, ?, ?)").run(
      sequence,
      forged,
      link,
      body ?? null,
    )
    db.prepare("UPDATE heads SET sequence = ?, hash = ? WHERE tenant = 'local'").run(sequence, link)
  }
}

/** How many signatures the file has. */
function countCheckpoints(db: DatabaseSync): number {
  return Number(db.prepare("SELECT count(*) AS n FROM records WHERE kind = 'checkpoint'").get()?.['n'])
}

const readOnly = { code: 'PROVIDER.UNAVAILABLE', reason: 'store_read_only' }

test('a call that somebody wrote into the file is found at the start, and never signed (EVID-7)', async () => {
  const { within, tamper, open, told, verify } = makePlace()
  await within((runtime) => call(runtime))
  const signed = tamper(countCheckpoints)
  tamper(forgeCall)
  const runtime = await open()
  expect(told).toEqual([expect.stringMatching(/takes no records: the head of the chain .* seal of its key/)])
  expect((await call(runtime)).error).toMatchObject(readOnly)
  expect((await call(runtime, 'demo.write')).error).toMatchObject(readOnly)
  expect(verify(runtime).issue).toMatchObject({ problem: 'forged' })
  await runtime.close()
  expect(tamper(countCheckpoints)).toBe(signed)
})

test('a call that somebody writes into the file while it is in use stops every process that would go on from it (EVID-7)', async () => {
  const { open, tamper, told, verify } = makePlace()
  const [one, other] = [await open(), await open()]
  for (const runtime of [one, other, one]) expect((await call(runtime)).ok).toBe(true)
  expect(verify(one).ok).toBe(true)
  tamper(forgeCall)
  for (const runtime of [one, other]) {
    expect((await call(runtime)).ok).toBe(false)
    expect((await call(runtime)).error).toMatchObject(readOnly)
    expect(verify(runtime).issue?.problem).toBe('forged')
    await runtime.close()
  }
  expect(told.filter((message) => message.includes('takes no records: the head'))).toHaveLength(2)
  expect(tamper(countCheckpoints)).toBe(0)
})

test('a chain that is set back under a running process is not gone on from (EVID-7)', async () => {
  const { open, tamper } = makePlace()
  const runtime = await open()
  await call(runtime)
  const before = tamper((db) => db.prepare(`SELECT * FROM heads WHERE tenant = 'local'`).get())
  await call(runtime)
  // The older head has a seal, and a chain that holds.
  tamper((db) => {
    const { sequence, hash: link, seal } = before ?? {}
    db.prepare("DELETE FROM records WHERE tenant = 'local' AND sequence > ?").run(Number(sequence))
    db.prepare("UPDATE heads SET (sequence, hash, seal) = (?, ?, ?) WHERE tenant = 'local'").run(
      Number(sequence),
      link as Uint8Array,
      String(seal),
    )
  })
  const { error } = await call(runtime, 'demo.write')
  expect(error?.message).toMatch(/was set back from the record \d+ to \d+/)
})

test('an input or result that is removed by hand is told; one that was pruned is not (EVID-7)', async () => {
  const { open, tamper, verify } = makePlace()
  const runtime = await open()
  for (let i = 0; i < 3; i++) await call(runtime)
  const [first] = runtime.store.records({ kind: 'end' })
  tamper((db) => db.prepare('UPDATE records SET body = NULL WHERE call = ?').run(String(first?.call)))
  expect(verify(runtime).issue).toMatchObject({ problem: 'body_missing', call: first?.call })
  expect(verify(runtime).issue?.message).toContain('The input of the call')
  tamper((db) => db.exec('UPDATE records SET body = NULL'))
  expect(verify(runtime).issue?.message).toMatch(/6 bodies of "local" are gone, and 0 were pruned/)
})

test('a body that is removed by hand is told beside those that were pruned (EVID-7)', async () => {
  let now = 1_000
  const { open, tamper, verify } = makePlace({ now: () => now })
  const runtime = await open()
  await call(runtime)
  now = 2_000
  await call(runtime)
  expect(runtime.store.prune({ at: 1_500 })).toBe(2)
  expect(verify(runtime)).toMatchObject({ ok: true, withoutResult: 1 })
  const last = [...runtime.store.records({ kind: 'end' })].at(-1)
  tamper((db) =>
    db.prepare("UPDATE records SET body = NULL WHERE call = ? AND kind = 'end'").run(String(last?.call)),
  )
  expect(verify(runtime).issue).toMatchObject({ problem: 'body_missing' })
  expect(verify(runtime).issue?.message).toMatch(/3 bodies of "local" are gone, and 2 were pruned/)
})

const consent = {
  id: 'consent_forged',
  tenant: 'local',
  actor: '*',
  tool: 'demo.write',
  scope: '*',
  givenAt: 1,
  expiresAt: 9_999_999_999_999,
  givenBy: 'eve',
}

test('a consent that somebody wrote into the file does not count, and is told (EVID-7, AUTH-3)', async () => {
  const { open, tamper, told, verify } = makePlace()
  const runtime = await open()
  await runtime.consents.give({ tool: 'demo.say', givenBy: 'ann' })
  for (const seal of [`x''`, 'randomblob(32)', '(SELECT seal FROM facts)'])
    tamper((db) => {
      db.prepare(
        `INSERT OR REPLACE INTO facts (tenant, kind, id, seal, value) VALUES ('local', 'consent', ?, ${seal}, ?)`,
      ).run(consent.id, JSON.stringify(consent))
      db.exec("UPDATE counters SET value = value + 1 WHERE name = 'facts'")
    })
  expect((await call(runtime, 'demo.write')).error).toMatchObject({ reason: 'no_callback' })
  expect(runtime.consents.list().map(({ tool }) => tool)).toEqual(['demo.say'])
  expect(told).toEqual([expect.stringMatching(/consent_forged.* does not count\. Remove the row/)])
  expect(verify(runtime).issue).toMatchObject({ problem: 'forged' })
  expect((await call(runtime)).ok).toBe(true)
  tamper((db) => db.prepare('DELETE FROM facts WHERE id = ?').run(consent.id))
  expect(verify(runtime).ok).toBe(true)
})

test.each([
  ['changed', `UPDATE facts SET value = replace(value, 'paused', 'enabled') WHERE kind = 'tool'`],
  ['removed', `DELETE FROM facts WHERE kind = 'tool'`],
  ['taken away with its sum', `DELETE FROM facts; DELETE FROM sums`],
])('the state of a tool that is %s by hand stops the store (EVID-7, REG-2)', async (_, sql) => {
  const { within, open, tamper, told, verify } = makePlace()
  await within((runtime) => runtime.setToolState('demo.say', 'paused', { by: 'ann' }))
  tamper((db) => db.exec(sql))
  const runtime = await open()
  expect((await call(runtime)).error?.reason).not.toBe(undefined)
  expect((await call(runtime, 'demo.write')).error).toMatchObject(readOnly)
  expect(told).toHaveLength(1)
  expect(verify(runtime).issue).toMatchObject({ problem: 'forged' })
})

test('facts that are set back together with their sums are found by the chain (EVID-7)', async () => {
  const { path, within, open, tamper, told } = makePlace()
  await within((runtime) => call(runtime))
  const old = `${path}.old`
  tamper((db) => db.exec(`VACUUM INTO '${old}'`))
  await within((runtime) => runtime.setToolState('demo.say', 'paused', { by: 'ann' }))
  tamper((db) =>
    db.exec(
      `ATTACH '${old}' AS old; DELETE FROM facts; INSERT INTO facts SELECT * FROM old.facts; ` +
        'DELETE FROM sums; INSERT INTO sums SELECT * FROM old.sums',
    ),
  )
  expect((await call(await open(), 'demo.write')).error).toMatchObject(readOnly)
  expect(told.join()).toContain('were set back: the chain of')
})

test.each([
  ['given back', 'UPDATE shares SET spent = 0'],
  ['given to another process', `UPDATE shares SET writer = 'other'`],
])('units of a budget that are %s by hand stop the store (EVID-7, AUTH-4)', async (_, sql) => {
  const policy = { budgets: [{ id: 'few', unit: 'calls' as const, limit: 2 }] }
  const { within, open, tamper, verify } = makePlace({ policy })
  await within((runtime) => call(runtime))
  tamper((db) => db.exec(sql))
  const runtime = await open()
  expect((await call(runtime)).error).toMatchObject(readOnly)
  expect(verify(runtime).issue).toMatchObject({ problem: 'forged' })
})

test.each([
  ['what was spent of a budget', 'DELETE FROM shares'],
  ['an idempotency key', 'DELETE FROM keys'],
])('%s that is removed by hand is found (EVID-7)', async (_, sql) => {
  const policy = { budgets: [{ id: 'few', unit: 'calls' as const, limit: 5 }] }
  const { open, tamper, verify } = makePlace({ policy, approve: async () => ({ decision: 'allow_once' }) })
  const runtime = await open()
  expect((await call(runtime, 'demo.once', 'k')).ok).toBe(true)
  expect(verify(runtime).ok).toBe(true)
  tamper((db) => db.exec(sql))
  expect(verify(runtime).issue?.message).toContain(
    'an idempotency key, what was spent of a budget or a document was changed',
  )
})

test('an idempotency key that was changed by hand is not gone by (EVID-7, CALL-4)', async () => {
  const { open, tamper, verify } = makePlace({ approve: async () => ({ decision: 'allow_once' }) })
  const runtime = await open()
  expect((await call(runtime, 'demo.once', 'k')).ok).toBe(true)
  tamper((db) => db.exec('UPDATE keys SET expires_at = 0'))
  expect((await call(runtime, 'demo.once', 'k')).error).toMatchObject(readOnly)
  expect(verify(runtime).issue?.problem).toBe('forged')
})

test('a store without its key, or with another one, is only read, and works again with the right one (EVID-7)', async () => {
  const { path, within, open, told, verify } = makePlace()
  await within((runtime) => call(runtime))
  const file = `${path}.key`
  const key = readFileSync(file)
  for (const [damage, why] of [
    [() => rmSync(file), /its key ".*store\.db\.key" is not there/],
    [() => writeFileSync(file, ''), /its key ".*" is damaged/],
    [() => writeFileSync(file, `${'A'.repeat(43)}\n`, { mode: 0o600 }), /do not have the seal of its key/],
    [() => chmodSync(file, 0o644), /is open to others; close it with chmod 600/],
  ] as const) {
    damage()
    const runtime = await open()
    expect(told.splice(0)).toEqual([expect.stringMatching(why)])
    expect((await call(runtime)).error).toMatchObject(readOnly)
    expect(verify(runtime).issue).toMatchObject({ problem: 'forged', message: expect.stringMatching(why) })
    await runtime.close()
    rmSync(file, { force: true })
    writeFileSync(file, key, { mode: 0o600 })
  }
  const runtime = await open()
  expect((await call(runtime)).ok).toBe(true)
  expect(verify(runtime).ok).toBe(true)
})

test('a store that is set back to before its last signature runs no call, and says once what to do (EVID-7)', async () => {
  const { path, within, tamper, open, told, verify } = makePlace()
  await within((runtime) => call(runtime))
  tamper((db) => db.exec(`VACUUM INTO '${path}.old'`))
  await within((runtime) => call(runtime))
  for (const file of ['-wal', '-shm', '']) rmSync(path + file, { force: true })
  copyFileSync(`${path}.old`, path)
  const runtime = await open()
  expect(told).toEqual([
    expect.stringMatching(/no longer holds the record \d+ of ".*" .* takes no records\. Put the/),
  ])
  for (const tool of ['demo.say', 'demo.write', 'demo.once'])
    expect((await call(runtime, tool, tool === 'demo.once' ? 'k' : undefined)).error).toMatchObject(readOnly)
  expect(verify(runtime).issue).toMatchObject({ problem: 'truncated' })
})

const marksIn = (dir: string) => readdirSync(dir).filter((name) => name.startsWith('last_'))

test.each([
  [
    'what remembers the last signature',
    (dir: string) => marksIn(dir).forEach((name) => rmSync(join(dir, name))),
    /The file ".*last_.*json" is not there, and the records of ".*" were signed/,
    'mark_lost',
  ],
  [
    'the signing key',
    (dir: string) => rmSync(join(dir, 'signing.key')),
    /The signing key key_\w+ in ".*" is not there any more\. Put it back/,
    'key_rotated',
  ],
  [
    'the signing key, for another one,',
    (dir: string) => {
      const { privateKey } = generateKeyPairSync('ed25519')
      writeFileSync(join(dir, 'signing.key'), privateKey.export({ type: 'pkcs8', format: 'pem' }))
    },
    /The signing key key_\w+ in ".*" was replaced by key_\w+/,
    'key_rotated',
  ],
])(
  '%s that is gone is told at the start, with what to do, and once in the chain (EVID-7)',
  async (...[, damage, says, event]) => {
    const { path, within, told, open, verify } = makePlace()
    const dir = join(dirname(path), 'keys')
    await within((runtime) => call(runtime))
    damage(dir)
    await within(async (runtime) => {
      expect(told.splice(0).every((message) => says.test(message))).toBe(true)
      expect((await call(runtime)).ok).toBe(true)
    })
    await within((runtime) => call(runtime))
    expect(told).toEqual([])
    const runtime = await open()
    const notes = [...runtime.store.records({ tenant: 'local', kind: 'note' })]
    expect(notes.map(({ text }) => (JSON.parse(text) as NoteRecord).event)).toEqual([event])
    expect(verify(runtime)).toMatchObject({ ok: true, signed: { pending: 0 } })
    expect(marksIn(dir)).toHaveLength(2)
  },
)
