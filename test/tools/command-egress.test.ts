import { createServer as createPlainServer, type AddressInfo, type Server } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { once } from 'node:events'
import { codeTools, resultText } from 'handrail'
import { describe, expect, test } from 'vitest'
import { atEnd, keepOpen } from '../support/at-end.ts'
import { makeFolder, openRuntime } from '../support/project.ts'
import { openAsOrdinaryUser } from '../support/sandbox-entrances.ts'
import { selfSigned } from '../support/self-signed.ts'
import { fixtureTool, makeFixtureServer, openUpstreams, said } from '../support/upstreams.ts'
import { namesOf } from '../support/web-doors.ts'

async function listen(server: Server, address = '127.0.0.1'): Promise<number> {
  server.listen(0, address)
  await once(server, 'listening')
  atEnd(() => server.close())
  return (server.address() as AddressInfo).port
}

/** A server that speaks first, as databases do, and says what it hears. */
const greeter = () =>
  createPlainServer((socket) => {
    socket.on('error', () => {})
    socket.write('hello ')
    socket.pipe(socket)
  })

/** Tries what it is told, one after the other, with nothing that knows a proxy, and says what came of it. */
const attempts = `
import { connect } from 'node:net'
import { connect as secure } from 'node:tls'
const talk = (socket) => new Promise((resolve) => {
  let text = ''
  socket.on('data', (piece) => { text += piece; if (text.includes('end')) socket.destroy() })
  socket.on('error', (error) => resolve(error.code))
  socket.on('close', () => resolve(text))
  socket.end('end')
})
const kinds = {
  tcp: ({ host, port }) => talk(connect(port, host)),
  tls: ({ host, port, servername }) => talk(secure({ host, port, servername, rejectUnauthorized: false })),
  fetch: ({ url }) => fetch(url).then((answer) => answer.text(), (error) => error.cause.code),
}
const said = []
for (const each of JSON.parse(process.argv[2])) said.push(await kinds[each.kind](each))
console.log(JSON.stringify(said))
`

type Attempt =
  | { kind: 'tcp' | 'tls'; host: string; port: number; servername?: string }
  | { kind: 'fetch'; url: string }

/** As a program that knows no proxy: nothing of its environment tells it of one. */
const program = (tries: readonly Attempt[]) => [
  'env',
  '-i',
  process.execPath,
  'attempts.mjs',
  JSON.stringify(tries),
]

interface Network {
  readonly refused: readonly { readonly host: string; readonly reason: string }[]
}

async function openCommands() {
  const port = await listen(greeter())
  const tls = await listen(
    createTlsServer(selfSigned, (socket) => {
      socket.on('error', () => {})
      socket.pipe(socket)
    }) as unknown as Server,
  )
  const closed = await listen(greeter())
  const hosts = [
    'web.example',
    `db.example:${port}`,
    `secure.example:${tls}`,
    `localhost:${port}`,
    'inner.example',
  ]
  const runtime = await openRuntime({
    project: makeFolder({ 'attempts.mjs': attempts }),
    tools: [codeTools({ commands: { hosts } })],
    network: { privateHosts: [`127.0.0.1:${port}`, `127.0.0.1:${tls}`] },
    lookup: namesOf({
      'db.example': ['127.0.0.1'],
      'secure.example': ['127.0.0.1'],
      'web.example': ['192.0.2.1'],
      'inner.example': ['10.9.8.7'],
      localhost: ['127.0.0.1'],
      'other.example': ['127.0.0.1'],
    }),
    approve: async () => ({ decision: 'allow_once' }),
  })
  const session = runtime.session()
  const run = async (...tries: Attempt[]) => {
    const result = await session.call('code.run_command', { argv: program(tries) })
    const text = resultText(result)
    const line = /^\[".*\]$/m.exec(text)?.[0]
    if (line === undefined) throw new Error(text)
    const network = result.metadata.tool?.['network'] as unknown as Network | undefined
    return {
      said: JSON.parse(line) as string[],
      refused: network?.refused.map(({ host, reason }) => `${host} ${reason}`),
    }
  }
  return { run, port, tls, closed }
}

describe('a program that knows no proxy', () => {
  const at = keepOpen(openCommands)

  test('reaches the hosts and ports that are named for it by their names, whoever speaks first (SB-36)', async () => {
    const { run, port, tls } = at()
    const { said: answers, refused } = await run(
      { kind: 'tcp', host: 'db.example', port },
      { kind: 'tcp', host: 'DB.Example', port },
      { kind: 'tcp', host: 'localhost', port },
      { kind: 'tls', host: 'secure.example', port: tls, servername: 'secure.example' },
    )
    expect([answers, refused]).toEqual([['hello end', 'hello end', 'hello end', 'end'], []])
  })

  test('reaches no other port, no other name, and no name that leads elsewhere than it may (SB-27, SB-33)', async () => {
    const { run, port, tls, closed } = at()
    const { said: answers, refused } = await run(
      { kind: 'tcp', host: 'db.example', port: closed },
      { kind: 'tcp', host: 'localhost', port: closed },
      { kind: 'tcp', host: 'db.example', port: tls },
      { kind: 'tcp', host: 'other.example', port },
      { kind: 'tcp', host: 'nowhere.example', port },
      { kind: 'fetch', url: 'http://inner.example/' },
      { kind: 'fetch', url: 'http://web.example:8080/' },
    )
    expect(answers).toEqual([
      'ECONNREFUSED',
      'ECONNREFUSED',
      'ECONNREFUSED',
      'ENOTFOUND',
      'ENOTFOUND',
      'ENOTFOUND',
      'ENOTFOUND',
    ])
    expect(refused).toEqual([
      'other.example host_blocked',
      'nowhere.example host_blocked',
      'inner.example host_blocked',
      'web.example host_blocked',
    ])
  })

  test('is held to the name that it says in TLS too (SB-33)', async () => {
    const { run, tls } = at()
    const { said: answers, refused } = await run(
      { kind: 'tls', host: 'secure.example', port: tls, servername: 'other.example' },
      { kind: 'tls', host: 'secure.example', port: tls, servername: 'db.example' },
    )
    expect(answers).toEqual(['ECONNRESET', 'ECONNRESET'])
    expect(refused).toEqual([`other.example:${tls} host_blocked`, `db.example:${tls} port_blocked`])
  })
})

test('of an ordinary user it is the same: names are served, and an own address that is named leads outside (SB-36)', async () => {
  const port = await listen(greeter(), '127.0.0.2')
  const { run } = await openAsOrdinaryUser({
    files: { 'attempts.mjs': attempts },
    configuration: {
      network: { privateHosts: [`127.0.0.2:${port}`] },
      commands: { hosts: [`127.0.0.2:${port}`] },
    },
  })
  const { text } = await run(
    ...program([
      { kind: 'tcp', host: '127.0.0.2', port },
      { kind: 'tcp', host: 'evil.example', port },
    ]),
  )
  expect(text).toContain('["hello end","ENOTFOUND"]')
  expect(text).toContain('evil.example (host_blocked)')
})

test('a server of mcp.json reaches an address of this machine whose port is named for it, and nothing beside it (MCP-1, SB-36)', async () => {
  const [port, other] = [await listen(greeter()), await listen(greeter())]
  const server = makeFixtureServer([fixtureTool('connect')])
  const runtime = await openUpstreams({ it: { ...server.file, network: [`127.0.0.1:${port}`] } })
  const connect = async (to: number) =>
    said(await runtime.session().call('mcp.it.connect', { host: '127.0.0.1', port: to }))
  expect([await connect(port), await connect(other)]).toEqual(['hello ', 'ECONNREFUSED'])
})
