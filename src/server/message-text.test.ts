import { expect, test } from 'vitest'
import { listParts, messageText } from './message-text.ts'

const tool = (index: number) => ({
  name: `tool_${index}`,
  description: 'Says "so" – ü.',
  inputSchema: { type: 'object', properties: { a: { type: 'string' } } },
})
const answer = (tools: readonly object[], more: object = {}) => ({
  jsonrpc: '2.0',
  id: 7,
  result: { ...more, tools },
})

test.each([0, 1, 49, 50, 51, 100, 101, 250])(
  'a list of %i tools is the same JSON as ever (REG-5)',
  (count) => {
    const message = answer(Array.from({ length: count }, (_, index) => tool(index)))
    expect(JSON.parse(messageText(message))).toEqual(message)
    expect(messageText(message)).toBe(messageText(message))
  },
)

test('keeps what else stands in the answer, and what is no tool', () => {
  const message = answer([tool(1), { name: 'x', annotations: { readOnlyHint: true } }], {
    resultType: 'complete',
    _meta: { 'x/tools': [1, { tools: '"tools":[' }] },
  })
  expect(JSON.parse(messageText(message))).toEqual(message)
  const odd = answer(['text', null, 3] as unknown as object[])
  expect(JSON.parse(messageText(odd))).toEqual(odd)
})

test('any other message is plain JSON', () => {
  for (const message of [
    { jsonrpc: '2.0', id: 1, result: { content: [] } },
    { jsonrpc: '2.0', id: 1, error: { code: 1, message: 'no', data: { tools: [] } } },
    { jsonrpc: '2.0', method: 'ping', params: { tools: [] } },
    { jsonrpc: '2.0', id: 1, result: { tools: 'none' } },
  ]) {
    expect(listParts(message)).toBeUndefined()
    expect(messageText(message)).toBe(JSON.stringify(message))
  }
})

test('a long list comes in parts, none of which is large', () => {
  const parts = [...(listParts(answer(Array.from({ length: 1_000 }, (_, index) => tool(index)))) ?? [])]
  expect(parts).toHaveLength(22)
  expect(Math.max(...parts.map((part) => part.length))).toBeLessThan(10_000)
})
