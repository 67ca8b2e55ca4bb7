import { createServer, request as askHttp, type IncomingMessage, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { PassThrough } from 'node:stream'
import {
  StreamableHTTPClientTransport,
  type JSONRPCMessage,
  type Transport,
} from '@modelcontextprotocol/client'
import { defineTool, type ApprovalRequest, type Runtime } from 'handrail'
import { serveMcp, type ServeMcpHttpOptions } from 'handrail/mcp'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { atEnd } from '../support/at-end.ts'
import { openRuntime } from '../support/project.ts'
import { createClient, textOf, type ClientOptions, type Era } from './connect.ts'

const whoami = defineTool({
  namespace: 'shop',
  name: 'whoami',
  description: 'Says who calls.',
  permission: 'readonly',
  run: ({ principal: { tenant, actor } }) => `${tenant}/${actor}`,
})
const refund = defineTool({
  namespace: 'shop',
  name: 'refund',
  description: 'Refunds an order.',
  input: z.object({ by: z.discriminatedUnion('kind', [z.object({ kind: z.literal('card') })]) }),
  run: ({ by }) => `refunded by ${by.kind}`,
})

const open = (): Promise<Runtime> =>
  openRuntime({
    tools: [whoami, refund],
    store: 'memory',
    policy: { tenants: { acme: {} } },
    onError: () => {},
  })

/** The actor of a request by the login of the program: a bearer token that names them. */
function userOf({ headers }: IncomingMessage): string | undefined {
  return /^Bearer (\w+)$/.exec(headers.authorization ?? '')?.[1]
}

async function listen(handler: RequestListener): Promise<string> {
  const server = createServer(handler).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  atEnd(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/tools`
}

async function serve(runtime: Runtime, options: Partial<ServeMcpHttpOptions> = {}) {
  const mcp = await serveMcp(runtime, {
    transport: 'http',
    session: (request) => {
      const actor = userOf(request)
      return actor === undefined ? undefined : { actor, tenant: 'acme' }
    },
    closeGraceMs: 100,
    log: () => {},
    ...options,
  })
  atEnd(() => mcp.close())
  return { mcp, url: await listen((request, response) => void mcp.handle(request, response)) }
}

async function connect(url: string, user: string | undefined, options: ClientOptions) {
  const client = createClient(options)
  const headers = user === undefined ? {} : { authorization: `Bearer ${user}` }
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }))
  atEnd(() => client.close())
  return client
}

test.each<Era>(['legacy', 'modern'])(
  'a program serves its own tools over HTTP, to callers it knows (%s)',
  async (era) => {
    const { url } = await serve(await open())
    const asked: string[] = []
    const onAsk = (message: string) => {
      asked.push(message)
      return { action: 'accept' as const, content: { decision: 'allow_once' } }
    }
    const ann = await connect(url, 'ann', { era, onAsk })
    const { tools } = await ann.listTools()
    expect(tools.map(({ name }) => name).toSorted()).toEqual(['shop__refund', 'shop__whoami'])
    expect(textOf(await ann.callTool({ name: 'shop__whoami', arguments: {} }))).toBe('acme/ann')
    const paid = await ann.callTool({ name: 'shop__refund', arguments: { by: { kind: 'card' } } })
    expect(textOf(paid)).toBe('refunded by card')
    expect(asked).toHaveLength(1)
    const bob = await connect(url, 'bob', { era })
    expect(textOf(await bob.callTool({ name: 'shop__whoami', arguments: {} }))).toBe('acme/bob')
    await expect(connect(url, undefined, { era })).rejects.toThrow()
  },
)

const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
}

async function post(
  url: string,
  headers: Readonly<Record<string, string>> = {},
  message: object = initialize,
) {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: JSON.stringify(message),
  })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

test('a request of a caller that is not known is 401, of a page elsewhere 403, and of a tenant that is not there 403', async () => {
  const { url } = await serve(await open(), {
    session: (request) => {
      const actor = userOf(request)
      return actor && { actor, tenant: actor === 'zoe' ? 'nowhere' : 'acme' }
    },
  } as Partial<ServeMcpHttpOptions>)
  const unknown = await post(url)
  expect(unknown.status).toBe(401)
  expect(unknown.headers.get('www-authenticate')).toContain('Bearer')
  expect((await post(url, { authorization: 'Bearer ann', origin: 'https://evil.test' })).status).toBe(403)
  expect((await post(url, { authorization: 'Bearer ann' })).status).toBe(200)
  expect(await post(url, { authorization: 'Bearer zoe' })).toMatchObject({
    status: 403,
    text: expect.stringContaining('nowhere') as string,
  })
})

test('a session belongs to its caller, whatever id another one sends', async () => {
  const { url } = await serve(await open())
  const { headers } = await post(url, { authorization: 'Bearer ann' })
  const id = headers.get('mcp-session-id') ?? ''
  const list = { jsonrpc: '2.0', id: 2, method: 'tools/list' }
  expect((await post(url, { authorization: 'Bearer ann', 'mcp-session-id': id }, list)).status).toBe(200)
  expect((await post(url, { authorization: 'Bearer bob', 'mcp-session-id': id }, list)).status).toBe(404)
  expect((await post(url, { 'mcp-session-id': id }, list)).status).toBe(401)
})

test('a caller stays the same while its login is renewed, and is another one with another right', async () => {
  const said = [{ minutes: 1 }, { minutes: 2 }, { minutes: 3, disallowedTools: ['shop.refund'] }]
  const { url } = await serve(await open(), {
    session: () => {
      const { minutes = 0, ...rights } = said.shift() ?? {}
      return { actor: 'ann', expiresAt: new Date(Date.now() + minutes * 60_000), ...rights }
    },
  })
  const { headers } = await post(url)
  const session = { 'mcp-session-id': headers.get('mcp-session-id') ?? '' }
  const list = { jsonrpc: '2.0', id: 2, method: 'tools/list' }
  expect((await post(url, session, list)).status).toBe(200)
  expect((await post(url, session, list)).status).toBe(404)
})

test('a login that breaks, or forgets the actor, lets no request through and is told to the log', async () => {
  const runtime = await open()
  const log: string[] = []
  const answers: (() => unknown)[] = [
    () => {
      throw new Error('The login is down.')
    },
    () => ({ tenant: 'acme' }),
    () => ({ actor: 'ann', tenat: 'acme' }),
    () => 'ann',
    () => ({ actor: 'ann', expiresAt: 'tomorrow' }),
    () => ({ actor: 'ann', expiresAt: new Date(0) }),
  ]
  const session = () => answers.shift()?.() as { actor: string }
  const { url } = await serve(runtime, { session, log: (line) => log.push(line) })
  const statuses = []
  while (answers.length > 0) statuses.push((await post(url)).status)
  expect(statuses).toEqual([500, 500, 500, 500, 500, 401])
  expect(log.join('\n')).toMatch(/login is down.*"actor".*did you mean "tenant"/s)
})

test('one caller for all requests is taken from this machine under its own names only', async () => {
  const { url } = await serve(await open(), { session: { actor: 'ann' } })
  expect((await post(url)).status).toBe(200)
  const client = await connect(url, undefined, { era: 'modern' })
  expect(textOf(await client.callTool({ name: 'shop__whoami', arguments: {} }))).toBe('local/ann')
  const { port } = new URL(url)
  const asked = await new Promise<number | undefined>((resolve) => {
    const options = { port, method: 'POST', headers: { host: `evil.test:${port}` } }
    askHttp(options, ({ statusCode }) => resolve(statusCode)).end()
  })
  expect(asked).toBe(403)
})

test('tools and names can be chosen for each caller', async () => {
  const { url } = await serve(await open(), {
    session: () => ({ actor: 'ann', disallowedTools: ['shop.refund'] }),
  })
  const client = await connect(url, 'ann', { era: 'legacy' })
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['shop__whoami'])
  const refused = await client.callTool({ name: 'shop__refund', arguments: { by: { kind: 'card' } } })
  expect(refused.isError).toBe(true)
})

test('a framework that read the body before hands it on', async () => {
  const mcp = await serveMcp(await open(), { transport: 'http', session: { actor: 'ann' }, log: () => {} })
  atEnd(() => mcp.close())
  const url = await listen((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      if (request.headers['x-parse'] === 'yes')
        Object.assign(request, { body: JSON.parse(Buffer.concat(chunks).toString()) as object })
      void mcp.handle(request, response)
    })
  })
  expect((await post(url, { 'x-parse': 'yes' })).status).toBe(200)
  expect(await post(url)).toMatchObject({
    status: 500,
    text: expect.stringContaining('read before') as string,
  })
})

test('closing ends what is served, and leaves the runtime and the HTTP server open', async () => {
  const runtime = await open()
  const { mcp, url } = await serve(runtime)
  const client = await connect(url, 'ann', { era: 'legacy' })
  await mcp.close()
  expect((await post(url, { authorization: 'Bearer ann' })).status).toBe(503)
  await expect(client.listTools()).rejects.toThrow()
  expect((await runtime.session().call('shop.whoami')).data).toBe('local/user')
})

/** Messages as lines of streams, from the other end. */
function toStreams(input: PassThrough, output: PassThrough): Transport {
  let rest = ''
  const transport: Transport = {
    async start() {
      output.on('data', (chunk: Buffer) => {
        const lines = (rest + chunk.toString()).split('\n')
        rest = lines.pop() ?? ''
        for (const line of lines) transport.onmessage?.(JSON.parse(line) as JSONRPCMessage)
      })
    },
    async send(message) {
      input.write(`${JSON.stringify(message)}\n`)
    },
    async close() {
      input.end()
      transport.onclose?.()
    },
  }
  return transport
}

test.each<Era>(['legacy', 'modern'])(
  'one client is served over streams; the runtime outlives it (%s)',
  async (era) => {
    const runtime = await open()
    const [input, output] = [new PassThrough(), new PassThrough()]
    const asked: ApprovalRequest[] = []
    const approve = async (request: ApprovalRequest) => {
      asked.push(request)
      return { decision: 'allow_once' as const }
    }
    const server = await serveMcp(runtime, {
      session: { actor: 'ann', tenant: 'acme' },
      approve,
      input,
      output,
    })
    const client = createClient({ era })
    await client.connect(toStreams(input, output))
    expect(textOf(await client.callTool({ name: 'shop__whoami', arguments: {} }))).toBe('acme/ann')
    const paid = await client.callTool({ name: 'shop__refund', arguments: { by: { kind: 'card' } } })
    expect(textOf(paid)).toBe('refunded by card')
    expect(asked.map(({ tool }) => tool)).toEqual(['shop.refund'])
    await client.close()
    await server.closed
    await server.close()
    expect((await runtime.session().call('shop.whoami')).ok).toBe(true)
  },
)

test.each<[string, object, RegExp]>([
  ['no caller', { transport: 'http' }, /session: \(request\) =>/],
  ['a transport that is none', { transport: 'sse' }, /"stdio" or "http"/],
  ['a mistyped option', { transport: 'http', session: {}, allowedHost: [] }, /"allowedHosts"/],
  ['an option of the other transport', { allowedHosts: [] }, /"allowedHosts"/],
  ['hosts that are no list', { transport: 'http', session: {}, allowedHosts: 'a' }, /a list/],
  ['a mistyped caller', { transport: 'http', session: { acter: 'ann' } }, /"actor"/],
])('%s is refused at once', async (_, options, message) => {
  const runtime = await open()
  await expect(serveMcp(runtime, options as ServeMcpHttpOptions)).rejects.toThrow(message)
})
