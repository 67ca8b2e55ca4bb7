import { expect, test } from 'vitest'
import { messageParts, messageText } from './message-text.ts'
import { ReadyJson } from '../session/ready-json.ts'

const tools = [{ name: 'a', description: 'Says "so" – ü.' }, { name: 'b' }]
const [first, second] = JSON.stringify(tools).split(',{')
const ready = new ReadyJson([Buffer.from(first ?? ''), Buffer.from(`,{${second}`)])

test.each([{}, { resultType: 'complete', _meta: { 'x/tools': [1, { tools: '"tools":[' }] } }])(
  'tools that are JSON already stand in the answer as they are, beside %j (REG-5)',
  (more) => {
    const message = { jsonrpc: '2.0', id: 7, result: { ...more, tools: ready } }
    expect(JSON.parse(messageText(message))).toEqual({ ...message, result: { ...more, tools } })
    expect(messageParts(message).slice(1, -1)).toEqual(ready.parts)
  },
)

test('whoever does not know of it writes the same (REG-5)', () => {
  expect(JSON.parse(JSON.stringify({ result: { tools: ready } }))).toEqual({ result: { tools } })
})

test('any other message is plain JSON', () => {
  for (const message of [
    { jsonrpc: '2.0', id: 1, result: { content: [] } },
    { jsonrpc: '2.0', id: 1, result: { tools } },
    { jsonrpc: '2.0', id: 1, error: { code: 1, message: 'no', data: { tools: ready } } },
    { jsonrpc: '2.0', method: 'ping', params: { tools: [] } },
  ])
    expect(messageText(message)).toBe(JSON.stringify(message))
})
