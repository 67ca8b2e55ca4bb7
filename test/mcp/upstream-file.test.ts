import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SetupError, type RuntimeOptions } from 'handrail'
import { mcpTools, type McpToolsOptions } from 'handrail/mcp'
import { searchTools } from 'handrail/tools'
import { expect, test } from 'vitest'
import { makeFolder, openRuntime } from '../support/project.ts'
import { fixtureTool, makeFixtureServer, said } from '../support/upstreams.ts'
import { personSaying } from '../support/project.ts'

/** A runtime that follows this file. */
async function follow(
  mcpServers: object,
  more: Partial<McpToolsOptions> = {},
  tools: RuntimeOptions['tools'] = [],
) {
  const path = join(makeFolder(), 'mcp.json')
  const write = (servers: object) => writeFileSync(path, JSON.stringify({ mcpServers: servers }))
  write(mcpServers)
  const issues: string[] = []
  const feed = mcpTools({ path, follow: true, ...more })
  const runtime = await openRuntime({
    tools,
    feeds: [feed],
    approve: personSaying('allow_once').approve,
    onError: ({ cause }) => issues.push(String(cause)),
  })
  const has = (name: string) => runtime.registry.find(name) !== undefined
  return { runtime, path, write, issues, has, state: () => feed.describe() }
}

test('servers that come, change and go in the file come, change and go in the runtime (MCP-1)', async () => {
  const [one, two] = [makeFixtureServer(), makeFixtureServer([fixtureTool('failed')])]
  const { runtime, write, has } = await follow({ one: one.file })
  await expect.poll(() => has('mcp.one.echo')).toBe(true)
  write({ one: one.file, two: two.file })
  await expect.poll(() => has('mcp.two.failed')).toBe(true)
  const before = one.asked().filter((method) => method === 'initialize').length
  write({ two: { ...two.file, tools: { deny: ['*'] } }, one: one.file })
  await expect.poll(() => has('mcp.two.failed')).toBe(false)
  write({ one: one.file })
  expect(said(await runtime.session().call('mcp.one.echo', { text: 'hi' }))).toBe('hi')
  // Nothing was said of this one, so nobody connected anew.
  expect(one.asked().filter((method) => method === 'initialize')).toHaveLength(before)
  write({})
  await expect.poll(() => has('mcp.one.echo')).toBe(false)
})

test('a version of the file that cannot be used leaves what there was, and is said once (MCP-1)', async () => {
  const one = makeFixtureServer()
  const { runtime, path, write, issues, has, state } = await follow({ one: one.file })
  await expect.poll(() => has('mcp.one.echo')).toBe(true)
  writeFileSync(path, '{')
  await expect.poll(() => issues.join()).toContain('not valid JSON')
  expect(said(await runtime.session().call('mcp.one.echo', { text: 'hi' }))).toBe('hi')
  write({ one: { ...one.file, timeout_ms: 'long' } })
  await expect.poll(() => issues.join()).toContain('/mcpServers/one/timeout_ms')
  expect(has('mcp.one.echo')).toBe(true)
  expect(state().faulty.map(({ server }) => server)).toEqual(['one'])
})

test('a new entry that is at fault says each time that the one before stays in force, and which it is (MCP-1)', async () => {
  const one = makeFixtureServer()
  const { runtime, write, issues, has } = await follow({ one: one.file })
  await expect.poll(() => has('mcp.one.echo')).toBe(true)
  const told = () => issues.filter((issue) => issue.includes('the one before stays in force'))
  for (const times of [1, 2]) {
    write({ one: { ...one.file, netwrok: true }, two: { netwrok: true } })
    await expect.poll(() => told().length).toBe(times)
    expect(told().at(-1)).toContain('The new entry of the MCP server "one" cannot be used')
    expect(issues.at(-1)).toContain('The MCP server "two" is left out')
    expect(said(await runtime.session().call('mcp.one.echo', { text: 'hi' }))).toBe('hi')
    write({ one: { ...one.file, timeout_ms: 20_000 + times } })
    await expect
      .poll(() => runtime.registry.find('mcp.one.echo')?.definition.limits.timeoutMs)
      .toBe(20_000 + times)
  }
})

test('a file that is gone takes no servers away, and that is said (MCP-1)', async () => {
  const one = makeFixtureServer()
  const { runtime, path, write, issues, has } = await follow({ one: one.file })
  await expect.poll(() => has('mcp.one.echo')).toBe(true)
  rmSync(path)
  await expect.poll(() => issues.join()).toContain('is gone')
  expect(said(await runtime.session().call('mcp.one.echo', { text: 'hi' }))).toBe('hi')
  write({})
  await expect.poll(() => has('mcp.one.echo')).toBe(false)
})

test.each([
  { url: 'https://b/?key=hunter2&more=${KEY}' },
  { url: 'ftp://b/?key=hunter2' },
  { url: 'b?key=hunter2' },
  { url: 'https://user:hunter2@b/' },
  { command: 'a', args: ['--token=hunter2${KEY}'] },
  { command: 'a', env: { TOKEN: 'hunter2${a:b}' } },
])('what is wrong with %j is said without what could be a secret in it (MCP-1)', (server) => {
  const make = () => mcpTools({ servers: { a: server } })
  expect(make).toThrow(/\/mcpServers\/a\/(url|args\/0|env\/TOKEN): /)
  expect(make).not.toThrow(/hunter2/)
})

