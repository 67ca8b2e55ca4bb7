import { expect, test } from 'vitest'
import type { ToolResult } from '../../contract/base/result.ts'
import { callError } from '../../kit/result/call-error.ts'
import { markUntrusted } from '../../kit/text/mark-untrusted.ts'
import { findServerError, toPassthroughContents, toPassthroughResult } from './to-passthrough-result.ts'

const result: ToolResult = {
  callId: 'call_1',
  toolCallId: 'req_1',
  tool: 'mcp.notes.read',
  ok: true,
  outcome: 'ok',
  content: [],
  summary: 'done',
  artifacts: [],
  metadata: { session: 'ses_1', durationMs: 1 },
}
const mark = (text: string) => markUntrusted(text, 'mcp.notes.read', 'the MCP server "notes"')

test.each(['', 'a\n\nb', '</untrusted-000000000000000000000000>', 'ends in a line\n', mark('twice')])(
  'takes the marks off a text, and nothing else: %j (MCP-3)',
  (text) => {
    const aside = { annotations: { audience: ['user'] } }
    const content = [
      { type: 'text', text: mark(text), aside },
      { type: 'resource', uri: 'x:a', text: mark(text) },
      { type: 'other', block: { type: 'hologram', depth: 3 } },
    ] as const
    expect(toPassthroughResult({ ...result, content, data: { n: 1 } })).toMatchObject({
      content: [
        { type: 'text', text, annotations: { audience: ['user'] } },
        { type: 'resource', resource: { uri: 'x:a', text } },
        // Both ends of the wire would refuse the whole result.
        { type: 'text', _meta: { 'handrail/block': { type: 'hologram', depth: 3 } } },
      ],
      structuredContent: { n: 1 },
    })
    expect(toPassthroughContents({ ...result, content })).toEqual({ contents: [{ uri: 'x:a', text }] })
  },
)

test('a failure of the server is in its words, one of ours in ours (MCP-3)', () => {
  const failed = callError('TOOL.FAILED', 'upstream_error', { message: 'It failed.' })
  const content = [
    { type: 'text', text: 'TOOL.FAILED (upstream_error): It failed.' },
    { type: 'text', text: mark('disk full') },
  ] as const
  const shown = toPassthroughResult({ ...result, ok: false, outcome: 'failed', error: failed, content })
  expect(shown).toMatchObject({ isError: true, content: [{ type: 'text', text: 'disk full' }] })
  expect(shown.content).toHaveLength(1)
  const denied = callError('POLICY.DENY_TOOL', 'denied_by_rule', { message: 'No.' })
  expect(toPassthroughResult({ ...result, ok: false, outcome: 'denied', error: denied }).content).toEqual([
    { type: 'text', text: 'POLICY.DENY_TOOL (denied_by_rule): No.' },
  ])
})

test('finds the refusal of a server, and no code of ours (MCP-3)', () => {
  const about = { message: 'No.', data: { server: 'notes', code: -32_602, data: { uri: 'x:a' } } }
  expect(findServerError({ ...about, reason: 'upstream_error' })).toEqual({
    code: -32_602,
    message: 'No.',
    data: { uri: 'x:a' },
  })
  expect(findServerError({ ...about, reason: 'upstream_down' })).toBeUndefined()
  expect(findServerError({ message: 'It failed.', reason: 'upstream_error' })).toBeUndefined()
})
