import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { expect, onTestFinished, test, vi } from 'vitest'
import { handrail, jsonOf, makePlace, type Place } from '../support/command-line.ts'
import { startCommand, startServer, type CommandAtWork } from '../support/start-command.ts'
import { serveLogin, type LoginServer } from '../support/login-server.ts'
import { startScripted } from '../support/scripted-server.ts'
import { ctrlC, ctrlD, openTerminal } from '../support/terminal.ts'
import { listUntil } from './connect.ts'

/** A person whose `mcp.json` names the server, with more said of it. */
function makePerson(
  { url }: LoginServer,
  more: object = {},
  own: Readonly<Record<string, unknown>> = {},
): Place {
  const tracker = { url, ...more }
  return makePlace({}, { 'mcp.json': { mcpServers: { tracker } }, 'policy.json': policy, ...own })
}

/** The person lets the tools of servers do everything. */
const policy = { rules: [{ id: 'all', effect: 'allow', tools: ['mcp.*'] }] }

/** `handrail mcp login`, up to the URL that it shows. */
async function startLogin(
  place: Place,
  more: readonly string[] = [],
): Promise<{ running: CommandAtWork; url: string }> {
  const running = await startCommand(place, ['mcp', 'login', 'tracker', ...more])
  await running.saw('It leads back to')
  return { running, url: /^ {2}(http\S+)$/m.exec(running.output.stderr)?.[1] ?? 'none' }
}

/** Logs in with a browser on this machine. */
async function logIn(place: Place, server: LoginServer, more: readonly string[] = []) {
  const { running, url } = await startLogin(place, more)
  const page = await fetch(await server.visit(url))
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('can be closed')])
  return running.ended
}

function call(place: Place, tool: string, more: readonly string[] = []) {
  return handrail(place, ['call', `mcp.tracker.${tool}`, '{}', '--json', ...more])
}

interface Called {
  ok: boolean
  content: { text: string }[]
  error?: { code: string; reason: string; message: string }
}

/** Everything that is kept in a home, as one text. */
function everythingIn(folder: string): string {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => !path.startsWith('mcp-tokens') && statSync(join(folder, path)).isFile())
    .map((path) => readFileSync(join(folder, path), 'latin1'))
    .join('\n')
}

test('a person logs in at a server, its tools work from then on, and only their owner can see the tokens (MCP-1)', async () => {
  const server = await serveLogin()
  const place = makePerson(server)
  // A connection has ten seconds, in which a busy machine may not answer.
  await vi.waitFor(async () => {
    const before = await handrail(place, ['mcp', 'status'])
    expect([before.code, before.stdout]).toEqual([
      1,
      expect.stringContaining('run "handrail mcp login tracker"'),
    ])
  })

  const ended = await logIn(place, server)
  expect([ended.code, ended.stdout]).toEqual([
    0,
    `"tracker": the tenant "local" is logged in by ${server.issuer}, with read. Running servers use it from now on.\n`,
  ])
  expect(server.grants).toEqual([
    expect.objectContaining({
      grant_type: 'authorization_code',
      resource: server.url,
      client: 'registered-1',
    }),
  ])
  expect((await handrail(place, ['mcp', 'status'])).stdout).toContain('tracker  open, 2025-11-25, 3 tools')
  expect(jsonOf<Called>(await call(place, 'whoami')).content[0]?.text).toContain('registered-1')

  const folder = join(place.home, 'mcp-tokens')
  const files = readdirSync(folder)
  expect([files.length, statSync(folder).mode & 0o777]).toEqual([1, 0o700])
  expect(statSync(join(folder, files[0] ?? '')).mode & 0o777).toBe(0o600)

  const shown = await call(place, 'show_token')
  expect(jsonOf<Called>(shown).content[0]?.text).toMatch(/\n\[redacted\]\n/)
  const [token = 'none'] = server.tokens
  expect(readFileSync(join(folder, files[0] ?? ''), 'utf8')).toContain(token)
  for (const said of [ended.stdout, ended.stderr, shown.stdout, shown.stderr, everythingIn(place.home)])
    expect(said).not.toContain(token)
})

