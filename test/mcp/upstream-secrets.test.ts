import { expect, onTestFinished, test } from 'vitest'
import { mcpTools } from 'handrail/mcp'
import { openMcpFeed } from '../../src/compose/sources/mcp-tools.ts'
import { openRuntime, personSaying } from '../support/project.ts'
import { startScripted } from '../support/scripted-server.ts'
import { fixtureTool, makeFixtureServer, openUpstreams } from '../support/upstreams.ts'

const secrets = {
  API_KEY: 'literal-key-123456',
  service_token: 'literal-token-123456',
  PGPASSWORD: 'literal-pass-123456',
  DATABASE_URL: 'postgresql://user:literal%40word-123@db.example/x',
  ANYTHING: 'ghp_0123456789012345678901234567890123456',
}
const harmless = {
  MODE: 'literal-mode',
  KEY_FILE: '/srv/keys/key.pem',
  AUTH_TYPE: 'interactive',
  TOKEN: 'short',
}

test('literal secrets in the entry of a server show up nowhere: not in results, evidence or logs (MCP-1, OUT-4)', async () => {
  const server = makeFixtureServer([fixtureTool('environment'), fixtureTool('die')])
  const args = [...server.args, '--api-key', 'literal-option-123', '--token=literal-pair-123']
  const runtime = await openUpstreams({ it: { ...server.file, args, env: { ...secrets, ...harmless } } })
  const shown = JSON.stringify(await runtime.session().call('mcp.it.environment'))
  const kept = JSON.stringify([...runtime.store.records({ tenant: 'local' })])
  for (const secret of [
    'literal-key',
    'literal-token',
    'literal-pass',
    'word-123',
    'ghp_0',
    'literal-option',
    'literal-pair',
  ])
    expect([secret, shown.includes(secret), kept.includes(secret)]).toEqual([secret, false, false])
  for (const value of Object.values(harmless)) expect(shown).toContain(value)
})

test('what a program says of its secrets on its way out is not logged with them (MCP-1, OUT-4)', async () => {
  const issues: string[] = []
  const script = 'console.error("error: cannot use " + process.env.API_KEY); process.exit(1)'
  const feed = mcpTools({
    servers: { it: { command: process.execPath, args: ['-e', script], env: { API_KEY: secrets.API_KEY } } },
  })
  const runtime = await openRuntime({ feeds: [feed], onError: ({ cause }) => issues.push(String(cause)) })
  await runtime.settled()
  expect(issues.join()).toContain('error: cannot use [redacted]')
  expect(feed.describe().servers[0]?.log).toBe('error: cannot use [redacted]')
})

test('a literal secret in the headers of a server is redacted where the server says it (MCP-1, OUT-4)', async () => {
  const server = await startScripted(({ method, headers }) =>
    method === 'tools/call' ? { content: [{ type: 'text', text: headers.authorization ?? '' }] } : undefined,
  )
  const headers = { Authorization: 'Basic literal-header-123' }
  const feed = mcpTools({ servers: { it: { url: server.url, headers } } })
  const runtime = await openRuntime({ feeds: [feed], approve: personSaying('allow_once').approve })
  await runtime.settled()
  const result = await runtime.session().call('mcp.it.act')
  expect(server.calls()[0]?.headers.authorization).toBe('Basic literal-header-123')
  expect(JSON.stringify(result)).not.toContain('literal-header')
})

test('what a server says past the calls, to a client of its own, holds none of its secrets (MCP-1, MCP-3, OUT-4)', async () => {
  const toSchema = (key: object) => ({ type: 'object', properties: { key } })
  const words = (key: string | undefined) => ({ description: `Uses ${key}.` })
  const server = await startScripted(({ method, headers: { authorization } }, say) => {
    if (method === 'tools/list') {
      const key = { type: 'string', default: authorization }
      return { tools: [fixtureTool('act', { ...words(authorization), inputSchema: toSchema(key) })] }
    }
    if (method === 'prompts/list') return { prompts: [{ name: 'p', ...words(authorization) }] }
    if (method === 'prompts/get')
      return { error: { code: -32_602, message: `Not with ${authorization}`, data: words(authorization) } }
    if (method !== 'completion/complete') return undefined
    say({ method: 'notifications/message', params: { level: 'info', data: words(authorization) } })
    return { completion: { values: [] } }
  })
  const headers = { Authorization: 'Basic literal-header-123' }
  const feed = openMcpFeed({ servers: { it: { url: server.url, headers } } })
  const runtime = await openRuntime({ feeds: [feed] })
  await runtime.settled()
  const told: string[] = []
  const line = feed.openDirectConnection('it', {
    tenant: 'local',
    actor: 'user',
    era: 'legacy',
    capabilities: {},
    notify: (method, params) => told.push(JSON.stringify([method, params])),
  })
  onTestFinished(() => line.close())
  const [tool] = await line.tools()
  expect(tool?.said).toMatchObject({
    description: 'Uses [redacted].',
    inputSchema: { properties: { key: { default: '[redacted]' } } },
  })
  const known = runtime.session().tools({ presentation: 'canonical' })
  expect(JSON.stringify(known)).toContain('Uses [redacted].')
  expect(JSON.stringify(known)).not.toContain('literal-header')
  const ask = (method: string) => line.ask(method, {}, new AbortController().signal)
  expect(await ask('prompts/list')).toEqual({
    prompts: [{ name: 'p', description: 'Uses [redacted].' }],
  })
  await expect(ask('prompts/get')).rejects.toMatchObject({
    message: expect.stringContaining('Not with [redacted]'),
    data: { data: { description: 'Uses [redacted].' } },
  })
  await ask('completion/complete')
  await expect.poll(() => told.join()).toContain('Uses [redacted].')
})
