import { defineTool } from 'handrail'
import { anthropic } from 'handrail/anthropic'
import { bedrock } from 'handrail/bedrock'
import { google } from 'handrail/google'
import { openaiChat, openaiResponses } from 'handrail/openai'
import { expect, test } from 'vitest'
import { openRuntime } from '../support/project.ts'

async function openSession() {
  const got: unknown[] = []
  const tool = defineTool({
    name: 'far.put',
    description: 'Puts it.',
    permission: 'readonly',
    input: {
      type: 'object',
      properties: {
        a: { type: 'string' },
        o: { type: 'object', properties: { x: { type: 'string' } }, additionalProperties: false },
      },
      additionalProperties: false,
    },
    run: (input) => {
      got.push(input)
      return 'put'
    },
  })
  return { got, session: (await openRuntime({ tools: [tool], store: 'memory' })).session() }
}

const chat = (text: unknown, finish_reason = 'tool_calls') => ({
  choices: [
    {
      finish_reason,
      message: {
        role: 'assistant',
        tool_calls: [{ id: 'x', type: 'function', function: { name: 'far__put', arguments: text } }],
      },
    },
  ],
})

const deepText = `${'{"o":'.repeat(50_000)}{}${'}'.repeat(50_000)}`

function makeDeep(): object {
  let deep: object = {}
  for (let level = 0; level < 50_000; level++) deep = { o: deep }
  return deep
}

const broken: readonly [string, unknown][] = [
  ['JSON that is 50,000 levels deep', deepText],
  ['an object that is 50,000 levels deep', makeDeep()],
  ['broken JSON', '{"a": "b'],
  ['a number', 5],
  ['a list', '[1]'],
  ['null', 'null'],
  ['a key that would change prototypes', '{"__proto__":{"x":1},"a":"b","o":null}'],
]

test.for(broken)('%s as arguments has a result that says what is wrong (PROV-1)', async ([, given]) => {
  const { session, got } = await openSession()
  for (const options of [{}, { strict: true }] as const) {
    const { messages } = await openaiChat(session, options).results(chat(given))
    expect(messages).toMatchObject([
      { tool_call_id: 'x', content: expect.stringMatching(/^SCHEMA\.VALIDATION_FAILED/) },
    ])
  }
  expect(got).toEqual([])
  expect(Object.hasOwn(Object.prototype, 'x')).toBe(false)
})

test('arguments that came to their end before the limit run, others do not (PROV-1)', async () => {
  const { session, got } = await openSession()
  const door = openaiChat(session)
  await door.results(chat('{"a":"whole"}', 'length'))
  await door.results(chat('', 'length'))
  await door.results(chat('{"a":"ha', 'length'))
  expect(got).toEqual([{ a: 'whole' }])
})

test('junk in an answer is a result or nothing, and never a throw (PROV-1)', async () => {
  const { session } = await openSession()
  const junk = [null, 7, 'x', [], {}]
  const claude = [...junk, { type: 'tool_use' }]
  const parts = [...junk, { functionCall: 5 }, { functionCall: { name: 4, args: 'x' } }]
  const calls = [null, 3, {}, { function: null }, { id: {}, function: { name: {}, arguments: [] } }]
  const found = [
    await anthropic(session).results({ role: 'assistant', content: claude }),
    await openaiResponses(session).results({ output: [...junk, { type: 'function_call' }] }),
    await openaiChat(session).results({ choices: [{ message: { role: 'assistant', tool_calls: calls } }] }),
    await openaiChat(session).results({ choices: [] }),
    await google(session).results({ candidates: [{ content: { parts } }] }),
    await google(session).results({ candidates: [{ finishReason: 'MALFORMED_FUNCTION_CALL' }] }),
    await bedrock(session).results({ output: { message: { content: [...junk, { toolUse: null }] } } }),
  ]
  expect(found.map(({ step }) => step.calls.length)).toEqual([1, 1, 5, 0, 1, 0, 1])
  for (const { step, messages } of found) expect(messages.length > 0).toBe(step.calls.length > 0)
})

test('an answer in the form of older Chat Completions is answered in that form (PROV-1)', async () => {
  const { session } = await openSession()
  const message = {
    role: 'assistant',
    content: null,
    function_call: { name: 'far__put', arguments: '{"a":"b"}' },
  }
  const { messages } = await openaiChat(session).results({ choices: [{ message }] })
  expect(messages).toEqual([{ role: 'function', name: 'far__put', content: 'put' }])
  const none = { role: 'assistant', content: 'Done.', function_call: { name: '', arguments: '' } }
  expect((await openaiChat(session).results({ choices: [{ message: none }] })).messages).toEqual([])
})

test('calls of one answer that have one id have a result each, in their order (PROV-1)', async () => {
  const { got, session } = await openSession()
  const call = (a: string) => ({
    id: 'same',
    type: 'function',
    function: { name: 'far__put', arguments: `{"a":"${a}"}` },
  })
  const message = {
    role: 'assistant',
    content: null,
    tool_calls: [call('b'), { ...call('c'), id: 7 }, call('d')],
  }
  const { messages } = await openaiChat(session).results({ choices: [{ message }] })
  expect(got).toEqual([{ a: 'b' }, { a: 'c' }, { a: 'd' }])
  const ids = ['same', 7, 'same']
  expect(messages).toEqual(ids.map((id) => ({ role: 'tool', tool_call_id: id, content: 'put' })))
})

test('the message of a server that has no choices around it is answered (PROV-1)', async () => {
  const { session } = await openSession()
  const call = {
    id: 'far__put_3p2j',
    type: 'function',
    function: { name: 'far__put', arguments: '{"a":"b"}' },
  }
  const answer = {
    id: '104628b4',
    finish_reason: 'TOOL_CALL',
    message: { role: 'assistant', tool_calls: [call], tool_plan: 'I will put it.' },
    usage: {},
  }
  const { messages } = await openaiChat(session).results(answer.message)
  expect(messages).toEqual([{ role: 'tool', tool_call_id: call.id, content: 'put' }])
})
