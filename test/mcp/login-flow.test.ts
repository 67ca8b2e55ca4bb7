import { join } from 'node:path'
import type { RuntimeOptions } from 'handrail'
import { mcpTools } from 'handrail/mcp'
import { expect, test } from 'vitest'
import { knownClient, serveLogin, type LoginServer } from '../support/login-server.ts'
import { makeFolder, openRuntime, personSaying } from '../support/project.ts'

/** A program whose person goes where they are led, and what they were led to. */
async function openProgram(
  { url, visit }: Pick<LoginServer, 'url' | 'visit'>,
  { oauth, lead = visit, more = {} }: Program = {},
) {
  const led: { url: string; redirectUrl: string; scopes: readonly string[] }[] = []
  const issues: string[] = []
  const tracker = { url, tools: { readonly: ['*'] }, ...(oauth && { oauth }) }
  const servers = mcpTools({
    servers: { tracker },
    ...(lead !== null && {
      authorize: async (request) => {
        led.push(request)
        return lead(request.url)
      },
    }),
  })
  const runtime = await openRuntime({
    feeds: [servers],
    approve: personSaying('allow_once').approve,
    onError: ({ cause }) => issues.push(String(cause)),
    ...more,
  })
  await runtime.settled(120_000)
  const call = async (tool: string) => {
    const { ok, error, content } = await runtime.session().call(`mcp.tracker.${tool}`, {})
    return { ok, text: JSON.stringify(content), error }
  }
  const state = async () => (await servers.look()).servers[0]
  return { servers, led, issues, call, state }
}

interface Program {
  oauth?: object
  /** Null: there is nobody. */
  lead?: ((url: string) => Promise<string>) | null
  more?: RuntimeOptions
}

const kinds = ({ grants }: LoginServer) => grants.map(({ grant_type }) => grant_type)

test('a program is asked where its person has to go, once, and its calls work from then on (MCP-1)', async () => {
  const server = await serveLogin()
  const { led, call } = await openProgram(server)
  expect((await call('whoami')).text).toContain('registered-1')
  expect(led).toEqual([
    {
      server: 'tracker',
      tenant: 'local',
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/authorize\?/),
      redirectUrl: 'http://127.0.0.1:7421/callback',
      scopes: ['read'],
    },
  ])
  const asked = server.visits[0]
  expect([asked?.get('code_challenge_method'), asked?.get('resource')]).toEqual(['S256', server.url])
})

test('a token that is good no more is renewed once for all calls, and with what came last (MCP-1)', async () => {
  const server = await serveLogin()
  const { led, call } = await openProgram(server)
  for (const round of [1, 2]) {
    server.expire()
    const results = await Promise.all(Array.from({ length: 6 }, () => call('whoami')))
    expect(results.map(({ ok }) => ok)).toEqual(Array.from({ length: 6 }, () => true))
    expect(kinds(server)).toEqual([
      'authorization_code',
      ...Array.from({ length: round }, () => 'refresh_token'),
    ])
  }
  expect(server.grants.at(-1)).toMatchObject({ resource: server.url, client: 'registered-1' })
  expect(led).toHaveLength(1)

  server.expire()
  server.revoke()
  expect((await call('whoami')).ok).toBe(true)
  expect(led).toHaveLength(2)
  expect(kinds(server).slice(-2)).toEqual(['refresh_token', 'authorization_code'])
})

test('a call that needs more rights asks for them once, and a server that is never content gets an error (MCP-1)', async () => {
  const server = await serveLogin()
  const { led, call } = await openProgram(server)
  expect((await call('admin')).ok).toBe(true)
  expect(led.map(({ scopes }) => scopes)).toEqual([['read'], ['read', 'admin']])

  const greedy = await serveLogin()
  greedy.says.token = {
    status: 200,
    body: JSON.stringify({ access_token: 'no-good-token', token_type: 'Bearer' }),
  }
  const other = await openProgram(greedy)
  expect(await other.state()).toMatchObject({
    state: 'failed',
    fault: expect.stringContaining('handrail mcp login'),
  })
  expect(other.led).toHaveLength(1)
})

test('where nobody can be asked, the call says what the operator has to do, and nothing was asked of anybody (MCP-1)', async () => {
  const server = await serveLogin()
  const { call, state } = await openProgram(server, { lead: null })
  expect(await state()).toMatchObject({
    state: 'failed',
    fault: 'It needs a login: run "handrail mcp login tracker".',
  })
  expect(server.hits).toEqual([])
  server.says.listsToAll = true
  const open = await openProgram(server, { lead: null })
  const { error } = await open.call('whoami')
  expect([error?.code, error?.reason, error?.actor]).toEqual([
    'PROVIDER.UNAVAILABLE',
    'login_needed',
    'operator',
  ])
  expect(error?.message).toContain('did nothing. It needs a login: run "handrail mcp login tracker".')
  expect((await call('whoami')).ok).toBe(false)
})