test('where the browser runs on another machine, the address that it ended at is pasted (MCP-1)', async () => {
  const server = await serveLogin()
  const place = makePerson(server)
  const { running, url } = await startLogin(place)
  const back = await server.visit(url)
  running.type('no address\n')
  await running.saw('That is not the expected address')
  running.type(`${back.replace(/state=[^&]*/, 'state=another')}\n`)
  running.type(`${back}\n`)
  const ended = await running.ended
  expect([ended.code, ended.stderr.split('That is not the expected address').length - 1]).toEqual([0, 2])
  expect(jsonOf<Called>(await call(place, 'whoami')).ok).toBe(true)
})

test('only the browser of this login is listened to, and only for so long (MCP-1)', async () => {
  const server = await serveLogin()
  const place = makePerson(server)
  const { running, url } = await startLogin(place, ['--within', '20s'])
  const back = new URL(await server.visit(url))
  const statusOf = (path: string, host = back.host): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      const sent = request({ host: '127.0.0.1', port: back.port, path, headers: { host } }, (response) => {
        response.resume()
        resolve(response.statusCode)
      })
      sent.on('error', reject).end()
    })
  const own = back.pathname + back.search
  expect(await statusOf(own.replace(/state=[^&]*/, 'state=another'))).toBe(404)
  expect(await statusOf(own, 'attacker.example')).toBe(404)
  expect(await statusOf(`/other${back.search}`)).toBe(404)
  for (const noUrl of ['//', 'http://:x/']) {
    expect(await statusOf(noUrl)).toBe(404)
    expect(await statusOf(noUrl, 'attacker.example')).toBe(404)
  }
  expect(server.grants).toEqual([])
  expect(await statusOf(own)).toBe(200)
  expect((await running.ended).code).toBe(0)

  const ended = await handrail(place, ['mcp', 'login', 'tracker', '--within', '100ms'])
  expect([ended.code, ended.stderr]).toEqual([2, expect.stringContaining('did not come back in time')])
})

test('a running server says what it needs, and uses a login as soon as there is one (MCP-1)', async () => {
  const server = await serveLogin()
  server.says.listsToAll = true
  const place = makePerson(server)
  const serving = await startServer(place)
  const client = new Client({ name: 'test', version: '1.0.0' })
  await client.connect(new StreamableHTTPClientTransport(new URL(serving.url)))
  onTestFinished(() => client.close())
  const say = async () =>
    JSON.stringify(await client.callTool({ name: 'mcp__tracker__whoami', arguments: {} }))
  await listUntil(client, 'mcp__tracker__whoami')
  const refused = await say()
  expect(refused).toContain('login_needed')
  expect(refused).toContain('handrail mcp login tracker')

  expect((await logIn(place, server)).code).toBe(0)
  expect(await say()).toContain('registered-1')

  const gone = await handrail(place, ['mcp', 'logout', 'tracker'])
  expect([gone.code, gone.stdout]).toEqual([0, '"tracker": the login of the tenant "local" is forgotten.\n'])
  expect(server.hits.at(-1)).toBe('POST /revoke')
  expect(readdirSync(join(place.home, 'mcp-tokens'))).toEqual([])
  expect(await say()).toContain('login_needed')
  expect((await handrail(place, ['mcp', 'logout', 'tracker'])).stdout).toContain('was not logged in')
})

test('a server that shows no tools without a login shows them to a running server after it (MCP-1)', async () => {
  const server = await serveLogin()
  const place = makePerson(server)
  const serving = await startServer(place)
  await serving.saw('handrail mcp login tracker')
  const client = new Client({ name: 'test', version: '1.0.0' })
  await client.connect(new StreamableHTTPClientTransport(new URL(serving.url)))
  onTestFinished(() => client.close())
  const names = async () => (await client.listTools()).tools.map(({ name }) => name)
  expect(await names()).not.toContain('mcp__tracker__whoami')
  expect((await logIn(place, server)).code).toBe(0)
  await vi.waitFor(async () => expect(await names()).toContain('mcp__tracker__whoami'))
})

