import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { codeTools, SetupError, type RuntimeEvent, type RuntimeOptions } from 'handrail'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createClient } from '../mcp/connect.ts'
import { handrail, makePlace } from '../support/command-line.ts'
import { giveAway, makeFolder, openRuntime } from '../support/project.ts'
import { toServer } from '../support/serve-stdio.ts'

async function open(deliverables: readonly string[], options: RuntimeOptions = {}) {
  const dir = makeFolder()
  const events: RuntimeEvent[] = []
  const runtime = await openRuntime({
    tools: [codeTools()],
    archive: { dir },
    approve: async () => ({ decision: 'allow_once' }),
    onEvent: (event) => events.push(event),
    ...options,
  })
  const session = runtime.session({ deliverables })
  const write = async (path: string, content: string) => {
    const result = await session.call('code.write_file', { path, content })
    expect(result.ok).toBe(true)
  }
  return {
    runtime,
    session,
    write,
    ended: () => events.find(({ type }) => type === 'session_ended'),
    /** The folder of the run, once everything is written. */
    folder: async () => {
      await runtime.close()
      return join(dir, 'runs', session.id)
    },
  }
}

const sha256 = 'sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824'

test('what a session has to deliver is kept with its digest, in the archive too (FILE-12)', async () => {
  const { runtime, session, write, ended, folder } = await open([
    'deliverables/report.md',
    'deliverables/data/sums.csv',
  ])
  await write('deliverables/report.md', 'hello')
  expect(await session.deliverables()).toEqual([
    { path: 'deliverables/report.md', status: 'delivered', bytes: 5 },
    { path: 'deliverables/data/sums.csv', status: 'missing' },
  ])
  await write('deliverables/data/sums.csv', 'a,b\n')
  await session.close()
  const kept = [
    { path: 'deliverables/report.md', status: 'delivered', bytes: 5, digest: sha256 },
    { path: 'deliverables/data/sums.csv', status: 'delivered', bytes: 4 },
  ]
  expect(await session.deliverables()).toMatchObject(kept)
  expect(ended()).toMatchObject({ level: 'info', data: { status: 'complete', deliverables: kept } })
  expect(await runtime.artifacts.get(sha256)).toEqual(new Uint8Array(Buffer.from('hello')))
  const run = await folder()
  const about = JSON.parse(readFileSync(join(run, 'run.json'), 'utf8')) as object
  expect(about).toMatchObject({ run_id: session.id, status: 'complete', deliverables: kept })
  expect(readFileSync(join(run, 'deliverables/report.md'), 'utf8')).toBe('hello')
  expect(readFileSync(join(run, 'deliverables/data/sums.csv'), 'utf8')).toBe('a,b\n')
})

test('a session that lacks something is incomplete, in its event, its evidence and its archive (FILE-12)', async () => {
  const { runtime, session, write, ended, folder } = await open(['deliverables/a.md', 'deliverables/b.md'])
  await write('deliverables/a.md', 'hello')
  await write('b.md', 'in another place')
  await session.close()
  const expected = { status: 'incomplete', deliverables: [{ digest: sha256 }, { status: 'missing' }] }
  expect(ended()).toMatchObject({ level: 'failure', data: expected })
  expect(ended()?.summary).toContain('incomplete')
  const notes = [...runtime.store.records({ session: session.id, kind: 'note' })].map(
    ({ text }) => JSON.parse(text) as object,
  )
  expect(notes).toMatchObject([{ event: 'session_ended', data: expected }])
  expect(JSON.stringify(notes)).toContain('1 of 2 deliverables are there; not: deliverables/b.md (missing)')
  const run = await folder()
  expect(JSON.parse(readFileSync(join(run, 'run.json'), 'utf8'))).toMatchObject(expected)
  expect(readdirSync(join(run, 'deliverables'))).toEqual(['a.md'])
})

test('a link that leads out of the folder, a folder and a sensitive file are blocked (FILE-12)', async () => {
  const outside = makeFolder({ 'secret.txt': 'canary' })
  const project = makeFolder({
    'inside.txt': 'canary',
    'deliverables/.env': 'KEY=1',
    'deliverables/d/x': 'x',
  })
  symlinkSync(join(outside, 'secret.txt'), join(project, 'deliverables/out.txt'))
  symlinkSync('../inside.txt', join(project, 'deliverables/in.txt'))
  const paths = ['out.txt', 'in.txt', '.env', 'd'].map((name) => `deliverables/${name}`)
  const { session, folder } = await open(paths, { project })
  await session.call('code.list_dir', {})
  await session.close()
  expect((await session.deliverables()).map(({ status, reason }) => [status, reason])).toEqual([
    ['blocked', 'path_outside_roots'],
    ['blocked', 'path_outside_roots'],
    ['blocked', 'sensitive_path'],
    ['blocked', 'not_a_file'],
  ])
  expect(readdirSync(join(await folder(), 'deliverables'))).toEqual([])
})

