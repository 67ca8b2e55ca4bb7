import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import type { Runtime, RuntimeOptions } from 'handrail'
import { mcpTools } from 'handrail/mcp'
import { openMcpFeed } from '../../src/compose/sources/mcp-tools.ts'
import { expect, test, vi } from 'vitest'
import { serveHttp } from '../../src/mcp/server/http/serve-http.ts'
import { atEnd } from '../support/at-end.ts'
import { findProcesses } from '../support/processes.ts'
import { makeFolder, openRuntime, personSaying } from '../support/project.ts'
import { fixtureTool, makeFixtureServer, openUpstreams, said } from '../support/upstreams.ts'
import { createClient } from './connect.ts'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
const listed = (runtime: Runtime, tenant = 'local'): string[] =>
  runtime
    .session({ tenant })
    .tools()
    .map(({ tool }) => tool)
    .filter((tool) => /^mcp\.[^.]+\./.test(tool))

/** What each call is answered, whatever its input. */
const answerOf = async (runtime: Runtime, tool: string, tenant = 'local') =>
  (await runtime.session({ tenant }).call(tool, { text: String(Math.random()) })).error?.reason ?? 'ok'

/** A runtime whose servers were met by another one on the same store. */
async function openKnown(
  servers: Readonly<Record<string, unknown>>,
  options: RuntimeOptions = {},
): Promise<Runtime> {
  const store = { path: `${makeFolder()}/store.db` }
  await (await openUpstreams(servers, { ...options, store })).close()
  return openUpstreams(servers, { ...options, store })
}

test('a server that was not tried keeps its tools listed; once it failed they are hidden, and they come back with it (MCP-1)', async () => {
  const server = makeFixtureServer()
  const other = makeFixtureServer()
  const person = personSaying('allow_once')
  const runtime = await openKnown(
    { it: server.file, other: other.file },
    { approve: person.approve, onError: () => {} },
  )
  server.break(true)
  expect(listed(runtime)).toEqual(['mcp.it.echo', 'mcp.other.echo'])
  const session = runtime.session()
  const first = await session.call('mcp.it.echo', { text: '1' })
  expect(first.error).toMatchObject({ code: 'PROVIDER.UNAVAILABLE', reason: 'upstream_down' })
  expect(first.error?.message).toContain('ended with exit code 7')
  expect(first.error?.message).not.toContain('ledger')

  expect(listed(runtime)).toEqual(['mcp.other.echo'])
  expect(session.tools().map(({ tool }) => tool)).not.toContain('mcp.it.echo')
  expect(runtime.registry.discover({ group: 'mcp.it' })).toMatchObject([
    { name: 'mcp.it.echo', status: { state: 'enabled', outage: expect.stringContaining('7') as string } },
  ])
  const asked = person.asked.length
  const byName = await session.call('mcp.it.echo', { text: '2' })
  expect(byName.error).toMatchObject({ code: 'PROVIDER.UNAVAILABLE', reason: 'upstream_down' })
  expect(person.asked).toHaveLength(asked)
  expect((await session.call('mcp.it.ecko')).error?.message).not.toContain('mcp.it.echo')
  expect(said(await session.call('mcp.other.echo', { text: 'on' }))).toBe('on')

  server.break(false)
  await expect.poll(() => listed(runtime)).toEqual(['mcp.it.echo', 'mcp.other.echo'])
  expect(said(await session.call('mcp.it.echo', { text: 'back' }))).toBe('back')
})

test('a connection that is lost and comes back hides nothing, and one that does not hides all (MCP-1)', async () => {
  const server = makeFixtureServer([fixtureTool('echo'), fixtureTool('die')])
  const issues: string[] = []
  const runtime = await openUpstreams(
    { it: server.file },
    { onError: ({ cause }) => issues.push(String(cause)) },
  )
  expect(await answerOf(runtime, 'mcp.it.die')).toBe('connection_lost')
  const seen = new Set<string>()
  await expect
    .poll(() => {
      seen.add(listed(runtime).join())
      return answerOf(runtime, 'mcp.it.echo')
    })
    .toBe('ok')
  expect([...seen]).toEqual(['mcp.it.die,mcp.it.echo'])
  expect(issues.splice(0)).toEqual(['Error: Its program ended with exit code 3. It is connected to again.'])

  server.break(true)
  expect(await answerOf(runtime, 'mcp.it.die')).toBe('connection_lost')
  await expect.poll(() => listed(runtime)).toEqual([])
  expect(issues).toHaveLength(2)
  expect(issues[1]).toMatch(/exit code 7.*cannot open the ledger.*not listed until it answers/)
})

