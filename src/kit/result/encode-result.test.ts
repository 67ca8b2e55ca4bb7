import { expect, test } from 'vitest'
import type { ToolResult } from '../../contract/base/result.ts'
import { callError } from './call-error.ts'
import { encodeResult, decodeResult } from './encode-result.ts'

const about = { callId: 'call_1', toolCallId: 'provider_1', tool: 'demo.echo' }
const metadata = { session: 'ses_1', durationMs: 12 }

function resultWith(fields: Partial<ToolResult>): ToolResult {
  const plain = { ok: true, outcome: 'ok', content: [], summary: 'demo.echo: done', artifacts: [] } as const
  return { ...about, ...plain, metadata, ...fields }
}

const data = { said: 'hello' }
const denial = callError('POLICY.DENY_TOOL', 'rule_denied', { message: 'No.', data: { rule: 'r' } })
const artifact = { digest: 'sha256:0', bytes: 1, mimeType: 'text/plain' }

const cases: readonly [string, Partial<ToolResult>, string?][] = [
  ['nothing at all', {}, '{}'],
  [
    'data that its block shows',
    { data, content: [{ type: 'json', json: data }] },
    '{"data":{"said":"hello"}}',
  ],
  ['a text', { data: 'hello', content: [{ type: 'text', text: 'hello' }] }, '{"data":"hello"}'],
  ['null', { data: null, content: [{ type: 'json', json: null }] }, '{"data":null}'],
  ['a text as a JSON block', { data: 'hello', content: [{ type: 'json', json: 'hello' }] }],
  ['data without content', { data, content: [] }],
  ['content without data', { content: [{ type: 'json', json: data }] }],
  ['content beside data', { data, content: [{ type: 'text', text: 'hello' }] }],
  [
    'two blocks',
    {
      data,
      content: [
        { type: 'json', json: data },
        { type: 'text', text: 'more' },
      ],
    },
  ],
  ['a summary and artifacts', { summary: 'said hello', artifacts: [artifact] }],
  ['facts about the run', { metadata: { ...metadata, truncated: { bytes: 9, shownBytes: 4 } } }],
  [
    'a denial',
    {
      ok: false,
      outcome: 'denied',
      error: denial,
      summary: 'demo.echo: rule_denied',
      content: [{ type: 'text', text: 'No.' }],
    },
  ],
]

for (const [what, fields, text] of cases)
  test(`${what}: unfolds to what was folded`, () => {
    const result = resultWith(fields)
    const folded = encodeResult(result)
    if (text !== undefined) expect(folded).toBe(text)
    expect(decodeResult(folded, { ...about, ...metadata })).toEqual(result)
  })

test('says nothing that the records of the call say', () => {
  const folded = encodeResult(resultWith({ data, content: [{ type: 'text', text: 'x' }] }))
  for (const said of ['call_1', 'provider_1', 'demo.echo', 'ses_1', '12']) expect(folded).not.toContain(said)
})
