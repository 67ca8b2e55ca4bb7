import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  Client,
  ClientCredentialsProvider,
  StreamableHTTPClientTransport,
  type StreamableHTTPClientTransportOptions,
} from '@modelcontextprotocol/client'
import { generateKeyPair, SignJWT } from 'jose'
import { expect, onTestFinished, test, vi } from 'vitest'
import { serveAuthorization, type AuthorizationServer } from '../support/authorization-server.ts'
import { keepOpen } from '../support/at-end.ts'
import { handrail, jsonOf, makePlace, type Place } from '../support/command-line.ts'
import { startServer } from '../support/start-command.ts'

const eras = ['2025-11-25', '2026-07-28'] as const
type Era = (typeof eras)[number]

/** `handrail serve` as a person starts it. */
async function serve(place: Place) {
  const server = await startServer(place)
  return { server, url: new URL(server.url) }
}

async function connect(url: URL, era: Era, options: StreamableHTTPClientTransportOptions): Promise<Client> {
  const client = new Client(
    { name: 'test', version: '1.0.0' },
    { versionNegotiation: { mode: era === '2025-11-25' ? 'legacy' : { pin: era } } },
  )
  await client.connect(new StreamableHTTPClientTransport(url, options))
  onTestFinished(() => client.close())
  return client
}

const bearer = (token: string) => ({ requestInit: { headers: { authorization: `Bearer ${token}` } } })

/** A request as it stands. */
function post(url: URL, headers: Record<string, string> = {}, body: object = initialize): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: JSON.stringify(body),
  })
}

const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
}

/** Who made the calls of a tenant that went well, as the evidence says. */
async function actorsOf(place: Place, tenant = 'local'): Promise<string[]> {
  const about = ['--json', '--tenant', tenant]
  const listed = await handrail(place, ['evidence', 'list', ...about])
  // Before the first call there is no list.
  if (listed.stdout === '') return []
  const ends = jsonOf<{ call: string; outcome: string }[]>(listed)
  const shown = ends
    .filter(({ outcome }) => outcome === 'ok')
    .map(async ({ call }) => {
      const [begin] = jsonOf<{ record: { actor: string } }[]>(
        await handrail(place, ['evidence', 'show', call, ...about]),
      )
      return begin?.record.actor ?? 'nobody'
    })
  return Promise.all(shown)
}

/** Two callers of two tenants, one of whom has fewer tools. */
const annToken = 'hr_token-of-ann'
const bobToken = 'hr_token-of-bob'
const digestOf = (token: string) => createHash('sha256').update(token).digest('hex')
const twoCallers = {
  tokens: [
    { id: 'ann', sha256: digestOf(annToken), actor: 'ann', tenant: 'acme' },
    { id: 'bob', sha256: digestOf(bobToken), actor: 'bob', allowedTools: ['code.read_file'] },
  ],
}
const tenants = { tenants: { acme: {} } }

test('handrail token writes nobody whom serve could not serve (MCP-3)', async () => {
  const place = makePlace({}, { 'policy.json': tenants })
  for (const [argv, why] of [
    [['a b'], '/tokens/0/actor: "a b" is not an id'],
    [['ci', '--tenant', 'nix'], '"nix" is none of them'],
  ] as const) {
    const made = await handrail(place, ['token', ...argv, '--write'])
    expect([made.code, made.stdout]).toEqual([2, ''])
    expect(made.stderr).toContain(why)
  }
  expect((await handrail(place, ['token', 'ci', '--tenant', 'acme', '--write'])).code).toBe(0)
})

test('handrail token --write lets a client connect with the token that it prints, and nobody without (MCP-3)', async () => {
  const place = makePlace({ 'a.txt': 'here\n' })
  const made = await handrail(place, ['token', 'ci', '--actor', 'robot', '--for', '1h', '--write'])
  expect([made.code, made.stdout]).toEqual([0, expect.stringMatching(/^hr_[\w-]{43}\n$/)])
  const token = made.stdout.trim()
  const { server, url } = await serve(place)
  expect(server.output.stdout).toMatch(/callers +1 by token\n/)

  const refused = await post(url)
  expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="handrail"'])
  for (const headers of [
    { authorization: `Bearer ${token}x` },
    { authorization: `Basic ${token}` },
    { authorization: token },
    { 'x-api-key': token },
  ] as Record<string, string>[])
    expect((await post(url, headers)).status).toBe(401)
  const inUrl = new URL(url)
  inUrl.searchParams.set('access_token', token)
  expect((await post(inUrl)).status).toBe(401)
  expect((await fetch(new URL('/metrics', url))).status).toBe(401)
  expect((await fetch(new URL('/healthz', url))).status).toBe(200)

  const client = await connect(url, '2025-11-25', bearer(token))
  const read = await client.callTool({ name: 'code__read_file', arguments: { path: 'a.txt' } })
  expect(JSON.stringify(read.content)).toContain('here')
  expect(await actorsOf(place)).toEqual(['robot'])
})

