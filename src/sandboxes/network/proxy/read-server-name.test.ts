import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { connect } from 'node:tls'
import { expect, onTestFinished, test } from 'vitest'
import { longestHello, readServerName } from './read-server-name.ts'

/** The first message of this Node's own TLS. */
async function hello(servername: string): Promise<Buffer> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const client = connect({ host: '127.0.0.1', port, servername, rejectUnauthorized: false })
  client.on('error', () => {})
  const [socket] = await once(server, 'connection')
  onTestFinished(() => {
    client.destroy()
    socket.destroy()
    server.close()
  })
  const [bytes] = await once(socket, 'data')
  return bytes as Buffer
}

test('a hello of TLS says which server it is for, whatever pieces and records it comes in', async () => {
  const bytes = await hello('db.example')
  expect(readServerName(bytes)).toEqual({ name: 'db.example' })
  expect(readServerName(await hello(''))).toEqual({ name: undefined })
  for (const end of [0, 1, 4, 5, 8, 60, bytes.length - 1])
    expect([end, readServerName(bytes.subarray(0, end))]).toEqual([end, 'more'])
  const record = (part: Buffer) =>
    Buffer.concat([bytes.subarray(0, 3), Buffer.from([part.length >> 8, part.length & 255]), part])
  const inside = bytes.subarray(5)
  const split = Buffer.concat([
    record(inside.subarray(0, 2)),
    record(inside.subarray(2, 70)),
    record(inside.subarray(70)),
  ])
  expect(readServerName(split)).toEqual({ name: 'db.example' })
})

test('what is not TLS says nothing, and a hello that cannot be looked at is none', async () => {
  expect(readServerName(Buffer.from('GET / HTTP/1.1\r\n'))).toEqual({ name: undefined })
  const bytes = await hello('db.example')
  const at = (index: number, value: number) => {
    const changed = Buffer.from(bytes)
    changed[index] = value
    return readServerName(changed)
  }
  expect(at(5, 2)).toBe('unreadable')
  expect(at(6, 255)).toBe('unreadable')
  expect(readServerName(Buffer.from(bytes).fill(255, 43))).toBe('unreadable')
  expect(readServerName(Buffer.alloc(longestHello + 1, 22))).toBe('unreadable')
})
