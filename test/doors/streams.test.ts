import { anthropic } from 'handrail/anthropic'
import { bedrock } from 'handrail/bedrock'
import { google } from 'handrail/google'
import { openaiChat, openaiResponses } from 'handrail/openai'
import { expect, test } from 'vitest'
import { openRuntime } from '../support/project.ts'
import { makeShop } from '../support/shop.ts'

async function openSession() {
  return (await openRuntime({ tools: makeShop().tools, store: 'memory' })).session()
}

async function* events(list: readonly object[]): AsyncIterable<unknown> {
  yield* list
}

/** The same as server-sent events, in pieces that end anywhere. */
async function* body(list: readonly object[]): AsyncIterable<unknown> {
  const bytes = new TextEncoder().encode(
    `${list.map((event) => `event: x\r\ndata: ${JSON.stringify(event)}\r\n\r\n`).join('')}data: [DONE]\n\n`,
  )
  for (let start = 0; start < bytes.length; start += 7) yield bytes.subarray(start, start + 7)
}

const call = '{"order":"zwölf"}'
const halves = [call.slice(0, 12), call.slice(12)]

const claude = [
  { type: 'message_start', message: { id: 'msg_1', role: 'assistant', content: [], stop_reason: null } },
  { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'Hm' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'sig' } },
  { type: 'content_block_stop', index: 0 },
  {
    type: 'content_block_start',
    index: 1,
    content_block: { type: 'tool_use', id: 'a', name: 'shop__look', input: {} },
  },
  ...halves.map((partial_json) => ({
    type: 'content_block_delta',
    index: 1,
    delta: { type: 'input_json_delta', partial_json },
  })),
  { type: 'content_block_stop', index: 1 },
  { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 9 } },
  { type: 'message_stop' },
]

test('events and bodies of the Messages API make the message that the API would have sent (PROV-1)', async () => {
  const door = anthropic(await openSession())
  const message = await door.collect(events(claude))
  expect(message).toEqual({
    id: 'msg_1',
    role: 'assistant',
    content: [
      { type: 'thinking', thinking: 'Hm', signature: 'sig' },
      { type: 'tool_use', id: 'a', name: 'shop__look', input: { order: 'zwölf' } },
    ],
    stop_reason: 'tool_use',
    usage: { output_tokens: 9 },
  })
  expect(await door.collect(body(claude))).toEqual(message)
  const { messages } = await door.results(message)
  expect(messages[0]?.content[0]?.content).toEqual([{ type: 'text', text: '{"state":"paid zwölf"}' }])
})

test('a stream that breaks off runs no half of a call (PROV-1)', async () => {
  const door = anthropic(await openSession())
  for (const end of [6, 7]) {
    const message = await door.collect(events(claude.slice(0, end)))
    const { messages } = await door.results(JSON.parse(JSON.stringify(message)))
    expect(messages[0]?.content[0]).toMatchObject({ tool_use_id: 'a', is_error: true })
  }
})

test('an error in a stream is thrown, with what it says (PROV-1)', async () => {
  const session = await openSession()
  const error = { type: 'overloaded_error', message: 'Overloaded' }
  await expect(anthropic(session).collect(events([{ type: 'error', error }]))).rejects.toThrow(/Overloaded/)
  await expect(openaiChat(session).collect(events([{ error }]))).rejects.toThrow(/Overloaded/)
  await expect(
    bedrock(session).collect(events([{ throttlingException: { message: 'Slow down' } }])),
  ).rejects.toThrow(/Slow down/)
})

const delta = (tool_calls: object[], finish_reason: string | null = null) => ({
  choices: [{ index: 0, delta: { tool_calls }, finish_reason }],
})

test('chunks of Chat Completions make the calls, also of servers without indexes (PROV-1)', async () => {
  const door = openaiChat(await openSession())
  const [first, second] = halves
  const usual = [
    delta([{ index: 0, id: 'a', type: 'function', function: { name: 'shop__look', arguments: '' } }]),
    delta([{ index: 1, id: 'b', type: 'function', function: { name: 'shop__look', arguments: first } }]),
    delta([{ index: 0, function: { arguments: '{"order":"1"}' } }]),
    delta([{ index: 1, function: { arguments: second } }], 'tool_calls'),
    { choices: [], usage: { total_tokens: 3 } },
  ]
  const whole = (id: string, order: string) => ({
    id,
    function: { name: 'shop__look', arguments: `{"order":"${order}"}` },
  })
  const bare = [delta([whole('a', '1')]), delta([whole('b', 'zwölf')], 'tool_calls')]
  const sameIndex = [
    delta([{ index: 0, ...whole('a', '1') }]),
    delta([{ index: 0, ...whole('b', 'zwölf') }], 'stop'),
  ]
  for (const chunks of [usual, bare, sameIndex]) {
    const { messages } = await door.results(await door.collect(body(chunks)))
    expect(messages).toEqual([
      { role: 'tool', tool_call_id: 'a', content: '{"state":"paid 1"}' },
      { role: 'tool', tool_call_id: 'b', content: '{"state":"paid zwölf"}' },
    ])
  }
})

