import { dynamicTool, jsonSchema, tool, zodSchema, type ToolSet } from 'ai'
import { createRuntime, type Tool } from 'handrail'
import { fromAiTools } from 'handrail/ai-sdk'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { z as z3 } from 'zod/v3'
import { makeFolder, openRuntime, personSaying } from '../support/project.ts'

const pixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

const weather = tool({
  description: 'Says how warm it is.',
  inputSchema: z.object({ city: z.string(), days: z.number().default(1) }),
  execute: ({ city, days }) => ({ city, days, warm: true }),
})
const refund = tool({
  description: 'Refunds an order.',
  inputSchema: z.object({ order: z.string() }),
  execute: async ({ order }) => `refunded ${order}`,
})

async function open(tools: readonly Tool[]) {
  const { approve, asked } = personSaying('allow_once')
  const session = (await openRuntime({ tools, store: 'memory', approve, onError: () => {} })).session()
  return { session, asked }
}

test('tools of the AI SDK take the road: checked, asked about, recorded (SDK-1)', async () => {
  const tools = fromAiTools({ weather, refund }, { namespace: 'shop', permission: { weather: 'readonly' } })
  const { session, asked } = await open(tools)
  expect((await session.call('shop.weather', { city: 'Bern' })).data).toEqual({
    city: 'Bern',
    days: 1,
    warm: true,
  })
  expect(asked).toEqual([])
  expect((await session.call('shop.refund', { order: 'o1' })).data).toBe('refunded o1')
  expect(asked.map((each) => each.tool)).toEqual(['shop.refund'])
  expect((await session.call('shop.refund', { ordr: 'o1' })).error?.message).toContain(
    'did you mean "order"?',
  )
  expect(session.tools().find((each) => each.tool === 'shop.weather')?.inputSchema).toMatchObject({
    properties: { city: { type: 'string' }, days: { type: 'number', default: 1 } },
  })
})

test('execute gets the id of the tool call, the signal and its context', async () => {
  const stop = new AbortController()
  const seen: unknown[] = []
  const slow = tool({
    description: 'Takes its time.',
    inputSchema: z.object({}),
    execute: async (_, { toolCallId, abortSignal, messages, context }) => {
      seen.push(toolCallId, messages, context)
      stop.abort()
      return new Promise<string>((_resolve, reject) => {
        abortSignal?.addEventListener('abort', () => reject(new Error('stopped by its signal')))
      })
    },
  })
  const options = {
    namespace: 'shop',
    permission: 'readonly',
    context: ({ principal }: { principal: { actor: string } }) => ({ user: principal.actor }),
  } as const
  const { session } = await open(fromAiTools({ slow }, options))
  const [result] = (
    await session.turn([{ id: 'toolu_7', tool: 'shop.slow', input: {} }], { signal: stop.signal })
  ).results
  expect(result?.outcome).toBe('aborted')
  expect(seen).toEqual(['toolu_7', [], { user: session.principal.actor }])
})

test('models see what toModelOutput says: text, images, files and errors', async () => {
  const shown = (type: string, value?: unknown) =>
    tool({
      description: 'Shows something.',
      inputSchema: z.object({}),
      execute: () => ({ secret: 1 }),
      toModelOutput: ({ output }) =>
        ({ type, value: value ?? `the secret is ${output.secret}` }) as { type: 'text'; value: string },
    })
  const content = [
    { type: 'text', text: 'a pixel' },
    { type: 'file', mediaType: 'image/png', data: { type: 'data', data: pixel } },
    { type: 'file', mediaType: 'image/png', data: { type: 'data', data: Buffer.from(pixel, 'base64') } },
    { type: 'image-data', mediaType: 'image/png', data: pixel },
    {
      type: 'file',
      mediaType: 'application/pdf',
      filename: 'a.pdf',
      data: { type: 'url', url: new URL('https://a.test/a.pdf') },
    },
    { type: 'file-data', mediaType: 'application/pdf', filename: 'b.pdf', data: 'AA==' },
    { type: 'file-id', fileId: 'f1' },
  ]
  const tools = {
    text: shown('text'),
    json: shown('json', { n: 1 }),
    error: shown('error-text', 'no'),
    content: shown('content', content),
  }
  const { session } = await open(fromAiTools(tools, { namespace: 'show', permission: 'readonly' }))
  expect(await session.call('show.text')).toMatchObject({
    content: [{ type: 'text', text: 'the secret is 1' }],
    data: { secret: 1 },
  })
  expect((await session.call('show.json')).content).toEqual([{ type: 'json', json: { n: 1 } }])
  expect((await session.call('show.error')).error).toMatchObject({ reason: 'tool_error', message: 'no' })
  const png = { type: 'image', mimeType: 'image/png', data: pixel }
  expect((await session.call('show.content')).content).toMatchObject([
    { type: 'text', text: 'a pixel' },
    png,
    png,
    png,
    { type: 'resource', uri: 'https://a.test/a.pdf', mimeType: 'application/pdf' },
    { type: 'resource', name: 'b.pdf', blob: 'AA==' },
    { type: 'other', block: { type: 'file-id', fileId: 'f1' } },
  ])
})

