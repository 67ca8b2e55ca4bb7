import { Client, StreamableHTTPClientTransport, type ElicitResult } from '@modelcontextprotocol/client'
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { fixtureTools } from '../conformance/fixture-tools.ts'
import { startFixture, type Fixture } from '../conformance/start-fixture.ts'
import { atEnd, keepOpen } from '../support/at-end.ts'
import { handrail, makePlace, type Place } from '../support/command-line.ts'
import { startServer } from '../support/start-command.ts'
import { connectRaw, serveRaw } from '../support/raw-client.ts'
import { realServer } from '../support/real-servers.ts'
import { startScripted } from '../support/scripted-server.ts'
import { fixtureTool, makeFixtureServer } from '../support/upstreams.ts'
import { textOf, type Era } from './connect.ts'
import { firstOf } from '../support/rounds.ts'

const eras = firstOf(['legacy', 'modern'] as const)

const allowAll = { rules: [{ id: 'all', effect: 'allow', tools: ['mcp.*'] }] }

interface Serving {
  readonly url: string
  readonly place: Place
  readonly fixture: Fixture
}

/**
 * `handrail serve` of a person with these files, in front of the fixture unless they name other servers. Under another name it has less
 * time for a call.
 */
async function serve(own: Readonly<Record<string, unknown>> = {}): Promise<Serving> {
  const fixture = await startFixture()
  atEnd(() => fixture.close())
  const servers = {
    mcpServers: { fixture: { url: fixture.url }, hasty: { url: fixture.url, timeout_ms: 500 } },
  }
  const place = makePlace({}, { 'mcp.json': servers, 'policy.json': allowAll, ...own })
  const { url } = await startServer(place)
  return { url, place, fixture }
}

const deny = { id: 'no', effect: 'deny', tools: ['mcp.hasty.test_image_content'] }

/** What most tests share: a Handrail that allows every call but one, and one that asks. */
const allowing = keepOpen(() => serve({ 'policy.json': { rules: [...allowAll.rules, deny] } }))
const asking = keepOpen(() => serve({ 'policy.json': {} }))

interface Speaking {
  readonly era?: Era
  readonly headers?: Record<string, string>
  readonly onAsk?: (message: string) => ElicitResult | Promise<ElicitResult>
}

/** A client of one server; it can ask its person where it is said what they answer. */
async function speakWith(url: string, { era = 'legacy', headers = {}, onAsk }: Speaking = {}) {
  const client = new Client(
    { name: 'test', version: '1.0.0' },
    {
      capabilities: onAsk === undefined ? {} : { elicitation: { form: {} } },
      versionNegotiation: { mode: era === 'legacy' ? 'legacy' : { pin: '2026-07-28' } },
    },
  )
  if (onAsk !== undefined)
    client.setRequestHandler('elicitation/create', ({ params }) => onAsk(params.message))
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }))
  onTestFinished(() => client.close())
  return client
}

/** The calls that the evidence holds, oldest first. */
async function recorded(place: Place): Promise<{ tool: string; outcome: string }[]> {
  const { stdout } = await handrail(place, ['evidence', 'list', '--json'])
  return JSON.parse(stdout) as { tool: string; outcome: string }[]
}

const abortedIn = (place: Place) => async () =>
  (await recorded(place)).filter(({ outcome }) => outcome === 'aborted').length

test.each(eras)(
  'a server is shown under its own names, its results are as it said them, and each call leaves its evidence: %s (MCP-3)',
  async (era) => {
    const { url, place } = allowing()
    const client = await speakWith(`${url}/fixture`, { era })
    const { tools } = await client.listTools()
    expect(tools).toEqual([...fixtureTools.values()].map(({ definition }) => definition))
    const plain = await client.callTool({ name: 'test_simple_text' })
    expect(plain.content).toEqual([{ type: 'text', text: 'This is a simple text response for testing.' }])
    const embedded = await client.callTool({ name: 'test_embedded_resource' })
    expect(embedded.content).toEqual([
      {
        type: 'resource',
        resource: { uri: 'test://embedded-resource', mimeType: 'text/plain', text: 'Embedded.' },
      },
    ])
    const failed = await client.callTool({ name: 'test_error_handling' })
    expect(failed).toMatchObject({
      isError: true,
      content: [{ type: 'text', text: 'This tool intentionally returns an error for testing' }],
    })
    expect(failed.content).toHaveLength(1)
    expect((await recorded(place)).map(({ tool, outcome }) => [tool, outcome])).toEqual(
      expect.arrayContaining([
        ['mcp.fixture.test_simple_text', 'ok'],
        ['mcp.fixture.test_error_handling', 'failed'],
      ]),
    )
  },
)