/** What is asked of the two while their file stays as it is. */
const forTwo = keepOpen(async () => {
  const place = makePlace({ 'a.txt': 'here\n' }, { 'gateway.json': twoCallers, 'policy.json': tenants })
  return { place, ...(await serve(place)) }
})

test.each(eras)(
  'each caller has the tenant, tools and evidence of their own (%s) (MCP-3 AUTH-6)',
  async (era) => {
    const { place, url } = forTwo()
    const before = { ann: await actorsOf(place, 'acme'), bob: await actorsOf(place) }
    const ann = await connect(url, era, bearer(annToken))
    const bob = await connect(url, era, bearer(bobToken))
    expect((await bob.listTools()).tools.map(({ name }) => name)).toEqual(['code__read_file'])
    expect((await ann.listTools()).tools.length).toBeGreaterThan(3)
    const call = { name: 'code__read_file', arguments: { path: 'a.txt' } }
    await Promise.all([ann.callTool(call), bob.callTool(call)])
    expect(await actorsOf(place, 'acme')).toEqual([...before.ann, 'ann'])
    expect(await actorsOf(place)).toEqual([...before.bob, 'bob'])
  },
)

test('a session of one caller is none for another, whoever knows its id (MCP-3)', async () => {
  const { url } = forTwo()
  const opened = await post(url, { authorization: `Bearer ${annToken}` })
  const session = opened.headers.get('mcp-session-id') ?? ''
  expect(session).not.toBe('')
  const list = { jsonrpc: '2.0', id: 2, method: 'tools/list', params: {} }
  const asked = (token: string) =>
    post(url, { authorization: `Bearer ${token}`, 'mcp-session-id': session }, list)
  expect((await asked(bobToken)).status).toBe(404)
  expect((await asked(annToken)).status).toBe(200)
})

test('a token that is taken out of gateway.json ends what it opened, while others go on (MCP-3 AUTH-5)', async () => {
  const place = makePlace({}, { 'gateway.json': twoCallers, 'policy.json': tenants })
  const { server, url } = await serve(place)
  const ann = await connect(url, '2025-11-25', bearer(annToken))
  const bob = await connect(url, '2025-11-25', bearer(bobToken))
  const opened = await post(url, { authorization: `Bearer ${annToken}` })
  const session = opened.headers.get('mcp-session-id') ?? ''
  const stream = await fetch(url, {
    headers: {
      accept: 'text/event-stream',
      authorization: `Bearer ${annToken}`,
      'mcp-session-id': session,
    },
  })
  expect(stream.status).toBe(200)
  const write = (gateway: object) => writeFileSync(join(place.home, 'gateway.json'), JSON.stringify(gateway))

  write({ tokens: [{ ...twoCallers.tokens[1], sha256: 'short' }] })
  await server.saw('/tokens/0/sha256')
  expect((await ann.listTools()).tools.length).toBeGreaterThan(3)
  write({})
  await server.saw('names no callers any more')
  expect((await post(url)).status).toBe(401)
  write({ tokens: twoCallers.tokens.slice(1) })
  await server.saw('from the next request on')
  expect(await stream.text()).toBe('')
  await expect(ann.listTools()).rejects.toThrow()
  expect((await bob.listTools()).tools).toHaveLength(1)
})

test.each<[string, unknown, string]>([
  [
    'a digest of another kind',
    'd41d8cd98f00',
    'has not the SHA-256 of a token, which is 64 hexadecimal digits',
  ],
  ['nothing', undefined, 'has not the SHA-256 of a token, which is 64 hexadecimal digits'],
  [
    'the token itself',
    'hr_hunter2',
    'has the token itself in place of its SHA-256, for every reader of the file to use',
  ],
])('of an entry with %s in place of a digest it is said what to do now (MCP-3)', async (_, sha256, said) => {
  const tokens = [...twoCallers.tokens, { id: 'cem', sha256, actor: 'cem', allowedTools: ['code.*'] }]
  const place = makePlace({}, { 'gateway.json': { tokens } })
  const { code, stderr } = await handrail(place, ['serve', '--port', '0'])
  expect(code).toBe(2)
  expect(stderr).toContain(
    `gateway.json#/tokens/2/sha256: The entry of "cem" ${said}. Make a token, and put the "sha256" that is shown with it here: handrail token cem\n`,
  )
  expect(stderr).not.toMatch(/hunter2|d41d8cd9/)
  const made = await handrail(place, ['token', 'cem'])
  expect([made.code, made.stdout]).toEqual([0, expect.stringMatching(/^hr_/)])
  expect(made.stderr).toContain(`"sha256": "${digestOf(made.stdout.trim())}"`)
  expect((await handrail(place, ['token', 'dan', '--write'])).stderr).toContain('Make a token, and put')
})

