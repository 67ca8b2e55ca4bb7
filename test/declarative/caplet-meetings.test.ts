import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { open as openFile } from 'node:fs/promises'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { Policy, Runtime, RuntimeOptions } from 'handrail'
import { capletTools } from 'handrail/tools'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createClient, textOf } from '../mcp/connect.ts'
import { handrail, makePlace, startHandrail, type Place } from '../support/command-line.ts'
import { keyOf, makeCaplet, pack } from '../support/caplets.ts'
import { openRuntime, personSaying } from '../support/project.ts'
import { rounds } from '../support/rounds.ts'
import { startServer } from '../support/start-command.ts'

const none = { type: 'object', properties: {}, additionalProperties: false }
const about = { description: 'Does it.', output: 'text', input_schema: none }
const reading = {
  tool: { ...about, name: 'demo.read', permission: 'readonly', command: './run.sh', args: ['read'] },
}
const writing = {
  tool: { ...about, name: 'demo.write', permission: 'write', command: './run.sh', args: ['written'] },
  write: ['project'],
}
const files = {
  'who.sh': '#!/bin/sh\nmv a.txt b.txt && echo x > c.txt && echo "$(id -u) b"\n',
  'wait.sh': '#!/bin/sh\nsleep 600\n',
  'run.sh': '#!/bin/sh\n[ "$1" = written ] && echo x >> written.txt\necho "$1"\n',
}

async function installed(...sources: readonly unknown[]): Promise<Place> {
  const place = makePlace({}, { 'note.txt': '' })
  for (const source of sources) {
    const { code, stderr } = await handrail(place, ['caplet', 'install', await pack(place, source, files)])
    if (code !== 0) throw new Error(stderr)
  }
  return place
}

function open(place: Place, options: RuntimeOptions = {}): Promise<Runtime> {
  const source = capletTools({ dir: join(place.home, 'caplets'), publishers: { me: keyOf(place) } })
  return openRuntime({
    project: place.project,
    approve: personSaying('allow_once').approve,
    ...options,
    tools: [source],
  })
}

test('MCP clients see and call it (NEXT-4, MCP-2)', async () => {
  const place = await installed(reading)
  const { url } = await startServer(place)
  const client = createClient({ era: 'modern' })
  await client.connect(new StreamableHTTPClientTransport(new URL(url)))
  onTestFinished(() => client.close())
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain('demo__read')
  expect(textOf(await client.callTool({ name: 'demo.read', arguments: {} }))).toBe('read\n')
})

test('rules, plan mode, a child session and a person hold it as they hold every tool (NEXT-4)', async () => {
  const place = await installed(reading, writing)
  const denying: Policy = { rules: [{ effect: 'deny', tools: ['demo.read'] }] }
  const denied = await (await open(place, { policy: denying })).session().call('demo.read', {})
  expect(denied).toMatchObject({ ok: false, error: { code: 'POLICY.DENY_TOOL' } })

  const runtime = await open(place)
  expect(await runtime.session({ mode: 'plan' }).call('demo.write', {})).toMatchObject({
    error: { reason: 'mode_denied' },
  })
  expect(await runtime.session({ mode: 'plan' }).call('demo.read', {})).toMatchObject({ ok: true })
  const parent = runtime.session()
  const child = runtime.session({ parent, disallowedTools: ['demo.write'] })
  expect(await child.call('demo.write', {})).toMatchObject({ ok: false })
  const no = await (
    await open(place, { approve: personSaying('deny').approve })
  )
    .session()
    .call('demo.write', {})
  expect(no).toMatchObject({ error: { reason: 'denied' } })
  expect(existsSync(join(place.project, 'written.txt'))).toBe(false)
})

test('a call with a key runs its program once, and the evidence names the package (NEXT-4)', async () => {
  const place = await installed(writing)
  const runtime = await open(place)
  const call = () => runtime.session().call('demo.write', {}, { idempotencyKey: 'write-it-once' })
  const [first, second] = [await call(), await call()]
  expect([first.ok, second.ok, second.metadata.replayed]).toEqual([true, true, true])
  expect(readFileSync(join(place.project, 'written.txt'), 'utf8')).toBe('x\n')
  const { metadata } = runtime.registry.find('demo.write')?.definition ?? {}
  expect(metadata).toMatchObject({
    caplet: { digest: expect.stringMatching(/^sha256:/), publisher: keyOf(place) },
  })
})