test('a person who says no is not asked again until somebody wants that (MCP-1)', async () => {
  const server = await serveLogin()
  const { servers, led, call } = await openProgram(server, {
    lead: async (url) => {
      const back = new URL(await server.visit(url))
      back.searchParams.delete('code')
      back.searchParams.set('error', 'access_denied')
      return back.href
    },
  })
  for (let again = 0; again < 3; again++) expect((await call('whoami')).ok).toBe(false)
  expect(led).toHaveLength(1)
  expect(server.grants).toEqual([])
  await expect(
    servers.login('tracker', { authorize: async () => 'https://elsewhere.example/callback?code=x' }),
  ).rejects.toThrow(/No login was made at "tracker"\. That is not the way back/)
  const facts = await servers.login('tracker', { authorize: ({ url }) => server.visit(url) })
  expect(facts).toEqual({ issuer: server.issuer, scopes: ['read'] })
  expect((await call('whoami')).ok).toBe(true)
  expect(await servers.logout('tracker')).toBe(true)
  expect(server.hits.at(-1)).toBe('POST /revoke')
  await expect(servers.login('nothing', { authorize: async () => '' })).rejects.toThrow(
    /no MCP server "nothing"/,
  )
})

test.each<[string, (back: URL) => void, RegExp]>([
  [
    'of another server',
    ({ searchParams }) => searchParams.set('iss', 'https://attacker.example'),
    /does not come from/,
  ],
  ['of nobody', ({ searchParams }) => searchParams.delete('iss'), /does not come from/],
  [
    'with a slash more',
    ({ searchParams }) => searchParams.set('iss', `${searchParams.get('iss')}/`),
    /does not come from/,
  ],
  ['of another login', ({ searchParams }) => searchParams.set('state', 'x'), /belongs to another login/],
  ['of no login', ({ searchParams }) => searchParams.delete('state'), /belongs to another login/],
])('a code %s is never redeemed (MCP-1)', async (_, change, why) => {
  const server = await serveLogin()
  const { issues, led } = await openProgram(server, {
    lead: async (url) => {
      const back = new URL(await server.visit(url))
      change(back)
      return back.href
    },
  })
  expect(led).toHaveLength(1)
  expect(server.grants).toEqual([])
  expect(issues.join()).toMatch(why)
  expect(issues.join()).not.toContain('attacker.example')
})

test('a person who never comes back keeps a runtime from nothing (MCP-1)', async () => {
  const server = await serveLogin()
  const { promise: led, resolve } = Promise.withResolvers<void>()
  const servers = mcpTools({
    servers: { tracker: { url: server.url } },
    authorize: () => {
      resolve()
      return new Promise(() => {})
    },
  })
  const runtime = await openRuntime({ feeds: [servers] })
  await led
  await runtime.close()
  expect(server.grants).toEqual([])
})

test('a machine gets its tokens with a secret of its own, and no more rights than its operator names (MCP-1)', async () => {
  const server = await serveLogin()
  const oauth = {
    client_id: knownClient.client_id,
    client_secret: '${TRACKER_SECRET}',
    grant: 'client_credentials',
    scopes: ['read'],
  }
  const more = { secrets: { TRACKER_SECRET: knownClient.client_secret } }
  const { led, call } = await openProgram(server, { oauth, more })
  expect((await call('whoami')).text).toContain('agent-7')
  server.expire()
  expect((await call('whoami')).ok).toBe(true)
  expect(server.grants.map(({ grant_type, scope, client }) => [grant_type, scope, client])).toEqual([
    ['client_credentials', 'read', 'agent-7'],
    ['client_credentials', 'read', 'agent-7'],
  ])
  const { error } = await call('admin')
  expect([error?.reason, error?.message]).toEqual(['login_needed', expect.stringContaining('more rights')])
  expect(server.grants).toHaveLength(2)
  expect(led).toEqual([])

  const without = await openProgram(server, { oauth })
  expect(without.issues.join()).toContain('The secret "TRACKER_SECRET" is not there.')
  expect(server.grants).toHaveLength(2)
  const wrong = await openProgram(server, { oauth, more: { secrets: { TRACKER_SECRET: 'not-the-secret' } } })
  expect(wrong.issues.join()).toContain('invalid_client')
  expect(wrong.issues.join()).not.toContain('not-the-secret')
})

