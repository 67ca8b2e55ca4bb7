import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { defineTool, toolOutput } from 'handrail'
import { describe, expect, test } from 'vitest'
import { images } from '../support/images.ts'
import { modelSaying, toChunks, toldResults, type ModelAsked, type Said } from '../support/mock-model.ts'
import { eventsOf, openProject, read, write } from './open-project.ts'

const nothing = { prompt: [] }
const done: Said = { text: 'Done.' }

/** What a model is asked after its first answer, and how the run ends. */
async function askAfter(first: Said, more: object = {}) {
  const { project, runtime } = await openProject()
  const { model, asked } = modelSaying([first, done])
  const result = await (await runtime.run({ model, prompt: 'Go.', ...more })).result
  return { project, runtime, result, asked, next: asked[1] ?? nothing }
}

function partsOf({ prompt }: ModelAsked, role: string): { [field: string]: unknown }[] {
  return prompt
    .filter((message) => message.role === role)
    .flatMap(({ content }) => (typeof content === 'string' ? [] : content))
}

test('each of 500 calls of one answer has its result, in order (AGENT-3, SCHED-5)', async () => {
  const calls = Array.from({ length: 500 }, (_, index) => ({
    id: `c${index}`,
    tool: 'code__read_file',
    input: { path: index % 2 === 0 ? 'a.txt' : `none-${index}.txt` },
  }))
  const { result, next } = await askAfter({ calls })
  expect(result.endReason).toBe('completed')
  expect(partsOf(next, 'tool').map(({ toolCallId }) => toolCallId)).toEqual(calls.map(({ id }) => id))
  const told = toldResults(next)
  expect(told.every((text, index) => text.includes(index % 2 === 0 ? 'alpha' : `none-${index}.txt`))).toBe(
    true,
  )
})

test('calls under one id, without one, and under numbers all run, and go back under ids that every provider takes (AGENT-3)', async () => {
  const call = (toolCallId: unknown, path: string): object => ({
    type: 'tool-call',
    toolCallId,
    toolName: 'code__read_file',
    input: JSON.stringify({ path }),
  })
  const parts = [
    ...['same', 'same', '', '', 7].map((id, index) => call(id, index === 1 ? 'none.txt' : 'a.txt')),
    ...toChunks({ finish: 'tool-calls' }).slice(1),
  ]
  const { runtime, result, next } = await askAfter({ parts })
  expect(result.endReason).toBe('completed')
  const ids = partsOf(next, 'assistant').map(({ toolCallId }) => toolCallId)
  expect(ids).toEqual(['same', 'same_2', 'call_1', 'call_2', '7'])
  expect(partsOf(next, 'tool').map(({ toolCallId }) => toolCallId)).toEqual(ids)
  expect(toldResults(next)[1]).toContain('none.txt')
  // The conversation is kept as it was said.
  const said = runtime.runs.transcript(result.id)[1]
  expect(said).toMatchObject({
    content: ['same', 'same', '', '', '7'].map((toolCallId) => ({ toolCallId })),
  })
})

test('the ids of answers that count theirs from zero are told apart, and stay as they are when more is said (AGENT-3)', async () => {
  const { runtime } = await openProject()
  const { model, asked } = modelSaying([read, read, read, done])
  await (
    await runtime.run({ model, prompt: 'Go.' })
  ).result
  const ids = asked.map((each) => partsOf(each, 'tool').map(({ toolCallId }) => toolCallId))
  expect(ids).toEqual([[], ['call_0'], ['call_0', 'call_0_2'], ['call_0', 'call_0_2', 'call_0_3']])
})

const wrongCalls: { what: string; tool: string; input: unknown; told: RegExp; shown: object }[] = [
  {
    what: 'broken JSON',
    tool: 'code__read_file',
    input: '{"path": "a.t',
    told: /JSON/,
    shown: { input: { INVALID_JSON: '{"path": "a.t' } },
  },
  {
    what: 'a list as its input',
    tool: 'code__read_file',
    input: '["a.txt"]',
    told: /object/i,
    shown: { input: { INVALID_JSON: '["a.txt"]' } },
  },
  { what: 'no input', tool: 'code__read_file', input: ' ', told: /path/, shown: { input: {} } },
  {
    what: 'an unknown tool',
    tool: 'code__read_fil',
    input: {},
    told: /code__read_file/,
    shown: { toolName: 'code__read_fil' },
  },
  {
    what: 'a name that no provider takes',
    tool: 'read a.txt!',
    input: {},
    told: /read a.txt!/,
    shown: { toolName: 'read_a_txt_' },
  },
  { what: 'no name', tool: '', input: {}, told: /./, shown: { toolName: 't_' } },
]

