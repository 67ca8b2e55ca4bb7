import type { CallToolResult } from '@modelcontextprotocol/client'
import { expect, onTestFinished, test } from 'vitest'
import { makePlace } from '../support/command-line.ts'
import { startScripted } from '../support/scripted-server.ts'
import { toServer } from '../support/serve-stdio.ts'
import { fixtureTool, openUpstreams, unmarked } from '../support/upstreams.ts'
import { createClient, listUntil, textOf } from './connect.ts'

const policy = { rules: [{ id: 'all', effect: 'allow', tools: ['mcp.*'] }] } as const
const outputSchema = {
  type: 'object',
  properties: { rows: { type: 'array', items: { type: 'string', minLength: 1 } } },
  required: ['rows'],
  additionalProperties: false,
}

/** A server whose one tool answers this. */
async function serverSaying(result: object): Promise<string> {
  const tools = [fixtureTool('rows', { outputSchema })]
  const { url } = await startScripted(({ method }) =>
    method === 'tools/list' ? { tools } : method === 'tools/call' ? result : undefined,
  )
  return url
}

/** What a client of the gateway gets of it, and a way to read what is linked. */
async function callServed(result: object, name = 'mcp__it__rows', options: readonly string[] = []) {
  const mcpServers = { it: { url: await serverSaying(result) } }
  const place = makePlace({}, { 'mcp.json': { mcpServers }, 'policy.json': policy })
  const client = createClient({ era: 'legacy' })
  await client.connect(toServer(place, options))
  onTestFinished(() => client.close())
  await listUntil(client, name)
  const answer = (await client.callTool({ name, arguments: {} })) as CallToolResult
  return { client, answer }
}

const rows = (count: number) => Array.from({ length: count }, (_, n) => `row ${n} ${'x'.repeat(90)}`)
/** Over 256 KiB. */
const large = { rows: rows(4_000) }

test.each([
  ['shown beside other words', [{ type: 'text', text: 'See the data.' }]],
  ['shown as text', [{ type: 'text', text: JSON.stringify(large) }]],
  ['not shown', []],
])(
  'structured content that is too large for a model is left out, said to be, and is whole and marked in an artifact: %s (MCP-1, MCP-2)',
  async (_, content) => {
    const { client, answer } = await callServed({ content, structuredContent: large })
    expect(answer.structuredContent).toBeUndefined()
    expect(answer.isError).toBe(true)
    expect(JSON.stringify(answer).length).toBeLessThan(64 * 1024)
    const [said] = answer.content
    expect(said).toMatchObject({ type: 'text', text: expect.stringContaining('The call was done') as string })
    const links = answer.content.flatMap((block) => (block.type === 'resource_link' ? [block.uri] : []))
    expect(links).toHaveLength(1)
    const { contents } = await client.readResource({ uri: String(links[0]) })
    const [whole] = contents
    expect(JSON.parse(unmarked(whole !== undefined && 'text' in whole ? whole.text : ''))).toEqual(large)
  },
)

test('structured content that is not too large comes whole, as the schema of its server has it (MCP-1, MCP-2)', async () => {
  const data = { rows: rows(1_000) }
  const { answer } = await callServed({ content: [], structuredContent: data })
  expect([answer.isError, answer.structuredContent]).toEqual([undefined, data])
  expect(textOf(answer)).toMatch(/^<untrusted-/)
})

test('the view of one server shows its structured content as it is (MCP-3)', async () => {
  const { answer } = await callServed({ content: [], structuredContent: large }, 'rows', ['--server', 'it'])
  expect([answer.isError, answer.structuredContent]).toEqual([undefined, large])
})

test('large data of a result is an artifact, up to what a result may be; so is what stands beside it (MCP-1, OUT-2)', async () => {
  const call = async (result: object) => {
    const runtime = await openUpstreams({ it: { url: await serverSaying(result) } }, { policy })
    return { runtime, given: await runtime.session().call('mcp.it.rows', {}) }
  }
  const half = { rows: ['x'.repeat(5_000_000)] }
  for (const data of [large, half]) {
    const { runtime, given } = await call({ content: [], structuredContent: data })
    const { dataArtifact, withheld } = given.metadata
    expect([given.ok, given.data]).toEqual([true, undefined])
    expect(withheld).toContain(`handrail://artifact/${given.callId}/${dataArtifact?.digest}`)
    const bytes = await runtime.artifacts.get(dataArtifact?.digest ?? '')
    expect(JSON.parse(unmarked(Buffer.from(bytes ?? []).toString()))).toEqual(data)
  }
  const huge = { content: [], structuredContent: { rows: ['x'.repeat(9_000_000)] } }
  expect((await call(huge)).given.error).toMatchObject({ reason: 'output_too_large' })
  const beside = { content: [], structuredContent: { rows: [] }, _meta: { 'x/y': 'x'.repeat(9_000_000) } }
  expect((await call(beside)).given.error).toMatchObject({ reason: 'output_too_large' })
  const meta = { content: [], structuredContent: { rows: [] }, _meta: { 'x/y': 'x'.repeat(100_000), z: 1 } }
  expect((await call(meta)).given.metadata.tool).toEqual({
    _meta: { 'x/y': expect.stringContaining('left out here; the whole is in handrail://artifact/'), z: 1 },
  })
})

test('many blocks share what a result may show, at a client too (MCP-1, OUT-2)', async () => {
  const content = Array.from({ length: 200 }, (_, n) => ({
    type: 'text',
    text: `part ${n} ${'x'.repeat(30_000)}`,
  }))
  const { client, answer } = await callServed({ content, structuredContent: { rows: [] } })
  expect(JSON.stringify(answer).length).toBeLessThan(64 * 1024)
  const text = answer.content.map((block) => (block.type === 'text' ? block.text : '')).join('\n')
  for (const n of [0, 1, 198, 199]) expect(text).toContain(`part ${n} `)
  const [, uri = ''] = /parts left out here; their text is in (\S+) /.exec(text) ?? []
  const { contents } = await client.readResource({ uri: `${uri}?offset=1000000&length=1000` })
  const [part] = contents
  // Where it is read in parts, it is still said to be of strangers.
  expect(unmarked(part !== undefined && 'text' in part ? part.text : '')).toMatch(/^x{900}/)
})

test('data that is masked where a text shows it stays between its marks (MCP-1, OUT-3)', async () => {
  const data = { rows: ['r-4111111111111111'] }
  const result = { content: [{ type: 'text', text: JSON.stringify(data) }], structuredContent: data }
  const runtime = await openUpstreams(
    { it: { url: await serverSaying(result) } },
    {
      policy: {
        ...policy,
        obligations: [{ id: 'cards', action: 'mask', tools: ['mcp.it.*'], pointers: ['/rows/0'] }],
      },
    },
  )
  const { content } = await runtime.session().call('mcp.it.rows', {})
  const shown = unmarked(content[0]?.type === 'text' ? content[0].text : '')
  expect(shown).toContain('1111"')
  expect(shown).not.toContain('4111')
})
