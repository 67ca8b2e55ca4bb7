import { createHash } from 'node:crypto'
import { StreamableHTTPClientTransport, type Client } from '@modelcontextprotocol/client'
import { artifactTools, defineTool, toolOutput } from 'handrail'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createClientSession } from '../../src/mcp/server/session/client-session.ts'
import { createMcpServers } from '../../src/mcp/server/methods/mcp-server.ts'
import type { HttpOptions, HttpServer } from '../../src/mcp/server/http/serve-http.ts'
import { createClientTasks } from '../../src/mcp/server/tasks/client-tasks.ts'
import { handrail, makePlace } from '../support/command-line.ts'
import { makeFolder, openRuntime } from '../support/project.ts'
import { toServer } from '../support/serve-stdio.ts'
import { createClient, startHttp, type Era } from './connect.ts'
import { createFakeRuntime } from './fake-runtime.ts'
import { firstOf } from '../support/rounds.ts'

const eras = firstOf(['legacy', 'modern'] as const)

const leave = defineTool({
  name: 'demo.leave',
  description: 'Leaves an artifact.',
  permission: 'readonly',
  async run(context) {
    const artifact = await context.artifact('some words', { mimeType: 'text/plain' })
    return toolOutput({ content: 'left', artifacts: [artifact] })
  },
})
const another = defineTool({
  name: 'demo.another',
  description: 'Comes later.',
  permission: 'readonly',
  run: async () => 'here',
})

/** What a client heard of, in order. */
function hear(client: Client): string[] {
  const heard: string[] = []
  client.setNotificationHandler('notifications/tools/list_changed', () => void heard.push('tools'))
  client.setNotificationHandler('notifications/resources/list_changed', () => void heard.push('resources'))
  return heard
}
const everything = { toolsListChanged: true, resourcesListChanged: true }
const digestOf = (token: string) => createHash('sha256').update(token).digest('hex')

async function openGateway(names: readonly string[] = ['ann'], options: Partial<HttpOptions> = {}) {
  const runtime = await openRuntime({
    tools: [artifactTools(), leave],
    store: { path: `${makeFolder()}/store.db` },
  })
  const tokens = names.map((actor) => ({ id: actor, sha256: digestOf(actor), actor }))
  const server = await startHttp({ runtime, tokens, closeGraceMs: 600_000, ...options })
  onTestFinished(() => server.close())
  return { runtime, server, tokens }
}

