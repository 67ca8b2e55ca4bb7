import { createHash } from 'node:crypto'
import { request, type IncomingHttpHeaders } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterEach, describe, expect, test } from 'vitest'
import type { HttpOptions, HttpServer } from '../../src/mcp/server/http/serve-http.ts'
import { createClient, startHttp, textOf, type ClientOptions } from './connect.ts'
import { createDemoRuntime } from './demo-tools.ts'
import { fakeTool } from './fake-runtime.ts'

const closers: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close()
})

async function start(options: Partial<HttpOptions> = {}): Promise<HttpServer> {
  const server = await startHttp(options)
  closers.push(() => server.close())
  return server
}

async function connectTo(server: HttpServer, options: ClientOptions) {
  const client = createClient(options)
  const transport = new StreamableHTTPClientTransport(new URL(server.url))
  await client.connect(transport)
  closers.push(() => client.close())
  return { client, transport }
}

interface Answer {
  status: number
  headers: IncomingHttpHeaders
  text: string
}

const json = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

/** A request as it stands, without a client that keeps to the protocol. */
function send(
  server: HttpServer,
  {
    method = 'POST',
    path = '/mcp',
    headers = {},
    body = '',
  }: { method?: string; path?: string; headers?: object; body?: string },
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(
      { host: '127.0.0.1', port: server.port, method, path, headers: { ...headers } },
      (answer) => {
        let text = ''
        answer.on('data', (chunk: Buffer) => (text += chunk.toString()))
        answer.on('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text }))
        answer.on('error', reject)
      },
    )
    sent.on('error', reject)
    sent.end(body)
  })
}

const initialize = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
})

function modern(id: number, params: object, capabilities: object = {}) {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': capabilities,
  }
  return JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { ...params, _meta } })
}

const modernHeaders = (name: string) => ({
  ...json,
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': 'tools/call',
  'mcp-name': name,
})

