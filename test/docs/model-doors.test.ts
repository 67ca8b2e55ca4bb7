import { compileFunction } from 'node:vm'
import { anthropic } from 'handrail/anthropic'
import { bedrock } from 'handrail/bedrock'
import { google } from 'handrail/google'
import { openaiChat, openaiResponses } from 'handrail/openai'
import { expect, test } from 'vitest'
import { findBlocks, readPage } from '../support/markdown.ts'
import { openRuntime } from '../support/project.ts'
import { makeShop } from '../support/shop.ts'

const doors = { anthropic, bedrock, google, openaiChat, openaiResponses }
const call = { name: 'shop__look', input: { order: '12' } }
const json = JSON.stringify(call.input)

async function* stream(events: readonly object[]) {
  yield* events
}

/** What the models answer, one after the other: a call, then none. */
const answers: { readonly [door: string]: readonly [unknown, unknown] } = {
  anthropic: [
    { role: 'assistant', content: [{ type: 'tool_use', id: 'a', ...call }], stop_reason: 'tool_use' },
    { role: 'assistant', content: [{ type: 'text', text: 'Paid.' }], stop_reason: 'end_turn' },
  ],
  openaiResponses: [
    { output: [{ type: 'function_call', call_id: 'a', name: call.name, arguments: json }] },
    { output: [{ type: 'message', content: [] }] },
  ],
  openaiChat: [
    {
      choices: [
        {
          message: {
            role: 'assistant',
            tool_calls: [{ id: 'a', type: 'function', function: { name: call.name, arguments: json } }],
          },
          finish_reason: 'tool_calls',
        },
      ],
    },
    { choices: [{ message: { role: 'assistant', content: 'Paid.' }, finish_reason: 'stop' }] },
  ],
  google: [
    {
      candidates: [
        { content: { role: 'model', parts: [{ functionCall: { name: call.name, args: call.input } }] } },
      ],
    },
    { candidates: [{ content: { role: 'model', parts: [{ text: 'Paid.' }] } }] },
  ],
  bedrock: [
    {
      output: { message: { role: 'assistant', content: [{ toolUse: { toolUseId: 'a', ...call } }] } },
      stopReason: 'tool_use',
    },
    { output: { message: { role: 'assistant', content: [{ text: 'Paid.' }] } }, stopReason: 'end_turn' },
  ],
}

/** A client of any of the SDKs, which answers from the script. */
function toClient(script: readonly unknown[]) {
  const rest = [...script]
  const answer = async (request: { stream?: boolean }) => {
    const next = rest.shift()
    return request.stream === true ? stream(next as object[]) : next
  }
  return {
    messages: { create: answer },
    responses: { create: answer },
    chat: { completions: { create: answer } },
    models: { generateContent: answer },
    converse: answer,
  }
}

async function run(code: string, script: readonly unknown[]): Promise<unknown[]> {
  const runtime = await openRuntime({ tools: makeShop().tools, store: 'memory' })
  const messages: unknown[] = []
  const given = {
    ...doors,
    session: runtime.session(),
    client: toClient(script),
    messages,
    model: 'm',
    request: {},
  }
  const body = `return (async () => { ${code.replace(/^import .*$/m, '')} })()`
  const program = compileFunction(body, Object.keys(given)) as (...values: unknown[]) => Promise<void>
  await program(...Object.values(given))
  return messages
}

const blocks = findBlocks(readPage('docs/model-doors.md')).filter(({ language }) => language === 'js')

test('the loop of each API on the page runs, with three lines beside the SDK (PROV-1)', async () => {
  const loops = blocks.filter(({ code }) => code.includes('for ('))
  const shown = loops.map(({ code }) => /= (\w+)\(session/.exec(code)?.[1] ?? '')
  expect(shown.toSorted()).toEqual(Object.keys(answers).toSorted())
  for (const [index, { code }] of loops.entries()) {
    const messages = await run(code, answers[shown[index] ?? ''] ?? [])
    expect(JSON.stringify(messages)).toContain('paid 12')
    const glue = code.split('\n').filter((line) => /door\b(?!\.tools)|\.\.\.results/.test(line))
    expect(glue).toHaveLength(3)
  }
})

test('the stream on the page is collected and answered (PROV-1)', async () => {
  const [block] = blocks.filter(({ code }) => code.includes('collect'))
  const events = [
    { type: 'message_start', message: { role: 'assistant', stop_reason: null } },
    {
      type: 'content_block_start',
      index: 0,
      content_block: { type: 'tool_use', id: 'a', name: call.name, input: {} },
    },
    { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: json } },
    { type: 'message_delta', delta: { stop_reason: 'tool_use' } },
  ]
  expect(JSON.stringify(await run(block?.code ?? '', [events]))).toContain('paid 12')
})
