import { chmodSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { mcpTools } from 'handrail/mcp'
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { keepOpen } from '../support/at-end.ts'
import { startRegistry } from '../support/package-registry.ts'
import { makeFolder, openRuntime, personSaying } from '../support/project.ts'
import { said } from '../support/upstreams.ts'
import { serveWeb } from '../support/web-server.ts'

/** A server of one file, which tells what it is and what it reaches, and keeps a word beside its code. */
const server = `#!/usr/bin/env node
const { appendFileSync, existsSync, readFileSync } = require('node:fs')
const { join } = require('node:path')
const { version } = require('./package.json')
const attempt = (work) => { try { return work() } catch (error) { return String(error.code) } }
const beside = join(__dirname, 'words.txt')
const tools = {
  async tell({ url }) {
    const script = join(__dirname, 'script.json')
    return JSON.stringify({
      version,
      args: process.argv.slice(2),
      script: existsSync(script) ? JSON.parse(readFileSync(script, 'utf8')) : null,
      npmrc: attempt(() => readFileSync(join(__dirname, '..', '..', '.npmrc'), 'utf8')),
      shared: attempt(() => { appendFileSync(join(__dirname, '..', 'x'), 'x'); return 'written' }),
      answer: await fetch(url).then(() => 'reached', (error) => error.cause.code),
    })
  },
  keep({ word }) {
    appendFileSync(beside, word)
    appendFileSync(__filename, '// changed')
    return readFileSync(beside, 'utf8')
  },
  code: () => readFileSync(__filename, 'utf8'),
}
const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n')
require('node:readline').createInterface({ input: process.stdin }).on('line', async (line) => {
  const { id, method, params } = JSON.parse(line)
  if (id === undefined) return
  if (method === 'initialize')
    return say({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'demo', version } } })
  if (method === 'tools/list')
    return say({ id, result: { tools: Object.keys(tools).map((name) => ({ name, inputSchema: { type: 'object' } })) } })
  if (method === 'tools/call')
    return say({ id, result: { content: [{ type: 'text', text: await tools[params.name](params.arguments) }] } })
  say({ id, error: { code: -32601, message: 'unknown' } })
})
`

/** Runs when the package is installed: it tells what it could do then. */
const script = `
const { readdirSync, writeFileSync } = require('node:fs')
const { dirname, join } = require('node:path')
const cache = join(__dirname, '..', '..', '..', '.cache-npm')
let seen = 'nothing'
try { seen = readdirSync(cache).join() } catch {}
fetch('REGISTRY').then(() => 'reached', () => 'nothing').then((answer) =>
  writeFileSync(join(__dirname, 'script.json'), JSON.stringify({ seen, answer })))
`

async function openSandbox() {
  const registry = await startRegistry()
  const files = { 'server.js': server, 'install.js': script.replace('REGISTRY', registry.url) }
  const manifest = { bin: { demo: 'server.js' }, scripts: { install: 'node install.js' } }
  const publish = (version: string) => registry.publish({ name: 'demo-mcp', version, files, manifest })
  publish('1.0.0')
  registry.publish({
    name: '@scope/other',
    version: '2.0.0',
    files: { 'server.js': server },
    manifest: { bin: { '@scope/other': 'server.js' } },
  })
  const settings = join(
    makeFolder({ npmrc: `//127.0.0.1:${registry.port}/:_authToken=\${DEMO_TOKEN}\n` }),
    'npmrc',
  )
  return { registry, publish, settings, home: makeHome({ demo, twin: demo }) }
}

/** A runtime over the file of a person, with what went wrong. */
async function open(home: string) {
  const issues: string[] = []
  const feed = mcpTools({ path: join(home, 'mcp.json') })
  const runtime = await openRuntime({
    feeds: [feed],
    approve: personSaying('allow_once').approve,
    onError: ({ cause }) => issues.push(String(cause)),
  })
  await runtime.settled(120_000)
  const session = runtime.session()
  const call = async (tool: string, input: object = {}) => said(await session.call(`mcp.${tool}`, input))
  const tell = async (name: string, url: string) =>
    JSON.parse(await call(`${name}.tell`, { url })) as Record<string, unknown>
  return { runtime, feed, issues, call, tell }
}

function makeHome(mcpServers: object): string {
  return makeFolder({ 'mcp.json': JSON.stringify({ mcpServers }) })
}

const demo = { command: 'npx', args: ['-y', 'demo-mcp@latest', '--flag'] }

describe('a package that an entry names', () => {
  const at = keepOpen(openSandbox)
  beforeAll(() => {
    const { registry, settings } = at()
    vi.stubEnv('npm_config_registry', registry.url)
    vi.stubEnv('npm_config_userconfig', settings)
    vi.stubEnv('npm_config_fetch_retries', '0')
    vi.stubEnv('DEMO_TOKEN', 'token-of-the-person')
    return () => vi.unstubAllEnvs()
  })

  test('is fetched from the registry of the person, and its server started without a line more, and without network (MCP-1)', async () => {
    const { registry, home } = at()
    const { runtime, feed, issues, tell } = await open(home)
    expect(issues).toEqual([])
    expect(await tell('demo', registry.url)).toEqual({
      version: '1.0.0',
      args: ['--flag'],
      script: { seen: 'nothing', answer: 'nothing' },
      npmrc: 'ENOENT',
      shared: 'EROFS',
      answer: 'ECONNREFUSED',
    })
    expect(registry.asked.map(({ authorization }) => authorization)).toContain('Bearer token-of-the-person')
    const [state] = feed.describe().servers
    expect(state?.package?.pin?.versions).toMatchObject([
      { name: 'demo-mcp', version: '1.0.0', integrity: expect.stringMatching(/^sha512-/) as string },
    ])
    await runtime.close()
  })

  test('keeps what it writes beside its code, for one server alone, while its code is as it was fetched (MCP-1)', async () => {
    const first = await open(at().home)
    expect(await first.call('demo.keep', { word: 'one ' })).toBe('one ')
    expect(await first.call('twin.keep', { word: 'two ' })).toBe('two ')
    expect(await first.call('demo.code')).toContain('// changed')
    await first.runtime.close()
    const second = await open(at().home)
    expect(await second.call('demo.code')).toBe(server)
    expect(await second.call('demo.keep', { word: 'three' })).toBe('one three')
    await second.runtime.close()
  })

  test('stays as it was fetched until the operator says otherwise, and is fetched once for all of their servers (MCP-1)', async () => {
    const { registry, publish, home } = at()
    publish('1.1.0')
    const asked = registry.asked.length
    const second = await open(home)
    for (const name of ['demo', 'twin'])
      expect(await second.tell(name, registry.url)).toMatchObject({ version: '1.0.0' })
    expect(registry.asked).toHaveLength(asked)
    const folder = second.feed.describe().servers[0]?.data ?? ''
    await second.runtime.close()
    // Files that are gone are fetched again, the same ones.
    removePackages(join(folder, '..', '.packages'))
    const third = await open(home)
    expect(await third.tell('demo', registry.url)).toMatchObject({ version: '1.0.0' })
    const update = await third.feed.update('demo')
    expect([update?.before?.versions[0]?.version, update?.now.versions[0]?.version]).toEqual([
      '1.0.0',
      '1.1.0',
    ])
    expect(await third.tell('demo', registry.url)).toMatchObject({ version: '1.1.0' })
  })

  test('is not taken where it is not what its registry says, is not there, or has no such program (MCP-1)', async () => {
    const { registry } = at()
    registry.publish({
      name: 'forged',
      version: '1.0.0',
      files: { 'server.js': server },
      manifest: { bin: 'server.js' },
    })
    registry.tamper('forged', '1.0.0')
    const { issues, feed } = await open(
      makeHome({
        forged: { command: 'npx', args: ['forged'] },
        absent: { command: 'bunx', args: ['no-such-package'] },
        nothing: { command: 'npm', args: ['exec', '--package=@scope/other', '--', 'run'] },
        scoped: { command: 'pnpm', args: ['dlx', '@scope/other'] },
        closed: { ...demo, fetch: false },
      }),
    )
    const all = issues.join('\n')
    expect(all).toMatch(/"forged" could not be fetched: .*integrity/i)
    expect(all).toMatch(/"no-such-package" could not be fetched: .*404/)
    expect(all).toContain('There is no program "run" in "@scope/other"')
    const states = feed.describe().servers.map(({ server: name, state }) => [name, state])
    expect(states.filter(([, state]) => state === 'open')).toEqual([['scoped', 'open']])
  })
})

/** What uv is told, done with nothing but what every machine has: a package is one file, a program of Node. */
const uv = `#!/bin/sh
set -e
case "$1 $2" in
  venv*) mkdir -p venv/bin ;;
  'pip compile') curl -fsS "$UV_DEFAULT_INDEX/demo-py/" | grep -q demo; printf 'demo-py==1.2.0 \\\\\n    --hash=sha256:abc\n' > locked.txt ;;
  'pip install')
    if [ "$3" = --help ]; then exit 1; fi
    grep -q sha256:abc locked.txt
    curl -fsS "$FILE" -o venv/bin/demo-py
    chmod +x venv/bin/demo-py ;;
esac
`

test('a package of Python is fetched from the index of the person, and from where that keeps its files (MCP-1)', async () => {
  const code = server.replace("require('./package.json')", "{ version: '1.2.0' }")
  const files = await serveWeb({ '/demo-py.whl': code }, { address: '127.0.0.2' })
  const file = `http://127.0.0.2:${files.port}/demo-py.whl`
  const index = await serveWeb({
    '/simple/demo-py/': JSON.stringify({ name: 'demo-py', files: [{ url: file }] }),
  })
  const bin = makeFolder({ uv: uv.replace('$FILE', file) })
  chmodSync(join(bin, 'uv'), 0o755)
  vi.stubEnv('PATH', `${bin}:${process.env['PATH']}`)
  vi.stubEnv('UV_DEFAULT_INDEX', `http://127.0.0.1:${index.port}/simple`)
  onTestFinished(() => void vi.unstubAllEnvs())
  const home = makeHome({ demo: { command: 'uvx', args: ['demo-py', '--flag'] } })
  const first = await open(home)
  expect(first.issues).toEqual([])
  expect(await first.tell('demo', file)).toMatchObject({
    version: '1.2.0',
    args: ['--flag'],
    answer: 'ECONNREFUSED',
  })
  expect(first.feed.describe().servers[0]?.package?.pin?.versions).toEqual([
    { name: 'demo-py', version: '1.2.0', integrity: 'sha256:abc' },
  ])
  await first.runtime.close()
  const hits = [files.hits.length, index.hits.length]
  expect(await (await open(home)).tell('demo', file)).toMatchObject({ version: '1.2.0' })
  expect([files.hits.length, index.hits.length]).toEqual(hits)
})

/** The files alone: what is pinned stays. */
function removePackages(folder: string): void {
  for (const name of readdirSync(folder))
    if (!name.endsWith('.json')) rmSync(join(folder, name), { recursive: true })
}
