import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { SetupError } from 'handrail'
import { mcpTools } from 'handrail/mcp'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { knownClient, serveLogin, type LoginServer } from '../support/login-server.ts'
import { makeFolder, openRuntime, personSaying } from '../support/project.ts'

/** What somebody who logs in is told, and where they were led. */
async function tryLogin(server: Pick<LoginServer, 'url' | 'visit'>, oauth: object = {}) {
  const led: string[] = []
  const looked: string[] = []
  const servers = mcpTools({
    servers: { tracker: { url: server.url, oauth, tools: { readonly: ['*'] } } },
    meet: false,
  })
  const runtime = await openRuntime({
    feeds: [servers],
    approve: personSaying('allow_once').approve,
    lookup: async (host) => {
      looked.push(host)
      return ['127.0.0.1']
    },
  })
  const why = await servers
    .login('tracker', {
      authorize: ({ url }) => {
        led.push(url)
        return server.visit(url)
      },
    })
    .then(
      () => 'logged in',
      (error: unknown) => (error instanceof SetupError ? `${error.code}: ${error.message}` : String(error)),
    )
  return { why, led, looked, runtime, servers }
}

test.each([
  ['https://127.0.0.2', /127\.0\.0\.2.*is not an address of the public internet.*"issuer" in mcp\.json/],
  ['https://inside.example', /inside\.example.*stands for "127\.0\.0\.1"/],
  ['https://169.254.169.254', /169\.254\.169\.254.*is not an address of the public internet/],
  ['http://as.example', /"http:\/\/as\.example" was not asked: .*https only/],
  ['http://169.254.169.254/latest', /was not asked: .*https only/],
  ['https://public.example:22', /Port 22 of "public\.example" is not allowed/],
])('a server that names %s as who gives tokens leads nobody there (MCP-1)', async (issuer, why) => {
  const server = await serveLogin()
  server.says.issuers = [issuer]
  const tried = await tryLogin(server)
  expect(tried.why).toMatch(why)
  expect([tried.led, server.hits]).toEqual([[], []])
})

test('a server cannot have what it says of itself fetched from the own network (MCP-1)', async () => {
  const server = await serveLogin()
  server.says.resourceMetadata = 'https://127.0.0.2/who'
  const { why } = await tryLogin(server)
  expect(why).toMatch(/127\.0\.0\.2.*is not an address of the public internet/)
  expect(server.hits).toEqual([])
})

test('an authorization server cannot lead a login into the own network, nor a person to a script (CVE-2025-6514, MCP-1)', async () => {
  for (const [metadata, why] of [
    [{ token_endpoint: 'https://127.0.0.2/token' }, /127\.0\.0\.2.*is not an address of the public internet/],
    [{ token_endpoint: 'http://as.example/token' }, /non-https token endpoint/],
    [{ registration_endpoint: 'https://inside.example/register' }, /inside\.example/],
    [
      { authorization_endpoint: 'javascript:alert(1)' },
      /"authorization_endpoint": URL cannot use javascript/,
    ],
    [{ authorization_endpoint: 'file:///bin/sh' }, /leads to "file:", and only https is visited/],
    [{ authorization_endpoint: 'http://as.example/authorize' }, /only https is visited/],
    [{ authorization_endpoint: 'https://login.example@as.example/' }, /by which a host can be feigned/],
    [{ code_challenge_methods_supported: ['plain'] }, /code challenge method/],
    [{ code_challenge_methods_supported: undefined }, /PKCE with S256/],
    [{ issuer: 'https://attacker.example' }, /names another one\. It was not trusted/],
  ] as const) {
    const server = await serveLogin()
    server.says.metadata = metadata
    const { why: said, led } = await tryLogin(server)
    expect(said).toMatch(why)
    expect(said).toMatch(/^login_failed: No login was made at "tracker"\./)
    expect(server.grants).toEqual([])
    expect(led.every((url) => url.startsWith(`${server.issuer}/`))).toBe(true)
  }
})