test.each(eras)('progress comes through, and a cancelled call is aborted: %s (MCP-3)', async (era) => {
  const { url, place } = allowing()
  const client = await speakWith(`${url}/fixture`, { era })
  const before = await abortedIn(place)()
  const seen: number[] = []
  const stop = new AbortController()
  await client.callTool(
    { name: 'test_tool_with_progress' },
    { onprogress: ({ progress }) => void seen.push(progress) },
  )
  // What comes within a moment of what was told before is left out, but for the end.
  expect([seen[0], seen.at(-1)]).toEqual([0, 100])
  const cancelled = client.callTool(
    { name: 'test_tool_with_progress' },
    { signal: stop.signal, onprogress: () => stop.abort() },
  )
  await expect(cancelled).rejects.toThrow('abort')
  await expect.poll(abortedIn(place)).toBe(before + 1)
})

test.each(eras)(
  'the client is asked before a resource is read, where a yes is needed: %s (MCP-3)',
  async (era) => {
    const { url } = asking()
    const asked: string[] = []
    const onAsk = (message: string): ElicitResult => {
      asked.push(message)
      return { action: 'accept', content: { decision: asked.length === 1 ? 'allow_once' : 'deny' } }
    }
    const client = await speakWith(`${url}/fixture`, { era, onAsk })
    const resource = { uri: 'test://static-text' }
    expect((await client.readResource(resource)).contents).toHaveLength(1)
    await expect(client.readResource(resource)).rejects.toThrow('denied')
    expect(asked).toEqual([expect.stringContaining('resource'), expect.stringContaining('resource')])
  },
)

test('what is denied is denied here too, in our own words (MCP-3)', async () => {
  const client = await speakWith(`${allowing().url}/hasty`)
  const denied = await client.callTool({ name: 'test_image_content' })
  expect(denied.isError).toBe(true)
  expect(textOf(denied)).toMatch(/^POLICY\.DENY_TOOL/)
  const unknown = await client.callTool({ name: 'no_such_tool' })
  expect(textOf(unknown)).toMatch(/^POLICY\.DENY_TOOL \(tool_not_available\)/)
})

test.each(eras)(
  'a call that needs a yes asks the person of the client before the server hears of it: %s (MCP-3)',
  async (era) => {
    const { url } = asking()
    const asked: string[] = []
    const client = await speakWith(`${url}/fixture`, {
      era,
      onAsk: (message) => {
        asked.push(message)
        return { action: 'accept', content: { decision: 'allow_once', ok: true } }
      },
    })
    const { content } = await client.callTool({ name: 'test_streaming_elicitation' })
    expect(asked).toHaveLength(2)
    expect(asked[0]).toContain('mcp.fixture.test_streaming_elicitation')
    expect(asked[1]).toBe('The MCP server "fixture" asks: Go on?')
    expect(textOf({ content })).toContain('"ok":true')
  },
)

test.each(eras)(
  'the time of a call stands still while its server waits for the person of the client: %s (MCP-3)',
  async (era) => {
    const client = await speakWith(`${allowing().url}/hasty`, {
      era,
      onAsk: () => wait(1_500, { action: 'accept', content: { ok: true } }),
    })
    // A busy machine may take too long beside. If the time did not stand still, no try would be in time.
    await vi.waitFor(async () => {
      const done = await client.callTool({ name: 'test_streaming_elicitation' })
      expect(textOf(done)).toContain('"ok":true')
    })
  },
)

test.each(eras)(
  'prompts, resources and completion are those of the server, and reading is a governed call: %s (MCP-3)',
  async (era) => {
    const { url, place } = allowing()
    const client = await speakWith(`${url}/fixture`, { era })
    const { prompts } = await client.listPrompts()
    expect(prompts.map(({ name }) => name)).toContain('test_prompt_with_arguments')
    const prompt = await client.getPrompt({
      name: 'test_prompt_with_arguments',
      arguments: { arg1: 'one', arg2: 'two' },
    })
    expect(JSON.stringify(prompt.messages)).toContain('two')
    expect((await client.listResources()).resources).toHaveLength(3)
    const read = await client.readResource({ uri: 'test://template/7/data' })
    expect(read.contents).toEqual([
      { uri: 'test://template/7/data', mimeType: 'application/json', text: '{"id":"7"}' },
    ])
    await expect(client.readResource({ uri: 'test://nowhere' })).rejects.toMatchObject({
      code: -32_602,
      data: { uri: 'test://nowhere' },
    })
    const completed = await client.complete({
      ref: { type: 'ref/prompt', name: 'test_prompt_with_arguments' },
      argument: { name: 'arg1', value: 'be' },
    })
    expect(completed.completion.values).toEqual(['being'])
    expect((await recorded(place)).map(({ tool }) => tool)).toContain('mcp.read_resource')
  },
)

test('what a server logs goes to the session whose call it belongs to, and to no other (MCP-3)', async () => {
  const { url } = allowing()
  const heard = { one: 0, other: 0 }
  const clients = { one: await speakWith(`${url}/fixture`), other: await speakWith(`${url}/fixture`) }
  for (const name of ['one', 'other'] as const)
    clients[name].setNotificationHandler('notifications/message', () => void heard[name]++)
  await clients.one.callTool({ name: 'test_tool_with_logging' })
  await clients.other.callTool({ name: 'test_simple_text' })
  expect(heard).toEqual({ one: 3, other: 0 })
})

