import { PassThrough } from 'node:stream'
import type { JSONRPCMessage } from '@modelcontextprotocol/server'
import { expect, test } from 'vitest'
import { createStdioTransport } from './stdio-transport.ts'

/** A transport on streams in memory, and what came in and went out. */
async function open({ graceMs = 3_600_000 } = {}) {
  const input = new PassThrough()
  const output = new PassThrough({ encoding: 'utf8' })
  const transport = createStdioTransport({ input, output, maxLineLength: 200, graceMs })
  const received: JSONRPCMessage[] = []
  const closed = Promise.withResolvers<void>()
  transport.onmessage = (message) => received.push(message)
  transport.onclose = () => closed.resolve()
  await transport.start()
  const sent = () => String(output.read() ?? '')
  return { input, transport, received, closed: closed.promise, sent }
}

const request = (id: number) => `{"jsonrpc":"2.0","id":${id},"method":"tools/list"}\n`

test('reads messages however the pieces fall, letters of several bytes too (MCP-2)', async () => {
  const { input, received } = await open()
  const bytes = Buffer.from('{"jsonrpc":"2.0","id":"grüße","method":"ping"}\r\n\n' + request(2))
  for (const byte of bytes) input.write(Buffer.of(byte))
  await expect.poll(() => received).toMatchObject([{ id: 'grüße' }, { id: 2 }])
})

test('waits after the end of the input for what still runs, then closes (MCP-2)', async () => {
  const { input, transport, received, closed, sent } = await open()
  input.end(request(1) + request(2).trimEnd())
  await expect.poll(() => received).toHaveLength(2)
  await transport.send({ jsonrpc: '2.0', id: 1, result: {} })
  await transport.send({ jsonrpc: '2.0', id: 2, result: {} })
  await closed
  expect(sent()).toBe('{"jsonrpc":"2.0","id":1,"result":{}}\n{"jsonrpc":"2.0","id":2,"result":{}}\n')
  await expect(transport.send({ jsonrpc: '2.0', id: 3, result: {} })).rejects.toThrow('closed')
})

test('waits for no answer to a cancelled request (SCHED-6)', async () => {
  const { input, closed } = await open()
  input.end(`${request(7)}{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}\n`)
  await closed
})

test('waits for no request that only listens (MCP-2)', async () => {
  const { input, closed } = await open()
  input.end('{"jsonrpc":"2.0","id":7,"method":"subscriptions/listen","params":{"notifications":{}}}\n')
  await closed
})

test('waits no longer than its time of grace (SCHED-6)', async () => {
  const { input, closed } = await open({ graceMs: 20 })
  input.end(request(7))
  await closed
})

test('refuses a line that is too long once, and reads on after it', async () => {
  const { input, received, sent } = await open()
  for (let i = 0; i < 10; i++) input.write('x'.repeat(100))
  input.write(`x\n${request(1)}`)
  await expect.poll(() => received).toMatchObject([{ id: 1 }])
  let said = ''
  await expect.poll(() => (said += sent())).toMatch(/^[^\n]*longer than 200[^\n]*\n$/)
})
