import { expect, test } from 'vitest'
import type { JSONRPCMessage } from '@modelcontextprotocol/client'
import type { LongProgram, ProgramListener, Programs } from '../../../contract/mcp/tool-feed.ts'
import { createServerLog } from '../base/server-log.ts'
import { ProgramTransport } from './program-transport.ts'
import { createFlow } from './watch-flow.ts'

function createProgram() {
  const { promise: ended, resolve: end } = Promise.withResolvers<Awaited<LongProgram['ended']>>()
  const heard: { listener?: ProgramListener; isEnded: boolean } = { isEnded: false }
  const programs: Programs = {
    async open(_request, listener) {
      heard.listener = listener
      return {
        ended,
        write: async () => {},
        async end() {
          heard.isEnded = true
          end({ exitCode: 0, signal: null, fault: undefined })
        },
      }
    },
    seenBy: () => [],
    ownFolder: (_tenant, path) => path,
  }
  const request = { tenant: 'local', argv: ['it'], cwd: undefined, env: {}, read: [], write: [], hosts: [] }
  const log = createServerLog((text) => text)
  const transport = new ProgramTransport({ programs, request, flow: createFlow(), log })
  return { transport, heard, crash: () => end({ exitCode: 3, signal: null, fault: undefined }) }
}

const notice = { jsonrpc: '2.0', method: 'notifications/message', params: {} }

test('what a program says before its client listens is heard once it does', async () => {
  const { transport, heard } = createProgram()
  await transport.begin()
  const line = JSON.stringify(notice)
  heard.listener?.onStdout(line.slice(0, 9))
  const messages: JSONRPCMessage[] = []
  transport.onmessage = (message) => void messages.push(message)
  await transport.start()
  heard.listener?.onStdout(`${line.slice(9)}\n`)
  expect(messages).toEqual([notice])
})

test('a client hears of a program that ended before it listened', async () => {
  const { transport, crash } = createProgram()
  await transport.begin()
  crash()
  const closed = Promise.withResolvers<void>()
  transport.onclose = closed.resolve
  await transport.start()
  await closed.promise
  await expect(transport.send({ jsonrpc: '2.0', id: 1, method: 'ping' })).rejects.toThrow('not running')
})

test('a program without a listener ends with its connection', async () => {
  const { transport, heard } = createProgram()
  await transport.begin()
  await transport.close()
  expect(heard.isEnded).toBe(true)
})
