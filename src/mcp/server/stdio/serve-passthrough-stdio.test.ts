import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { expect, onTestFinished, test } from 'vitest'
import { createFakeRuntime } from '../../../../test/mcp/fake-runtime.ts'
import type { DirectConnection } from '../../../contract/mcp/direct-connection.ts'
import { servePassthroughStdio } from './serve-passthrough-stdio.ts'

/** A client of the view of a server that is connected to so. Returns what asks for something. */
function speakWith(connection: Partial<DirectConnection>) {
  const whole = { server: 'it', isClosed: () => false, close: async () => {}, ...connection }
  const input = new PassThrough()
  const output = new PassThrough({ encoding: 'utf8' })
  const served = servePassthroughStdio({
    runtime: createFakeRuntime([]),
    // Only what is used.
    servers: {
      serversOf: () => ['it'],
      resourcesVersion: () => 0,
      openDirectConnection: () => whole as DirectConnection,
    },
    server: 'it',
    input,
    output,
    log: () => {},
  })
  onTestFinished(() => served.close())
  return async (id: number, method: string, params: object): Promise<unknown> => {
    input.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
    const [said] = (await once(output, 'data')) as [string]
    return JSON.parse(said)
  }
}

const hello = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'test', version: '1' },
}

test('a server that could not be reached is asked again when the client tries again (MCP-3)', async () => {
  let greeted = 0
  const ask = speakWith({
    async initialize() {
      if (++greeted === 1) throw new Error('It is not up yet.')
      return { era: 'legacy', capabilities: { tools: {} }, instructions: undefined }
    },
  })
  expect(await ask(1, 'initialize', hello)).toMatchObject({ id: 1, error: {} })
  expect(await ask(2, 'initialize', hello)).toMatchObject({ id: 2, result: { serverInfo: { name: 'it' } } })
})

test.each([
  [
    'are held back, no caller has them',
    true,
    { error: { message: expect.stringContaining('None of the tools') } },
  ],
  ['are none, they are for all', false, { result: { prompts: [] } }],
])(
  'prompts of a server are for those who have a tool of it: if its tools %s (MCP-3)',
  async (_, hasTools, said) => {
    const ask = speakWith({
      initialize: async () => ({
        era: 'legacy',
        capabilities: { tools: {}, prompts: {} },
        instructions: undefined,
      }),
      tools: async () => [],
      hasTools: async () => hasTools,
      ask: async () => ({ prompts: [] }),
    })
    await ask(1, 'initialize', hello)
    expect(await ask(2, 'prompts/list', {})).toMatchObject({ id: 2, ...said })
  },
)
