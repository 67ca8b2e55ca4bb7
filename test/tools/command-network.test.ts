import { codeTools, jobTools, type RuntimeOptions } from 'handrail'
import { expect, test } from 'vitest'
import { openDeclared, toolFile } from '../support/declared-tools.ts'
import { openRuntime } from '../support/project.ts'
import { namesOf } from '../support/web-doors.ts'
import { serveWeb } from '../support/web-server.ts'

const lookup = namesOf({ 'example.com': ['127.0.0.1'] })

/** A server that is `example.com`, and a person who says yes. */
async function serveExample() {
  const server = await serveWeb({ '/page': 'The page.' })
  const options: RuntimeOptions = {
    lookup,
    network: { privateHosts: [`127.0.0.1:${server.port}`] },
    approve: async () => ({ decision: 'allow_once' }),
  }
  return {
    server,
    options,
    url: `http://example.com:${server.port}/page`,
    place: `example.com:${server.port}`,
  }
}

const codeWithHosts = () => codeTools({ commands: { hosts: ['example.com'] } })

test('a result says which hosts were reached and which were not, and the evidence keeps it (EVID-1)', async () => {
  const { options, url, place } = await serveExample()
  const runtime = await openRuntime({ ...options, tools: [codeWithHosts()] })
  const line = `curl -sS ${url} ${url}; curl -sS https://evil.example/; curl -sS http://evil.example/; true`
  const result = await runtime.session().call('code.run_command', { argv: ['sh', '-c', line] })
  const network = {
    reached: [place],
    refused: [
      { host: 'evil.example:443', reason: 'host_blocked' },
      { host: 'evil.example:80', reason: 'host_blocked' },
    ],
  }
  expect(result).toMatchObject({ ok: true, metadata: { tool: { network } } })
  expect(result.content).toMatchObject([
    {
      text: expect.stringContaining(
        '[Not reached: evil.example:443 (host_blocked), evil.example:80 (host_blocked)]',
      ),
    },
  ])
  const [end] = [...runtime.store.records({})].filter(({ kind }) => kind === 'end')
  expect(JSON.parse(end?.body ?? '{}')).toMatchObject({ metadata: { tool: { network } } })
})

test('a job reaches its hosts too, and the note of its end tells of them (FILE-7)', async () => {
  const { options, url, place } = await serveExample()
  const runtime = await openRuntime({ ...options, tools: [codeWithHosts(), jobTools()] })
  const session = runtime.session()
  const argv = ['sh', '-c', `curl -sS ${url}; curl -sS http://evil.example/`]
  const started = await session.call('code.run_command', { argv, background: true })
  const { job: id } = started.data as { job: string }
  const { data } = await session.call('job.output', { id, wait_ms: 60_000 })
  expect(data).toMatchObject({ text: expect.stringContaining('The page.') })
  const notes = [...runtime.store.records({ tenant: 'local' })].filter(({ kind }) => kind === 'note')
  expect(notes.map(({ text }) => JSON.parse(text))).toMatchObject([
    {
      data: { network: { reached: [place], refused: [{ host: 'evil.example:80', reason: 'host_blocked' }] } },
    },
  ])
})

test('a declared tool reaches the hosts that its file names, and no other (DECL-3)', async () => {
  const { server, options, url, place } = await serveExample()
  const files = {
    'page.json': toolFile({ command: 'curl', args: ['-sS', url], hosts: ['example.com'] }),
    'evil.json': toolFile({
      name: 'demo.evil',
      command: 'curl',
      args: ['-sSf', url.replace('example.com', 'evil.example')],
      hosts: ['*.example.com', 'example.com'],
    }),
    'none.json': toolFile({ name: 'demo.none', command: 'curl', args: ['-sS', url] }),
  }
  const { runtime } = await openDeclared(files, options)
  const session = runtime.session()
  expect(await session.call('demo.tool')).toMatchObject({
    data: 'The page.',
    metadata: { tool: { network: { reached: [place], refused: [] } } },
  })
  const evil = await session.call('demo.evil')
  expect(evil.error?.message).toMatch(/\nNot reached: evil\.example:\d+ \(host_blocked\)$/)
  const none = await session.call('demo.none')
  expect(none).toMatchObject({ ok: false })
  expect(none.metadata.tool).toBeUndefined()
  expect(server.hits).toEqual(['/page'])
})

test('Node finds the proxy by itself', async () => {
  const { options, url } = await serveExample()
  const runtime = await openRuntime({ ...options, tools: [codeWithHosts()] })
  const script = 'fetch(process.argv[1]).then((answer) => answer.text()).then(console.log)'
  const argv = [process.execPath, '-e', script, url]
  const result = await runtime.session().call('code.run_command', { argv })
  expect(result).toMatchObject({ ok: true, data: { stdout: { head: 'The page.\n' } } })
})

test('on the host nothing isolates a command, and no proxy is there', async () => {
  const { options } = await serveExample()
  const runtime = await openRuntime({ ...options, sandbox: 'host', tools: [codeWithHosts()] })
  const result = await runtime.session().call('code.run_command', { argv: ['env'] })
  expect(result.metadata).toMatchObject({ sandbox: 'host' })
  expect(JSON.stringify(result.data)).not.toContain('127.0.0.1:3128')
})
