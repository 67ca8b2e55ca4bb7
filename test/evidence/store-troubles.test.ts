import { copyFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createRuntime, defineTool, type Runtime } from 'handrail'
import { verifyEvidence, type EvidenceRecord } from 'handrail/evidence'
import { expect, test } from 'vitest'
import { startHttp } from '../mcp/connect.ts'
import { atEnd } from '../support/at-end.ts'
import { makeTool } from '../support/make-tool.ts'
import { makeFolder } from '../support/project.ts'

/** A store in a file, a runtime on it, and what the runtime tells whoever runs it. */
async function makePlace() {
  const folder = makeFolder()
  const path = join(folder, 'store.db')
  const told: string[] = []
  const started = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  const ran: string[] = []
  const slow = defineTool({
    name: 'demo.slow',
    description: 'Runs until it is told to end.',
    permission: 'write',
    idempotency: 'optional',
    async run() {
      ran.push('slow')
      started.resolve()
      await gate.promise
      return 'done'
    },
  })
  const open = async (): Promise<Runtime> => {
    const runtime = await createRuntime({
      project: folder,
      home: folder,
      store: { path },
      tools: [slow, makeTool('demo.write', { permission: 'write' }), makeTool('demo.read')],
      policy: {
        rules: [{ id: 'all', effect: 'allow', tools: ['demo.*'] }],
        budgets: [{ id: 'calls', unit: 'calls', limit: 100 }],
      },
      onError: ({ cause }) => told.push(cause instanceof Error ? cause.message : String(cause)),
    })
    atEnd(async () => {
      gate.resolve()
      await runtime.close()
    })
    return runtime
  }
  return { folder, path, told, started, gate, ran, open, runtime: await open() }
}

function recordsOf({ store }: Runtime, tool: string): string[] {
  return [...store.records({})]
    .map(({ text }) => JSON.parse(text) as EvidenceRecord)
    .filter((record) => 'tool' in record && record.tool === tool && record.kind !== 'note')
    .map((record) => ('outcome' in record ? `${record.kind} ${record.outcome}` : record.kind))
}

const readOnly = { code: 'PROVIDER.UNAVAILABLE', reason: 'store_read_only' }

test('an end that the store did not take is written as soon as it does, with key and budget (EVID-1, CALL-4, AUTH-4)', async () => {
  const { path, started, gate, ran, runtime } = await makePlace()
  const session = runtime.session()
  const call = () => session.call('demo.slow', {}, { idempotencyKey: 'order-17' })
  const running = call()
  await started.promise
  const other = new DatabaseSync(path)
  atEnd(() => other.close())
  other.exec(`CREATE TRIGGER refuse BEFORE INSERT ON records WHEN new.kind = 'end'
    BEGIN SELECT RAISE(ABORT, 'not today'); END`)
  gate.resolve()
  expect(await running).toMatchObject({
    outcome: 'unknown',
    error: { reason: 'store_failed', message: expect.stringContaining('its end is not recorded yet') },
  })
  expect(recordsOf(runtime, 'demo.slow')).toEqual(['begin'])
  other.exec('DROP TRIGGER refuse')
  await expect.poll(() => recordsOf(runtime, 'demo.slow')).toEqual(['begin', 'end ok'])
  expect(await call()).toMatchObject({ ok: true, metadata: { replayed: true } })
  expect(ran).toEqual(['slow'])
  const { budget } = await session.preflight('demo.write', {})
  expect(budget?.accounts).toMatchObject([{ spent: 1, reserved: 0 }])
  expect(verifyEvidence(runtime.store).ok).toBe(true)
})

