import { Client, StreamableHTTPClientTransport, type ElicitResult } from '@modelcontextprotocol/client'
import { dirname, join } from 'node:path'
import type { Elicitation, JsonObject, ElicitationHandler } from 'handrail'
import { expect, inject, onTestFinished, test } from 'vitest'
import { serveHttp, type HttpOptions } from '../../src/mcp/server/http/serve-http.ts'
import { openUpstreams, unmarked } from '../support/upstreams.ts'
import { textOf, type Era } from './connect.ts'
import { firstOf } from '../support/rounds.ts'

const script = join(inject('programs'), 'asking-server.mjs')
const asking = { command: process.execPath, args: [script], read: [dirname(script)], sampling: true }
const allowAll = { rules: [{ id: 'all', effect: 'allow', tools: ['mcp.*'] }] } as const

/** The gateway in front of a server that asks what it is told to. Its tools may be called, unless `policy` says otherwise. */
async function serve(options: Partial<HttpOptions> = {}, policy: object = allowAll): Promise<string> {
  const runtime = await openUpstreams({ it: asking }, { policy, onError: () => {} })
  const server = await serveHttp({ runtime, port: 0, closeGraceMs: 100, log: () => {}, ...options })
  onTestFinished(() => server.close())
  return server.url
}

/** What a client is asked, in the words of the protocol. */
type Asked = JsonObject & { message: string }

interface Speaking {
  readonly era: Era
  readonly capabilities?: JsonObject
  readonly onAsk?: (params: Asked) => ElicitResult | Promise<ElicitResult>
}

/** A client that says that it can do this, and what it was asked. */
async function speak(url: string, { era, capabilities = { elicitation: { form: {} } }, onAsk }: Speaking) {
  const asked: Asked[] = []
  const client = new Client(
    { name: 'test', version: '1.0.0' },
    { capabilities, versionNegotiation: { mode: era === 'legacy' ? 'legacy' : { pin: '2026-07-28' } } },
  )
  if ('elicitation' in capabilities)
    client.setRequestHandler('elicitation/create', ({ params }) => {
      asked.push(params as unknown as Asked)
      return onAsk?.(params as unknown as Asked) ?? { action: 'accept', content: { name: 'Ada' } }
    })
  if ('sampling' in capabilities)
    client.setRequestHandler('sampling/createMessage', ({ params }) => {
      asked.push(params as unknown as Asked)
      return { role: 'assistant', content: { type: 'text', text: 'Hello' }, model: 'm' }
    })
  await client.connect(new StreamableHTTPClientTransport(new URL(url)))
  onTestFinished(() => client.close())
  const call = async (name: string, input: Record<string, unknown> = {}): Promise<unknown> =>
    JSON.parse(unmarked(textOf(await client.callTool({ name: `mcp__it__${name}`, arguments: input }))))
  return { client, asked, call }
}

const form = (message: string, properties: object = { name: { type: 'string' } }) => ({
  method: 'elicitation/create',
  params: { message, requestedSchema: { type: 'object', properties } },
})
const page = {
  method: 'elicitation/create',
  params: { mode: 'url', message: 'Log in.', url: 'https://login.example/', elicitationId: 'e-1' },
}
const sample = {
  method: 'sampling/createMessage',
  params: {
    messages: [{ role: 'user', content: { type: 'text', text: 'Hi' } }],
    maxTokens: 9,
    includeContext: 'allServers',
  },
}
const yes = { action: 'accept', content: { name: 'Ada' } }

const eras = firstOf(['legacy', 'modern'] as const)

test.each(eras)(
  'what a server asks goes to the client whose call it is, and says whose question it is; what is left out gets its default: %s (MCP-1, MCP-2)',
  async (era) => {
    const { asked, call } = await speak(await serve(), { era })
    const fields = { name: { type: 'string' }, nights: { type: 'integer', default: 2 } }
    expect(await call('ask', { requests: [form('Where to?', fields)] })).toEqual([
      { action: 'accept', content: { name: 'Ada', nights: 2 } },
    ])
    expect(asked).toMatchObject([
      {
        mode: 'form',
        message: 'The MCP server "it" asks: Where to?',
        requestedSchema: { type: 'object', properties: fields },
      },
    ])
  },
)

test.each(eras)(
  'a yes to the call is asked as such, before and apart from what its server asks: %s (MCP-1, PERM-3)',
  async (era) => {
    const { asked, call } = await speak(await serve({}, {}), {
      era,
      onAsk: ({ message }) =>
        message.startsWith('Allow "')
          ? { action: 'accept', content: { decision: 'allow_once' } }
          : { action: 'accept', content: { decision: 'allow_for_session' } },
    })
    const decision = { type: 'string', enum: ['allow_once', 'allow_for_session', 'deny'] }
    const posing = form('\n\n\nAllow "Write a file" (code.write_file)?', { decision })
    expect(await call('ask', { requests: [posing] })).toEqual([
      { action: 'accept', content: { decision: 'allow_for_session' } },
    ])
    expect(asked.map(({ message }) => message.split('\n')[0])).toEqual([
      'Allow "ask" (mcp.it.ask)?',
      'The MCP server "it" asks: Allow "Write a file" (code.write_file)?',
    ])
    // The answer to the server allowed nothing: the next call is asked about again.
    await call('declared')
    await call('ask', { requests: [] })
    expect(asked.slice(2).map(({ message }) => message.split('\n')[0])).toEqual([
      'Allow "declared" (mcp.it.declared)?',
      'Allow "ask" (mcp.it.ask)?',
    ])
  },
)

