import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'
import type { NetworkOptions } from './base/network-entry.ts'
import { openDoor } from './open-door.ts'

/** A server on loopback that redirects, and a way to it under a name. */
async function openWay(options: NetworkOptions = {}, name = '127.0.0.1') {
  const hits: string[] = []
  const sockets = new Set<unknown>()
  const server = createServer((request, response) => {
    hits.push(request.url ?? '')
    sockets.add(request.socket)
    response.writeHead(302, { location: 'http://169.254.169.254/' }).end('moved')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const door = openDoor(`http://${name}:${port}/mcp`, options)
  onTestFinished(async () => {
    await door.close()
    server.closeAllConnections()
    server.close()
  })
  return { hits, sockets, port, door, url: `http://${name}:${port}/mcp` }
}

/** What kept a request from its server. */
async function faultOf(request: Promise<unknown>): Promise<string> {
  try {
    await request
    return 'none'
  } catch (error) {
    const { cause = error } = error as Error
    return cause instanceof Error ? cause.message : String(cause)
  }
}

test('the server that an operator names may lie in the own network, and its redirects are not followed', async () => {
  const { door, url, hits, sockets } = await openWay()
  const first = await door.request(url)
  expect([first.status, await first.text()]).toEqual([302, 'moved'])
  for (let again = 0; again < 9; again++) await (await door.request(url)).text()
  expect(hits).toEqual(Array.from({ length: 10 }, () => '/mcp'))
  // Connections are used again; a second one may have been opened before the first was free.
  expect(sockets.size).toBeLessThanOrEqual(2)
})

test('any other host is judged as for calls, whatever it stands for', async () => {
  const lookup = async (): Promise<readonly string[]> => ['127.0.0.1']
  const { door, hits, port, url: own } = await openWay({ lookup })
  await (await door.request(own)).text()
  for (const url of [
    `http://other.example:${port}/`,
    `http://localhost:${port}/`,
    'http://127.0.0.1/',
    'http://169.254.169.254/latest',
    'http://[::ffff:7f00:1]/',
    'file:///etc/passwd',
    `http://a:b@127.0.0.1:${port}/`,
  ])
    expect(await faultOf(door.request(url))).toMatch(
      /is not an address of the public internet|Port|neither http|user name/,
    )
  expect(hits).toEqual(['/mcp'])
})

test('a name is looked up for each connection, and leads only where it was judged to', async () => {
  const asked: string[] = []
  const lookup = async (host: string): Promise<readonly string[]> => {
    asked.push(host)
    return ['169.254.169.254']
  }
  const { door, url, hits } = await openWay({ lookup }, 'intranet.example')
  expect(await faultOf(door.request(url))).toContain('"169.254.169.254"')
  expect(asked).toEqual(['intranet.example'])
  expect(hits).toEqual([])
})