test.each(wrongCalls)(
  'a call with $what is told to the model, in a form that every provider takes (AGENT-3)',
  async ({ tool, input, told, shown }) => {
    const { result, next } = await askAfter({ calls: [{ tool, input }] })
    expect(result.endReason).toBe('completed')
    expect(toldResults(next)).toEqual([expect.stringMatching(told)])
    expect(partsOf(next, 'assistant')).toMatchObject([shown])
  },
)

test('arguments of ten megabytes are refused as too large, and the run goes on (AGENT-3, CALL-2)', async () => {
  const input = { path: 'b.txt', content: 'x'.repeat(10 * 1024 * 1024) }
  const { project, result, next } = await askAfter({ calls: [{ tool: 'code__write_file', input }] })
  expect(result.endReason).toBe('completed')
  expect(toldResults(next)).toEqual([expect.stringMatching(/too large|bytes|MiB/i)])
  expect(existsSync(join(project, 'b.txt'))).toBe(false)
})

test.each(['length', 'content-filter', 'error'])(
  'of an answer that ended with %s the last call does not run if it is not whole (AGENT-3)',
  async (reason) => {
    const parts = [
      { type: 'tool-input-start', id: 'c1', toolName: 'code__write_file' },
      { type: 'tool-input-delta', id: 'c1', delta: '{"path": "b.txt", "content": "ha' },
      ...toChunks({ finish: reason }).slice(1),
    ]
    const { project, result, next } = await askAfter({ parts })
    expect(result.endReason).toBe('completed')
    expect(toldResults(next)).toHaveLength(1)
    expect(partsOf(next, 'tool')).toMatchObject([{ toolCallId: 'c1', output: { type: 'error-text' } }])
    expect(existsSync(join(project, 'b.txt'))).toBe(false)
  },
)

describe('a provider that fails', () => {
  const busy = (headers = {}): Error =>
    Object.assign(new Error('busy'), { isRetryable: true, statusCode: 429, responseHeaders: headers })

  test('before the first text is asked again, if it says that this helps (AGENT-3)', async () => {
    const { runtime } = await openProject()
    const { model, asked } = modelSaying([busy(), { parts: [{ type: 'error', error: busy() }] }, done])
    const result = await (await runtime.run({ model, prompt: 'Go.' })).result
    expect(result).toMatchObject({ endReason: 'completed', turns: 1 })
    expect(asked).toHaveLength(3)
  })

  test('and says so three times ends the run (AGENT-3)', async () => {
    const { runtime } = await openProject()
    const { model, asked } = modelSaying([busy(), busy(), busy(), done])
    const result = await (await runtime.run({ model, prompt: 'Go.' })).result
    expect(result).toMatchObject({
      endReason: 'failed',
      error: { reason: 'model_failed', data: { status: 429 } },
    })
    expect(asked).toHaveLength(3)
  })

  test('after the first text is not asked again, and nothing of its answer is kept (AGENT-3)', async () => {
    const { runtime } = await openProject()
    const half = { type: 'text-delta', id: '1', delta: 'Half' }
    const { model, asked } = modelSaying([{ parts: [half, { type: 'error', error: busy() }] }, done])
    const run = await runtime.run({ model, prompt: 'Go.' })
    const events = await eventsOf(run)
    expect(events).toContainEqual({ type: 'text', delta: 'Half' })
    expect(await run.result).toMatchObject({ endReason: 'failed', error: { reason: 'model_failed' } })
    expect(asked).toHaveLength(1)
    expect(runtime.runs.transcript(run.id)).toHaveLength(1)
  })

  test('can be aborted while it is waited for, however long it asks for (AGENT-3)', async () => {
    const { runtime } = await openProject()
    const { promise: asked, resolve } = Promise.withResolvers<void>()
    const { model } = modelSaying([
      () => {
        resolve()
        throw busy({ 'retry-after': '3600' })
      },
    ])
    const run = await runtime.run({ model, prompt: 'Go.' })
    await asked
    run.abort()
    expect(await run.result).toMatchObject({ endReason: 'aborted' })
  })
})