describe('what is refused at the door', () => {
  test.each([
    ['evil.example'],
    ['evil.example:{port}'],
    ['127.0.0.1:1'],
    ['localhost.evil.example:{port}'],
    ['127.0.0.1'],
  ])(
    'the Host %s, so that no web page gets in by a name of its own (CVE-2025-64443, MCP-2, MCP-3)',
    async (host) => {
      const server = await start()
      for (const path of ['/mcp', '/', '/healthz']) {
        const headers = { ...json, host: host.replace('{port}', String(server.port)) }
        const answer = await send(server, {
          path,
          method: path === '/mcp' ? 'POST' : 'GET',
          headers,
          body: '',
        })
        expect(answer.status).toBe(403)
      }
    },
  )

  test.each(['http://evil.example', 'https://localhost.evil.example', 'null', 'file://', 'http://'])(
    'the Origin %s (MCP-2)',
    async (origin) => {
      const server = await start()
      const answer = await send(server, { headers: { ...json, origin }, body: initialize })
      expect(answer.status).toBe(403)
      expect(JSON.parse(answer.text)).toMatchObject({ error: { code: -32000 } })
    },
  )

  test('nothing from a loopback name, a loopback origin or what is allowed (MCP-2)', async () => {
    const server = await start({ allowedHosts: ['tools.example'], allowedOrigins: ['https://tools.example'] })
    const from = (headers: object) => send(server, { headers: { ...json, ...headers }, body: initialize })
    expect((await from({ host: `LocalHost:${server.port}` })).status).toBe(200)
    expect((await from({ host: `[::1]:${server.port}`, origin: 'http://localhost:5173' })).status).toBe(200)
    expect((await from({ host: 'tools.example', origin: 'https://tools.example' })).status).toBe(200)
  })

  test('a page of an origin that is allowed is told so before it asks and with each answer, without a token too (MCP-2)', async () => {
    const origin = 'https://tools.example'
    const sha256 = createHash('sha256').update('token').digest('hex')
    const server = await start({ allowedOrigins: [origin], tokens: [{ id: 'ann', sha256, actor: 'ann' }] })
    const wanted = 'authorization, content-type, mcp-protocol-version'
    const before = await send(server, {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': wanted },
    })
    expect([before.status, before.text]).toEqual([204, ''])
    expect(before.headers).toMatchObject({
      'access-control-allow-origin': origin,
      'access-control-allow-methods': 'GET, POST, DELETE',
      'access-control-allow-headers': wanted,
      vary: 'origin',
    })
    for (const [authorization, status] of [
      ['Bearer token', 200],
      ['Bearer other', 401],
    ] as const) {
      const answer = await send(server, { headers: { ...json, origin, authorization }, body: initialize })
      expect(answer.status).toBe(status)
      expect(answer.headers).toMatchObject({
        'access-control-allow-origin': origin,
        'access-control-expose-headers': expect.stringContaining('mcp-session-id') as string,
      })
    }
  })

  test('a body that is not JSON, not JSON-RPC, a batch, not declared as JSON, or for a client that takes no stream', async () => {
    const server = await start()
    const status = async (body: string, headers: object = json) => {
      const answer = await send(server, { body, headers })
      expect(answer.text).not.toMatch(/\bat .*\.ts:\d+|node_modules/)
      return [answer.status, (JSON.parse(answer.text) as { error: { code: number } }).error.code]
    }
    expect(await status('{"jsonrpc":')).toEqual([400, -32700])
    expect(await status('')).toEqual([400, -32700])
    expect(await status('{"hello":1}')).toEqual([400, -32600])
    expect(await status('5')).toEqual([400, -32600])
    expect(await status(`[${initialize}]`)).toEqual([400, -32600])
    expect(await status(initialize, { ...json, 'content-type': 'text/plain' })).toEqual([415, -32000])
    expect(await status(initialize, { ...json, accept: 'application/json' })).toEqual([406, -32000])
  })

  test('a body over 4 MiB, declared or not', async () => {
    const server = await start()
    const body = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'ping',
      params: { text: 'x'.repeat(5_000_000) },
    })
    const declared = await send(server, { headers: { ...json, 'content-length': body.length }, body })
    expect(declared.status).toBe(413)
    const chunked = await send(server, { headers: { ...json, 'transfer-encoding': 'chunked' }, body })
    expect(chunked.status).toBe(413)
    expect(JSON.parse(chunked.text)).toMatchObject({ error: { message: expect.stringContaining('4194304') } })
    expect((await send(server, { headers: json, body: initialize })).status).toBe(200)
  })

  test('methods and paths that are not served', async () => {
    const server = await start()
    expect((await send(server, { method: 'PUT' })).status).toBe(405)
    expect(
      (await send(server, { method: 'OPTIONS', headers: { origin: 'http://localhost:1' } })).headers,
    ).not.toHaveProperty('access-control-allow-origin')
    expect((await send(server, { path: '/elsewhere', method: 'GET' })).status).toBe(404)
    expect((await send(server, { path: '/', method: 'POST' })).status).toBe(405)
  })

  test('a modern request whose headers are missing or say something else than the body (SEP-2243, MCP-2)', async () => {
    const server = await start()
    const body = modern(1, { name: 'demo__echo', arguments: {} })
    const code = async (headers: object) => {
      const answer = await send(server, { body, headers })
      return [answer.status, (JSON.parse(answer.text) as { error?: { code: number } }).error?.code]
    }
    const good = modernHeaders('demo__echo')
    expect(await code(good)).toEqual([200, undefined])
    expect(
      await code({ ...good, 'mcp-name': `=?base64?${Buffer.from('demo__echo').toString('base64')}?=` }),
    ).toEqual([200, undefined])
    expect(await code({ ...good, 'mcp-name': 'demo__write' })).toEqual([400, -32020])
    expect(await code({ ...good, 'mcp-method': 'tools/list' })).toEqual([400, -32020])
    expect(await code({ ...good, 'mcp-protocol-version': '2025-11-25' })).toEqual([400, -32020])
    for (const name of ['mcp-name', 'mcp-method', 'mcp-protocol-version'])
      expect(await code(Object.fromEntries(Object.entries(good).filter(([key]) => key !== name)))).toEqual([
        400, -32020,
      ])
  })
})

