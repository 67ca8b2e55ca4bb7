import { once } from 'node:events'
import { connect, createServer, type AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'

const failed = async (socket: ReturnType<typeof connect>) => {
  const [error] = (await once(socket, 'error').catch((cause: unknown) => [cause])) as [Error]
  return error.message
}

test.each(['192.0.2.1', '169.254.169.254', '2001:db8::1', '0.0.0.0'])(
  'no test connects to %s, by address or by a name that means it',
  async (address) => {
    const family = address.includes(':') ? 6 : 4
    expect(await failed(connect({ port: 80, host: address }))).toContain(`tried to connect to "${address}"`)
    expect(await failed(connect(80, address))).toContain('which is not on this machine')
    const named = connect({
      port: 80,
      host: 'somewhere.example',
      lookup: (_host, options, callback) =>
        options.all === true ? callback(null, [{ address, family }]) : callback(null, address, family),
    })
    expect(await failed(named)).toContain('which is not on this machine')
  },
)

test('tests connect to this machine', async () => {
  const server = createServer((socket) => socket.end('here')).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  for (const host of ['127.0.0.1', 'localhost']) {
    const socket = connect({ port, host })
    const [data] = (await once(socket, 'data')) as [Buffer]
    expect(String(data)).toBe('here')
    socket.destroy()
  }
})
