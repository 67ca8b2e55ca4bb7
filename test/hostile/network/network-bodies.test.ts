import type { ServerResponse } from 'node:http'
import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { atWebDoors } from '../../support/web-doors.ts'
import { give, serveWeb, type Route } from '../../support/web-server.ts'

async function openOn(
  openDoor: Parameters<Parameters<typeof atWebDoors>[0]>[0],
  routes: Record<string, Route>,
  more = {},
) {
  const server = await serveWeb(routes)
  const door = await openDoor({ network: { privateHosts: [`127.0.0.1:${server.port}`] }, ...more })
  return {
    server,
    fetch: (path: string, input = {}) => door.fetch(`http://127.0.0.1:${server.port}${path}`, input),
  }
}

const text = { 'content-type': 'text/plain' }
const packed = (encoding: string) => ({ ...text, 'content-encoding': encoding })
const zeros = Buffer.alloc(64 * 1024 * 1024)
const zipped = gzipSync(zeros)

/** Writes as fast as it is read, for ever. */
function pour(piece: Uint8Array): (response: ServerResponse) => void {
  return (response) => {
    const write = () => {
      while (response.write(piece));
      response.once('drain', write)
    }
    write()
  }
}

atWebDoors((openDoor) => {
  test('a body is cut after it was unpacked, however small it came (bombs)', async () => {
    const { fetch } = await openOn(openDoor, {
      '/gzip': give(zipped, packed('gzip')),
      '/br': give(brotliCompressSync(zeros), packed('br')),
      '/zstd': give(zstdCompressSync(zeros), packed('zstd')),
      '/twice': give(gzipSync(zipped), packed('gzip, gzip')),
    })
    for (const path of ['/gzip', '/br', '/zstd', '/twice']) {
      const { text: shown } = await fetch(path, { max_bytes: 1_000 })
      expect([path, shown.includes('answered 200, 1000 bytes'), shown.includes('More follows')]).toEqual([
        path,
        true,
        true,
      ])
    }
  })

  test('what is packed more often than twice, or in an unknown way, is refused', async () => {
    const layers = Array.from({ length: 3 }).reduce<Buffer>((bytes) => gzipSync(bytes), Buffer.from('x'))
    const { fetch } = await openOn(openDoor, {
      '/thrice': give(layers, packed('gzip, gzip, gzip')),
      '/odd': give('x', packed('compress')),
      '/broken': give('no gzip at all', packed('gzip')),
    })
    expect((await fetch('/thrice')).outcome).toBe('TOOL.FAILED upstream_error')
    expect((await fetch('/odd')).outcome).toBe('TOOL.FAILED upstream_error')
    expect((await fetch('/broken')).outcome).toBe('TOOL.FAILED connection_failed')
  })

  test('an endless body is cut, also one that unpacks to nothing (NW-43)', async () => {
    const { fetch } = await openOn(openDoor, {
      '/plain': (response) => {
        response.writeHead(200, text)
        pour(Buffer.alloc(65_536, 'x'))(response)
      },
      '/nothing': (response) => {
        response.writeHead(200, packed('gzip'))
        // Members of gzip may follow each other, and each may be empty.
        pour(Buffer.concat(Array.from({ length: 1_000 }, () => gzipSync(''))))(response)
      },
    })
    expect((await fetch('/plain', { max_bytes: 5_000 })).text).toContain('answered 200, 5000 bytes')
    expect((await fetch('/nothing', { max_bytes: 5_000 })).text).toContain('answered 200, 0 bytes')
  })

  test('a body, headers or a connection that drip are stopped at the time limit (NW-43)', async () => {
    const { fetch } = await openOn(
      openDoor,
      {
        '/drip': (response) => {
          response.writeHead(200, text)
          const drop = () => response.write('.')
          drop()
          const timer = setInterval(drop, 50)
          response.on('close', () => clearInterval(timer))
        },
        '/silent': () => {},
      },
      { limits: { maxTimeoutMs: 400 } },
    )
    expect((await fetch('/drip')).outcome).toBe('TOOL.TIMEOUT timed_out')
    expect((await fetch('/silent')).outcome).toBe('TOOL.TIMEOUT timed_out')
  })

  test('a name whose address never comes is given up at the time limit', async () => {
    const door = await openDoor({ lookup: () => new Promise(() => {}), limits: { maxTimeoutMs: 300 } })
    expect((await door.fetch('http://slow.example/')).outcome).toBe('TOOL.TIMEOUT timed_out')
  })

  test('a server that breaks off, speaks no HTTP or sends headers without end is a failure, not a crash', async () => {
    const { fetch } = await openOn(openDoor, {
      '/cut': (response) => {
        response.writeHead(200, { ...text, 'content-length': '1000' })
        response.write('some', () => response.destroy())
      },
      '/none': (response) => response.destroy(),
      '/odd': (response) => response.socket?.end('this is not HTTP\r\n\r\n'),
      '/headers': (response) =>
        response.socket?.end(`HTTP/1.1 200 OK\r\n${`x: ${'y'.repeat(1_000)}\r\n`.repeat(100)}\r\n`),
      '/two': (response) =>
        response.socket?.end(
          'HTTP/1.1 302 Found\r\nlocation: /a\r\nlocation: http://10.0.0.1/\r\ncontent-length: 0\r\n\r\n',
        ),
    })
    for (const path of ['/cut', '/none', '/odd', '/headers'])
      expect([path, (await fetch(path)).outcome]).toEqual([path, 'TOOL.FAILED connection_failed'])
    // Two places to go to are none.
    expect((await fetch('/two')).text).toContain('answered 302')
  })
})
