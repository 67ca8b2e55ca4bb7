import { expect, test } from 'vitest'
import { handrail } from '../support/command-line.ts'
import { askApi, caller, enter, keepBrowser, openPage, startConsole } from '../support/console.ts'
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