test('an install that is killed leaves nothing or all of it, and the next one installs it (NEXT-4)', async () => {
  const place = makePlace({}, { 'note.txt': '' })
  const many = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`lib/f${index}`, 'x']))
  const packed = await pack(place, reading, { ...files, ...many })
  const caplets = join(place.home, 'caplets')
  const names = () => (existsSync(caplets) ? readdirSync(caplets) : [])
  for (let round = 0; round < rounds({ usual: 2, long: 40 }); round += 1) {
    const running = startHandrail(place, ['caplet', 'install', packed])
    const before = names().length
    await vi.waitFor(() => {
      if (names().length === before && running.child.exitCode === null) throw new Error('not yet')
    })
    running.child.kill('SIGKILL')
    await running.ended
    const { code } = await handrail(place, ['caplet', 'list'])
    expect(code).toBe(0)
  }
  const old = join(caplets, '.00000000-0000-0000-0000-000000000000.new')
  mkdirSync(old)
  utimesSync(old, 0, 0)
  expect((await handrail(place, ['caplet', 'install', packed])).code).toBe(0)
  expect(existsSync(old)).toBe(false)
  expect((await handrail(place, ['call', 'demo.read'])).stdout).toBe('read\n')
})

const versioned = (version: string) => ({ ...reading, tool: { ...reading.tool, version } })

test('an older package whose install began first does not take the place of a newer one (NEXT-4)', async () => {
  const place = await installed(versioned('1.0.0'))
  const filling = { fill: createHash('sha512').update('x').digest('hex').repeat(2_000) }
  const older = readFileSync(await pack(place, versioned('2.0.0'), { ...files, ...filling }))
  const newer = await pack(place, versioned('3.0.0'), files)
  const pipe = join(place.user, 'older.tgz')
  execFileSync('mkfifo', [pipe])
  const slow = handrail(place, ['caplet', 'install', pipe])
  const end = await openFile(pipe, 'w')
  // All but its end: its manifest is read, and it waits for the rest.
  await end.write(older.subarray(0, -8))
  const caplets = join(place.home, 'caplets')
  const drafts = () => readdirSync(caplets).filter((name) => name.endsWith('.new'))
  await expect.poll(() => drafts().some((name) => existsSync(join(caplets, name, 'run.sh')))).toBe(true)
  expect((await handrail(place, ['caplet', 'install', newer])).code).toBe(0)
  await end.write(older.subarray(-8))
  await end.close()
  const ended = await slow
  expect([ended.code, ended.stderr]).toEqual([2, expect.stringContaining('To go back: --downgrade')])
  expect((await handrail(place, ['caplet', 'list'])).stdout).toContain('demo.read  3.0.0')
})

test('a folder of the project is not tested in the place of the installed caplet of its name (NEXT-4)', async () => {
  const test_ = (name: string) => ({ ...reading, tests: [{ name, input: {}, expect: { content: 'read' } }] })
  const place = await installed(test_('of the package'))
  const folder = join(place.project, 'demo.read')
  mkdirSync(folder)
  writeFileSync(join(folder, 'caplet.json'), JSON.stringify(test_('of the project')))
  writeFileSync(join(folder, 'run.sh'), files['run.sh'], { mode: 0o755 })
  expect((await handrail(place, ['caplet', 'test', 'demo.read'])).stdout).toContain('ok    of the package')
  expect((await handrail(place, ['caplet', 'test', './demo.read'])).stdout).toContain('ok    of the project')
})

test('nothing that an author wrote looks like a line of caplet verify (NEXT-4)', async () => {
  const place = makePlace({}, { 'note.txt': '' })
  const description = 'Reads.\nsignature: signed by acme\u001b[2A'
  const packed = await pack(place, { tool: { ...reading.tool, description } }, files)
  const { stdout, code } = await handrail(place, ['caplet', 'verify', packed])
  expect(code).toBe(0)
  expect(stdout.match(/^signature: .*$/gm)).toEqual(['signature: signed by me'])
  expect(stdout).not.toContain('\u001b')
  expect(stdout).toContain('runs: "./run.sh" "read"')
})