test.each(eras)(
  'a first call waits until the tools of a server that was never met before are in place: %s (MCP-3)',
  async (era) => {
    const second = Promise.withResolvers<void>()
    let lists = 0
    const server = await startScripted(async ({ method }) => {
      if (method !== 'tools/list') return undefined
      lists++
      if (lists > 1) second.resolve()
      if (lists > 1) return undefined
      // The view has asked and was answered long before the tools are known here.
      await second.promise
      await wait(500)
      return undefined
    })
    const place = makePlace(
      {},
      { 'mcp.json': { mcpServers: { it: { url: server.url } } }, 'policy.json': allowAll },
    )
    const { ask } = await connectRaw(`${await serveRaw(place)}/it`, era)
    const { messages } = await ask({ id: 1, method: 'tools/call', params: { name: 'act', arguments: {} } })
    expect(messages.at(-1)?.result?.['isError']).toBeUndefined()
    expect(server.calls()).toHaveLength(1)
  },
)

test.each(eras)(
  'a server that has other tools than are remembered of it is shown with those it has: %s (MCP-3)',
  async (era) => {
    const server = makeFixtureServer([fixtureTool('echo')])
    const place = makePlace({}, { 'mcp.json': { mcpServers: { it: server.file } }, 'policy.json': allowAll })
    expect((await handrail(place, ['mcp', 'status'])).stdout).toContain('1 tool')
    server.list([fixtureTool('environment'), fixtureTool('echo')])
    const { ask } = await connectRaw(`${await serveRaw(place)}/it`, era)
    const { messages } = await ask({ id: 1, method: 'tools/list' })
    expect(messages.at(-1)?.result).toMatchObject({ tools: [{ name: 'environment' }, { name: 'echo' }] })
  },
)

test('a change of the tools is told to the session (MCP-3)', async () => {
  const { url } = allowing()
  const client = await speakWith(`${url}/fixture`)
  const { promise, resolve } = Promise.withResolvers<void>()
  client.setNotificationHandler('notifications/tools/list_changed', () => resolve())
  await client.callTool({ name: 'test_trigger_tool_change' })
  await promise
})

test.each(eras)(
  'clients of a server that the operator replaced are with the new one: %s (MCP-3)',
  async (era) => {
    const { url, place, fixture } = await serve()
    const before = await speakWith(`${url}/fixture`, { era })
    await before.callTool({ name: 'test_simple_text' })
    const other = await startFixture()
    onTestFinished(() => other.close())
    const servers = { mcpServers: { fixture: { url: other.url } } }
    writeFileSync(join(place.home, 'mcp.json'), JSON.stringify(servers))
    await fixture.close()
    const call = async (): Promise<string> => {
      try {
        // A session that is over says so, and its client shakes hands again.
        const client = era === 'modern' ? before : await speakWith(`${url}/fixture`, { era })
        await client.listPrompts()
        return textOf(await client.callTool({ name: 'test_simple_text' }))
      } catch (error) {
        return String(error)
      }
    }
    await expect.poll(call, { interval: 250 }).toBe('This is a simple text response for testing.')
    if (era === 'legacy') await expect(before.listTools()).rejects.toMatchObject({ status: 404 })
  },
)

test('a server that the caller does not have is not there, and those that are there are named (MCP-3)', async () => {
  const sha256 = (token: string) => createHash('sha256').update(token).digest('hex')
  const tokens = [
    { id: 'a', sha256: sha256('token-a'), actor: 'a', tenant: 'acme', disallowedTools: ['*.get-env'] },
    { id: 'b', sha256: sha256('token-b'), actor: 'b' },
  ]
  const { url } = await serve({
    'gateway.json': { tokens },
    'policy.json': { ...allowAll, tenants: { acme: {}, local: {} } },
    'mcp.json': {
      mcpServers: {
        everything: { ...realServer('everything'), tenants: ['acme'] },
        memory: realServer('memory'),
      },
    },
  })
  const post = (server: string, token: string) =>
    fetch(`${url}/${server}`, { method: 'POST', headers: { authorization: `Bearer ${token}` } })
  expect((await fetch(`${url}/memory`, { method: 'POST' })).status).toBe(401)
  const missing = await post('everything', 'token-b')
  expect(missing.status).toBe(404)
  expect(await missing.json()).toMatchObject({ error: { data: { servers: ['memory'] } } })
  const unknown = await post('nothing', 'token-a')
  expect(await unknown.json()).toMatchObject({ error: { data: { servers: ['everything', 'memory'] } } })
  const client = await speakWith(`${url}/everything`, { headers: { authorization: 'Bearer token-a' } })
  const { tools } = await client.listTools()
  const names = tools.map(({ name }) => name)
  expect(names).toContain('echo')
  expect(names).not.toContain('get-env')
  const { content } = await client.callTool({ name: 'echo', arguments: { message: 'hi' } })
  expect(content).toEqual([{ type: 'text', text: 'Echo: hi' }])
})