test('credentials of one authorization server are never shown to another (MCP-1)', async () => {
  const server = await serveLogin()
  const other = await serveLogin()
  const oauth = { ...knownClient, grant: 'client_credentials' }
  const { call } = await openProgram(server, { oauth })
  expect((await call('whoami')).ok).toBe(true)
  server.says.issuers = [other.issuer]
  server.expire()
  const { error } = await call('whoami')
  expect(error?.message).toContain(`led by "${other.issuer}" now`)
  expect(error?.reason).toBe('login_needed')
  expect(other.grants).toEqual([])

  const named = await openProgram(server, { oauth: { ...oauth, issuer: server.issuer } })
  expect(named.issues.join()).toContain('"issuer" in mcp.json names')
  expect(other.hits.filter((hit) => !hit.includes('well-known'))).toEqual([])
})

test('a person who logged in by one authorization server is registered and asked anew by the next (MCP-1)', async () => {
  const server = await serveLogin()
  const next = await serveLogin()
  const { led, call } = await openProgram(server)
  server.says.issuers = [next.issuer]
  server.expire()
  const refreshed = server.grants.length
  await call('whoami')
  expect(server.grants).toHaveLength(refreshed)
  expect(next.hits.filter((hit) => hit === 'POST /register')).toHaveLength(1)
  expect(next.grants[0]).toMatchObject({ grant_type: 'authorization_code', client: 'registered-1' })
  expect(led).toHaveLength(2)

  server.says.issuers = [server.issuer]
  await call('whoami')
  expect(kinds(server)).not.toContain('refresh_token')
})

test('a tenant with a header of its own does not log in, and one without never gets that (MCP-1)', async () => {
  const server = await serveLogin()
  server.says.listsToAll = true
  const asked: string[] = []
  const acme = { headers: { Authorization: 'Bearer key-of-acme' } }
  const servers = mcpTools({
    servers: { tracker: { url: server.url, tenants: { bolt: {}, acme } } },
    authorize: ({ url, tenant }) => {
      asked.push(tenant)
      return server.visit(url)
    },
  })
  const runtime = await openRuntime({
    feeds: [servers],
    approve: personSaying('allow_once').approve,
    policy: { tenants: { acme: {}, bolt: {} } },
  })
  await runtime.settled(120_000)
  const call = (tenant: string) => runtime.session({ tenant }).call('mcp.tracker.whoami', {})
  expect((await call('acme')).ok).toBe(false)
  expect([asked, server.hits]).toEqual([[], []])
  expect(server.shown.at(-1)).toBe('tools/call Bearer key-of-acme')
  expect((await call('bolt')).ok).toBe(true)
  expect(asked).toEqual(['bolt'])
  expect(server.shown.at(-1)).toBe(`tools/call Bearer ${server.tokens.at(-1)}`)
  await expect(servers.login('tracker', { tenant: 'acme', authorize: async () => '' })).rejects.toThrow(
    /Leave the header "Authorization" out/,
  )
})

test('a server that answers, and then wants a login again, leads a person to it once (MCP-1)', async () => {
  const server = await serveLogin()
  server.says.refuses = 'tools/list'
  const lead = async (url: string) => {
    if (server.visits.length === 3) throw new Error('That is enough.')
    return server.visit(url)
  }
  const { led, issues, state } = await openProgram(server, { lead })
  expect(await state()).toMatchObject({ state: 'failed' })
  expect(led).toHaveLength(1)
  expect(issues.join()).toContain('needs a login')
})

test('a server that moves to another authorization server while it is connected to leads a person there, once (MCP-1)', async () => {
  const server = await serveLogin()
  const next = await serveLogin()
  server.says.refuses = 'tools/list'
  const lead = async (url: string) => {
    const back = await (url.startsWith(next.issuer) ? next : server).visit(url)
    server.says.issuers = [next.issuer]
    return back
  }
  const { led, issues } = await openProgram(server, { lead })
  expect(led.map(({ url }) => new URL(url).origin)).toEqual([server.issuer, next.issuer])
  // The server refuses the new token too: it is renewed once, and the person is not led there again.
  expect(next.grants).toMatchObject([
    { grant_type: 'authorization_code', client: 'registered-1' },
    { grant_type: 'refresh_token', client: 'registered-1' },
  ])
  expect(issues.join()).toContain('needs a login')
})