test('what is said for a login is bounded, and nothing of it that could be a credential is shown (MCP-1)', async () => {
  const warn = vi.spyOn(console, 'warn')
  const huge = await serveLogin()
  huge.says.wellKnown = (response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(`{"issuer":"${'x'.repeat(2 * 1024 * 1024)}"}`)
  }
  expect((await tryLogin(huge)).why).toContain('larger than 1048576 bytes')

  const secret = 'this-is-a-token-that-nobody-may-see'
  for (const token of [
    { status: 200, body: `access_token=${secret}` },
    { status: 200, body: JSON.stringify({ access_token: { value: secret }, token_type: 'Bearer' }) },
    { status: 500, body: `<p>${secret}</p>` },
    { status: 400, body: JSON.stringify({ error: `${secret}\u001b[2J`, error_description: 'no' }) },
    {
      status: 400,
      body: JSON.stringify({ error: 'invalid_grant', error_description: knownClient.client_secret }),
    },
    { status: 200, body: JSON.stringify({ access_token: 'x'.repeat(9_000), token_type: 'Bearer' }) },
  ]) {
    const server = await serveLogin()
    server.says.token = token
    const { why } = await tryLogin(server, knownClient)
    expect(why).toMatch(/^login_failed: /)
    const all = `${why} ${JSON.stringify(warn.mock.calls)}`
    for (const hidden of [secret, knownClient.client_secret, '\u001b', 'xxxxxxxxxx'])
      expect(all).not.toContain(hidden)
  }
  warn.mockRestore()
})

test('an authorization server in the own network is one that the operator names (MCP-1)', async () => {
  const server = await serveLogin()
  server.says.issuers = ['https://inside.example']
  const { why, looked } = await tryLogin(server, { issuer: 'https://inside.example' })
  // Nothing listens there: what matters is that it was tried.
  expect(why).toContain('"https://inside.example" cannot be reached: connect ECONNREFUSED')
  expect(looked).toContain('inside.example')
})

test('a server that nobody has to log in at is said to be one (MCP-1)', async () => {
  const { createServer } = await import('node:http')
  const plain = createServer((request, response) => {
    let text = ''
    request.on('data', (chunk) => (text += String(chunk)))
    request.on('end', () => {
      if (request.method !== 'POST') return response.writeHead(404).end()
      const { id, method } = JSON.parse(text) as { id?: number; method: string }
      if (id === undefined) return response.writeHead(202).end()
      const results: Record<string, object> = {
        initialize: {
          protocolVersion: '2025-11-25',
          capabilities: { tools: {} },
          serverInfo: { name: 'p', version: '1' },
        },
        'tools/list': { tools: [] },
      }
      const answer = results[method]
        ? { result: results[method] }
        : { error: { code: -32601, message: 'no' } }
      return response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ jsonrpc: '2.0', id, ...answer }))
    })
  })
  await new Promise<void>((resolve) => plain.listen(0, '127.0.0.1', resolve))
  const { port } = plain.address() as { port: number }
  const servers = mcpTools({ servers: { plain: { url: `http://127.0.0.1:${port}/mcp` } }, meet: false })
  await openRuntime({ feeds: [servers] })
  const facts = await servers.login('plain', { authorize: async () => 'nobody asks' })
  expect(facts).toEqual({ issuer: undefined, scopes: [] })
  plain.closeAllConnections()
  plain.close()
})

test('logins that a program keeps lie in a folder that only their owner sees; those of nobody else are used (MCP-1)', async () => {
  const server = await serveLogin()
  const dir = join(makeFolder(), 'logins')
  const open = async (url: string) => {
    const servers = mcpTools({ servers: { tracker: { url } }, logins: { dir }, meet: false })
    await openRuntime({ feeds: [servers] })
    return servers
  }
  const first = await open(server.url)
  await first.login('tracker', { authorize: ({ url }) => server.visit(url) })
  const [name = ''] = readdirSync(dir)
  expect([statSync(dir).mode & 0o777, statSync(join(dir, name)).mode & 0o777]).toEqual([0o700, 0o600])
  const again = await open(server.url)
  expect((await again.look()).servers[0]).toMatchObject({ state: 'open' })

  const other = await serveLogin()
  const elsewhere = await open(other.url)
  expect((await elsewhere.look()).servers[0]).toMatchObject({ state: 'failed' })
  expect(other.shown.every((each) => each.endsWith(' none'))).toBe(true)
  expect(readFileSync(join(dir, name), 'utf8')).toContain(server.tokens[0])
})

test('a login of another process is used at once, however long a server was to be left alone (MCP-1)', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const server = await serveLogin()
  const open = async (meet: boolean) => {
    const servers = mcpTools({ servers: { tracker: { url: server.url } }, logins: { dir }, meet })
    return { servers, runtime: await openRuntime({ feeds: [servers], onError: () => {} }) }
  }
  const dir = join(makeFolder(), 'logins')
  const waiting = await open(true)
  await waiting.runtime.settled(120_000)
  const names = () =>
    waiting.runtime
      .session()
      .tools()
      .map(({ tool }) => tool)
  expect(names()).not.toContain('mcp.tracker.whoami')
  const { servers } = await open(false)
  await servers.login('tracker', { authorize: ({ url }) => server.visit(url) })
  // No timer of the back-off ends: only the login itself brings it.
  while (!names().includes('mcp.tracker.whoami')) await sleep(20)
})