test.each([
  [{}, '', 'neither'],
  [{ command: 'a', url: 'http://b' }, '', 'both'],
  [{ command: '' }, '/command', ''],
  [{ command: 'a', args: 'b' }, '/args', ''],
  [{ command: 'a', args: ['${HOME}'] }, '/args/0', 'stays as it is'],
  [{ command: 'a', env: { A: '${env:B}' } }, '/env/A', 'is not understood'],
  [{ command: 'a', env: { A: '${B:-c}' } }, '/env/A', 'is not understood'],
  [{ command: 'a', env: { 'A=B': 'c' } }, '/env/A=B', 'not a name of a variable'],
  [{ command: 'a', cwd: 'b' }, '/cwd', 'not an absolute path'],
  [{ command: 'a', read: ['b'] }, '/read/0', 'not an absolute path'],
  [{ command: 'a', write: ['/'] }, '/write/0', 'the whole machine'],
  [{ url: 'http://b/${KEY}' }, '/url', 'stays as it is'],
  [{ command: 'a', headers: { B: 'c' } }, '/headers', 'means nothing'],
  [{ command: 'a\0b' }, '/command', 'NUL'],
  [{ url: 'http://b', env: { A: 'b' } }, '/env', 'means nothing'],
  [{ url: 'file:///etc/passwd' }, '/url', 'neither http nor https'],
  [{ url: 'http://a:b@c/' }, '/url', 'user name or a password'],
  [{ url: 'no url' }, '/url', 'is not a URL'],
  [{ url: 'http://b', headers: { 'x-a': 'b\r\nx-c: d' } }, '/headers/x-a', 'line break'],
  [{ url: 'http://b', headers: { 'x a': 'b' } }, '/headers/x a', 'not a name of a header'],
  [{ url: 'http://b', type: 'sse' }, '/type', ''],
  [{ url: 'http://b', type: 'stdio' }, '/type', 'needs a "command"'],
  [{ command: 'a', type: 'http' }, '/type', 'needs a "url"'],
  [{ command: 'a', netwrok: false }, '/netwrok', 'Did you mean "network"?'],
  [{ command: 'a', tool: { deny: ['*'] } }, '/tool', 'Did you mean "tools"?'],
  [{ command: 'a', tools: { allowed: ['x'] } }, '/tools/allowed', ''],
  [{ command: 'a', tenants: [] }, '/tenants', ''],
  [{ command: 'a', tenants: ['no one'] }, '/tenants/0', 'not an id of a tenant'],
  [{ command: 'a', tenants: { 'no one': {} } }, '/tenants/no one', 'not an id of a tenant'],
  [{ command: 'a', tenants: {} }, '/tenants', ''],
  [{ command: 'a', tenants: { acme: { token: 'b' } } }, '/tenants/acme/token', ''],
  [{ command: 'a', tenants: { acme: { headers: { b: 'c' } } } }, '/tenants/acme/headers', 'means nothing'],
  [
    { url: 'http://b', tenants: { acme: { headers: { 'x-a': 'b\nc' } } } },
    '/tenants/acme/headers/x-a',
    'line',
  ],
  ['text', '', ''],
])('the server %j is refused at %j (MCP-1)', (server, pointer, message) => {
  const make = () => mcpTools({ servers: { 'a/b': server } })
  expect(make).toThrow(SetupError)
  try {
    make()
  } catch (error) {
    const { issues } = error as SetupError
    expect(issues.map((issue) => issue.pointer)).toContain(`/mcpServers/a~1b${pointer}`)
    expect(issues.map((issue) => issue.message).join()).toContain(message)
  }
})

test('all issues of all servers are named at once (MCP-1)', () => {
  try {
    mcpTools({ servers: { a: { url: 'x', netwrok: 1 }, b: {} } })
    expect.unreachable()
  } catch (error) {
    expect((error as SetupError).issues.map(({ pointer }) => pointer)).toEqual([
      '/mcpServers/a/netwrok',
      '/mcpServers/a/url',
      '/mcpServers/b',
    ])
  }
})

test('what other programs write into the file is left alone, and nothing of it permits anything (MCP-1)', async () => {
  const server = makeFixtureServer()
  const foreign = { autoApprove: ['*'], alwaysAllow: ['echo'], icon: 'x' }
  const { runtime, path, issues, has } = await follow({
    one: { ...server.file, ...foreign },
    two: { ...server.file, disabled: true },
  })
  const text = readFileSync(path, 'utf8')
  await expect.poll(() => has('mcp.one.echo')).toBe(true)
  expect(has('mcp.two.echo')).toBe(false)
  for (const field of Object.keys(foreign))
    expect(issues.join()).toContain(`"${field}" of the server "one" means nothing here`)
  const denied = await runtime
    .session({ approve: personSaying('deny').approve })
    .call('mcp.one.echo', { text: 'hi' })
  expect(denied.error?.code).toBe('POLICY.APPROVAL_DENIED')
  expect(readFileSync(path, 'utf8')).toBe(text)
})

test('a secret that is not there keeps its server from being used, and says which (MCP-1)', async () => {
  const server = makeFixtureServer()
  const { runtime, issues } = await follow({ one: { ...server.file, env: { KEY: '${NOT_GIVEN}' } } })
  await runtime.settled(120_000)
  expect(issues.join()).toContain('The secret "NOT_GIVEN" is not there')
})

test('a server of the file is deferred, and shown again as soon as the file says so (POOL-8, MCP-1)', async () => {
  const one = makeFixtureServer()
  const { runtime, write, has } = await follow({ one: { ...one.file, defer: true } }, {}, [searchTools()])
  await expect.poll(() => has('mcp.one.echo')).toBe(true)
  const shown = () =>
    runtime
      .session()
      .tools()
      .map(({ tool }) => tool)
  expect(shown()).toContain('tools.search')
  expect(shown()).not.toContain('mcp.one.echo')
  write({ one: { ...one.file, defer: false } })
  await expect.poll(shown).toContain('mcp.one.echo')
})