test('a folder of deliverables that is a link delivers nothing (FILE-12)', async () => {
  const project = makeFolder()
  symlinkSync(makeFolder({ 'a.md': 'canary' }), join(project, 'deliverables'))
  const { session } = await open(['deliverables/a.md'], { project })
  await session.call('code.list_dir', {})
  await session.close()
  expect(await session.deliverables()).toMatchObject([{ status: 'blocked', reason: 'path_outside_roots' }])
})

test.each([
  'report.md',
  '/etc/passwd',
  '../deliverables/x',
  'deliverables',
  'deliverables/',
  'deliverables/../x',
  'deliverables/./x',
  'deliverables//x',
  'deliverables\\x',
  'deliverables/x\0',
  7,
])('a session cannot have to deliver %j (FILE-12)', async (path) => {
  const runtime = await openRuntime()
  const deliverables = ['deliverables/a', path] as string[]
  expect(() => runtime.session({ deliverables })).toThrow(SetupError)
  expect(() => runtime.session({ deliverables })).toThrow('/deliverables/1')
})

test('a session that made no call, or has to deliver nothing, says nothing of it (FILE-12)', async () => {
  const idle = await open(['deliverables/a'])
  await idle.session.close()
  expect(idle.ended()).toBeUndefined()
  expect([...idle.runtime.store.records({ tenant: 'local' })]).toEqual([])
  const free = await open([])
  await free.session.call('code.list_dir', {})
  await free.session.close()
  expect(free.ended()?.data).toBeUndefined()
  expect(await free.session.deliverables()).toEqual([])
})

test('a served session has to deliver what the command line says (FILE-12)', async () => {
  const place = makePlace()
  const client = createClient({ era: 'modern' })
  await client.connect(toServer(place, ['--deliver', 'deliverables/a.md,deliverables/b.md']))
  // The session is opened for the first call.
  await client.callTool({ name: 'code__list_dir', arguments: {} })
  mkdirSync(join(place.project, 'deliverables'))
  writeFileSync(join(place.project, 'deliverables/a.md'), 'hello')
  giveAway(place.project)
  await client.close()
  const runs = join(place.home, 'runs')
  const about = await vi.waitFor(() => {
    const [run = ''] = readdirSync(runs)
    const read = JSON.parse(readFileSync(join(runs, run, 'run.json'), 'utf8')) as { status?: string }
    expect(read.status).toBe('incomplete')
    expect(existsSync(join(runs, run, 'deliverables/a.md'))).toBe(true)
    return read
  })
  expect(about).toMatchObject({ deliverables: [{ digest: sha256 }, { status: 'missing' }] })
  const wrong = await handrail(place, ['serve', '--stdio', '--deliver', '../x'])
  expect(wrong.code).toBe(2)
  expect(wrong.stderr).toContain('/deliverables/0')
})

test('a served client may call list_files and grep_files (FILE-12)', async () => {
  const place = makePlace({ 'sub/a.txt': 'one\ntwo\n' })
  const client = createClient({ era: 'modern' })
  await client.connect(toServer(place, ['--presentation', 'compatible']))
  onTestFinished(() => client.close())
  const listed = await client.callTool({ name: 'list_files', arguments: { path: 'sub' } })
  expect(listed.isError).not.toBe(true)
  expect(JSON.stringify(listed.content)).toContain('a.txt')
  const found = await client.callTool({ name: 'grep_files', arguments: { pattern: 'tw.', path: 'sub' } })
  expect(JSON.stringify(found.content)).toContain('2:two')
})

test('a session whose every call was denied has delivered nothing, and says so (FILE-12)', async () => {
  const { session, ended } = await open(['deliverables/report.md'], {
    approve: async () => ({ decision: 'deny' }),
  })
  for (let n = 0; n < 3; n++)
    await session.call('code.write_file', { path: 'deliverables/report.md', content: `${n}` })
  await session.close()
  expect(ended()).toMatchObject({
    level: 'failure',
    summary: 'session ended after 3 calls, incomplete',
    data: { status: 'incomplete', deliverables: [{ path: 'deliverables/report.md', status: 'missing' }] },
  })
})

test('a file of an earlier session is not delivered, until something is written to it (FILE-12)', async () => {
  const project = makeFolder({ 'deliverables/report.md': 'old' })
  // Times of files have ticks, and the file has to be older than the session.
  await vi.waitFor(() =>
    expect(Date.now() - statSync(join(project, 'deliverables/report.md')).ctimeMs).toBeGreaterThan(50),
  )
  const { session, ended } = await open(['deliverables/report.md'], { project })
  expect(await session.deliverables()).toEqual([
    { path: 'deliverables/report.md', status: 'stale', bytes: 3 },
  ])
  await session.call('code.write_file', { path: 'deliverables/report.md', content: 'new', overwrite: true })
  expect(await session.deliverables()).toMatchObject([{ status: 'delivered' }])
  await session.close()
  expect(ended()).toMatchObject({ data: { status: 'complete' } })
})