test('every issue of gateway.json is named at once, and nothing is served (MCP-3)', async () => {
  const place = makePlace(
    {},
    {
      'gateway.json': {
        tokens: [
          { id: 'a', sha256: digestOf('a'), actor: 'a', expiresAt: 'tomorrow' },
          { id: 'a', sha256: digestOf('a'), actor: 'b', allowedTools: ['read'] },
        ],
        oauth: { issuer: 'http://issuer.example', resource: 'no url', tenant: 't', tenantClaim: 'tenant' },
        allowedOrigins: ['handrail.example'],
      },
    },
  )
  const ended = await handrail(place, ['serve', '--port', '0'])
  expect([ended.code, ended.stdout]).toEqual([2, ''])
  for (const pointer of [
    '/tokens/1',
    '/tokens/1/sha256',
    '/tokens/0/expiresAt',
    '/tokens/1/allowedTools/0',
    '/oauth/issuer',
    '/oauth/resource',
    '/oauth/tenant',
    '/allowedOrigins/0',
  ])
    expect(ended.stderr).toContain(`gateway.json#${pointer}:`)
})

test.each([
  ['an address that others can reach, without callers', { host: '0.0.0.0' }, 'nothing says who may connect'],
  [
    'a token of a tenant that there is none of',
    { tokens: [{ id: 'a', sha256: digestOf('a'), actor: 'a', tenant: 'nobody' }] },
    '/tokens/0',
  ],
])('%s stops the start (MCP-3)', async (_what, gateway, said) => {
  const place = makePlace({}, { 'gateway.json': gateway, 'policy.json': tenants })
  const ended = await handrail(place, ['serve', '--port', '0'])
  expect([ended.code, ended.stdout]).toEqual([2, ''])
  expect(ended.stderr).toContain(said)
})

test('requests over the limit of a caller are refused with the time to wait, those of others are not (MCP-3)', async () => {
  const gateway = { ...twoCallers, requestsPerMinute: 3 }
  const place = makePlace({}, { 'gateway.json': gateway, 'policy.json': tenants })
  const { url } = await serve(place)
  const statuses: number[] = []
  let last: Response | undefined
  for (let n = 0; n < 5; n++) {
    last = await post(url, { authorization: `Bearer ${annToken}` })
    statuses.push(last.status)
  }
  expect(statuses).toEqual([200, 200, 200, 429, 429])
  expect(Number(last?.headers.get('retry-after'))).toBeGreaterThan(0)
  expect((await post(url, { authorization: `Bearer ${bobToken}` })).status).toBe(200)
})

test('a body over the limit of the configuration is refused (MCP-3)', async () => {
  const place = makePlace({}, { 'gateway.json': { maxBodyBytes: 1_000 } })
  const { url } = await serve(place)
  expect((await post(url, {}, { ...initialize, more: 'x'.repeat(1_000) })).status).toBe(413)
  expect((await post(url)).status).toBe(200)
})

/** A gateway that takes tokens of this authorization server, under a name that clients know. */
async function serveFor(authorization: AuthorizationServer, more: object = {}) {
  const port = await freePort()
  const resource = `http://127.0.0.1:${port}/mcp`
  const oauth = { issuer: authorization.issuer, resource, scopes: ['mcp'], ...more }
  const place = makePlace({ 'a.txt': 'here\n' }, { 'gateway.json': { port, oauth }, 'policy.json': tenants })
  const server = await startServer(place, [])
  return { place, server, resource, url: new URL(resource) }
}

async function freePort(): Promise<number> {
  const { createServer } = await import('node:net')
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise<void>((resolve) => server.close(() => resolve()))
  return typeof address === 'object' && address !== null ? address.port : 0
}