test('what a provider wants back with a part goes back with it, and its own calls are left to it (AGENT-3)', async () => {
  const meta = (text: string) => ({ providerMetadata: { mock: { signature: text } } })
  const image = { mediaType: 'image/png', data: { type: 'data', data: 'iVBORw0KGgo=' } }
  const parts = [
    { type: 'reasoning-start', id: '0' },
    { type: 'reasoning-delta', id: '0', delta: 'Hm. ' },
    { type: 'reasoning-end', id: '0', ...meta('one') },
    { type: 'text-start', id: '0' },
    { type: 'text-delta', id: '0', delta: 'I search.' },
    { type: 'text-end', id: '0' },
    {
      type: 'tool-call',
      toolCallId: 'w1',
      toolName: 'web_search',
      input: '{"q":"x"}',
      providerExecuted: true,
    },
    { type: 'tool-result', toolCallId: 'w1', toolName: 'web_search', result: [{ url: 'u' }] },
    { type: 'file', ...image },
    // The id of the first text again.
    { type: 'text-start', id: '0' },
    { type: 'text-delta', id: '0', delta: 'I read.' },
    {
      type: 'tool-call',
      toolCallId: 'c1',
      toolName: 'code__read_file',
      input: '{"path":"a.txt"}',
      ...meta('two'),
    },
    ...toChunks({ finish: 'tool-calls' }).slice(1),
  ]
  const { runtime, result, next } = await askAfter({ parts })
  expect(result.endReason).toBe('completed')
  expect(partsOf(next, 'assistant')).toEqual([
    { type: 'reasoning', text: 'Hm. ', providerOptions: { mock: { signature: 'one' } } },
    { type: 'text', text: 'I search.' },
    {
      type: 'tool-call',
      toolCallId: 'w1',
      toolName: 'web_search',
      input: { q: 'x' },
      providerExecuted: true,
    },
    {
      type: 'tool-result',
      toolCallId: 'w1',
      toolName: 'web_search',
      output: { type: 'json', value: [{ url: 'u' }] },
    },
    { type: 'file', ...image },
    { type: 'text', text: 'I read.' },
    {
      type: 'tool-call',
      toolCallId: 'c1',
      toolName: 'code__read_file',
      input: { path: 'a.txt' },
      providerOptions: { mock: { signature: 'two' } },
    },
  ])
  expect(partsOf(next, 'tool')).toHaveLength(1)
  expect([...runtime.store.records({ tenant: 'local', kind: 'begin' })]).toHaveLength(1)
})

test('reasoning alone is not an answer, and is not told to the provider, which would refuse it (AGENT-3)', async () => {
  const { runtime } = await openProject()
  const parts = [
    { type: 'custom', kind: 'mock.mark' },
    { type: 'reasoning-delta', id: '0', delta: 'Hm.' },
    ...toChunks({}).slice(1),
  ]
  const { model, asked } = modelSaying([{ parts }, done])
  const result = await (await runtime.run({ model, prompt: 'Go.' })).result
  expect(result).toMatchObject({ endReason: 'failed', error: { reason: 'empty_answer' } })
  await (
    await runtime.run({ model, resume: result.id })
  ).result
  expect(asked[1]?.prompt.map(({ role }) => role)).toEqual(['system', 'user', 'user'])
})