test('what is yielded is progress, and the last of it the result; a throw is a failed call', async () => {
  const stream = tool({
    description: 'Streams.',
    inputSchema: z.object({ fail: z.boolean().optional() }),
    async *execute({ fail }) {
      yield { parts: 1 }
      if (fail === true) throw new Error('The line is cut.')
      yield { parts: 2 }
    },
  })
  const { session } = await open(fromAiTools({ stream }, { namespace: 'shop', permission: 'readonly' }))
  const progress: unknown[] = []
  const result = await session.call('shop.stream', {}, { onProgress: (update) => progress.push(update) })
  expect(result.data).toEqual({ parts: 2 })
  expect(progress).toHaveLength(2)
  expect((await session.call('shop.stream', { fail: true })).error).toMatchObject({
    code: 'TOOL.FAILED',
    message: expect.stringContaining('The line is cut.') as string,
  })
})

test('schemas of the SDK are taken: jsonSchema(), zodSchema(), zod 3, and a function that returns one', async () => {
  const even = jsonSchema<{ n: number }>(
    { type: 'object', properties: { n: { type: 'number', description: 'Even.' } }, required: ['n'] },
    {
      validate: (value) =>
        (value as { n: number }).n % 2 === 0
          ? { success: true, value: value as { n: number } }
          : { success: false, error: new Error('not even') },
    },
  )
  const toTool = (inputSchema: unknown) =>
    tool({
      description: 'Takes a number.',
      inputSchema: inputSchema as typeof even,
      execute: ({ n }) => n,
    })
  const tools = {
    own: toTool(even),
    lazy: toTool(() => even),
    wrapped: toTool(zodSchema(z.object({ n: z.string().transform(Number) }))),
    old: toTool(zodSchema(z3.object({ n: z3.number().int() }))),
    plain: dynamicTool({
      description: 'Takes anything.',
      inputSchema: jsonSchema({
        type: 'object',
        properties: { n: { anyOf: [{ type: 'number' }, { type: 'null' }] } },
      }),
      execute: async (input) => input,
    }),
  }
  const { session } = await open(fromAiTools(tools, { namespace: 'n', permission: 'readonly' }))
  expect((await session.call('n.own', { n: 2 })).data).toBe(2)
  expect((await session.call('n.lazy', { n: 3 })).error).toMatchObject({
    reason: 'invalid_input',
    message: expect.stringContaining('not even') as string,
  })
  expect((await session.call('n.wrapped', { n: '5' })).data).toBe(5)
  expect((await session.call('n.old', { n: 5 })).data).toBe(5)
  expect((await session.call('n.old', { n: 1.5 })).error?.reason).toBe('invalid_input')
  expect((await session.call('n.plain', { n: null })).data).toEqual({ n: null })
  expect((await session.call('n.plain', { m: 1 })).error?.message).toContain('There is no field "m"')
})

test('a tool that needs an approval in the SDK asks here too, whatever its permission', async () => {
  const careful = tool({
    description: 'Is careful.',
    inputSchema: z.object({}),
    needsApproval: true,
    execute: () => 1,
  })
  const { session, asked } = await open(
    fromAiTools({ careful }, { namespace: 'shop', permission: 'readonly' }),
  )
  expect((await session.call('shop.careful')).data).toBe(1)
  expect(asked).toHaveLength(1)
})

const clientSide = tool({
  description: 'Runs in the browser.',
  inputSchema: z.object({}),
  outputSchema: z.string(),
})
const spoken = tool({ description: () => 'For a context.', inputSchema: z.object({}), execute: () => 1 })
const promised = tool({
  description: 'Is promised.',
  inputSchema: jsonSchema(Promise.resolve({ type: 'object' as const })),
  execute: () => 1,
})

test.each<[string, () => unknown, RegExp]>([
  ['no execute', () => fromAiTools({ clientSide }, { namespace: 'shop' }), /"clientSide" has no "execute"/],
  [
    'a description that is made for each call',
    () => fromAiTools({ spoken }, { namespace: 'shop' }),
    /tools: \{ "spoken"/,
  ],
  [
    'a schema that is a promise',
    () => fromAiTools({ promised }, { namespace: 'shop' }),
    /"promised".*at once/,
  ],
  ['no namespace', () => fromAiTools({ refund }, {} as { namespace: string }), /namespace: "shop"/],
  [
    'a permission of a tool that is not there',
    () => fromAiTools({ refund }, { namespace: 'shop', permission: { refnd: 'readonly' } as object }),
    /no tool "refnd"; did you mean "refund"/,
  ],
  [
    'a permission that is none',
    () => fromAiTools({ refund }, { namespace: 'shop', permission: 'read' as 'readonly' }),
    /"readonly" or "write"/,
  ],
  [
    'a mistyped option',
    () => fromAiTools({ refund }, { namespace: 'shop', permisson: 'readonly' } as never),
    /"permission"/,
  ],
])('%s is refused where the tools are taken, with what to write', (_, take, message) => {
  expect(take).toThrow(message)
})

test('the program says of a tool what the SDK does not know, and a wrong name is refused at registration', async () => {
  const [made] = fromAiTools(
    { spoken },
    {
      namespace: 'shop',
      tools: { spoken: { description: 'Speaks.', idempotency: 'optional', tags: ['a'] } },
    },
  )
  expect(made?.definition).toMatchObject({
    name: 'shop.spoken',
    description: 'Speaks.',
    idempotency: 'optional',
    permission: 'write',
    tags: ['a'],
  })
  const set: ToolSet = { toString: refund }
  expect(fromAiTools(set, { namespace: 'shop', permission: {}, tools: {} })[0]?.definition.permission).toBe(
    'write',
  )
  const tools = fromAiTools({ 'get weather': weather }, { namespace: 'shop' })
  await expect(createRuntime({ project: makeFolder(), tools })).rejects.toThrow(/canonical name/)
})