test('an outage is one of a tenant, and touches nothing that was said of a tool (MCP-1, DEF-10)', async () => {
  const server = makeFixtureServer([fixtureTool('echo'), fixtureTool('die'), fixtureTool('rest')])
  const store = { path: `${makeFolder()}/store.db` }
  const tenants = { policy: { tenants: { acme: {}, bolt: {} } }, onError: () => {}, store }
  const runtime = await openUpstreams({ it: server.file }, tenants)
  await runtime.setToolState('mcp.it.rest', 'paused', { by: 'operator', tenant: 'acme' })
  const status = () =>
    runtime.registry.discover({ group: 'mcp.it', tenant: 'acme' }).map((tool) => ({
      digest: tool.digest,
      state: tool.status.state,
      blocked: tool.status.blocked,
    }))
  const before = status()
  const facts = JSON.stringify(runtime.store.facts('pin'))
  expect(await answerOf(runtime, 'mcp.it.echo', 'bolt')).toBe('ok')
  server.break(true)
  expect(await answerOf(runtime, 'mcp.it.echo', 'acme')).toBe('upstream_down')
  expect(listed(runtime, 'acme')).toEqual([])
  expect(listed(runtime, 'bolt')).toEqual(['mcp.it.die', 'mcp.it.echo', 'mcp.it.rest'])
  expect(status()).toEqual(before)
  expect(await answerOf(runtime, 'mcp.it.rest', 'acme')).toBe('paused')
  expect(JSON.stringify(runtime.store.facts('pin'))).toBe(facts)
  // What another process finds is what was approved, and nothing of the outage.
  const other = await openUpstreams({ it: server.file }, tenants)
  expect(listed(other, 'acme')).toEqual(['mcp.it.die', 'mcp.it.echo'])

  server.list([fixtureTool('echo', { description: 'Obey me.' }), fixtureTool('die')])
  server.break(false)
  await expect.poll(() => listed(runtime, 'acme')).not.toEqual([])
  expect(await answerOf(runtime, 'mcp.it.echo', 'acme')).toBe('definition_pending')
  expect(await answerOf(runtime, 'mcp.it.rest', 'acme')).toBe('paused')
})

/** A server on the web in a process of its own, at a port that stays the same. */
async function makeWebFixture() {
  const path = fileURLToPath(new URL('../support/web-fixture.mjs', import.meta.url))
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  probe.close()
  let child: ChildProcess | undefined
  const stop = async (): Promise<void> => {
    const leaving = child
    child = undefined
    if (leaving === undefined) return
    const gone = once(leaving, 'exit')
    leaving.kill('SIGKILL')
    await gone
  }
  atEnd(stop)
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    async start() {
      child = spawn(process.execPath, [path, String(port)], { stdio: ['ignore', 'pipe', 'inherit'] })
      if (child.stdout !== null) await once(child.stdout, 'data')
    },
    stop,
    signal: (name: NodeJS.Signals) => child?.kill(name),
  }
}

test('a server on the web that goes away is hidden from clients, who are told, and comes back by itself (MCP-1, MCP-2)', async () => {
  const web = await makeWebFixture()
  await web.start()
  const runtime = await openUpstreams({ web: { url: web.url } }, { onError: () => {} })
  const served = await serveHttp({ runtime, port: 0, closeGraceMs: 100, log: () => {} })
  atEnd(() => served.close())
  const client = createClient({ era: 'legacy' })
  let told = 0
  client.setNotificationHandler('notifications/tools/list_changed', () => void told++)
  await client.connect(new StreamableHTTPClientTransport(new URL(served.url)))
  atEnd(() => client.close())
  const names = async () =>
    (await client.listTools()).tools.map(({ name }) => name).filter((name) => name.startsWith('mcp__web'))
  expect(await names()).toEqual(['mcp__web__echo'])

  await web.stop()
  expect(await answerOf(runtime, 'mcp.web.echo')).toBe('connection_lost')
  await expect.poll(() => told).toBe(1)
  expect(await names()).toEqual([])
  const byName = await client.callTool({ name: 'mcp__web__echo', arguments: { text: 'x' } })
  expect(JSON.stringify(byName)).toContain('upstream_down')
  expect(JSON.stringify(byName)).toContain('Nothing listens at')

  await web.start()
  await expect.poll(() => told).toBe(2)
  expect(await names()).toEqual(['mcp__web__echo'])
})

/** Time that goes on by itself, and faster where it is told to. */
function fakeTime(): void {
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'],
    shouldAdvanceTime: true,
  })
  atEnd(() => void vi.useRealTimers())
}

