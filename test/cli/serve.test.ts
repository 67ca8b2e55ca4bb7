import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { expect, onTestFinished, test } from 'vitest'
import {
  environmentOf,
  expectNoStack,
  handrail,
  jsonOf,
  makePlace,
  packageRoot,
  program,
  startHandrail,
  startProgram,
  type Running,
} from '../support/command-line.ts'
import { ctrlC, openTerminal } from '../support/terminal.ts'

const ready = 'Ctrl-C stops.'

/** The address that a starting server prints. */
async function urlOf(server: Pick<Running, 'saw' | 'output'>): Promise<URL> {
  await server.saw(ready)
  return new URL(/handrail serves MCP at (\S+)/.exec(server.output.stdout)?.[1] ?? 'no address')
}

async function connect(url: URL): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' })
  await client.connect(new StreamableHTTPClientTransport(url))
  onTestFinished(() => client.close())
  return client
}

async function textOf(url: URL): Promise<string> {
  return (await fetch(url)).text()
}

async function takePort(): Promise<number> {
  const server = createServer()
  onTestFinished(() => {
    server.close()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

test('serve prints address, project, tool count, store and how to connect; serves; and ends with 0 on Ctrl-C (MCP-2)', async () => {
  const place = makePlace({ 'a.txt': 'served\n' })
  const server = startHandrail(place, ['serve', '--port', '0'])
  const url = await urlOf(server)
  expect([url.hostname, url.pathname]).toEqual(['127.0.0.1', '/mcp'])
  const tools = jsonOf<unknown[]>(await handrail(place, ['tools', '--json']))
  const { stdout } = server.output
  expect(stdout).toMatch(new RegExp(`project +${place.project}\\n`))
  expect(stdout).toMatch(new RegExp(`tools +${tools.length} `))
  expect(stdout).toMatch(new RegExp(`store +sqlite ${place.store}, 5 records\\n`))
  expect(stdout).toContain(`claude mcp add --transport http handrail ${url.href}`)
  expect(stdout).toContain(`{"mcpServers": {"handrail": {"type": "http", "url": "${url.href}"}}}`)
  expect(stdout).toContain(`over stdio     node ${program} serve --stdio --project ${place.project}\n`)

  const client = await connect(url)
  expect((await client.listTools()).tools).toHaveLength(tools.length)
  const read = await client.callTool({ name: 'code__read_file', arguments: { path: 'a.txt' } })
  expect(JSON.stringify(read.content)).toContain('served')
  const write = await client.callTool({ name: 'code__write_file', arguments: { path: 'b', content: '' } })
  expect([write.isError, existsSync(join(place.project, 'b'))]).toEqual([true, false])

  server.child.kill('SIGINT')
  server.child.kill('SIGINT')
  const ended = await server.ended
  expectNoStack(ended)
  expect([ended.code, ended.signal]).toEqual([0, null])
  expect(ended.stderr).toMatch(
    /^handrail: code\.write_file was not run, since no person could be asked\. .*\n$/,
  )
  expect(ended.stdout).toContain('handrail: stopping')
  const calls = jsonOf(await handrail(place, ['evidence', 'list', '--json']))
  expect(calls).toMatchObject([{ outcome: 'denied' }, { outcome: 'ok' }])
})

test('Ctrl-C during a call over MCP aborts it and leaves evidence (SCHED-6)', async () => {
  const rules = [{ effect: 'allow', tools: ['code.run_command'], argv: ['sh', '**'] }]
  const place = makePlace({}, { 'policy.json': { rules } })
  const server = startHandrail(place, ['serve', '--port', '0'])
  const client = await connect(await urlOf(server))
  const answer = client
    .callTool({ name: 'code__run_command', arguments: { argv: ['sh', '-c', 'echo > begun; exec sleep 60'] } })
    .catch((error: unknown) => error)
  while (!existsSync(join(place.project, 'begun'))) await new Promise((resolve) => setTimeout(resolve, 20))
  server.child.kill('SIGTERM')
  expect((await server.ended).code).toBe(0)
  await answer
  const calls = jsonOf(await handrail(place, ['evidence', 'list', '--json']))
  expect(calls).toMatchObject([{ tool: 'code.run_command', outcome: 'aborted' }])
  expect((await handrail(place, ['evidence', 'verify'])).code).toBe(0)
})

test('at a terminal a client that cannot ask is answered for by the person there, and Ctrl-C stops the server (PERM-7)', async () => {
  const place = makePlace()
  const terminal = openTerminal(place, ['serve', '--port', '0'])
  await terminal.saw(ready)
  const url = new URL(/MCP at (\S+)/.exec(terminal.screen())?.[1] ?? '')
  const client = await connect(url)
  const write = (path: string) =>
    client.callTool({ name: 'code__write_file', arguments: { path, content: 'x' } })
  // Several questions at the same time: one line answers one of them.
  const paths = ['a.txt', 'b.txt', 'c.txt']
  const calls = paths.map(write)
  const isThere = (path: string) => existsSync(join(place.project, path))
  await terminal.sawNext('Allow?')
  expect(terminal.screen()).toMatch(/ {2}asked by: user of local as main, ses_\w+\n/)
  expect(terminal.screen()).toMatch(/ {2}no answer within (10 min|9 min \d+ s) is a no\n/)
  // Once each has passed the steps before its question, the others stand in line.
  const asked = async () =>
    /_count\{stage="preflight"\} (\d+)/.exec(await textOf(new URL('/metrics', url)))?.[1]
  await expect.poll(asked).toBe('3')
  terminal.type('once\n')
  await Promise.race(calls)
  const written = paths.filter(isThere)
  expect(written.map((path) => readFileSync(join(place.project, path), 'utf8'))).toEqual(['x'])
  const question = () => terminal.screen().split('wants to run').at(-1)
  await terminal.sawNext('Allow?')
  expect(question()).toContain('  1 more waits after this\n')
  terminal.type('deny\n')
  await terminal.sawNext('Allow?')
  expect(question()).not.toContain('after this')
  terminal.type('deny\n')
  const failed = await Promise.all(calls.map(async (each) => (await each).isError === true))
  expect(failed.filter(Boolean)).toHaveLength(2)
  expect(paths.filter(isThere)).toEqual(written)
  terminal.type(ctrlC)
  expect(await terminal.ended).toBe(0)
  expect(terminal.screen()).not.toMatch(/^\s+at /m)
})

test('a port in use is exit code 2 and names the port', async () => {
  const port = await takePort()
  const place = makePlace()
  for (const [argv, env] of [
    [['serve', '--port', String(port)], {}],
    [['serve'], { HANDRAIL_PORT: String(port) }],
  ] as const) {
    const { code, stdout, stderr } = await handrail(place, argv, { env })
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(new RegExp(`^handrail: port_in_use: The port ${port} .*Choose another port`))
  }
})

test.each(['x', '-1', '65536', '7420x', ' '])('HANDRAIL_PORT=%j is exit code 2', async (port) => {
  const { code, stderr } = await handrail(makePlace(), ['serve'], { env: { HANDRAIL_PORT: port } })
  expect(code).toBe(2)
  expect(stderr).toMatch(/^handrail: invalid_usage: The port is ".*--port or HANDRAIL_PORT/)
})

test.each([
  [['--tenant', 'acne'], 'unknown_tenant: The policy names its tenants, and "acne" is none of them.'],
  [['--tenant', 'a b'], 'invalid_options: The session cannot be opened:\n  /tenant: "a b" is not an id'],
  [['--mode', 'bypass'], 'invalid_options: The session cannot be opened:\n  /mode: The mode "bypass"'],
])(
  'serve %j ends at once with exit code 2 and says why, over HTTP and stdio (AUTH-6)',
  async (caller, said) => {
    const place = makePlace({}, { 'policy.json': { tenants: { acme: {} } } })
    for (const door of [['--port', '0'], ['--stdio']]) {
      const { code, stdout, stderr } = await handrail(place, ['serve', ...door, ...caller])
      expect([code, stdout, stderr.startsWith(`handrail: ${said}`)]).toEqual([2, '', true])
    }
  },
)

test('serve --stdio speaks MCP on its streams, with the compatible presentation where it is asked for (MCP-2)', async () => {
  const place = makePlace({ 'a.txt': 'over stdio\n' })
  const client = new Client({ name: 'test', version: '1.0.0' })
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [program, 'serve', '--stdio', '--presentation', 'compatible'],
    cwd: place.project,
    env: environmentOf(place),
    stderr: 'pipe',
  })
  await client.connect(transport)
  const read = await client.callTool({
    name: 'Read',
    arguments: { file_path: join(place.project, 'a.txt') },
  })
  expect(JSON.stringify(read.content)).toContain('over stdio')
  await client.close()
  expect(jsonOf(await handrail(place, ['evidence', 'list', '--json']))).toMatchObject([
    { tool: 'code.read_file', outcome: 'ok' },
  ])
})

test.each(['SIGINT', 'SIGTERM'] as const)(
  'serve --stdio ends with 0 on %s and when its input ends',
  async (signal) => {
    const place = makePlace()
    const hello = {
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
    }
    const stopped = startHandrail(place, ['serve', '--stdio'])
    stopped.child.stdin.write(`${JSON.stringify(hello)}\n`)
    await stopped.saw('"result"')
    stopped.child.kill(signal)
    stopped.child.kill(signal)
    expect(await stopped.ended).toMatchObject({ code: 0, signal: null, stderr: '' })
    expect(await handrail(place, ['serve', '--stdio'])).toMatchObject({ code: 0, stdout: '', stderr: '' })
  },
)

test('npm start serves the project on HANDRAIL_PORT, and Ctrl-C at its terminal ends it cleanly', async () => {
  const place = makePlace()
  const npm = startProgram(place, ['-q', '-e', '-c', 'exec npm start', '/dev/null'], {
    command: 'script',
    cwd: packageRoot,
    env: { HANDRAIL_PORT: '0', HANDRAIL_PROJECT: place.project },
  })
  const url = await urlOf(npm)
  expect(npm.output.stdout).toContain(place.project)
  const client = await connect(url)
  expect((await client.listTools()).tools.length).toBeGreaterThan(5)
  npm.child.stdin.write(ctrlC)
  const ended = await npm.ended
  expect(ended.stdout).toContain('handrail: stopping')
  expectNoStack(ended)
  // The shell that npm puts in between dies of the Ctrl-C itself, which npm tells as 130.
  expect([0, 130]).toContain(ended.code)
  await expect(fetch(url)).rejects.toThrow()
})