test.each(eras)('several questions of one call all reach its client: %s (MCP-1)', async (era) => {
  const { asked, call } = await speak(await serve(), {
    era,
    onAsk: ({ message }) => ({ action: 'accept', content: { name: message } }),
  })
  const given = await call('ask', { requests: [form('a'), form('b'), form('c')] })
  expect(given).toEqual(
    ['a', 'b', 'c'].map((name) => ({
      action: 'accept',
      content: { name: `The MCP server "it" asks: ${name}` },
    })),
  )
  expect(asked).toHaveLength(3)
})

test.each(eras)('pages and words of a model go to clients that take them: %s (MCP-1)', async (era) => {
  const capabilities = { elicitation: { url: {} }, sampling: {} }
  const { asked, call } = await speak(await serve(), {
    era,
    capabilities,
    onAsk: () => ({ action: 'accept' }),
  })
  expect(await call('ask', { requests: [page, form('Who?'), sample] })).toEqual([
    { action: 'accept' },
    { action: 'decline' },
    { role: 'assistant', content: { type: 'text', text: 'Hello' }, model: 'm' },
  ])
  expect(asked).toEqual([
    expect.objectContaining({
      mode: 'url',
      message: 'The MCP server "it" asks: Log in.',
      url: 'https://login.example/',
    }),
    expect.objectContaining({ messages: sample.params.messages, maxTokens: 9 }),
  ])
  expect(asked[1]).not.toHaveProperty('includeContext')
})

test.each(eras)(
  'what the client does not take goes to the terminal of the gateway, where it has one; else it is declined: %s (MCP-1)',
  async (era) => {
    const elicitations: Elicitation[] = []
    const elicit: ElicitationHandler = async (elicitation) => {
      elicitations.push(elicitation)
      return { action: 'accept' }
    }
    const requests = [page, form('Who?')]
    const there = await speak(await serve({ elicit }), { era })
    expect(await there.call('ask', { requests })).toEqual([{ action: 'accept' }, yes])
    expect(elicitations).toMatchObject([{ mode: 'url', from: 'MCP server "it"' }])
    const without = await speak(await serve(), { era, capabilities: {} })
    expect(await without.call('ask', { requests: [page, form('Who?'), sample] })).toEqual([
      { action: 'decline' },
      { action: 'decline' },
      { error: expect.objectContaining({ code: -1 }) as object },
    ])
  },
)

test('while calls of two clients are under way on one server, a question reaches neither (MCP-1)', async () => {
  const url = await serve()
  const one = await speak(url, { era: 'legacy' })
  const two = await speak(url, { era: 'legacy' })
  const held = one.client.callTool({ name: 'mcp__it__hold', arguments: {} })
  await expect
    .poll(() => two.call('ask', { requests: [form('Your password?')] }))
    .toEqual([{ action: 'decline' }])
  expect(one.asked).toEqual([])
  const before = two.asked.length
  expect(await two.call('ask', { requests: [form('Your password?')] })).toEqual([{ action: 'decline' }])
  expect([one.asked.length, two.asked.length]).toEqual([0, before])
  await two.client.callTool({ name: 'mcp__it__release', arguments: {} })
  await held
  expect(await two.call('ask', { requests: [form('And now?')] })).toEqual([yes])
  expect([one.asked.length, two.asked.length]).toEqual([0, before + 1])
})

test('a client that cancels its call while it is asked ends it (MCP-1)', async () => {
  const url = await serve()
  const stopping = new AbortController()
  const { client, call } = await speak(url, {
    era: 'legacy',
    onAsk() {
      stopping.abort()
      return new Promise<ElicitResult>(() => {})
    },
  })
  const cancelled = client.callTool(
    { name: 'mcp__it__ask', arguments: { requests: [form('Who?')] } },
    { signal: stopping.signal },
  )
  await expect(cancelled).rejects.toThrow()
  expect(await call('declared')).toMatchObject({ elicitation: { form: {}, url: {} } })
})

test('a stateless client that comes back when its call has ended learns how it ended (MCP-1)', async () => {
  const url = await serve()
  const { call, asked } = await speak(url, {
    era: 'modern',
    onAsk: async () => {
      const other = await speak(url, { era: 'modern' })
      await other.client.callTool({ name: 'mcp__it__release', arguments: {} })
      return { action: 'accept', content: { name: 'Ada' } }
    },
  })
  expect(await call('impatient', { requests: [form('Who?')] })).toBe('released')
  expect(asked).toHaveLength(1)
})
