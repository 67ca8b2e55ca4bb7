import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openNetwork } from '../open-network.ts'

/** A server that is `example.com` and tells what it was asked, behind a proxy to it. */
async function openBoth() {
  const asked: IncomingMessage[] = []
  const server = createServer((request, response) => {
    asked.push(request)
    response.setHeader('connection', 'close, x-inner')
    response.setHeader('x-inner', 'for the proxy')
    response.setHeader('set-cookie', ['a=1', 'b=2'])
    if (request.url === '/none') return void response.writeHead(204).end()
    request.pipe(response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const folder = mkdtempSync(join(tmpdir(), 'handrail-test-'))
  const path = join(folder, 'proxy')
  const ending = new AbortController()
  const network = openNetwork({
    privateHosts: [`127.0.0.1:${port}`],
    lookup: async (host) => (host === 'example.com' ? ['127.0.0.1'] : []),
  })
  const greetings: string[] = []
  const proxy = await network.openProxy(
    { path, onGreeting: () => void greetings.push('greeted') },
    { profile: { hosts: ['example.com'] }, permitHost: undefined, signals: () => [ending.signal] },
  )
  onTestFinished(() => {
    proxy.close()
    server.closeAllConnections()
    server.close()
    rmSync(folder, { recursive: true, force: true })
  })
  expect(await readAll(connect(path))).toBe('ready\n')
  return {
    asked,
    proxy,
    port,
    greetings,
    ending,
    open: () => connect(path),
    at: `http://example.com:${port}`,
  }
}

async function readAll(socket: Socket): Promise<string> {
  let text = ''
  for await (const piece of socket) text += String(piece)
  return text
}

/** Sends these lines as one request, and returns all that comes back until the other side ends. */
async function send(socket: Socket, lines: readonly string[], body = ''): Promise<string> {
  socket.write(`${lines.join('\r\n')}\r\n\r\n${body}`)
  return readAll(socket)
}

const close = 'Connection: close'

test('the first connection is greeted, once', async () => {
  const { greetings, open, at } = await openBoth()
  expect(await send(open(), [`GET ${at}/ HTTP/1.1`, 'Host: x', close])).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
  expect(greetings).toEqual(['greeted'])
})

test('a request goes on with its own headers, without those of the hop, to the host of its URL', async () => {
  const { asked, open, at, port } = await openBoth()
  const answer = await send(
    open(),
    [
      `POST ${at}/p?q=1 HTTP/1.1`,
      'Host: evil.example',
      'X-Own: one',
      'X-Own: two',
      'X-Hop: x',
      'Connection: close, X-Hop',
      'Proxy-Connection: keep-alive',
      'Proxy-Authorization: Basic eDp5',
      'TE: trailers',
      'Upgrade: websocket',
      'Transfer-Encoding: chunked',
    ],
    '5\r\nhello\r\n0\r\n\r\n',
  )
  expect(answer).toMatch(/\r\n\r\n5\r\nhello\r\n0\r\n\r\n$/)
  expect(answer.toLowerCase()).not.toContain('x-inner')
  expect(answer.match(/set-cookie: .=\d/gi)).toHaveLength(2)
  const [request] = asked
  expect(request).toMatchObject({ method: 'POST', url: '/p?q=1' })
  expect(request?.headersDistinct).toMatchObject({ host: [`example.com:${port}`], 'x-own': ['one', 'two'] })
  for (const name of ['x-hop', 'proxy-connection', 'proxy-authorization', 'te', 'upgrade'])
    expect(request?.headers).not.toHaveProperty(name)
})

test('an answer without a body, and one to HEAD, come back as they are', async () => {
  const { open, at } = await openBoth()
  expect(await send(open(), [`GET ${at}/none HTTP/1.1`, 'Host: x', close])).toMatch(/^HTTP\/1\.1 204 /)
  expect(await send(open(), [`HEAD ${at}/ HTTP/1.1`, 'Host: x', close])).toMatch(/\r\n\r\n$/)
})

test.each([
  [['CONNECT example.com/x:443 HTTP/1.1', 'Host: x'], 400, 'invalid_input'],
  [['CONNECT u@example.com:443 HTTP/1.1', 'Host: x'], 403, 'userinfo_blocked'],
  [['GET http://u:p@example.com/ HTTP/1.1', 'Host: x'], 403, 'userinfo_blocked'],
  [['GET https://example.com/ HTTP/1.1', 'Host: x'], 403, 'scheme_blocked'],
  [['GET file:///etc/passwd HTTP/1.1', 'Host: x'], 403, 'scheme_blocked'],
  [['CONNECT example.com:22 HTTP/1.1', 'Host: x'], 403, 'port_blocked'],
  [['CONNECT 127.0.0.1:80 HTTP/1.1', 'Host: example.com'], 403, 'host_blocked'],
  [['CONNECT example.com.evil.example:443 HTTP/1.1', 'Host: x'], 403, 'host_blocked'],
  [['CONNECT example.com:443 HTTP/1.1', 'Host: x'], 403, 'host_blocked'],
])('refuses %j with %i and says why', async ([line = '', ...more], status, reason) => {
  const { asked, proxy, open } = await openBoth()
  const answer = await send(open(), [line, ...more, close])
  expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} Refused by Handrail \\(${reason}\\)\r\n`))
  expect(answer).toMatch(new RegExp(`\r\n\r\n${reason}: .+\n$`))
  const isJudged = status === 403 && !line.includes('https:')
  const refused = isJudged ? [{ host: expect.stringMatching(/:\d+$/), reason }] : []
  expect(proxy.report()).toMatchObject({ reached: [], refused })
  expect(asked).toEqual([])
})

test('a request that is for no proxy is refused', async () => {
  const { open } = await openBoth()
  const answer = await send(open(), ['GET / HTTP/1.1', 'Host: example.com', close])
  expect(answer).toMatch(/^HTTP\/1\.1 400 .*\(invalid_input\)\r\n/)
})

test('a request that is two in one is read as none', async () => {
  const { asked, open, at } = await openBoth()
  const both = ['Content-Length: 4', 'Transfer-Encoding: chunked']
  expect(await send(open(), [`POST ${at}/ HTTP/1.1`, 'Host: x', ...both], '0\r\n\r\nGET')).toMatch(
    /^HTTP\/1\.1 400 /,
  )
  expect(asked).toEqual([])
})

test('a tunnel hands on what comes with its request, and each side may end by itself', async () => {
  const { open, port } = await openBoth()
  const socket = open()
  socket.write(
    `CONNECT example.com:${port} HTTP/1.1\r\nHost: x\r\n\r\nGET /none HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
  )
  socket.end()
  const answer = await readAll(socket)
  expect(answer).toMatch(/^HTTP\/1\.1 200 Connection established\r\n\r\nHTTP\/1\.1 204 /)
})

test('closing it ends what runs through it', async () => {
  const { open, proxy, port } = await openBoth()
  const socket = open()
  socket.write(`CONNECT example.com:${port} HTTP/1.1\r\nHost: x\r\n\r\n`)
  await once(socket, 'data')
  proxy.close()
  await once(socket, 'close')
})

test('once its call has ended, nobody is connected', async () => {
  const { asked, open, ending, at } = await openBoth()
  ending.abort()
  expect(await send(open(), [`GET ${at}/ HTTP/1.1`, 'Host: x', close])).toMatch(/^HTTP\/1\.1 502 /)
  expect(asked).toEqual([])
})
