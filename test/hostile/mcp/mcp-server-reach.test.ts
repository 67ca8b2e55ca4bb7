import { existsSync, readFileSync, renameSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { SetupError } from 'handrail'
import { mcpTools } from 'handrail/mcp'
import { expect, test } from 'vitest'
import { makeFolder } from '../../support/project.ts'
import { realServer } from '../../support/real-servers.ts'
import { startScripted, type Script } from '../../support/scripted-server.ts'
import { fixtureTool, makeFixtureServer, openUpstreams, said } from '../../support/upstreams.ts'

const canary = 'canary-of-the-host-5514'

/** A folder for a server, one beside it whose name begins the same, and links from the one into the other. */
function makeNeighbours() {
  const folder = makeFolder({ 'docs/a.txt': 'mine', 'docs-private/canary.txt': canary })
  const [docs, next] = [join(folder, 'docs'), join(folder, 'docs-private')]
  symlinkSync(join(next, 'canary.txt'), join(docs, 'link.txt'))
  symlinkSync(next, join(docs, 'folder'))
  symlinkSync('../docs-private', join(docs, 'relative'))
  const outside = [
    join(next, 'canary.txt'),
    join(docs, 'link.txt'),
    join(docs, 'folder/canary.txt'),
    join(docs, 'relative/canary.txt'),
    `${docs}/../docs-private/canary.txt`,
    `${docs}-private/canary.txt`,
    `/proc/self/root${join(next, 'canary.txt')}`,
    `/proc/1/root${join(next, 'canary.txt')}`,
  ]
  return { folder, docs, next, outside }
}

test('a program sees no folder whose name begins like one of its own, and no link leads there (CVE-2025-53109, CVE-2025-53110, MCP-1)', async () => {
  const { docs, outside } = makeNeighbours()
  const server = makeFixtureServer([fixtureTool('reach')])
  const runtime = await openUpstreams({ it: { ...server.file, read: [...server.file.read, docs] } })
  const input = {
    files: [join(docs, 'a.txt'), ...outside],
    write: `${docs}-private/x`,
    url: 'http://127.0.0.1:9',
  }
  const found = JSON.parse(said(await runtime.session().call('mcp.it.reach', input))) as { files: string[] }
  expect(found.files[0]).toBe('mine')
  for (const reached of found.files.slice(1)) expect(reached).toMatch(/^(ENOENT|EACCES|EPERM)$/)
  expect(existsSync(`${docs}-private/x`)).toBe(false)
})

test('a server of files that lets everything through reaches what is named for it, and nothing else (CVE-2025-53109, CVE-2025-53110, MCP-1)', async () => {
  const { docs, outside } = makeNeighbours()
  const server = realServer('filesystem', '/')
  const runtime = await openUpstreams({ fs: { ...server, read: [...server.read, docs] } })
  const session = runtime.session()
  expect(said(await session.call('mcp.fs.read_text_file', { path: join(docs, 'a.txt') }))).toBe('mine')
  for (const path of outside) {
    const read = await session.call('mcp.fs.read_text_file', { path })
    expect(read.ok).toBe(false)
    expect(JSON.stringify(read)).not.toContain(canary)
  }
  const written = await session.call('mcp.fs.write_file', { path: join(docs, 'link.txt'), content: 'x' })
  expect(written.ok).toBe(false)
  expect(readFileSync(outside[0] ?? '', 'utf8')).toBe(canary)
})

test.each(['its own', 'the project', 'the project, from elsewhere'])(
  'a folder in %s that was replaced by a link shows a program nothing more at its next start (MCP-1)',
  async (whose) => {
    const { next } = makeNeighbours()
    const around = makeFolder({ 'data/a.txt': 'mine' })
    const data = join(around, 'data')
    const server = makeFixtureServer([fixtureTool('reach')])
    const file = {
      ...server.file,
      read: [...server.file.read, data],
      write: [...server.file.write, ...(whose === 'its own' ? [around] : [])],
      ...(whose === 'the project, from elsewhere' && { cwd: makeFolder() }),
    }
    const files = [join(data, 'a.txt'), join(data, 'canary.txt'), join(next, 'canary.txt')]
    const look = async () => {
      const project = whose === 'its own' ? makeFolder() : around
      const runtime = await openUpstreams({ it: file }, { project })
      const input = { files, write: '/x', url: 'http://127.0.0.1:9' }
      const found = JSON.parse(said(await runtime.session().call('mcp.it.reach', input))) as {
        files: string[]
      }
      return found.files
    }
    expect(await look()).toEqual(['mine', 'ENOENT', 'ENOENT'])
    renameSync(data, join(around, 'before'))
    symlinkSync(next, data)
    expect(await look()).toEqual(['ENOENT', 'ENOENT', 'ENOENT'])
  },
)

test.each([
  ['another address of the machine', (port: number) => `http://127.0.0.1:${port}/admin`],
  ['the metadata of a cloud', () => 'http://169.254.169.254/latest/meta-data/'],
  ['a file', () => 'file:///etc/passwd'],
  ['a name in the own network', () => 'http://intranet.example/'],
])('a server cannot send its client on to %s (SSRF, MCP-1)', async (_what, toTarget) => {
  const other = await startScripted(() => undefined)
  const target = toTarget(other.port)
  const looked: string[] = []
  const lookup = async (host: string) => {
    looked.push(host)
    return ['10.0.0.1']
  }
  for (const status of [301, 302, 303, 307, 308]) {
    const moved: Script = ({ method }) =>
      method === 'tools/call' ? { status, headers: { location: target } } : undefined
    const server = await startScripted(moved)
    const runtime = await openUpstreams({ it: { url: server.url } }, { lookup })
    expect((await runtime.session().call('mcp.it.act')).ok).toBe(false)
  }
  expect(other.heard).toEqual([])
  expect(looked).toEqual([])
})

test('addresses that a server names, in links, resources and metadata, are handed on and never opened (SSRF, MCP-1, BI-9)', async () => {
  const other = await startScripted(() => undefined)
  const uris = [
    other.url,
    'http://169.254.169.254/latest/',
    'file:///etc/passwd',
    `http://x@127.0.0.1:${other.port}/`,
  ]
  const server = await startScripted(({ method, params }) => {
    if (method === 'resources/list')
      return { resources: uris.map((uri) => ({ uri, name: uri, server: 'bank' })) }
    if (method === 'resources/read') return { contents: [{ uri: params['uri'], text: 'of the server' }] }
    if (method !== 'tools/call') return undefined
    return {
      content: uris.map((uri) => ({ type: 'resource_link', uri, name: uri, icons: [{ src: uri }] })),
      _meta: { 'openai/outputTemplate': uris[0] },
    }
  })
  const runtime = await openUpstreams({ it: { url: server.url } })
  const session = runtime.session()
  const { content } = await session.call('mcp.it.act')
  expect(content.map((block) => (block.type === 'resource' ? block.uri : ''))).toEqual(uris)
  const { data } = await session.call('mcp.list_resources')
  expect(data).toMatchObject({ resources: uris.map((uri) => ({ uri, server: 'it' })) })
  for (const uri of uris) {
    const read = await session.call('mcp.read_resource', { server: 'it', uri })
    expect(JSON.stringify(read.content)).toContain('of the server')
  }
  expect(server.heard.filter(({ method }) => method === 'resources/read')).toHaveLength(uris.length)
  expect(other.heard).toEqual([])
})

test.each([
  ['http://$(touch pwned).example/mcp'],
  ['http://a.example;touch pwned/'],
  ['a:$(calc.exe)?response_type=code'],
  ['javascript:alert(1)'],
  ['http://169.254.169.254.example@evil.example/'],
])('an address of a server that is made to be run is none: %j (CVE-2025-6514, MCP-1)', (url) => {
  expect(() => mcpTools({ servers: { it: { url } } })).toThrow(SetupError)
})

test.each([['#`id`'], ["/$(touch$IFS'pwned')"], ['\r\nX-Injected: 1'], ['?a=;touch pwned']])(
  'an address of a server stays one, whatever stands in it: %j (CVE-2025-6514, MCP-1)',
  async (end) => {
    const project = makeFolder()
    const server = await startScripted(() => undefined)
    const runtime = await openUpstreams({ it: { url: `${server.url}${end}` } }, { project })
    expect(said(await runtime.session().call('mcp.it.act'))).toBe('done act')
    expect(server.heard.filter(({ headers }) => 'x-injected' in headers)).toEqual([])
    expect([project, process.cwd()].filter((folder) => existsSync(join(folder, 'pwned')))).toEqual([])
  },
)
