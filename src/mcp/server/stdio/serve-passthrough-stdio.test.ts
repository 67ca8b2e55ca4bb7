import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { expect, onTestFinished, test } from 'vitest'
import { createFakeRuntime } from '../../../../test/mcp/fake-runtime.ts'
import type { DirectConnection } from '../../../contract/mcp/direct-connection.ts'
import { servePassthroughStdio } from './serve-passthrough-stdio.ts'

test('a server that could not be reached is asked again when the client tries again (MCP-3)', async () => {
  let greeted = 0
  const connection: Partial<DirectConnection> = {
    server: 'it',
    async initialize() {
      if (++greeted === 1) throw new Error('It is not up yet.')
      return { era: 'legacy', capabilities: { tools: {} }, instructions: undefined }
    },
    isClosed: () => false,
    close: async () => {},
  }
  const input = new PassThrough()
  const output = new PassThrough({ encoding: 'utf8' })
  const served = servePassthroughStdio({
    runtime: createFakeRuntime([]),
    // Only what is used before a client asks for anything.
    servers: {
      serversOf: () => ['it'],
      resourcesVersion: () => 0,
      openDirectConnection: () => connection as DirectConnection,
    },
    server: 'it',
    input,
    output,
    log: () => {},
  })
  onTestFinished(() => served.close())
  const initialize = async (id: number): Promise<unknown> => {
    const clientInfo = { name: 'test', version: '1' }
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }
    input.write(`${JSON.stringify({ jsonrpc: '2.0', id, method: 'initialize', params })}\n`)
    const [said] = (await once(output, 'data')) as [string]
    return JSON.parse(said)
  }
  expect(await initialize(1)).toMatchObject({ id: 1, error: {} })
  expect(await initialize(2)).toMatchObject({ id: 2, result: { serverInfo: { name: 'it' } } })
})