test('tenants log in each for themselves (MCP-1)', async () => {
  const server = await serveLogin()
  const place = makePerson(server, {}, { 'policy.json': { ...policy, tenants: { acme: {} } } })
  expect((await logIn(place, server)).code).toBe(0)
  const ofAcme = await call(place, 'whoami', ['--tenant', 'acme'])
  const { error } = jsonOf<Called>(ofAcme)
  expect([ofAcme.code, error?.code, error?.reason]).toEqual([1, 'PROVIDER.UNAVAILABLE', 'login_needed'])
  expect(error?.message).toContain('handrail mcp login tracker --tenant acme')

  expect((await logIn(place, server, ['--tenant', 'acme'])).stdout).toContain(
    'the tenant "acme" is logged in',
  )
  const [first, second] = server.tokens
  await call(place, 'whoami', ['--tenant', 'acme'])
  expect(server.shown.at(-1)).toBe(`tools/call Bearer ${second}`)
  await call(place, 'whoami')
  expect(server.shown.at(-1)).toBe(`tools/call Bearer ${first}`)
  expect(readdirSync(join(place.home, 'mcp-tokens'))).toHaveLength(2)

  const unknown = await handrail(place, ['mcp', 'login', 'tracker', '--tenant', 'nobody'])
  expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('unknown_tenant')])
})

test('more rights are asked for once a call needed them, beside those that there are (MCP-1)', async () => {
  const server = await serveLogin()
  const place = makePerson(server)
  await logIn(place, server)
  const { error } = jsonOf<Called>(await call(place, 'admin'))
  expect(error?.reason).toBe('login_needed')
  expect(error?.message).toContain('a login with more rights (read admin): run "handrail mcp login tracker"')
  expect(jsonOf<Called>(await call(place, 'whoami')).ok).toBe(true)

  expect((await logIn(place, server)).stdout).toContain('with read admin.')
  expect(server.visits.map((asked) => asked.get('scope'))).toEqual(['read', 'read admin'])
  expect(jsonOf<Called>(await call(place, 'admin')).ok).toBe(true)
})

test('a command line that cannot be meant is refused before anything listens (MCP-1)', async () => {
  const server = await serveLogin()
  const place = makePerson(server, { headers: { Authorization: 'Bearer own' } })
  const said = async (...argv: string[]) => {
    const { code, stderr } = await handrail(place, ['mcp', ...argv])
    return `${code} ${stderr}`
  }
  expect(await said('login')).toMatch(/^2 .*Name the server of mcp.json/)
  expect(await said('login', 'other')).toMatch(
    /^2 .*There is no MCP server "other".* There are: tracker\.\n$/,
  )
  expect(await said('login', 'tracker')).toMatch(/^2 .*Leave the header "Authorization" out/)
  expect(await said('login', 'tracker', '--approve')).toMatch(/^2 .*takes no --approve/)
  expect(server.hits).toEqual([])
  expect(existsSync(join(place.home, 'mcp-tokens'))).toBe(false)
})

test.each([
  [
    'Ctrl-D',
    {
      typed: ctrlD,
      code: 2,
      said: 'No login was made at "tracker". The input ended before the browser came back.',
    },
  ],
  ['Ctrl-C', { typed: ctrlC, code: 130, said: '' }],
])('%s at the terminal ends a login at once (MCP-1)', async (_, { typed, code, said }) => {
  const place = makePerson(await serveLogin())
  const terminal = openTerminal(place, ['mcp', 'login', 'tracker'])
  await terminal.saw('Ctrl-D gives up.')
  terminal.type(typed)
  expect(await terminal.ended).toBe(code)
  expect(terminal.screen()).toContain(said)
  expect(
    existsSync(join(place.home, 'mcp-tokens')) && readdirSync(join(place.home, 'mcp-tokens')).length > 0,
  ).toBe(false)
})

test('a login where no MCP server answers says which server, where, what is wrong and what to do (MCP-1)', async () => {
  const server = await startScripted(() => ({ status: 404 }))
  const login = (url: string) =>
    handrail(makePlace({}, { 'mcp.json': { mcpServers: { it: { url } } } }), ['mcp', 'login', 'it'])
  const down = await login('http://127.0.0.1:9/mcp')
  expect([down.code, down.stderr]).toEqual([
    2,
    'handrail: login_failed: No login was made at "it". Nothing listens at "http://127.0.0.1:9/mcp". Start the server, or correct "url" in mcp.json.\n',
  ])
  const other = await login(server.url)
  expect([other.code, other.stderr]).toEqual([
    2,
    expect.stringContaining(
      `"it". There is no MCP at "${server.url}": it answers 404. Correct "url" in mcp.json`,
    ),
  ])
})
