import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { defineTool, type Approver } from 'handrail'
import { expect, onTestFinished, test } from 'vitest'
import { openRuntime } from '../support/project.ts'
import { fixtureTool, makeFixtureServer, openUpstreams } from '../support/upstreams.ts'
import { startHttp, textOf } from './connect.ts'

const save = defineTool({
  name: 'demo.save',
  description: 'Saves.',
  permission: 'write',
  run: async () => 'saved',
})

/** A client that says that it asks its person, and answers that it knows no such request. */
async function connect(url: string): Promise<Client> {
  const capabilities = { elicitation: { form: {} } }
  const client = new Client(
    { name: 'test', version: '1' },
    { capabilities, versionNegotiation: { mode: 'legacy' } },
  )
  await client.connect(new StreamableHTTPClientTransport(new URL(url)))
  onTestFinished(() => client.close())
  return client
}

test.each([
  [undefined, 'no person gave it: it was not taken by the client'],
  [async () => ({ decision: 'allow_once' as const }), 'saved'],
])(
  "what a client cannot ask its person is asked at the gateway's own terminal, or denied with what the operator can do (MCP-3, PERM-5)",
  async (approve: Approver | undefined, said) => {
    const runtime = await openRuntime({ tools: [save] })
    const server = await startHttp({ runtime, ...(approve && { approve }) })
    onTestFinished(() => server.close())
    const client = await connect(server.url)
    expect(textOf(await client.callTool({ name: 'demo__save' }))).toContain(said)
  },
)

test('a client that never listed tools calls what came after it connected (MCP-2, REG-7)', async () => {
  const runtime = await openUpstreams({ it: makeFixtureServer([fixtureTool('echo')]).file })
  const server = await startHttp({ runtime })
  onTestFinished(() => server.close())
  const client = await connect(server.url)
  const greet = defineTool({
    name: 'demo.greet',
    description: 'Greets.',
    permission: 'readonly',
    run: async () => 'hi',
  })
  expect(textOf(await client.callTool({ name: 'demo__greet' }))).toContain('There is no tool')
  await runtime.register([greet])
  expect(textOf(await client.callTool({ name: 'demo__greet' }))).toBe('hi')
})