/** Programs after each other, which keep their logins in the same folder. */
function openInTurn(server: LoginServer) {
  const dir = join(makeFolder(), 'logins')
  return async (oauth: object = {}) => {
    const issues: string[] = []
    const tracker = { url: server.url, oauth, tools: { readonly: ['*'] } }
    const servers = mcpTools({ servers: { tracker }, logins: { dir }, meet: false })
    const runtime = await openRuntime({
      feeds: [servers],
      approve: personSaying('allow_once').approve,
      onError: ({ cause }) => issues.push(String(cause)),
    })
    const login = (more: { redirectUrl?: string; lead?: (url: string) => Promise<string> } = {}) =>
      servers.login('tracker', {
        authorize: (request) => (more.lead ?? ((url) => server.visit(url)))(request.url),
        ...(more.redirectUrl !== undefined && { redirectUrl: more.redirectUrl }),
      })
    const call = async (tool: string) => runtime.session().call(`mcp.tracker.${tool}`, {})
    return { servers, runtime, issues, login, call }
  }
}

test('a login that a person gives up leaves the one before as it was (MCP-1)', async () => {
  const server = await serveLogin()
  const { login, servers, call } = await openInTurn(server)()
  await login()
  await servers.look()
  const giveUp = async (): Promise<string> => {
    throw new Error('Not now.')
  }
  await expect(login({ redirectUrl: 'http://127.0.0.1:7999/callback', lead: giveUp })).rejects.toThrow(
    /Not now/,
  )
  expect(server.hits.filter((hit) => hit === 'POST /register')).toHaveLength(2)
  server.expire()
  expect((await call('whoami')).ok).toBe(true)
  expect(server.grants.at(-1)).toMatchObject({ grant_type: 'refresh_token', client: 'registered-1' })
})

test('a logout tells who gave the tokens, as the client that they were given to, and needs no word back (MCP-1)', async () => {
  const server = await serveLogin()
  const other = await serveLogin()
  const open = openInTurn(server)
  await (await open()).login()
  const { servers, issues } = await open({ ...knownClient, issuer: other.issuer })
  expect(await servers.logout('tracker')).toBe(true)
  expect(server.revocations).toEqual([
    { token: expect.stringMatching(/^rt-/), client_id: 'registered-1', authorization: 'none' },
  ])
  expect(issues).toEqual([])

  const own = await open({ ...knownClient, issuer: `${server.issuer}/` })
  await own.login()
  expect(await own.servers.logout('tracker')).toBe(true)
  const pair = Buffer.from(`${knownClient.client_id}:${knownClient.client_secret}`).toString('base64')
  expect(server.revocations.at(-1)).toMatchObject({ authorization: `Basic ${pair}` })
  expect(own.issues).toEqual([])
})

test('the rights that a call lacked are asked for at the next login, however often tokens were renewed (MCP-1)', async () => {
  const server = await serveLogin()
  const { login, servers, call } = await openInTurn(server)()
  await login()
  await servers.look()
  expect((await call('admin')).ok).toBe(false)
  server.expire()
  expect((await call('whoami')).ok).toBe(true)
  expect((await login()).scopes).toEqual(['read', 'admin'])
})

test('a server that cannot say for now who gives tokens for it costs nobody a login (MCP-1)', async () => {
  const server = await serveLogin()
  const { led, call } = await openProgram(server)
  server.expire()
  server.says.isLost = true
  const { error } = await call('whoami')
  expect(error?.message).toMatch(/could not be had\. Try later/)
  expect(led).toHaveLength(1)
  server.says.isLost = false
  expect((await call('whoami')).ok).toBe(true)
  expect(led).toHaveLength(1)
})

test('a login that was forgotten while it was renewed stays forgotten, and a newer one stays (MCP-1)', async () => {
  const server = await serveLogin()
  server.says.listsToAll = true
  const open = openInTurn(server)
  const { servers, call } = await open()
  const other = await open()
  await other.login()
  await servers.look()
  server.expire()
  server.says.meanwhile = async () => {
    server.says.meanwhile = undefined
    await other.login()
  }
  expect((await call('whoami')).ok).toBe(true)
  expect(server.shown.at(-1)).toBe(`tools/call Bearer ${server.tokens.at(-1)}`)

  server.expire()
  server.says.meanwhile = () => other.servers.logout('tracker')
  expect((await call('whoami')).error?.reason).toBe('login_needed')
  expect(await other.servers.logout('tracker')).toBe(false)
})

test('a client that its authorization server knows no more is registered anew at the login after that (MCP-1)', async () => {
  const server = await serveLogin()
  const { login } = await openInTurn(server)()
  const registered = () => server.hits.filter((hit) => hit === 'POST /register').length
  await login()
  await login()
  expect(registered()).toBe(1)
  server.says.token = { status: 401, body: JSON.stringify({ error: 'invalid_client' }) }
  await expect(login()).rejects.toThrow(/No login was made/)
  server.says.token = undefined
  await login()
  expect(registered()).toBe(2)
  expect(server.grants.at(-1)).toMatchObject({ client: 'registered-2' })
})
