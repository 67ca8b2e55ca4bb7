import { DynamicTool, tool, type StructuredToolInterface } from '@langchain/core/tools'
import { fromLangChain } from 'handrail/langchain'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { openRuntime, personSaying } from '../support/project.ts'

const weather = tool(({ city }) => ({ city, warm: true }), {
  name: 'weather',
  description: 'Says how warm it is.',
  schema: z.object({ city: z.string().transform((name) => name.trim()) }),
})
const refund = tool(async ({ order }) => `refunded ${order}`, {
  name: 'refund',
  description: 'Refunds an order.',
  schema: { type: 'object', properties: { order: { type: 'string' } }, required: ['order'] } as const,
})

async function open(tools: Parameters<typeof fromLangChain>[0], more: { context?: () => unknown } = {}) {
  const { approve, asked } = personSaying('allow_once')
  const names = tools.map(({ name }) => name)
  const permission = Object.fromEntries(
    names.filter((name) => name !== 'refund').map((name) => [name, 'readonly' as const]),
  )
  const adopted = fromLangChain(tools, { namespace: 'shop', permission, ...more })
  const session = (
    await openRuntime({ tools: adopted, store: 'memory', approve, onError: () => {} })
  ).session()
  return { session, asked }
}

test('tools of LangChain take the road: checked, asked about, recorded (SDK-1)', async () => {
  const { session, asked } = await open([weather, refund])
  expect((await session.call('shop.weather', { city: ' Bern ' })).data).toEqual({ city: 'Bern', warm: true })
  expect(asked).toEqual([])
  expect(await session.call('shop.refund', { order: 'o1' })).toMatchObject({
    data: 'refunded o1',
    content: [{ type: 'text', text: 'refunded o1' }],
  })
  expect(asked.map((each) => each.tool)).toEqual(['shop.refund'])
  expect((await session.call('shop.refund', { ordr: 'o1' })).error?.message).toContain(
    'did you mean "order"?',
  )
})

test('a tool gets the id of the tool call, the signal and its config', async () => {
  const stop = new AbortController()
  const seen: unknown[] = []
  const slow = tool(
    async (_, config) => {
      seen.push(config.toolCall?.id, config.configurable?.['user'])
      stop.abort()
      return new Promise<string>(() => {})
    },
    { name: 'slow', description: 'Takes its time.', schema: z.object({}) },
  )
  const { session } = await open([slow], { context: () => ({ configurable: { user: 'ann' } }) })
  const calls = [{ id: 'call_7', tool: 'shop.slow', input: {} }]
  const [result] = (await session.turn(calls, { signal: stop.signal })).results
  expect(result?.outcome).toBe('aborted')
  expect(seen).toEqual(['call_7', 'ann'])
})

test('content is for models, an artifact for programs; images are images', async () => {
  const both = tool(() => ['two rows', { rows: [1, 2] }], {
    name: 'both',
    description: 'Has an artifact.',
    schema: z.object({}),
    responseFormat: 'content_and_artifact',
  })
  const image = tool(
    () => [
      { type: 'text', text: 'a pixel' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } },
      { type: 'image', mimeType: 'image/png', data: 'iVBORw0KGgo=' },
    ],
    { name: 'image', description: 'Shows a pixel.', schema: z.object({}) },
  )
  const { session } = await open([both, image])
  expect(await session.call('shop.both')).toMatchObject({
    content: [{ type: 'text', text: 'two rows' }],
    data: { rows: [1, 2] },
  })
  expect((await session.call('shop.image')).content).toMatchObject([
    { type: 'text', text: 'a pixel' },
    { type: 'image', mimeType: 'image/png' },
    { type: 'image', mimeType: 'image/png' },
  ])
})

test('a throw is a failed call, and what LangChain refuses an invalid input', async () => {
  const failing = tool(
    () => {
      throw new Error('The shop is closed.')
    },
    { name: 'failing', description: 'Fails.', schema: z.object({}) },
  )
  const odd = tool(({ n }) => n, {
    name: 'odd',
    description: 'Takes odd numbers.',
    schema: z.object({ n: z.number().refine((n) => n % 2 === 1, 'must be odd') }),
  })
  const { session } = await open([failing, odd])
  expect((await session.call('shop.failing')).error).toMatchObject({
    code: 'TOOL.FAILED',
    message: expect.stringContaining('closed') as string,
  })
  expect((await session.call('shop.odd', { n: 2 })).error).toMatchObject({
    reason: 'invalid_input',
    message: expect.stringContaining('must be odd') as string,
  })
})

test('a list of any tools of LangChain is taken (SDK-2)', () => {
  const tools: StructuredToolInterface[] = [weather, refund]
  expect(fromLangChain(tools, { namespace: 'shop' }).map(({ definition }) => definition.name)).toEqual([
    'shop.weather',
    'shop.refund',
  ])
})

test('a tool that takes a text takes it as "input"', async () => {
  const echo = new DynamicTool({
    name: 'echo',
    description: 'Says it again.',
    func: async (input) => `${input}!`,
  })
  const { session } = await open([echo])
  expect((await session.call('shop.echo', { input: 'hi' })).data).toBe('hi!')
})

test('two tools of one name, and names of none, are refused', () => {
  expect(() => fromLangChain([refund, refund], { namespace: 'shop' })).toThrow(/Two of the tools/)
  expect(() => fromLangChain([refund], { namespace: 'shop', tools: { refnd: {} } as object })).toThrow(
    /"refund"/,
  )
})
