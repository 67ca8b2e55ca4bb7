import { createHash } from 'node:crypto'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { environmentOf, makePlace, program, startProgram, type Place } from '../support/command-line.ts'
import { runKept } from '../support/kept-commands.ts'
import { serveRaw } from '../support/raw-client.ts'
import { realServer } from '../support/real-servers.ts'
import { fixtureTool, makeFixtureServer, unmarked } from '../support/upstreams.ts'

const inspector = join(
  dirname(createRequire(import.meta.url).resolve('@modelcontextprotocol/inspector/package.json')),
  'clients/launcher/build/index.js',
)

interface Shown {
  readonly tools?: readonly { readonly name: string }[]
  readonly content?: readonly { readonly type: string; readonly text?: string }[]
  readonly isError?: boolean
  readonly structuredContent?: unknown
  readonly resources?: readonly { readonly uri: string }[]
  readonly contents?: readonly unknown[]
  readonly _meta?: unknown
}

/** The inspector as a person runs it on the command line; gives what it shows, and what it ended with. */
async function inspect(
  place: Place,
  argv: readonly string[],
): Promise<Shown & { code: number | null; said: string }> {
  const { code, stdout, stderr } = await (runInKept(place, argv) ?? runAlone(place, argv))
  const shown = stdout.trim() === '' ? {} : (JSON.parse(stdout) as Shown)
  return { ...shown, code, said: stderr }
}

function runInKept(place: Place, argv: readonly string[]) {
  const main = join(import.meta.dirname, 'inspector-main.ts')
  const about = { main, cwd: place.project, env: environmentOf(place), input: '' }
  return runKept({ ...about, argv: ['--quiet', ...argv] })
}

function runAlone(place: Place, argv: readonly string[]) {
  const running = startProgram(place, [inspector, '--cli', '--quiet', ...argv])
  running.child.stdin.end()
  return running.ended
}

const callOf = (tool: string, input: object) => [
  '--method',
  'tools/call',
  '--tool-name',
  tool,
  '--tool-args-json',
  JSON.stringify(input),
]
const list = ['--method', 'tools/list']

const rules = [
  { id: 'no', effect: 'deny', tools: ['code.glob'] },
  { id: 'read', effect: 'allow', tools: ['mcp.read_resource'] },
]

/** A person with a server, one of whose tools is forbidden. */
function makeServed(more: Readonly<Record<string, unknown>> = {}): Place {
  const { file } = makeFixtureServer([fixtureTool('echo'), fixtureTool('environment')])
  const it = { ...file, tools: { readonly: ['*'], deny: ['environment'] } }
  return makePlace(
    { 'a.txt': 'here\n' },
    { 'mcp.json': { mcpServers: { it } }, 'policy.json': { rules }, ...more },
  )
}

/** The same for every way to the tools. */
async function expectGoverned(place: Place, way: readonly string[]): Promise<void> {
  // A gateway that has just started waits a while for its servers, which a busy machine may take longer to start.
  const names = await vi.waitFor(async () => {
    const { tools = [], code } = await inspect(place, [...way, ...list])
    expect(code).toBe(0)
    const listed = tools.map(({ name }) => name)
    expect(listed).toContain('mcp__it__echo')
    return listed
  })
  expect(names).toContain('code__read_file')
  expect(names).not.toContain('mcp__it__environment')
  const read = await inspect(place, [...way, ...callOf('code__read_file', { path: 'a.txt' })])
  expect(read).toMatchObject({ structuredContent: { content: 'here\n' }, code: 0 })
  const echoed = await vi.waitFor(async () => {
    const answer = await inspect(place, [...way, ...callOf('mcp__it__echo', { text: 'hi' })])
    expect(answer.content?.[0]?.text).toContain('hi')
    return answer
  })
  expect(unmarked(echoed.content?.[0]?.text)).toBe('hi')
  expect(echoed._meta).toMatchObject({ 'handrail/call': { tool: 'mcp.it.echo', outcome: 'ok' } })
  const denied = await inspect(place, [...way, ...callOf('code__glob', { pattern: '*' })])
  expect(denied.code).not.toBe(0)
  expect(JSON.stringify(denied)).toContain('POLICY.DENY_TOOL')
}

test('the inspector lists and calls governed tools over stdio, and is told why one is denied (MCP-2)', async () => {
  const place = makeServed()
  await expectGoverned(place, [process.execPath, program, 'serve', '--stdio', '--project', place.project])
})

test('the inspector lists and calls governed tools over HTTP with its token, and nothing without one (MCP-2, MCP-3)', async () => {
  const sha256 = createHash('sha256').update('token-of-ann').digest('hex')
  const place = makeServed({ 'gateway.json': { tokens: [{ id: 'ann', sha256, actor: 'ann' }] } })
  const way = [await serveRaw(place), '--transport', 'http', '--protocol-era', 'modern']
  const refused = await inspect(place, [...way, ...list])
  expect([refused.code === 0, refused.tools]).toEqual([false, undefined])
  await expectGoverned(place, [...way, '--header', 'Authorization: Bearer token-of-ann'])
})

test('the inspector sees one server under its own names, with its resources (MCP-2, MCP-3, BI-9)', async () => {
  const everything = {
    ...realServer('everything', 'stdio'),
    tools: { readonly: ['*'], deny: ['get-env'] },
  }
  const place = makeServed({ 'mcp.json': { mcpServers: { everything } } })
  const way = [`${await serveRaw(place)}/everything`, '--transport', 'http', '--protocol-era', 'legacy']
  const { tools = [] } = await inspect(place, [...way, ...list])
  const names = tools.map(({ name }) => name)
  expect(names).toContain('get-structured-content')
  expect(names).not.toContain('get-env')
  const echoed = await inspect(place, [...way, ...callOf('echo', { message: 'hi' })])
  expect(echoed.content).toEqual([{ type: 'text', text: 'Echo: hi' }])
  const { resources = [] } = await inspect(place, [...way, '--method', 'resources/list'])
  const uri = resources[0]?.uri ?? 'none'
  const read = await inspect(place, [...way, '--method', 'resources/read', '--uri', uri])
  expect(read.contents).toMatchObject([{ uri }])
})