test('an upload without an end is refused while it goes on', async () => {
  const server = await start()
  const headers = { ...json, 'transfer-encoding': 'chunked' }
  const sent = request({ host: '127.0.0.1', port: server.port, path: '/mcp', method: 'POST', headers })
  sent.on('error', () => {})
  const status = new Promise((resolve) => sent.on('response', (answer) => resolve(answer.statusCode)))
  sent.write('x'.repeat(5_000_000))
  expect(await status).toBe(413)
  sent.destroy()
})

test('a status is at / and /healthz', async () => {
  const server = await start()
  expect(JSON.parse((await send(server, { method: 'GET', path: '/' })).text)).toMatchObject({
    name: 'handrail',
    status: 'ok',
    mcp: '/mcp',
  })
  expect(JSON.parse((await send(server, { method: 'GET', path: '/healthz' })).text)).toEqual({ status: 'ok' })
})

test('a port in use and an address for others are set-up errors that say what to do (MCP-2)', async () => {
  const { port } = await start()
  await expect(startHttp({ port })).rejects.toMatchObject({
    code: 'port_in_use',
    message: expect.stringContaining(String(port)),
  })
  await expect(startHttp({ host: '0.0.0.0' })).rejects.toMatchObject({ code: 'invalid_options' })
})

describe('sessions of legacy clients', () => {
  const open = async (server: HttpServer) =>
    String((await send(server, { headers: json, body: initialize })).headers['mcp-session-id'])
  const list = (server: HttpServer, session?: string, id = 2) =>
    send(server, {
      headers: { ...json, ...(session !== undefined && { 'mcp-session-id': session }) },
      body: JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/list' }),
    })

  test('are one session of the runtime each, opened when it is first used', async () => {
    const runtime = createDemoRuntime()
    const server = await start({ runtime, session: { mode: 'plan' } })
    const [one, two] = [await open(server), await open(server)]
    expect(runtime.opened).toHaveLength(0)
    for (const session of [one, two, one]) expect((await list(server, session)).status).toBe(200)
    expect(runtime.opened).toEqual([{ mode: 'plan' }, { mode: 'plan' }])
  })

  test('must be named, exist, and speak a known version', async () => {
    const server = await start()
    expect((await list(server)).status).toBe(400)
    expect((await list(server, 'made-up')).status).toBe(404)
    const headers = { ...json, 'mcp-session-id': await open(server), 'mcp-protocol-version': '1999-01-01' }
    expect((await send(server, { headers, body: '{"jsonrpc":"2.0","id":1,"method":"ping"}' })).status).toBe(
      400,
    )
  })

  test('end when the client says so, with what runs in them', async () => {
    const runtime = createDemoRuntime()
    const server = await start({ runtime })
    const { client, transport } = await connectTo(server, { era: 'legacy' })
    const running = new Promise<void>((resolve) => {
      client.callTool({ name: 'demo__wait' }, { onprogress: () => resolve() }).catch(() => {})
    })
    await running
    await transport.terminateSession()
    await expect.poll(() => runtime.ended).toMatchObject([{ tool: 'demo.wait', outcome: 'aborted' }])
    expect(runtime.closedSessions.count).toBe(1)
  })

  test('end when nothing happens in them for long', async () => {
    const runtime = createDemoRuntime()
    const server = await start({ runtime, sessionIdleMs: 1_500 })
    const session = await open(server)
    expect((await list(server, session)).status).toBe(200)
    await expect.poll(() => runtime.closedSessions.count).toBe(1)
    expect((await list(server, session)).status).toBe(404)
  })

  test('are bounded: the longest idle makes room, and a working one stays', async () => {
    const runtime = createDemoRuntime()
    const server = await start({ runtime, maxSessions: 2 })
    const first = await open(server)
    await delay(5)
    const second = await open(server)
    await delay(5)
    expect((await list(server, first)).status).toBe(200)
    const third = await open(server)
    expect((await list(server, second)).status).toBe(404)
    for (const session of [first, third]) void hang(server, session)
    await expect.poll(() => runtime.started).toHaveLength(2)
    expect((await send(server, { headers: json, body: initialize })).status).toBe(503)
  })

  /** A call that does not end by itself. */
  const hang = (server: HttpServer, session: string) =>
    send(server, {
      headers: { ...json, 'mcp-session-id': session },
      body: JSON.stringify({ jsonrpc: '2.0', id: 9, method: 'tools/call', params: { name: 'demo__wait' } }),
    })

  test('take no second request under an id that is running', async () => {
    const runtime = createDemoRuntime()
    const server = await start({ runtime })
    const session = await open(server)
    const first = hang(server, session)
    await expect.poll(() => runtime.started).toHaveLength(1)
    expect((await list(server, session, 9)).status).toBe(400)
    await server.close()
    expect((await first).text).toContain('TOOL.ABORTED')
  })
})

