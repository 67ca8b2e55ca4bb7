import { chmodSync, chownSync, existsSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { mcpTools } from 'handrail/mcp'
import { expect, onTestFinished, test, vi } from 'vitest'
import { makeFolder, openRuntime, personSaying } from '../support/project.ts'
import { fixtureTool, makeFixtureServer, said } from '../support/upstreams.ts'

/** The folder of a person, into which whoever runs their programs comes. */
function makeHome(mcpServers: object): string {
  return makeFolder({ 'mcp.json': JSON.stringify({ mcpServers }) })
}

async function open(home: string, more: object = {}) {
  const runtime = await openRuntime({
    feeds: [mcpTools({ path: join(home, 'mcp.json') })],
    approve: personSaying('allow_once').approve,
    sensitivePaths: [home],
    ...more,
  })
  await runtime.settled(120_000)
  const reach = async (
    server: string,
    input: { write: string; files: readonly string[] },
    tenant = 'local',
  ) => {
    const session = runtime.session({ tenant })
    const result = await session.call(`mcp.${server}.reach`, { ...input, url: 'http://127.0.0.1:9/' })
    return JSON.parse(said(result)) as { files: string[]; written: string }
  }
  return { runtime, reach }
}

const tools = ['reach', 'environment'].map((name) => fixtureTool(name))

test('what a server writes to its home is there when it is started again, for it alone, whatever it is called (MCP-1)', async () => {
  const [one, two] = [makeFixtureServer(tools), makeFixtureServer(tools)]
  const home = makeHome({ one: one.file, two: two.file })
  const folder = (server: string) => join(home, 'servers', server)
  const secret = join(folder('one'), '.env')
  const first = await open(home)
  const { env } = JSON.parse(said(await first.runtime.session().call('mcp.one.environment'))) as {
    env: Record<string, string>
  }
  expect(env['HOME']).toBe(folder('one'))
  expect((await first.reach('one', { write: secret, files: [] })).written).toBe('yes')
  await first.runtime.close()
  const { reach } = await open(home)
  expect(await reach('one', { write: '/x', files: [secret] })).toMatchObject({
    files: ['x'],
    written: 'EROFS',
  })
  expect(await reach('two', { write: secret, files: [secret] })).toMatchObject({
    files: ['ENOENT'],
    written: 'ENOENT',
  })
  await reach('one', { write: join(home, 'x'), files: [] })
  expect(existsSync(join(home, 'x'))).toBe(false)
})

test('a home lies in the folder of the person also where that is shown to programs, and nothing else of it (MCP-1)', async () => {
  const server = makeFixtureServer(tools)
  const person = makeFolder({ 'own/mcp.json': '' })
  const home = join(person, 'own')
  const file = { ...server.file, read: [...server.read, person] }
  writeFileSync(join(home, 'mcp.json'), JSON.stringify({ mcpServers: { it: file } }))
  const { reach } = await open(home)
  const write = join(home, 'servers', 'it', 'x')
  expect(await reach('it', { write, files: [join(home, 'mcp.json')] })).toMatchObject({
    files: ['ENOENT'],
    written: 'yes',
  })
})

test('each tenant has a home of its own at a server (MCP-1, REG-3)', async () => {
  const server = makeFixtureServer(tools)
  const home = makeHome({ it: { ...server.file, tenants: ['acme', 'bolt'] } })
  const { reach } = await open(home, { policy: { tenants: { acme: {}, bolt: {} } } })
  const kept = join(home, 'servers', 'it@acme', 'x')
  expect((await reach('it', { write: kept, files: [] }, 'acme')).written).toBe('yes')
  expect((await reach('it', { write: kept, files: [kept] }, 'bolt')).files).toEqual(['ENOENT'])
})

test('where whoever runs the programs does not come to the folder of the person, a home lies where they do, and stays (MCP-1)', async () => {
  const server = makeFixtureServer(tools)
  const home = makeHome({ it: server.file })
  // Only root runs programs as somebody else.
  if (process.getuid?.() === 0) chownSync(home, 0, 0)
  chmodSync(home, 0o700)
  const homeOf = async () => {
    const { runtime } = await open(home)
    const { env } = JSON.parse(said(await runtime.session().call('mcp.it.environment'))) as {
      env: { HOME: string }
    }
    await runtime.close()
    return env.HOME
  }
  const first = await homeOf()
  onTestFinished(() => rmSync(dirname(first), { recursive: true, force: true }))
  expect(await homeOf()).toBe(first)
  expect(first.startsWith(process.getuid?.() === 0 ? '/var/lib/handrail/' : home)).toBe(true)
})

test('a program that the run before called is started before it is called, and no other (MCP-1)', async () => {
  const [used, idle] = [makeFixtureServer(), makeFixtureServer()]
  const home = makeHome({ used: used.file, idle: idle.file })
  const options = { store: { path: join(home, 'store.db') } }
  const serve = () =>
    open(home, { ...options, feeds: [mcpTools({ path: join(home, 'mcp.json'), follow: true })] })
  const first = await serve()
  await first.runtime.session().call('mcp.used.echo', { text: 'x' })
  await first.runtime.close()
  const before = [used.asked().length, idle.asked().length]
  const once = await open(home, options)
  await once.runtime.close()
  expect([used.asked().length, idle.asked().length]).toEqual(before)
  const { runtime } = await serve()
  await vi.waitFor(() => expect(used.asked().slice(before[0])).toContain('tools/list'))
  const { content } = await runtime.session().call('mcp.used.echo', { text: 'y' })
  expect(said({ content })).toBe('y')
  expect(
    used
      .asked()
      .slice(before[0])
      .filter((method) => method === 'initialize'),
  ).toHaveLength(1)
  expect(idle.asked()).toHaveLength(before[1] ?? 0)
  await runtime.close()
  // What is not a list counts as none.
  writeFileSync(join(home, 'servers', '.called.json'), '{')
  const last = await serve()
  expect(said(await last.runtime.session().call('mcp.idle.echo', { text: 'z' }))).toBe('z')
})