test('events of the Responses API make the response, also if the last one leaves out the items (PROV-1)', async () => {
  const door = openaiResponses(await openSession())
  const item = { type: 'function_call', id: 'fc', call_id: 'a', name: 'shop__look', arguments: '' }
  const list = [
    { type: 'response.created', response: { id: 'r', output: [], status: 'in_progress' } },
    { type: 'response.output_item.added', output_index: 0, item },
    ...halves.map((part) => ({
      type: 'response.function_call_arguments.delta',
      output_index: 0,
      delta: part,
    })),
    { type: 'response.completed', response: { id: 'r', output: [], status: 'completed' } },
  ]
  const response = await door.collect(body(list))
  expect(response).toMatchObject({ id: 'r', status: 'completed', output: [{ ...item, arguments: call }] })
  const { messages } = await door.results(response)
  expect(messages).toEqual([{ type: 'function_call_output', call_id: 'a', output: '{"state":"paid zwölf"}' }])
  const broken = await door.results(await door.collect(events(list.slice(0, 3))))
  expect(Object(broken.messages[0]).output).toContain('The answer ended before this call was complete')
})

test('chunks of Gemini make the calls, also of arguments in parts (PROV-1)', async () => {
  const door = google(await openSession())
  const part = (functionCall: object, finishReason?: string) => ({
    candidates: [
      { content: { role: 'model', parts: [{ functionCall }] }, ...(finishReason && { finishReason }) },
    ],
  })
  const list = [
    { candidates: [{ content: { role: 'model', parts: [{ text: 'Let ' }] } }] },
    { candidates: [{ content: { role: 'model', parts: [{ text: 'me see.' }] } }] },
    part({ name: 'shop__look', willContinue: true }),
    part({
      partialArgs: [{ jsonPath: '$.order', stringValue: 'zw', willContinue: true }],
      willContinue: true,
    }),
    part({ partialArgs: [{ jsonPath: "$['order']", stringValue: 'ölf' }], willContinue: true }),
    part({}),
    part({ id: 'b', name: 'shop__look', args: { order: '1' } }, 'STOP'),
  ]
  const answer = await door.collect(body(list))
  expect(answer).toMatchObject({
    candidates: [
      { content: { parts: [{ text: 'Let me see.' }, { functionCall: { args: { order: 'zwölf' } } }, {}] } },
    ],
  })
  const { messages } = await door.results(answer)
  expect(messages[0]?.parts).toEqual([
    { functionResponse: { name: 'shop__look', response: { output: '{"state":"paid zwölf"}' } } },
    { functionResponse: { id: 'b', name: 'shop__look', response: { output: '{"state":"paid 1"}' } } },
  ])
})

test('events of Bedrock make the answer (PROV-1)', async () => {
  const door = bedrock(await openSession())
  const answer = await door.collect(
    events([
      { messageStart: { role: 'assistant' } },
      { contentBlockDelta: { contentBlockIndex: 0, delta: { text: 'Let me see.' } } },
      {
        contentBlockStart: {
          contentBlockIndex: 1,
          start: { toolUse: { toolUseId: 'a', name: 'shop__look' } },
        },
      },
      ...halves.map((input) => ({
        contentBlockDelta: { contentBlockIndex: 1, delta: { toolUse: { input } } },
      })),
      { contentBlockStop: { contentBlockIndex: 1 } },
      { messageStop: { stopReason: 'tool_use' } },
    ]),
  )
  expect(answer.output?.message).toEqual({
    role: 'assistant',
    content: [
      { text: 'Let me see.' },
      { toolUse: { toolUseId: 'a', name: 'shop__look', input: { order: 'zwölf' } } },
    ],
  })
  const { messages } = await door.results(answer)
  expect(messages[0]?.content).toEqual([
    { toolResult: { toolUseId: 'a', content: [{ text: '{"state":"paid zwölf"}' }], status: 'success' } },
  ])
})