describe('calls that wait for an answer without a connection', () => {
  const elicits = { elicitation: {} }
  const ask = async (server: HttpServer, params: object, id = 1) => {
    const answer = await send(server, {
      headers: modernHeaders('demo__write'),
      body: modern(id, { name: 'demo__write', ...params }, elicits),
    })
    return JSON.parse(answer.text) as {
      result?: {
        resultType: string
        requestState: string
        inputRequests?: { approval: unknown }
        content: { text: string }[]
      }
      error?: { code: number; message: string }
    }
  }
  const yes = { inputResponses: { approval: { action: 'accept', content: { decision: 'allow_once' } } } }

  test('go on when the client comes back with a yes, once only (PERM-3)', async () => {
    const runtime = createDemoRuntime()
    const server = await start({ runtime })
    const { result: pause } = await ask(server, { arguments: { a: 1 } })
    expect(pause?.resultType).toBe('input_required')
    expect(pause?.inputRequests?.approval).toMatchObject({ method: 'elicitation/create' })
    expect(runtime.ended).toEqual([])
    const answer = { arguments: { a: 1 }, requestState: pause?.requestState, ...yes }
    const { result } = await ask(server, answer, 2)
    expect(result?.content[0]?.text).toBe('written: allow_once')
    expect((await ask(server, answer, 3)).error).toMatchObject({ code: -32602 })
    expect(runtime.ended).toHaveLength(1)
  })

  test('are denied when the yes comes with another input (PERM-3)', async () => {
    const runtime = createDemoRuntime()
    const server = await start({ runtime })
    const { result: pause } = await ask(server, { arguments: { a: 1 } })
    const { error } = await ask(server, { arguments: { a: 2 }, requestState: pause?.requestState, ...yes }, 2)
    expect(error).toMatchObject({ code: -32602 })
    await expect.poll(() => runtime.ended).toMatchObject([{ tool: 'demo.write', outcome: 'denied' }])
  })

  test('are not found by a state that was changed, made up or made by another server (PERM-3)', async () => {
    const [server, other] = [await start(), await start()]
    const { result: pause } = await ask(server, {})
    const state = pause?.requestState ?? ''
    const foreign = (await ask(other, {})).result?.requestState
    for (const requestState of [`${state.slice(0, -2)}xx`, 'made-up', foreign, 5])
      expect((await ask(server, { requestState, ...yes }, 2)).error).toMatchObject({ code: -32602 })
    expect((await ask(server, { requestState: state, ...yes }, 3)).result?.content[0]?.text).toBe(
      'written: allow_once',
    )
  })

  test('are denied when the client comes back without an answer (PERM-5)', async () => {
    const server = await start()
    const { result: pause } = await ask(server, {})
    const { result } = await ask(server, { requestState: pause?.requestState }, 2)
    expect(result?.content[0]?.text).toContain('denied')
  })

  test('are bounded in number: one too many is denied at once', async () => {
    const server = await start()
    const pauses = await Promise.all(Array.from({ length: 100 }, (_, index) => ask(server, {}, index)))
    expect(pauses.every(({ result }) => result?.resultType === 'input_required')).toBe(true)
    expect((await ask(server, {}, 101)).result?.content[0]?.text).toContain('too many calls wait')
    await ask(server, { requestState: pauses[0]?.result?.requestState, ...yes }, 102)
    expect((await ask(server, {}, 103)).result?.resultType).toBe('input_required')
  })
})