describe('a conversation that fills the window', () => {
  const large = { ...read, tokens: { input: 850, output: 10 } }

  test('is summarised, more than once, calls over; what the user asked first stays (AGENT-3)', async () => {
    const { runtime } = await openProject()
    const { model, asked } = modelSaying([
      large,
      { text: 'First summary.', tokens: { input: 900, output: 10 } },
      large,
      { text: 'Second summary.', tokens: { input: 900, output: 10 } },
      done,
    ])
    const run = await runtime.run({ model, prompt: 'The task.', contextTokens: 1_000 })
    const types = (await eventsOf(run)).map(({ type }) => type)
    expect(types.filter((type) => type === 'compacted')).toHaveLength(2)
    expect(await run.result).toMatchObject({ endReason: 'completed', turns: 3 })
    const texts = (each: ModelAsked | undefined) => partsOf(each ?? nothing, 'user').map(({ text }) => text)
    expect(texts(asked[2])).toEqual(['The task.', expect.stringContaining('First summary.')])
    expect(texts(asked[4])).toEqual(['The task.', expect.stringContaining('Second summary.')])
    expect(partsOf(asked[4] ?? nothing, 'tool')).toEqual([])
    expect(runtime.runs.transcript(run.id).map(({ type }) => type)).toEqual(
      'user assistant tool summary assistant tool summary assistant'.split(' '),
    )
  })

  test('keeps what the user said last, if that has no answer yet (AGENT-3)', async () => {
    const { runtime } = await openProject()
    const { model, asked } = modelSaying([
      { ...done, tokens: { input: 900, output: 10 } },
      { text: 'Summary.' },
      done,
    ])
    const { id } = await (await runtime.run({ model, prompt: 'The task.', contextTokens: 1_000 })).result
    await (
      await runtime.run({ model, resume: id, prompt: 'And this.' })
    ).result
    expect(partsOf(asked[2] ?? nothing, 'user').map(({ text }) => text)).toEqual([
      'The task.',
      expect.stringContaining('Summary.'),
      'And this.',
    ])
  })

  test('and that the model does not summarise fails, and can be resumed (AGENT-3)', async () => {
    const { runtime } = await openProject()
    const { model } = modelSaying([large, { text: ' ' }, { text: 'Summary.' }, done])
    const result = await (await runtime.run({ model, prompt: 'Go.', contextTokens: 1_000 })).result
    expect(result).toMatchObject({ endReason: 'failed', error: { reason: 'context_full' } })
    expect(await (await runtime.run({ model, resume: result.id })).result).toMatchObject({
      endReason: 'completed',
    })
  })

  test('is read without most of what calls took and returned, if it is longer than the window (AGENT-3)', async () => {
    const { runtime } = await openProject()
    const long = { path: 'b.txt', content: 'y'.repeat(20_000) }
    const { model, asked } = modelSaying([
      { calls: [{ tool: 'code__read_file', input: long }], tokens: { input: 6_000, output: 10 } },
      { text: 'Summary.' },
      done,
    ])
    const result = await (await runtime.run({ model, prompt: 'Go.', contextTokens: 4_000 })).result
    expect(result.endReason).toBe('completed')
    expect(JSON.stringify(asked[1]?.prompt).length).toBeLessThan(6_000)
  })

  test('is not one of a large picture (AGENT-3)', async () => {
    const data = Buffer.concat([images['image/png'], Buffer.alloc(600_000)]).toString('base64')
    const { runtime } = await openProject({
      tools: [
        defineTool({
          name: 'see.plot',
          description: 'Shows a plot.',
          permission: 'readonly',
          input: { type: 'object', properties: {} },
          run: () => toolOutput({ content: [{ type: 'image', data, mimeType: 'image/png' }] }),
        }),
      ],
    })
    const { model, asked } = modelSaying([{ calls: [{ tool: 'see__plot' }] }, done])
    const result = await (await runtime.run({ model, prompt: 'Go.', contextTokens: 20_000 })).result
    expect(result.endReason).toBe('completed')
    expect(JSON.stringify(asked[1])).toContain(data)
  })
})

test('a model that changes the tools of a request is told the same ones in the next (AGENT-3)', async () => {
  const { runtime } = await openProject()
  const told: string[] = []
  const spoil = (asked: ModelAsked, said: Said): Said => {
    told.push(JSON.stringify(asked.tools))
    for (const tool of asked.tools ?? []) Object.assign(tool, { name: 'spoilt', inputSchema: {} })
    return said
  }
  const { model } = modelSaying([(asked) => spoil(asked, read), (asked) => spoil(asked, done)])
  expect(await (await runtime.run({ model, prompt: 'Read.' })).result).toMatchObject({
    endReason: 'completed',
  })
  expect(told[0]).toContain('code__read_file')
  expect(told[1]).toBe(told[0])
})

test('a session that was closed ends the run, as none of its calls can be made (AGENT-3)', async () => {
  const { runtime } = await openProject()
  const session = runtime.session()
  const { model } = modelSaying([
    async () => {
      await session.close()
      return write
    },
  ])
  expect(await (await runtime.run({ model, prompt: 'Go.', session })).result).toMatchObject({
    endReason: 'aborted_tools',
    turns: 1,
  })
})