async function connect({ url }: HttpServer, era: Era, name = 'ann'): Promise<Client> {
  const client = createClient({ era })
  const requestInit = { headers: { authorization: `Bearer ${name}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }))
  onTestFinished(() => client.close())
  return client
}

test.each(eras)(
  'a client hears over HTTP of tools and of resources that changed: %s (MCP-2)',
  async (era) => {
    const { runtime, server } = await openGateway()
    const client = await connect(server, era)
    expect(client.getServerCapabilities()).toMatchObject({
      tools: { listChanged: true },
      resources: { listChanged: true },
    })
    const heard = hear(client)
    await client.listTools()
    if (era === 'modern') expect((await client.listen(everything)).honoredFilter).toEqual(everything)
    await runtime.register([another])
    await vi.waitFor(() => expect(heard).toEqual(['tools']))
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('demo__another')
    await client.callTool({ name: 'demo__leave', arguments: {} })
    await vi.waitFor(() => expect(heard).toEqual(['tools', 'resources']))
    expect((await client.listResources()).resources).toHaveLength(1)
    // Reading and listing leave nothing that would have to be told.
    await client.readResource({ uri: (await client.listResources()).resources[0]?.uri ?? '' })
    await runtime.setToolState('demo.another', 'paused', { by: 'ops', reason: 'audit' })
    await vi.waitFor(() => expect(heard).toEqual(['tools', 'resources', 'tools']))
  },
)

test.each(eras)('a client hears over the standard streams of what changed: %s (MCP-2)', async (era) => {
  const place = makePlace()
  const client = createClient({
    era,
    onAsk: () => ({ action: 'accept', content: { decision: 'allow_once' } }),
  })
  const heard = hear(client)
  await client.connect(toServer(place))
  onTestFinished(() => client.close())
  await client.listTools()
  if (era === 'modern') expect((await client.listen(everything)).honoredFilter).toEqual(everything)
  const paused = await handrail(place, ['tools', 'pause', 'code.glob', '--reason', 'audit'])
  expect(paused.code).toBe(0)
  await vi.waitFor(() => expect(heard).toEqual(['tools']))
  const argv = ['node', '-e', 'process.stdout.write("x".repeat(100_000))']
  await client.callTool({ name: 'code__run_command', arguments: { argv } })
  await vi.waitFor(() => expect(heard).toEqual(['tools', 'resources']))
})

test('a client that says again and again that it is ready is followed once (MCP-2, MCP-3)', () => {
  const log = (): void => {}
  const client = createClientSession({ runtime: createFakeRuntime([]) })
  const server = createMcpServers({ client, tasks: createClientTasks(log), log })('legacy')
  onTestFinished(() => client.close())
  for (let i = 0; i < 3; i++) server.oninitialized?.()
  expect(client.changes.size).toBe(1)
})

test('a stateless client hears only of what it asked for, of its own calls, and not after it stopped (MCP-2, AUTH-6)', async () => {
  const { runtime, server } = await openGateway(['ann', 'bob'])
  const [first, second, other] = await Promise.all([
    connect(server, 'modern'),
    connect(server, 'modern'),
    connect(server, 'modern', 'bob'),
  ])
  const heard = [first, second, other].map(hear)
  const onlyResources = await first.listen({ resourcesListChanged: true, promptsListChanged: true })
  expect(onlyResources.honoredFilter).toEqual({ resourcesListChanged: true })
  const all = await second.listen(everything)
  await other.listen(everything)
  await first.callTool({ name: 'demo__leave', arguments: {} })
  await vi.waitFor(() => expect(heard.slice(0, 2)).toEqual([['resources'], ['resources']]))
  await all.close()
  await runtime.register([another])
  await vi.waitFor(() => expect(heard[2]).toEqual(['tools']))
  await first.callTool({ name: 'demo__leave', arguments: {} })
  await vi.waitFor(() => expect(heard[0]).toEqual(['resources', 'resources']))
  expect(heard).toEqual([['resources', 'resources'], ['resources'], ['tools']])
})

test('a filter that asks for nothing there is ends at once, and what is none is refused (MCP-2)', async () => {
  const { server } = await openGateway()
  const client = await connect(server, 'modern')
  const nothing = await client.listen({ promptsListChanged: true })
  expect([nothing.honoredFilter, await nothing.closed]).toEqual([{}, 'graceful'])
  const refused = client.listen('tools' as unknown as Parameters<Client['listen']>[0])
  await expect(refused).rejects.toMatchObject({ code: -32_602 })
})

test('one caller has 16 open streams at most, whoever else listens; one that is closed makes room (MCP-2, MCP-3)', async () => {
  const { server } = await openGateway(['ann', 'bob'])
  const ann = await connect(server, 'modern')
  const asked = await Promise.allSettled(Array.from({ length: 20 }, () => ann.listen(everything)))
  const open = asked.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
  expect(open).toHaveLength(16)
  await expect(ann.listen(everything)).rejects.toThrow('16 streams')
  await (await connect(server, 'modern', 'bob')).listen(everything)
  await open[3]?.close()
  await vi.waitFor(() => ann.listen(everything))
})

test('open streams end with the server, at once, and with the token of their caller (MCP-2, MCP-3)', async () => {
  const { server, tokens } = await openGateway(['ann', 'bob'])
  const [ofAnn, ofBob] = await Promise.all(
    ['ann', 'bob'].map(async (name) => (await connect(server, 'modern', name)).listen(everything)),
  )
  server.changeCallers({ tokens: tokens.slice(1) })
  expect(await ofAnn?.closed).toBe('graceful')
  // Calls would have ten minutes.
  await server.close()
  expect(await ofBob?.closed).toBe('graceful')
})

test('an open stream keeps the session of its caller from being idle (MCP-2, MCP-3)', async () => {
  const { runtime, server } = await openGateway(['ann', 'bob'], { sessionIdleMs: 1_000 })
  let ended = 0
  runtime.on(({ type }) => void (type === 'session_ended' && ended++))
  const [ann, bob] = await Promise.all([connect(server, 'modern'), connect(server, 'modern', 'bob')])
  await ann.listen(everything)
  for (const client of [ann, bob]) await client.callTool({ name: 'demo__leave', arguments: {} })
  await vi.waitFor(() => expect(ended).toBe(1))
  expect((await ann.listResources()).resources).toHaveLength(1)
  expect((await bob.listResources()).resources).toHaveLength(0)
})

test('open streams end with a session that is too old; the next request is one of a new session (MCP-2, MCP-3)', async () => {
  const { server } = await openGateway(['ann'], { sessionMs: 1_000 })
  const client = await connect(server, 'modern')
  const heard = hear(client)
  await client.callTool({ name: 'demo__leave', arguments: {} })
  const open = await client.listen(everything)
  expect(await open.closed).toBe('graceful')
  expect(heard).toEqual([])
  expect((await client.listResources()).resources).toEqual([])
})

test('a stream ends when what its caller showed is good no more (MCP-2, MCP-3)', async () => {
  const expiresAt = new Date(Date.now() + 2_000).toISOString()
  const token = { id: 'ann', sha256: digestOf('ann'), actor: 'ann', expiresAt }
  const { server } = await openGateway([], { tokens: [token] })
  const client = await connect(server, 'modern')
  const open = await client.listen(everything)
  expect(await open.closed).toBe('remote')
  expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(expiresAt))
  await expect(client.listTools()).rejects.toThrow()
})

test('nothing of a stream that ended waits until what its caller showed is good no more (MCP-2, MCP-3)', async () => {
  const inHours = 12_345_678
  const expiresAt = new Date(Date.now() + inHours).toISOString()
  const token = { id: 'ann', sha256: digestOf('ann'), actor: 'ann', expiresAt }
  const [set, clear] = [vi.spyOn(globalThis, 'setTimeout'), vi.spyOn(globalThis, 'clearTimeout')]
  onTestFinished(() => void vi.restoreAllMocks())
  const { server } = await openGateway([], { tokens: [token] })
  const open = await (await connect(server, 'modern')).listen(everything)
  const waits = set.mock.calls.map(([, ms = 0]) => ms > inHours / 2 && ms <= inHours)
  const timers = set.mock.results.filter((_, at) => waits[at]).map(({ value }) => value as unknown)
  expect(timers).toHaveLength(1)
  await open.close()
  await vi.waitFor(() => expect(clear.mock.calls.flat()).toContain(timers[0]))
})
