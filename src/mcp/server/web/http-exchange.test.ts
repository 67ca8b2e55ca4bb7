import { createServer } from 'node:http'
import type { JSONRPCMessage } from '@modelcontextprotocol/server'
import { expect, onTestFinished, test } from 'vitest'
import { openExchange, type Exchange } from './http-exchange.ts'
import { listen } from './listen.ts'

/** All that a client gets of an exchange. */
async function exchange(speak: (exchange: Exchange) => void): Promise<string> {
  const server = createServer((_request, response) => speak(openExchange(response)))
  const port = await listen(server, { host: '127.0.0.1', port: 0 })
  onTestFinished(() => void server.close())
  return (await fetch(`http://127.0.0.1:${port}/`)).text()
}

const tell = (method: string, params = {}): JSONRPCMessage => ({ jsonrpc: '2.0', method, params })

test('a client that reads slowly misses progress and log lines, and nothing that it has to know (MCP-2)', async () => {
  const text = await exchange((to) => {
    to.send(tell('notifications/message', { data: 'x'.repeat(4 * 1024 * 1024) }))
    to.send(tell('notifications/progress'))
    to.send(tell('notifications/message'))
    to.send(tell('notifications/tasks'))
    to.send(tell('notifications/tools/list_changed'))
    to.send({ jsonrpc: '2.0', id: 1, result: {} })
  })
  const methods = [...text.matchAll(/"method":"notifications\/([^"]*)"/g)].map(([, name]) => name)
  expect(methods).toEqual(['message', 'tasks', 'tools/list_changed'])
  expect(text).toContain('"result":{}')
})