test('what is not recorded when the program ends is told, and the next start ends it (EVID-1)', async () => {
  const { path, started, gate, told, open, runtime } = await makePlace()
  const running = runtime.session().call('demo.slow', {})
  await started.promise
  const other = new DatabaseSync(path)
  atEnd(() => other.close())
  other.exec(`CREATE TRIGGER refuse BEFORE INSERT ON records WHEN new.kind = 'end'
    BEGIN SELECT RAISE(ABORT, 'not today'); END`)
  gate.resolve()
  await running
  await runtime.close()
  expect(told.filter((line) => line.includes('did not take the ends of 1 call'))).toHaveLength(1)
  other.exec('DROP TRIGGER refuse')
  expect(recordsOf(await open(), 'demo.slow')).toEqual(['begin', 'end unknown'])
})

test('a store that is moved away takes no records until it is back, and says each once (EVID-1)', async () => {
  const { path, told, runtime } = await makePlace()
  const session = runtime.session()
  expect((await session.call('demo.write', {})).ok).toBe(true)
  renameSync(path, `${path}.away`)
  await expect.poll(() => told).toHaveLength(1)
  expect(told[0]).toContain('was deleted, moved or replaced while it was open')
  for (const tool of ['demo.write', 'demo.read'])
    expect((await session.call(tool, {})).error).toMatchObject(readOnly)
  renameSync(`${path}.away`, path)
  await expect.poll(() => told.length).toBe(2)
  expect(told[1]).toContain('takes records again')
  expect((await session.call('demo.write', {})).ok).toBe(true)
  expect(recordsOf(runtime, 'demo.write')).toEqual(['begin', 'end ok', 'begin', 'end ok'])
  expect(verifyEvidence(runtime.store).ok).toBe(true)
})

test.each([
  ['its log is deleted', (path: string) => rmSync(`${path}-wal`)],
  [
    'a copy takes its place',
    (path: string) => {
      copyFileSync(path, `${path}.copy`)
      renameSync(`${path}.copy`, path)
    },
  ],
])('a running call has no effect that is not recorded once %s (EVID-1)', async (_, change) => {
  const { path, told, ran, runtime } = await makePlace()
  change(path)
  await expect.poll(() => runtime.store.readOnly).toContain('deleted, moved or replaced')
  expect((await runtime.session().call('demo.slow', {})).error).toMatchObject(readOnly)
  expect(ran).toEqual([])
  await runtime.close()
  expect(told).toHaveLength(1)
})

test('a server says with /healthz that its store takes no records, and why (EVID-1)', async () => {
  const { path, runtime } = await makePlace()
  const server = await startHttp({ runtime })
  atEnd(() => server.close())
  const health = async (): Promise<unknown> => {
    const answer = await fetch(new URL('/healthz', server.url))
    return [answer.status, await answer.json()]
  }
  expect(await health()).toEqual([200, { status: 'ok' }])
  rmSync(path)
  const reason = 'The store takes no records: it was deleted, moved or replaced.'
  await expect.poll(health).toEqual([503, { status: 'unavailable', reason }])
})

test('nothing runs on a store that a newer Handrail upgraded while it was open, and the caller is told why (EVID-1)', async () => {
  const { path, told, ran, runtime, open } = await makePlace()
  expect(await runtime.session().call('demo.write', {})).toMatchObject({ ok: true })
  const newer = new DatabaseSync(path)
  atEnd(() => newer.close())
  const version = Number(newer.prepare('PRAGMA user_version').get()?.['user_version'])
  newer.exec(`PRAGMA user_version = ${version + 1}`)
  const message = expect.stringContaining('a newer Handrail upgraded it while it was open here')
  for (const tool of ['demo.slow', 'demo.read', 'demo.write'])
    expect(await runtime.session().call(tool, {})).toMatchObject({
      ok: false,
      error: { ...readOnly, message },
    })
  expect(ran).toEqual([])
  expect(told).toContainEqual(message)
  await expect(open()).rejects.toMatchObject({ code: 'store_newer' })
  newer.exec(`PRAGMA user_version = ${version}`)
  expect(recordsOf(await open(), 'demo.slow')).toEqual([])
})
