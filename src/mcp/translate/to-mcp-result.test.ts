import { expect, test } from 'vitest'
import type { PresentedTool } from '../../contract/registry.ts'
import type { ToolResult } from '../../contract/base/result.ts'
import { callError } from '../../kit/result/call-error.ts'
import { callMetaKey, toMcpResult } from './to-mcp-result.ts'

const result: ToolResult = {
  callId: 'call_1',
  toolCallId: 'req_1',
  tool: 'demo.echo',
  ok: true,
  outcome: 'ok',
  content: [],
  summary: 'demo.echo: done',
  artifacts: [],
  metadata: { session: 'ses_secret', durationMs: 3 },
}
const tool: PresentedTool = {
  tool: 'demo.echo',
  name: 'demo.echo',
  title: 'Echo',
  description: '',
  inputSchema: { type: 'object' },
  outputSchema: { type: 'object' },
  presentation: 'canonical',
}
const artifact = { digest: `sha256:${'0'.repeat(64)}`, bytes: 9, mimeType: 'text/plain', name: 'out.txt' }

test('data that an obligation withholds is not a success to clients that were promised it (OUT-3)', () => {
  const withheld = { ...result, metadata: { ...result.metadata, withheld: 'why', obligations: ['pii'] } }
  expect(toMcpResult(withheld, tool)).toMatchObject({
    isError: true,
    _meta: { [callMetaKey]: { withheld: 'why', obligations: ['pii'] } },
  })
  expect(toMcpResult(withheld, { ...tool, outputSchema: { type: 'string' } }).isError).toBeUndefined()
})

test('what a tool says of its result by a key of its own takes nothing away from it (OUT-1)', () => {
  const own = {
    ...result,
    data: { rows: [] },
    metadata: { ...result.metadata, tool: { structured_bytes: 9 } },
  }
  const { isError, structuredContent } = toMcpResult(own, tool)
  expect([isError, structuredContent]).toEqual([undefined, { rows: [] }])
})

test('says every kind of content as MCP does (OUT-1)', () => {
  const { content } = toMcpResult(
    {
      ...result,
      content: [
        { type: 'text', text: 'a' },
        { type: 'json', json: { b: [1] } },
        { type: 'image', data: 'AAAA', mimeType: 'image/png' },
        { type: 'resource', uri: 'file:///a', text: 'A', mimeType: 'text/plain' },
        { type: 'resource', uri: 'file:///b', name: 'b' },
        { type: 'artifact_ref', artifact, note: 'the rest' },
      ],
    },
    tool,
  )
  expect(content).toEqual([
    { type: 'text', text: 'a' },
    { type: 'text', text: '{"b":[1]}' },
    { type: 'image', data: 'AAAA', mimeType: 'image/png' },
    { type: 'resource', resource: { uri: 'file:///a', text: 'A', mimeType: 'text/plain' } },
    { type: 'resource_link', uri: 'file:///b', name: 'b' },
    { type: 'text', text: `[artifact "out.txt" ${artifact.digest}, 9 bytes, text/plain] the rest` },
  ])
})

test('a block of a kind that only its source knows breaks no client, and is there for who knows it (OUT-1)', () => {
  const block = { type: 'hologram', depth: 3 }
  const { content } = toMcpResult({ ...result, content: [{ type: 'other', block }] }, tool)
  expect(content).toEqual([
    {
      type: 'text',
      text: expect.stringMatching(/^<untrusted-[^]*\{"type":"hologram","depth":3\}/) as string,
      _meta: { 'handrail/block': block },
    },
  ])
})

test('what a source says beside a block goes with it (OUT-1)', () => {
  const blob = {
    type: 'resource',
    uri: 'x:a',
    blob: 'AAAA',
    aside: { _meta: { a: 1 }, resource: { _meta: { b: 2 } } },
  } as const
  const sound = {
    type: 'audio',
    data: 'AAAA',
    mimeType: 'audio/wav',
    aside: { annotations: { priority: 1 } },
  } as const
  const { content } = toMcpResult({ ...result, content: [blob, sound] }, tool)
  expect(content).toEqual([
    { type: 'resource', resource: { uri: 'x:a', blob: 'AAAA', _meta: { b: 2 } }, _meta: { a: 1 } },
    { type: 'audio', data: 'AAAA', mimeType: 'audio/wav', annotations: { priority: 1 } },
  ])
})