test('the gateway asks itself where the client cannot (PERM-3)', async () => {
  const asked: string[] = []
  const server = await start({
    approve: async ({ tool }) => {
      asked.push(tool)
      return { decision: 'allow_once' }
    },
  })
  for (const era of ['legacy', 'modern'] as const) {
    const { client } = await connectTo(server, { era })
    expect(textOf(await client.callTool({ name: 'demo__write' }))).toBe('written: allow_once')
  }
  const { client } = await connectTo(server, { era: 'legacy', onAsk: () => ({ action: 'decline' }) })
  expect((await client.callTool({ name: 'demo__write' })).isError).toBe(true)
  expect(asked).toEqual(['demo.write', 'demo.write'])
})

test('stateless clients share one session of the runtime, whether or not they can ask their person (MCP-3)', async () => {
  const runtime = createDemoRuntime()
  const server = await start({ runtime })
  for (const onAsk of [undefined, () => ({ action: 'decline' as const })]) {
    const { client } = await connectTo(server, { era: 'modern', ...(onAsk && { onAsk }) })
    await client.callTool({ name: 'demo__echo' })
  }
  expect(runtime.opened).toHaveLength(1)
})

test('a call of a stateless client ends when the client goes away (SCHED-6)', async () => {
  const runtime = createDemoRuntime()
  const server = await start({ runtime })
  const sent = request({
    host: '127.0.0.1',
    port: server.port,
    path: '/mcp',
    method: 'POST',
    headers: modernHeaders('demo__wait'),
  })
  sent.on('error', () => {})
  sent.end(modern(1, { name: 'demo__wait' }))
  await expect.poll(() => runtime.opened).toHaveLength(1)
  sent.destroy()
  await expect.poll(() => runtime.ended).toMatchObject([{ tool: 'demo.wait', outcome: 'aborted' }])
})

test('closing lets a running call end, and aborts what takes too long; both are answered', async () => {
  const started = Promise.withResolvers<void>()
  const finish = Promise.withResolvers<void>()
  const soon = fakeTool({ name: 'demo.soon' }, async (_input, { signal }) => {
    started.resolve()
    await finish.promise
    await delay(50, undefined, { signal })
    return { content: [{ type: 'text', text: 'in time' }] }
  })
  const runtime = createDemoRuntime([soon])
  const server = await start({ runtime, closeGraceMs: 2_000 })
  const { client } = await connectTo(server, { era: 'legacy' })
  const first = client.callTool({ name: 'demo__soon' })
  const waiting = Promise.withResolvers<void>()
  const second = client.callTool({ name: 'demo__wait' }, { onprogress: () => waiting.resolve() })
  await Promise.all([started.promise, waiting.promise])
  const closed = server.close()
  finish.resolve()
  expect(textOf(await first)).toBe('in time')
  expect(textOf(await second)).toContain('TOOL.ABORTED')
  await closed
  await expect(send(server, { headers: json, body: initialize })).rejects.toMatchObject({
    code: 'ECONNREFUSED',
  })
})
