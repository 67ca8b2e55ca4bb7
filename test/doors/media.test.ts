import { defineTool, toolOutput } from 'handrail'
import { anthropic } from 'handrail/anthropic'
import { bedrock } from 'handrail/bedrock'
import { google } from 'handrail/google'
import { openaiChat, openaiResponses } from 'handrail/openai'
import { expect, test } from 'vitest'
import { images } from '../support/images.ts'
import { openRuntime } from '../support/project.ts'

const png = images['image/png'].toString('base64')
const pdf = Buffer.from('%PDF-1.4').toString('base64')

/** Tools that return an image and a document, a long text, nothing, and an error with an image. */
async function openSession() {
  const make = (name: string, run: () => unknown) =>
    defineTool({
      name,
      description: 'Returns it.',
      permission: 'readonly',
      input: { type: 'object', properties: {} },
      run: run as never,
    })
  const tools = [
    make('see.plot', () =>
      toolOutput({
        content: [
          { type: 'text', text: 'A plot:' },
          { type: 'image', data: png, mimeType: 'image/png' },
          { type: 'resource', uri: 'far://paper', name: 'paper', mimeType: 'application/pdf', blob: pdf },
          { type: 'audio', data: png, mimeType: 'audio/wav' },
        ],
      }),
    ),
    make('see.book', () => 'word '.repeat(100_000)),
    make('see.nothing', () => toolOutput({ content: [{ type: 'text', text: '  ' }] })),
    make('see.bad', () =>
      toolOutput({
        content: [{ type: 'image', data: png, mimeType: 'image/svg+xml' }],
        error: { reason: 'failed', message: 'No plot.' },
      }),
    ),
  ]
  return (await openRuntime({ tools, store: 'memory' })).session()
}

const claude = (name: string) => ({
  role: 'assistant' as const,
  content: [{ type: 'tool_use', id: 'a', name, input: {} }],
})
const chat = (name: string) => ({
  role: 'assistant',
  tool_calls: [{ id: 'a', type: 'function', function: { name, arguments: '{}' } }],
})
const gemini = (name: string) => ({ role: 'model', parts: [{ functionCall: { name, args: {} } }] })
const converse = (name: string) => ({
  role: 'assistant',
  content: [{ toolUse: { toolUseId: 'a', name, input: {} } }],
})

test('Anthropic takes images and documents in the result; what it does not take is named (PROV-1)', async () => {
  const { messages } = await anthropic(await openSession()).results(claude('see__plot'))
  expect(messages).toMatchObject([
    {
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: 'a',
          content: [
            { type: 'text', text: 'A plot:' },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } },
            { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: pdf } },
            { type: 'text', text: expect.stringContaining('[audio audio/wav') },
          ],
        },
      ],
    },
  ])
})

test('Chat Completions get images and documents in a message behind the results (PROV-1)', async () => {
  const { messages } = await openaiChat(await openSession()).results(chat('see__plot'))
  expect(messages).toMatchObject([
    { role: 'tool', tool_call_id: 'a', content: expect.stringContaining('A plot:\n[image image/png') },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'From see__plot:' },
        { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } },
        { type: 'file', file: { filename: 'paper.pdf', file_data: `data:application/pdf;base64,${pdf}` } },
      ],
    },
  ])
})

test('the Responses API takes images and documents in the output (PROV-1)', async () => {
  const item = { type: 'function_call', call_id: 'a', name: 'see__plot', arguments: '' }
  const { messages } = await openaiResponses(await openSession()).results({ output: [item] })
  expect(Object(messages[0]).output).toMatchObject([
    { type: 'input_text', text: 'A plot:' },
    { type: 'input_image', image_url: `data:image/png;base64,${png}` },
    { type: 'input_file', filename: 'paper.pdf' },
    { type: 'input_text' },
  ])
})

test('Gemini 3 takes images in the response of a function, others beside it (PROV-1)', async () => {
  const session = await openSession()
  const [newer] = (await google(session, { model: 'gemini-3-pro' }).results(gemini('see__plot'))).messages
  expect(newer?.parts).toMatchObject([
    {
      functionResponse: {
        name: 'see__plot',
        response: { output: expect.stringContaining('A plot:') },
        parts: [
          { inlineData: { mimeType: 'image/png', data: png } },
          { inlineData: { mimeType: 'application/pdf' } },
        ],
      },
    },
    { inlineData: { mimeType: 'audio/wav' } },
  ])
  const [older] = (await google(session).results(gemini('see__plot'))).messages
  expect(older?.parts.map((part) => Object.keys(part)[0])).toEqual([
    'functionResponse',
    'inlineData',
    'inlineData',
    'inlineData',
  ])
  expect(older?.parts[0]).not.toHaveProperty('functionResponse.id')
})

test('Claude on Bedrock takes images in the result, other models behind it (PROV-1)', async () => {
  const session = await openSession()
  const bytes = new Uint8Array(images['image/png'])
  const inner = await bedrock(session, { model: 'us.anthropic.claude-sonnet-4-5' }).results(
    converse('see__plot'),
  )
  expect(inner.messages[0]?.content).toMatchObject([
    {
      toolResult: {
        toolUseId: 'a',
        status: 'success',
        content: [{ text: 'A plot:' }, { image: { format: 'png' } }, { document: { format: 'pdf' } }, {}],
      },
    },
  ])
  const outer = await bedrock(session).results(converse('see__plot'))
  const [, image] = outer.messages[0]?.content ?? []
  expect(outer.messages[0]?.content).toHaveLength(3)
  expect(image).toMatchObject({ image: { format: 'png' } })
  expect(image !== undefined && 'image' in image && Buffer.from(image.image.source.bytes).equals(bytes)).toBe(
    true,
  )
})

test('long results carry the URI that reads the rest, empty ones are not blank, errors keep what came with them (PROV-1)', async () => {
  const door = anthropic(await openSession())
  const contentOf = async (name: string) => (await door.results(claude(name))).messages[0]?.content[0]
  expect(JSON.stringify(await contentOf('see__book'))).toMatch(
    /handrail:\/\/artifact\/[\w-]+\/sha256:[0-9a-f]{64}/,
  )
  expect(await contentOf('see__nothing')).toMatchObject({ content: [{ type: 'text', text: '(no output)' }] })
  expect(await contentOf('see__bad')).toMatchObject({
    is_error: true,
    content: [
      { type: 'text', text: 'TOOL.FAILED (failed): No plot.' },
      { type: 'text', text: expect.stringContaining('[artifact handrail://') },
    ],
  })
})