test('an install record that cannot be read is told, does not let an older version in, and can be removed (NEXT-4)', async () => {
  const place = await installed(versioned('2.0.0'))
  const older = await pack(place, versioned('1.0.0'), files)
  const record = join(place.home, 'caplets', 'demo.read', 'installed.json')
  const spoiled = [() => writeFileSync(record, ' '.repeat(5_000)), () => mkdirSync(record)]
  for (const spoil of spoiled) {
    rmSync(record)
    spoil()
    const listed = await handrail(place, ['caplet', 'list'])
    expect([listed.code, listed.stdout]).toEqual([2, expect.stringContaining('It is left out')])
    const install = await handrail(place, ['caplet', 'install', older])
    expect([install.code, install.stderr]).toEqual([2, expect.stringContaining('caplet remove demo.read')])
  }
  expect((await handrail(place, ['caplet', 'remove', 'demo.read'])).code).toBe(0)
  expect((await handrail(place, ['caplet', 'install', older])).code).toBe(0)
})

test.runIf(process.getuid?.() === 0)(
  'of root, a test runs as the user that is configured, who can write its project (NEXT-4)',
  async () => {
    const place = makePlace({}, { 'config.json': { sandbox: { user: '1234:1234' } } })
    const folder = makeCaplet(
      {
        tool: { ...about, name: 'demo.who', permission: 'write', command: './who.sh', args: [] },
        write: ['project'],
        tests: [{ name: 'who', input: {}, files: { 'a.txt': 'a' }, expect: { content: '1234 b' } }],
      },
      files,
    )
    expect((await handrail(place, ['caplet', 'test', folder])).stdout).toContain('1 of 1 hold.')
  },
)

test('a caplet is there for the tenants that the policy names, and no other (NEXT-4, TEN-1)', async () => {
  const place = await installed(reading, writing)
  const tenants = { a: {}, b: { disallowedTools: ['demo.*'] } }
  const runtime = await open(place, { policy: { tenants } as Policy })
  const namesOf = (tenant: string) =>
    runtime
      .session({ tenant })
      .tools()
      .map(({ tool }) => tool)
  expect([namesOf('a'), namesOf('b')]).toEqual([['demo.read', 'demo.write'], []])
  expect(await runtime.session({ tenant: 'b' }).call('demo.read', {})).toMatchObject({ ok: false })
})

test('while a runtime goes on, an installed newer version changes nothing of it, and two of them leave it nothing to run (NEXT-4)', async () => {
  const place = await installed(versioned('1.0.0'))
  const runtime = await open(place)
  const session = runtime.session()
  const call = async () => (await session.call('demo.read', {})).error?.reason
  const install = async (version: string) =>
    handrail(place, ['caplet', 'install', await pack(place, versioned(version), files)])
  expect(await call()).toBeUndefined()
  await install('2.0.0')
  expect(await call()).toBeUndefined()
  await install('3.0.0')
  expect(await call()).toBe('command_not_found')
})

test('an abort ends the program of a caplet, and a call that waits goes on in another process with what was signed (NEXT-4, APPR-1)', async () => {
  const waits = {
    tool: { ...about, name: 'demo.wait', permission: 'readonly', command: './wait.sh', args: [] },
  }
  const place = await installed(writing, waits)
  const store = { path: join(place.user, 'waiting.db') }
  const one = await open(place, { store, home: place.home })
  const stop = new AbortController()
  const running = one.session().call('demo.wait', {}, { signal: stop.signal })
  setImmediate(() => stop.abort())
  expect((await running).outcome).toBe('aborted')
  const wish = (id: string) => [{ id, tool: 'demo.write', input: {} }]
  const first = await one.session({ id: 'w' }).step(wish('first'))
  const second = await one.session({ id: 'w' }).step(wish('second'))
  await one.close()
  const other = await open(place, { store, home: place.home })
  const session = other.session({ id: 'w' })
  const allow = async (step: typeof first) => {
    const [waiting] = step.waiting
    await other.approvals.decide(waiting?.approval.id ?? '', { decision: 'allow_once', by: 'ann' })
    return session.resume(step)
  }
  expect((await allow(first)).results).toMatchObject([{ ok: true }])
  const written = () => readFileSync(join(place.project, 'written.txt'), 'utf8')
  expect(written()).toBe('x\n')
  const folder = join(place.home, 'caplets', 'demo.write')
  const [digest = ''] = readdirSync(folder).filter((name) => !name.includes('.'))
  appendFileSync(join(folder, digest, 'run.sh'), 'echo more\n')
  expect((await allow(second)).results).toMatchObject([{ error: { reason: 'executable_blocked' } }])
  expect(written()).toBe('x\n')
})