test.each(eras)(
  'a client that knows nothing but the URL finds the authorization server, gets a token and calls (%s) (MCP-3)',
  async (era) => {
    const authorization = await serveAuthorization()
    const { place, url, resource } = await serveFor(authorization)
    const metadata = await fetch(new URL('/.well-known/oauth-protected-resource/mcp', url))
    expect(await metadata.json()).toMatchObject({
      resource,
      authorization_servers: [authorization.issuer],
      scopes_supported: ['mcp'],
    })
    const { id: clientId, secret: clientSecret } = authorization.client
    const authProvider = new ClientCredentialsProvider({
      clientId,
      clientSecret,
      expectedIssuer: authorization.issuer,
    })
    const client = await connect(url, era, { authProvider })
    const read = await client.callTool({ name: 'code__read_file', arguments: { path: 'a.txt' } })
    expect(JSON.stringify(read.content)).toContain('here')
    expect(authorization.hits).toContain('/token')
    expect(await actorsOf(place)).toEqual(['agent-7'])
  },
)

test('only tokens that were made for this server are taken (MCP-3)', async () => {
  const authorization = await serveAuthorization()
  const { url, resource } = await serveFor(authorization)
  const statusOf = async (token: string) => {
    const answer = await post(url, { authorization: `Bearer ${token}` })
    return [answer.status, /error="(\w+)"/.exec(answer.headers.get('www-authenticate') ?? '')?.[1]]
  }
  const aud = resource
  expect(await statusOf(await authorization.sign({ aud }))).toEqual([200, undefined])
  expect(await statusOf(await authorization.sign({ aud: [aud, 'https://other.example'] }))).toEqual([
    200,
    undefined,
  ])

  const stranger = await generateKeyPair('ES256')
  const shared = new TextEncoder().encode('a key that both sides know, as long as it has to be')
  const symmetric = new SignJWT({ aud, iss: authorization.issuer, sub: 'x', scope: 'mcp' })
    .setProtectedHeader({ alg: 'HS256' })
    .setExpirationTime('5m')
    .sign(shared)
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const claims = { aud, iss: authorization.issuer, sub: 'x', scope: 'mcp', exp: Date.now() }
  const invalid = {
    'for another server': await authorization.sign({ aud: 'https://other.example/mcp' }),
    'for its neighbour': await authorization.sign({ aud: `${resource}/other` }),
    'without an audience': await authorization.sign({}),
    'of another issuer': await authorization.sign({ aud, iss: 'https://other.example' }),
    expired: await authorization.sign({ aud, expiresIn: '-5m' }),
    'not valid yet': await authorization.sign({ aud, nbf: Math.floor(Date.now() / 1_000) + 600 }),
    'signed by a stranger': await authorization.sign({ aud }, stranger.privateKey),
    'signed with a shared key': await symmetric,
    'not signed': `${part({ alg: 'none' })}.${part(claims)}.`,
    'no token at all': 'abc',
  }
  for (const [what, token] of Object.entries(invalid))
    expect([what, ...(await statusOf(token))]).toEqual([what, 401, 'invalid_token'])
  expect(await statusOf(await authorization.sign({ aud, scope: 'other mcp2' }))).toEqual([
    403,
    'insufficient_scope',
  ])
})

test('claims say whose tenant and which actor a call is of; a tenant that is not there gets nothing (MCP-3 AUTH-6)', async () => {
  const authorization = await serveAuthorization()
  const claims = { tenantClaim: 'org', actorClaim: 'email' }
  const { place, url, resource: aud } = await serveFor(authorization, claims)
  const client = await connect(
    url,
    '2025-11-25',
    bearer(await authorization.sign({ aud, org: 'acme', email: 'ann@acme.example' })),
  )
  await client.callTool({ name: 'code__read_file', arguments: { path: 'a.txt' } })
  expect(await actorsOf(place, 'acme')).toEqual(['ann@acme.example'])
  const statusOf = async (more: object) =>
    (await post(url, { authorization: `Bearer ${await authorization.sign({ aud, ...more })}` })).status
  expect(await statusOf({ org: 'nobody', email: 'a' })).toBe(403)
  expect(await statusOf({ email: 'a' })).toBe(401)
  expect(await statusOf({ org: 'acme' })).toBe(401)
})

test('new keys of the authorization server are found; while it is gone, nobody new is let in (MCP-3)', async () => {
  const authorization = await serveAuthorization()
  const { url, resource: aud } = await serveFor(authorization, { jwksUri: 'http://127.0.0.1:1/keys' })
  const refused = await post(url, { authorization: `Bearer ${await authorization.sign({ aud })}` })
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5'])

  const { url: other, resource } = await serveFor(authorization)
  await authorization.rotate()
  const statusOf = async () =>
    (await post(other, { authorization: `Bearer ${await authorization.sign({ aud: resource })}` })).status
  await vi.waitFor(async () => expect(await statusOf()).toBe(200))
})
