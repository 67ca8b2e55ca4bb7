import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createAdmission, type Admission } from './admission.ts'
import { refuse } from './send-json.ts'

/** A server that lets requests of one caller in and answers as the test says. */
async function serve(admission: Admission, answer: (response: ServerResponse) => void) {
  const statuses: number[] = []
  const server = createServer((request, response) => {
    const refused = admission.enter(request.headers['x-caller']?.toString() ?? '', response)
    statuses.push(refused?.status ?? 200)
    if (refused !== undefined) return refuse(response, refused)
    answer(response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  onTestFinished(() => {
    admission.close()
    server.closeAllConnections()
    server.close()
  })
  /** Asks, and reads nothing of the answer. */
  const ask = async (caller: string) => {
    const socket = connect(port, '127.0.0.1').pause()
    await once(socket, 'connect')
    socket.on('error', () => {})
    const count = statuses.length
    socket.write(`GET / HTTP/1.1\r\nHost: here\r\nX-Caller: ${caller}\r\n\r\n`)
    await vi.waitUntil(() => statuses.length > count)
    return { status: statuses[count], socket }
  }
  return { ask }
}

test('a caller has so many requests open at a time, and another caller its own (MCP-3)', async () => {
  const held: ServerResponse[] = []
  const { ask } = await serve(createAdmission({ maxRequests: 2 }), (response) => held.push(response))
  const asked = [await ask('ann'), await ask('ann'), await ask('ann'), await ask('bob')]
  expect(asked.map(({ status }) => status)).toEqual([200, 200, 429, 200])
  const closed = once(held[0] as ServerResponse, 'close')
  held[0]?.end()
  await closed
  expect((await ask('ann')).status).toBe(200)
})

test('a caller that does not read its answers gets no more of them, and another caller does (MCP-3)', async () => {
  const { ask } = await serve(createAdmission({}), (response) => response.end(Buffer.alloc(70 * 1024 * 1024)))
  expect((await ask('ann')).status).toBe(200)
  expect((await ask('ann')).status).toBe(429)
  expect((await ask('bob')).status).toBe(200)
})

test('a client that takes nothing of its answer for a minute is cut off, and one that waits is not (MCP-3)', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const responses: ServerResponse[] = []
  const { ask } = await serve(createAdmission({}), (response) => {
    if (responses.push(response) === 1) response.end(Buffer.alloc(32 * 1024 * 1024))
  })
  await ask('ann')
  await ask('ann')
  const cut = once(responses[0] as ServerResponse, 'close')
  vi.advanceTimersByTime(80_000)
  await cut
  expect(responses.map(({ writableFinished, destroyed }) => [writableFinished, destroyed])).toEqual([
    [false, true],
    [false, false],
  ])
})

test('how often a caller may ask is counted by a clock that is never set (MCP-3)', () => {
  vi.useFakeTimers({
    toFake: ['Date', 'performance', 'setInterval', 'clearInterval'],
    now: 1_800_000_000_000,
  })
  onTestFinished(() => void vi.useRealTimers())
  const response = { once: () => {}, writableLength: 0 } as unknown as ServerResponse
  for (const requestsPerMinute of [undefined, 2]) {
    const admission = createAdmission({ ...(requestsPerMinute !== undefined && { requestsPerMinute }) })
    expect(admission.enter('ann', response)).toBeUndefined()
    vi.setSystemTime(Date.now() - 300_000)
    expect(admission.enter('ann', response)).toBeUndefined()
    expect(admission.enter('ann', response)?.message).toBe(
      requestsPerMinute && 'More than 2 requests in a minute. Try again in 30 s.',
    )
    admission.close()
  }
})
