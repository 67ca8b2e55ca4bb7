import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createRequire } from 'node:module'
import { expect, onTestFinished, test } from 'vitest'
import { serveHttp } from '../../src/mcp/server/http/serve-http.ts'
import { openRuntime } from '../support/project.ts'
import { makeTool } from '../support/make-tool.ts'
import { startScripted } from '../support/scripted-server.ts'
import { openUpstreams, said } from '../support/upstreams.ts'

/** The server of the protocol's authors on Streamable HTTP, and its process. */
async function startEverything() {
  const path = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js')
  const port = await findPort()
  const child = spawn(process.execPath, [path, 'streamableHttp'], {
    env: { ...process.env, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onTestFinished(async () => {
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  })
  const { promise, resolve } = Promise.withResolvers<void>()
  child.stderr.on('data', (bytes: Buffer) => bytes.includes('listening') && resolve())
  child.stdout.on('data', (bytes: Buffer) => bytes.includes('listening') && resolve())
  await promise
  return { url: `http://127.0.0.1:${port}/mcp`, kill: () => child.kill('SIGKILL') }
}

async function findPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

test('a real server on Streamable HTTP is imported and called, with progress (MCP-1)', async () => {
  const runtime = await openUpstreams({ everything: { url: (await startEverything()).url } })
  // A busy machine may miss the first connection, which is tried again.
  await expect.poll(() => runtime.registry.find('mcp.everything.echo')).toBeDefined()
  const session = runtime.session()
  const progress: unknown[] = []
  session.on((event) => event.type === 'tool_progress' && progress.push(event.data))
  const call = (tool: string, input: object) => session.call(`mcp.everything.${tool}`, input)
  expect(said(await call('echo', { message: 'hi' }))).toBe('Echo: hi')
  await call('trigger-long-running-operation', { duration: 0.4, steps: 2 })
  expect(progress).toContainEqual({ done: 1, total: 2 })
  const many = await Promise.all(Array.from({ length: 20 }, (_, n) => call('echo', { message: `${n}` })))
  expect(many.map((result) => said(result))).toEqual(many.map((_, n) => `Echo: ${n}`))
})

test('a call under way ends as soon as its server is dead, and so does what is listed of it (MCP-1)', async () => {
  const { url, kill } = await startEverything()
  const runtime = await openUpstreams({ everything: { url } })
  const session = runtime.session()
  session.on((event) => event.type === 'tool_progress' && kill())
  const tool = 'mcp.everything.trigger-long-running-operation'
  const result = await session.call(tool, { duration: 600, steps: 6_000 })
  expect([result.error?.reason, result.outcome]).toEqual(['connection_lost', 'unknown'])
  await expect
    .poll(() => runtime.registry.discover().find(({ name }) => name === tool)?.status.outage)
    .toContain('Nothing listens')
})

/** What a server of 2026-07-28 answers that leaves out the type of its results. */
function withoutHandshake(method: string): object | undefined {
  const cached = { ttlMs: 0, cacheScope: 'private' }
  if (method === 'tools/list') return { tools: [{ name: 'act', inputSchema: { type: 'object' } }], ...cached }
  if (method !== 'server/discover') return undefined
  return {
    resultType: 'complete',
    supportedVersions: ['2026-07-28'],
    capabilities: { tools: { listChanged: true } },
    serverInfo: { name: 'scripted', version: '1' },
    ...cached,
  }
}

test('a server of the revision without handshake that never confirms a subscription, and leaves out the type of its results, is imported and called (MCP-1)', async () => {
  const server = await startScripted(({ method }) => {
    if (method === 'subscriptions/listen') return new Promise(() => {})
    return withoutHandshake(method)
  })
  const runtime = await openUpstreams({ it: { url: server.url } })
  expect(said(await runtime.session().call('mcp.it.act'))).toBe('done act')
  const asked = server.heard.map(({ method }) => method)
  expect(asked).toEqual(['server/discover', 'subscriptions/listen', 'tools/list', 'tools/call'])
})

test('an answer that the protocol does not have is told as one, and the connection stays (MCP-1)', async () => {
  const server = await startScripted(({ method }) => {
    if (method === 'tools/call') return { resultType: 'novel', content: [] }
    return withoutHandshake(method)
  })
  const runtime = await openUpstreams({ it: { url: server.url } })
  const { error } = await runtime.session().call('mcp.it.act')
  expect([error?.code, error?.reason]).toEqual(['TOOL.FAILED', 'upstream_error'])
  expect(error?.message).toMatch(/form that the protocol does not have: .*novel.*"protocol" in mcp\.json/)
  expect(server.heard.filter(({ method }) => method === 'server/discover')).toHaveLength(1)
})

test.each(['2025-11-25', '2026-07-28'])(
  'what is no message at all is told as an answer of the server, and the connection stays, in %s (MCP-1)',
  async (protocol) => {
    const answers = [
      { body: '"hello"', says: 'no message of JSON-RPC' },
      { body: '[7]', says: 'no message of JSON-RPC' },
      { body: '{"jsonrpc":"2.0","id":1,"result":"text"}', says: 'no message of JSON-RPC' },
      { body: 'Bad gateway', says: 'not JSON' },
      { body: '<p>Log in</p>', type: 'text/html', says: 'text/html' },
    ]
    let next = 0
    const server = await startScripted(({ method }) => {
      if (method === 'tools/call') return answers[next++]
      return withoutHandshake(method)
    })
    const runtime = await openUpstreams({ it: { url: server.url, protocol } })
    const session = runtime.session()
    for (const { says } of answers) {
      const { error } = await session.call('mcp.it.act')
      expect([error?.code, error?.reason]).toEqual(['TOOL.FAILED', 'upstream_error'])
      expect(error?.message).toContain(says)
      expect(error?.message).toContain('It may have been done.')
    }
    expect(said(await session.call('mcp.it.act'))).toBe('done act')
    // Once for each connection.
    const first = protocol === '2025-11-25' ? 'initialize' : 'subscriptions/listen'
    expect(server.heard.filter(({ method }) => method === first)).toHaveLength(1)
  },
)

test.each([
  ['2025-11-25', 'initialize'],
  ['2026-07-28', 'server/discover'],
])('a server is spoken to in the revision that its entry names: %s (MCP-1)', async (protocol, first) => {
  const server = await startScripted(({ method }) => withoutHandshake(method))
  const runtime = await openUpstreams({ it: { url: server.url, protocol } })
  expect(said(await runtime.session().call('mcp.it.act'))).toBe('done act')
  expect(server.heard[0]?.method).toBe(first)
})

test('how long it may take to connect is for the operator to say (MCP-1)', async () => {
  const server = await startScripted(() => new Promise(() => {}))
  const issues: string[] = []
  await openUpstreams(
    { it: { url: server.url, protocol: '2025-11-25', connect_timeout_ms: 50 } },
    { onError: ({ cause }) => issues.push(String(cause)) },
  )
  expect(issues.join()).toContain('No server answered')
})

test('a server of the revision without handshake is imported and called (MCP-1)', async () => {
  const served = await openRuntime({ tools: [makeTool('demo.greet')] })
  const server = await serveHttp({ runtime: served, port: 0 })
  onTestFinished(() => server.close())
  const runtime = await openUpstreams({ other: { url: server.url } })
  const result = await runtime.session().call('mcp.other.demo__greet')
  expect(said(result)).toBe('demo.greet')
})

interface Asked {
  readonly method: string | undefined
  readonly headers: IncomingMessage['headers']
}

/** A server of few words, which answers as `answer` says: a status, or a result. */
async function startSimple(
  answer: (
    message: { id?: number; method?: string },
    asked: Asked,
  ) => { status: number; headers?: Record<string, string> } | object | undefined,
) {
  const asked: Asked[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (bytes: Buffer) => (body += bytes.toString()))
    request.on('end', () => {
      const message = (body === '' ? {} : JSON.parse(body)) as { id?: number; method?: string }
      const about = { method: message.method ?? request.method, headers: request.headers }
      asked.push(about)
      const result = answer(message, about) ?? defaultAnswer(message)
      if ('status' in result) {
        const { status, headers = {} } = result as { status: number; headers?: Record<string, string> }
        return response.writeHead(status, headers).end()
      }
      const own = message.method === 'initialize' ? { 'mcp-session-id': `s${asked.length}` } : {}
      response.writeHead(200, { 'content-type': 'application/json', ...own })
      response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result }))
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/mcp`, port, asked }
}

function defaultAnswer({ id, method }: { id?: number; method?: string }): object {
  if (method === 'initialize')
    return {
      protocolVersion: '2025-11-25',
      capabilities: { tools: {} },
      serverInfo: { name: 's', version: '1' },
    }
  if (method === 'tools/list') return { tools: [{ name: 'act', inputSchema: { type: 'object' } }] }
  if (method === 'tools/call') return { content: [{ type: 'text', text: 'done' }] }
  return id === undefined ? { status: method === 'GET' ? 405 : 202 } : { status: 400 }
}

test('a session that the server does not know any more is opened anew, and the call is done once (MCP-1)', async () => {
  let forgot = false
  const server = await startSimple(({ method }, { headers }) => {
    if (method !== 'tools/call' || forgot) return undefined
    forgot = true
    expect(headers['mcp-session-id']).toBeDefined()
    return { status: 404 }
  })
  const runtime = await openUpstreams({ it: { url: server.url } })
  expect(said(await runtime.session().call('mcp.it.act'))).toBe('done')
  const methods = server.asked.map(({ method }) => method)
  expect(methods.filter((method) => method === 'initialize')).toHaveLength(2)
  expect(methods.filter((method) => method === 'tools/call')).toHaveLength(2)
})

test('headers of the configuration go to the server, with secrets in them, and to nobody else (MCP-1)', async () => {
  const other = await startSimple(() => undefined)
  const server = await startSimple(({ method }) =>
    method === 'tools/call' ? { status: 307, headers: { location: other.url } } : undefined,
  )
  const runtime = await openUpstreams(
    { it: { url: server.url, headers: { authorization: 'Bearer ${TOKEN}' } } },
    { secrets: { TOKEN: 'tok-123456789' } },
  )
  const result = await runtime.session().call('mcp.it.act')
  expect(result.ok).toBe(false)
  expect(new Set(server.asked.map(({ headers }) => headers.authorization))).toEqual(
    new Set(['Bearer tok-123456789']),
  )
  expect(other.asked).toEqual([])
})

test('each tenant brings its own credentials, and no other tenant those (MCP-3)', async () => {
  const server = await startSimple(() => undefined)
  const headers = { authorization: 'Bearer all', 'x-team': 'ours' }
  const tenants = { acme: { headers: { Authorization: 'Bearer ${ACME}' } }, bolt: {} }
  const runtime = await openUpstreams(
    { it: { url: server.url, headers, tenants } },
    { secrets: { ACME: 'acme-123456789' }, policy: { tenants: { acme: {}, bolt: {} } } },
  )
  for (const [tenant, authorization] of [
    ['acme', 'Bearer acme-123456789'],
    ['bolt', 'Bearer all'],
  ] as const) {
    expect(said(await runtime.session({ tenant }).call('mcp.it.act'))).toBe('done')
    const called = server.asked.findLast(({ method }) => method === 'tools/call')
    expect(called?.headers).toMatchObject({ authorization, 'x-team': 'ours' })
  }
  expect(new Set(server.asked.map(({ headers: each }) => each.authorization))).toEqual(
    new Set(['Bearer acme-123456789', 'Bearer all']),
  )
  // Nor did anything else of the connection of one carry what is of the other.
  const connections = new Map<unknown, Set<unknown>>()
  for (const { headers: each } of server.asked) {
    const id = each['mcp-session-id'] ?? each.authorization
    connections.set(id, (connections.get(id) ?? new Set()).add(each.authorization))
  }
  expect([...connections.values()].map(({ size }) => size)).toEqual([...connections].map(() => 1))
  expect((await runtime.session().call('mcp.it.act')).error?.code).toBe('POLICY.DENY_TOOL')
})

test('where a server sends its client, the guard of the network judges as for any call (NW-24, MCP-1)', async () => {
  const metadata = 'http://169.254.169.254/latest'
  const reached: string[] = []
  const server = await startSimple(({ method }) => {
    if (method !== 'tools/call') return undefined
    return { status: 401, headers: { 'www-authenticate': `Bearer resource_metadata="${metadata}"` } }
  })
  const runtime = await openUpstreams(
    { it: { url: server.url } },
    {
      lookup: async (host) => {
        reached.push(host)
        return ['127.0.0.1']
      },
    },
  )
  const { error } = await runtime.session().call('mcp.it.act')
  expect(error).toMatchObject({ code: 'PROVIDER.UNAVAILABLE', reason: 'login_needed' })
  expect(reached).toEqual([])
})

test('a server that an operator named by a name is reached at the address that was judged, looked up for each connection (CVE-2025-64443)', async () => {
  const server = await startSimple(() => undefined)
  const reached: string[] = []
  const lookup = async (host: string): Promise<readonly string[]> => {
    reached.push(host)
    return ['169.254.169.254']
  }
  const runtime = await openUpstreams(
    { it: { url: `http://intranet.example:${server.port}/mcp` } },
    { lookup, onError: () => {} },
  )
  expect(reached).toContain('intranet.example')
  expect(server.asked).toEqual([])
  expect((await runtime.session().call('mcp.it.act')).ok).toBe(false)
  const there = await openUpstreams(
    { it: { url: `http://intranet.example:${server.port}/mcp` } },
    { lookup: async () => ['127.0.0.1'] },
  )
  expect(said(await there.session().call('mcp.it.act'))).toBe('done')
})

test('an answer that is too large is not taken (MCP-1)', async () => {
  const server = await startSimple(({ method }) =>
    method === 'tools/call' ? { content: [{ type: 'text', text: 'x'.repeat(34 * 1024 * 1024) }] } : undefined,
  )
  const runtime = await openUpstreams({ it: { url: server.url } })
  const { error } = await runtime.session().call('mcp.it.act')
  expect(error?.message).toContain('larger than')
})

test.each([
  [429, 'rate_limited'],
  [403, 'upstream_down'],
  [503, 'connection_lost'],
])('a status of %i is %s (MCP-1)', async (status, reason) => {
  const server = await startSimple(({ method }) => (method === 'tools/call' ? { status } : undefined))
  const runtime = await openUpstreams({ it: { url: server.url } })
  const { error } = await runtime.session().call('mcp.it.act')
  expect(error).toMatchObject({ code: 'PROVIDER.UNAVAILABLE', reason })
})
