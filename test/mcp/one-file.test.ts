import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { expect, onTestFinished, test } from 'vitest'
import { handrail, jsonOf, makePlace, type Place } from '../support/command-line.ts'
import { startServer } from '../support/start-command.ts'
import { fixtureTool, makeFixtureServer, said } from '../support/upstreams.ts'
import { listUntil } from './connect.ts'

const tokenOf = { ann: 'hr_token-of-ann', bob: 'hr_token-of-bob' }

/** A gateway for two teams, whole: who connects, what is allowed, and which server they share with credentials of their own. */
function makeGateway() {
  const digestOf = (token: string) => createHash('sha256').update(token).digest('hex')
  const server = makeFixtureServer([fixtureTool('environment'), fixtureTool('echo')])
  return {
    port: 0,
    tokens: [
      { id: 'ann', sha256: digestOf(tokenOf.ann), actor: 'ann', tenant: 'acme' },
      { id: 'bob', sha256: digestOf(tokenOf.bob), actor: 'bob', tenant: 'bolt' },
    ],
    config: { disallowedTools: ['web.*'] },
    policy: {
      tenants: { acme: {}, bolt: {} },
      rules: [
        { effect: 'allow', tools: ['mcp.team.*'] },
        { effect: 'deny', tools: ['mcp.team.echo'] },
      ],
    },
    mcpServers: {
      team: {
        ...server.file,
        tenants: { acme: { env: { KEY: 'of acme' } }, bolt: { env: { KEY: 'of bolt' } } },
      },
    },
  }
}

async function connect(url: string, who: keyof typeof tokenOf): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' })
  const headers = { authorization: `Bearer ${tokenOf[who]}` }
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }))
  onTestFinished(() => client.close())
  return client
}

async function serve(place: Place) {
  const server = await startServer(place)
  return { server, url: server.url }
}

const fileOf = (place: Place): string => join(place.home, 'gateway.json')

test('one file holds the gateway of a team: callers, policy, settings and servers (MCP-3)', async () => {
  const gateway = makeGateway()
  const place = makePlace({}, { 'gateway.json': gateway })
  const { server, url } = await serve(place)
  for (const who of ['ann', 'bob'] as const) {
    const client = await connect(url, who)
    await listUntil(client, 'mcp__team__environment')
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).not.toContain('web__fetch_page')
    const result = await client.callTool({ name: 'mcp__team__environment', arguments: {} })
    const { env } = JSON.parse(said(result as Parameters<typeof said>[0])) as { env: { KEY: string } }
    expect(env.KEY).toBe(who === 'ann' ? 'of acme' : 'of bolt')
    const denied = await client.callTool({ name: 'mcp__team__echo', arguments: {} })
    expect(denied).toMatchObject({ isError: true, _meta: { 'handrail/call': { code: 'POLICY.DENY_TOOL' } } })
  }
  const policy = { ...gateway.policy, rules: [{ effect: 'deny', tools: ['mcp.team.*'] }] }
  writeFileSync(fileOf(place), JSON.stringify({ ...gateway, policy }))
  await server.saw('of the policy is in force')
  const client = await connect(url, 'ann')
  const denied = await client.callTool({ name: 'mcp__team__environment', arguments: {} })
  expect(denied.isError).toBe(true)

  const { policy: _, ...without } = gateway
  writeFileSync(fileOf(place), JSON.stringify(without))
  await server.saw('gateway.json#/policy: It is gone since the last start.')
  const still = await (await connect(url, 'bob')).callTool({ name: 'mcp__team__environment', arguments: {} })
  expect(still.isError).toBe(true)
})

test('the other commands go by the same file (MCP-3)', async () => {
  const place = makePlace({}, { 'gateway.json': makeGateway() })
  const status = await handrail(place, ['mcp', 'status', '--json'])
  expect(jsonOf<{ servers: { server: string; tools: string[] }[] }>(status).servers).toMatchObject([
    { server: 'team', tools: ['mcp.team.environment', 'mcp.team.echo'] },
  ])
  const denied = await handrail(place, ['call', 'mcp.team.echo', '{}', '--tenant', 'acme'])
  expect(`${denied.stdout}${denied.stderr}`).toContain('POLICY.DENY_TOOL')
  const web = await handrail(place, ['tools'])
  expect(web.stdout).not.toContain('web.fetch_page')
  const made = await handrail(place, ['token', 'cem', '--tenant', 'acme', '--write'])
  expect(made.code).toBe(0)
  const written = JSON.parse(readFileSync(fileOf(place), 'utf8')) as ReturnType<typeof makeGateway>
  expect(written.tokens.map(({ id }) => id)).toEqual(['ann', 'bob', 'cem'])
  expect(written.policy.rules).toHaveLength(2)
  expect(Object.keys(written.mcpServers)).toEqual(['team'])
})

test('all issues of all its parts are named at the start, and nothing is started (MCP-3)', async () => {
  const gateway = makeGateway()
  const [ann] = gateway.tokens
  const place = makePlace(
    {},
    {
      'policy.json': {},
      'gateway.json': {
        ...gateway,
        tokens: [ann, ann],
        config: { limits: { callsPerSession: 0 } },
        policy: { rules: [{ effect: 'perhaps' }] },
        mcpServers: { a: {}, b: { url: 'ftp://x' } },
      },
    },
  )
  const ended = await handrail(place, ['serve', '--port', '0'])
  expect(ended.code).not.toBe(0)
  for (const pointer of [
    '/tokens/1',
    '/tokens/1/sha256',
    '/config/limits/callsPerSession',
    '/policy/rules/0/effect',
    '/mcpServers/a',
    '/mcpServers/b/url',
  ])
    expect(ended.stderr).toContain(`${fileOf(place)}#${pointer}: `)
  expect(ended.stderr).toContain(`There is "${join(place.home, 'policy.json')}" too. Keep one of them.`)
})

test('without a file that could hold the policy nothing runs, and what it says twice is refused (MCP-3)', async () => {
  const place = makePlace({ 'a.txt': 'here' }, { 'gateway.json': { policy: {} }, 'policy.json': {} })
  const read = ['call', 'code.read_file', '{"path":"a.txt"}']
  const twice = await handrail(place, read)
  expect(twice.code).not.toBe(0)
  expect(twice.stderr).toContain('Keep one of them.')
  writeFileSync(fileOf(place), '{"policy": {')
  const broken = await handrail(place, read)
  expect([broken.code === 0, broken.stdout]).toEqual([false, ''])
  expect(broken.stderr.match(/not valid JSON/g)).toHaveLength(1)
  expect(broken.stderr).not.toContain('Keep one of them.')
})

test('a tenant that the policy does not name keeps its server from being used, and no other one (MCP-1, MCP-3)', async () => {
  const gateway = makeGateway()
  const other = { ...gateway.mcpServers.team, tenants: ['nobody'] }
  const mcpServers = { ...gateway.mcpServers, other }
  const place = makePlace({}, { 'gateway.json': { ...gateway, mcpServers } })
  const status = await handrail(place, ['mcp', 'status', '--json'])
  expect(jsonOf<{ servers: unknown[] }>(status).servers).toMatchObject([
    { server: 'team', state: 'open' },
    { server: 'other', fault: expect.stringContaining('"nobody" is none of them'), remedy: null },
  ])
})