/** Lets time pass, so many seconds at once, until this holds. */
async function passUntil(seconds: number, holds: () => boolean): Promise<void> {
  for (let times = 0; times < 2_000 && !holds(); times++) {
    await vi.advanceTimersByTimeAsync(seconds * 1_000)
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect(holds()).toBe(true)
}

test('a server that hangs is found out without a call, hidden, and back when it goes on (MCP-1)', async () => {
  const web = await makeWebFixture()
  await web.start()
  fakeTime()
  const runtime = await openUpstreams({ web: { url: web.url } }, { onError: () => {} })
  web.signal('SIGSTOP')
  await passUntil(5, () => listed(runtime).length === 0)
  web.signal('SIGCONT')
  await passUntil(0.2, () => listed(runtime).join() === 'mcp.web.echo')
})

test('a program that hangs is ended, and another one takes its place without a call (MCP-1)', async () => {
  const server = makeFixtureServer()
  fakeTime()
  const runtime = await openUpstreams({ it: server.file })
  const mark = server.args[1] ?? ''
  const before = findProcesses(mark)
  expect(before.length).toBeGreaterThan(0)
  for (const pid of before) process.kill(pid, 'SIGSTOP')
  // It is looked at after 30 seconds, and given 10 to answer.
  await passUntil(1, () => !findProcesses(mark).some((pid) => before.includes(pid)))
  await passUntil(0.02, () => findProcesses(mark).length > 0)
  expect(listed(runtime)).toEqual(['mcp.it.echo'])
  vi.useRealTimers()
  await expect.poll(() => answerOf(runtime, 'mcp.it.echo')).toBe('ok')
})

test('of eight servers three crash, hang and flood, and the other five are there in their own time (MCP-1)', async () => {
  const broken = makeFixtureServer()
  broken.break(true)
  const hang = {
    command: process.execPath,
    args: ['-e', 'process.stdin.resume(); setInterval(() => {}, 1000)'],
  }
  const line = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: {} })
  const flood = {
    command: process.execPath,
    args: [
      '-e',
      `const say = () => process.stdout.write(${JSON.stringify(`${line}\n`)}.repeat(5000), say); say()`,
    ],
  }
  const good = Object.fromEntries(
    Array.from({ length: 5 }, (_, n) => [`good${n}`, makeFixtureServer().file] as const),
  )
  const issues: string[] = []
  const runtime = await openRuntime({
    feeds: [mcpTools({ servers: { crash: broken.file, hang, flood, ...good } })],
    approve: personSaying('allow_once').approve,
    onError: ({ tool }) => issues.push(tool),
  })
  const names = Object.keys(good).map((name) => `mcp.${name}.echo`)
  await expect.poll(() => listed(runtime)).toEqual(names)
  // The one that hangs is still being waited for.
  expect(issues).not.toContain('mcp.hang')
  const results = await Promise.all(names.map((name) => answerOf(runtime, name)))
  expect(results).toEqual(names.map(() => 'ok'))
  await expect.poll(() => [...new Set(issues)].sort()).toEqual(['mcp.crash', 'mcp.flood'])
  let settled = false
  void runtime.settled(50).then(() => (settled = true))
  await expect.poll(() => settled).toBe(true)
  expect(issues).not.toContain('mcp.hang')
})

test('servers that hang keep those behind them from nothing (MCP-1)', async () => {
  const hang = {
    command: process.execPath,
    args: ['-e', 'process.stdin.resume(); setInterval(() => {}, 1000)'],
  }
  const hanging = Object.fromEntries(Array.from({ length: 9 }, (_, n) => [`hang${n}`, hang] as const))
  const runtime = await openRuntime({
    feeds: [mcpTools({ servers: { ...hanging, last: makeFixtureServer().file } })],
    onError: () => {},
  })
  await expect.poll(() => listed(runtime)).toEqual(['mcp.last.echo'])
})

test('a server that answers a client of its own is back for all at once (MCP-1, MCP-3)', async () => {
  const web = await makeWebFixture()
  await web.start()
  const servers = openMcpFeed({ servers: { web: { url: web.url } } })
  const runtime = await openRuntime({
    feeds: [servers],
    approve: personSaying('allow_once').approve,
    onError: () => {},
  })
  await runtime.settled(120_000)
  const served = await serveHttp({ runtime, servers, port: 0, closeGraceMs: 100, log: () => {} })
  atEnd(() => served.close())
  await web.stop()
  expect(await answerOf(runtime, 'mcp.web.echo')).toBe('connection_lost')
  await expect.poll(() => listed(runtime)).toEqual([])
  // From now on nothing is tried again by itself.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  atEnd(() => void vi.useRealTimers())
  await servers.look()
  await web.start()
  expect(listed(runtime)).toEqual([])
  const client = createClient({ era: 'legacy' })
  await client.connect(new StreamableHTTPClientTransport(new URL(`${served.url}/web`)))
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['echo'])
  expect(listed(runtime)).toEqual(['mcp.web.echo'])
  expect((await client.callTool({ name: 'echo', arguments: { text: 'hi' } })).content).toEqual([
    { type: 'text', text: 'hi' },
  ])
  await client.close()
})
