import { expect, test } from 'vitest'
import { handrail } from '../support/command-line.ts'
import { askApi, caller, enter, keepBrowser, openPage, startConsole } from '../support/console.ts'
import { findFaults } from '../support/find-faults.ts'
import { serveLogin } from '../support/login-server.ts'
import { fixtureTool, makeFixtureServer } from '../support/upstreams.ts'

const browser = keepBrowser()

test('a person sees where each MCP server stands: its tools, why it failed, and that one wants a login', async () => {
  const broken = makeFixtureServer()
  broken.break(true)
  const login = await serveLogin()
  const { link, place, origin } = await startConsole({
    'mcp.json': {
      mcpServers: {
        it: makeFixtureServer([fixtureTool('echo'), fixtureTool('die')]).file,
        broken: broken.file,
        web: { url: login.url },
        odd: { command: 1 },
      },
    },
  })
  const { api } = await enter(link)
  const find = async (name: string) =>
    (await api('/servers')).body.servers.find(({ server }: { server: string }) => server === name)
  await expect.poll(() => find('it')).toMatchObject({ state: 'open', tools: ['mcp.it.echo', 'mcp.it.die'] })
  await expect
    .poll(() => find('broken'))
    .toMatchObject({
      state: 'failed',
      wantsLogin: false,
      fault: expect.stringContaining('7'),
    })
  await expect
    .poll(() => find('web'))
    .toMatchObject({
      state: 'failed',
      wantsLogin: true,
      fault: expect.stringContaining('handrail mcp login web'),
    })
  expect((await api('/servers')).body.faulty).toMatchObject([{ server: 'odd' }])

  const { stdout } = await handrail(place, ['console', '--port', new URL(origin).port])
  const { page, faults } = await openPage(browser(), stdout.trim())
  await page.getByRole('link', { name: 'Servers', exact: true }).click()
  await page.getByRole('heading', { name: /web failed.*login needed/ }).waitFor()
  await page.getByText('odd is left out').waitFor()
  await page.getByRole('link', { name: 'mcp.it.echo' }).press('Enter')
  await page.getByRole('heading', { name: 'mcp.it.echo', exact: true }).waitFor()
  expect(faults).toEqual([])
})

test('a person logs in at a server from its card, in the browser that began it alone, and its tools are there at once', async () => {
  const login = await serveLogin()
  const port = { url: login.url, oauth: { client_id: 'agent-7', redirect_port: 8123 } }
  const files = {
    'mcp.json': { mcpServers: { web: { url: login.url }, port, it: makeFixtureServer().file } },
  }
  const { link, place, origin, shop } = await startConsole(files)
  const { page, faults } = await openPage(browser(), link)
  const { stdout } = await handrail(place, ['console', '--port', new URL(origin).port])
  const { change, cookie } = await enter(stdout.trim())
  const begin = () => change('/servers/web/login', {})
  await page.getByRole('link', { name: 'Servers', exact: true }).click()
  const card = page.getByRole('region', { name: 'web', exact: true })
  const button = card.getByRole('button', { name: 'Log in at web' })
  await expect
    .poll(async () => {
      await page.getByRole('button', { name: 'Look again' }).click()
      return button.count()
    })
    .toBe(1)

  // What another browser brings, and what was begun anew, is turned away.
  const begun = await begin()
  expect(begun.headers.get('set-cookie')).toMatch(
    /^handrail-\d+-server=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax/,
  )
  const way = await login.visit(begun.body.url)
  expect(new URL(way).origin).toBe(origin)
  const own = (begun.headers.get('set-cookie') ?? '').split(';', 1)[0] ?? ''
  const back = (headers: Record<string, string>) => fetch(way, { headers, redirect: 'manual' })
  for (const headers of [{ cookie }, { cookie: own.replace(/=.*/, `=${'A'.repeat(43)}`) }]) {
    const refused = await back(headers)
    expect([refused.status, await refused.text()]).toEqual([
      403,
      expect.stringContaining('not begun in this'),
    ])
  }
  await begin()
  expect((await back({ cookie: own })).status).toBe(403)
  const other = await enter(
    (await handrail(place, ['console', '--port', new URL(origin).port])).stdout.trim(),
  )
  const late = await other.change('/servers/web/login', {})
  await other.change('/leave', {})
  const left = await fetch(await login.visit(late.body.url), {
    headers: { cookie: (late.headers.get('set-cookie') ?? '').split(';', 1)[0] ?? '' },
  })
  expect([left.status, await left.text()]).toEqual([
    403,
    expect.stringContaining('Your visit to the console'),
  ])
  expect(login.grants).toEqual([])

  expect(await findFaults(page)).toEqual([])
  await button.press('Enter')
  await page.getByRole('heading', { name: /^web open/ }).waitFor()
  expect([new URL(page.url()).origin, new URL(page.url()).pathname]).toEqual([origin, '/servers'])
  await card.getByRole('link', { name: 'mcp.web.whoami' }).waitFor()
  expect(login.grants).toHaveLength(1)
  const notes = [...shop.runtime.store.records({ kind: 'note', tenant: 'local' })].map(({ text }) => text)
  expect(notes.filter((text) => text.includes('"server_login"'))).toHaveLength(1)
  expect(JSON.stringify([notes, (await change('/servers/it/login', {})).body])).not.toContain(login.tokens[0])

  for (const [server, why] of [
    ['it', 'It is a program, which has no login.'],
    ['none', 'has no MCP server "none"'],
    ['port', 'handrail mcp login port'],
  ]) {
    const { status, body } = await change(`/servers/${server}/login`, {})
    expect([server, status, body.detail]).toEqual([server, 409, expect.stringContaining(why ?? '')])
  }
  expect(faults).toEqual([])
})

test('a tenant sees the servers that are its own, and nothing of what another one was told on its way', async () => {
  const broken = makeFixtureServer()
  broken.break(true)
  const { origin } = await startConsole({
    'policy.json': { tenants: { acme: {} } },
    'gateway.json': { tokens: [caller('eve', { approver: true, tenant: 'acme' }), caller('ann')] },
    'mcp.json': {
      mcpServers: {
        both: broken.file,
        mine: { ...makeFixtureServer().file, tenants: ['acme'] },
        theirs: { ...makeFixtureServer().file, tenants: ['local'] },
        odd: { command: 1 },
      },
    },
  })
  const as = (id: string) => askApi(origin, '/servers', { headers: { authorization: `Bearer hr_${id}` } })
  expect((await as('ann')).status).toBe(403)
  await expect
    .poll(async () => (await as('eve')).body)
    .toMatchObject({
      servers: [
        { server: 'both', state: 'shared' },
        { server: 'mine', state: 'open', tools: ['mcp.mine.echo'] },
      ],
      faulty: [],
    })
  const { servers } = (await as('eve')).body
  expect(servers.map(({ server }: { server: string }) => server)).toEqual(['both', 'mine'])
  expect(Object.keys(servers[0])).not.toContain('fault')
})