test('gives data as structured content only where clients know its schema (OUT-1)', () => {
  const data = { a: 1 }
  expect(toMcpResult({ ...result, data }, tool).structuredContent).toEqual(data)
  const { outputSchema: _, ...free } = tool
  expect(toMcpResult({ ...result, data }, free)).not.toHaveProperty('structuredContent')
  expect(toMcpResult({ ...result, data: [1] }, tool)).not.toHaveProperty('structuredContent')
  expect(toMcpResult({ ...result, data: [1] }, tool).content).toEqual([{ type: 'text', text: '[1]' }])
  expect(toMcpResult(result, tool).content).toEqual([{ type: 'text', text: 'demo.echo: done' }])
})

test('a failed call says code, reason, message and issues first, once, and gives no data (SCHEMA-3)', () => {
  const error = callError('SCHEMA.VALIDATION_FAILED', 'invalid_input', {
    message: 'The input does not fit.',
    issues: [{ pointer: '/a', code: 'wrong_type', message: 'is not a number' }],
  })
  const failed: ToolResult = { ...result, ok: false, outcome: 'failed', error, data: { partial: true } }
  const text = 'SCHEMA.VALIDATION_FAILED (invalid_input): The input does not fit.\n- /a: is not a number'
  const partial = { type: 'text', text: 'half of it' } as const
  const shown = toMcpResult({ ...failed, content: [partial] }, tool)
  expect(shown.isError).toBe(true)
  expect(shown.content).toEqual([{ type: 'text', text }, partial])
  expect(shown).not.toHaveProperty('structuredContent')
  const said = [{ type: 'text', text }, partial] as const
  expect(toMcpResult({ ...failed, content: said }, tool).content).toEqual(said)
})

test('tells programs how the call went, and nothing of the inside (CALL-9, SDK-8)', () => {
  const error = callError('TOOL.ABORTED', 'aborted_by_user', { message: 'Aborted.' })
  const { _meta } = toMcpResult(
    {
      ...result,
      ok: false,
      outcome: 'aborted',
      error,
      artifacts: [artifact],
      metadata: {
        ...result.metadata,
        partial: true,
        abortReason: 'aborted_by_user',
        truncated: { bytes: 9, shownBytes: 5 },
        rawId: 'req_1',
      },
    },
    tool,
  )
  expect(_meta).toEqual({
    'handrail/call': {
      call_id: 'call_1',
      tool: 'demo.echo',
      outcome: 'aborted',
      duration_ms: 3,
      code: 'TOOL.ABORTED',
      reason: 'aborted_by_user',
      actor: 'person',
      next: 'stop',
      artifacts: [{ digest: artifact.digest, bytes: 9, mime_type: 'text/plain', name: 'out.txt' }],
      truncated: { bytes: 9, shown_bytes: 5 },
      partial: true,
      abort_reason: 'aborted_by_user',
    },
  })
})

test('what the client can read is linked: each artifact once, and what servers link to, under names of its own (MCP-2, BI-9)', () => {
  const other = { digest: `sha256:${'1'.repeat(64)}`, bytes: 5, mimeType: 'image/png' }
  const link = {
    type: 'resource',
    uri: 'x:l',
    name: 'l',
    server: 'a b',
    aside: { size: 4, _meta: { k: 1 } },
  } as const
  const content = [
    { type: 'artifact_ref', artifact, note: 'the rest' },
    link,
    { ...link, uri: 'https://example.org/l' },
    { ...link, text: 'embedded' },
  ] as const
  const linked = { ...result, content, artifacts: [artifact, other] }
  const uri = `handrail://artifact/call_1/${artifact.digest}`
  const { content: shown } = toMcpResult(linked, undefined, { artifactsOf: 'call_1', servers: true })
  expect(shown).toEqual([
    { type: 'text', text: `[artifact "out.txt" ${uri}, 9 bytes, text/plain] the rest` },
    { type: 'resource_link', uri, name: 'out.txt', mimeType: 'text/plain', size: 9 },
    {
      type: 'resource_link',
      uri: 'handrail://mcp/a%20b/x%3Al',
      name: 'l',
      size: 4,
      _meta: { k: 1, 'handrail/resource': { server: 'a b', uri: 'x:l' } },
    },
    { type: 'resource_link', uri: 'https://example.org/l', name: 'l', size: 4, _meta: { k: 1 } },
    { type: 'resource', resource: { uri: 'x:l', text: 'embedded' }, size: 4, _meta: { k: 1 } },
    {
      type: 'resource_link',
      uri: `handrail://artifact/call_1/${other.digest}`,
      name: 'artifact',
      mimeType: 'image/png',
      size: 5,
    },
  ])
  const { content: plain } = toMcpResult(linked, undefined)
  expect(JSON.stringify(plain)).not.toContain('handrail://')
  expect(plain).toHaveLength(4)
})
