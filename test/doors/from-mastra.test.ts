import { fromMastra, type MastraTool } from 'handrail/mastra'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { openRuntime, personSaying } from '../support/project.ts'

interface MastraContext {
  readonly abortSignal: AbortSignal
  readonly agent: { readonly toolCallId: string; suspend(payload: object): Promise<void> }
  readonly observe: { span<Given>(name: string, work: () => Given): Promise<Given> }
  readonly user?: string
}

/** A tool as `createTool()` of @mastra/core 1.71 makes it: it checks its input itself, and returns what does not fit. */
function createTool<Schema extends z.ZodType>(spec: {
  id: string
  inputSchema: Schema
  execute: (input: z.output<Schema>, context: MastraContext) => Promise<unknown>
  requireApproval?: boolean
  toModelOutput?: (output: unknown) => unknown
}): MastraTool {
  return {
    description: `Is ${spec.id}.`,
    ...spec,
    async execute(given: unknown, context: MastraContext) {
      const parsed = spec.inputSchema.safeParse(given)
      if (parsed.success) return spec.execute(parsed.data, context)
      return { error: true, message: `Tool input validation failed for ${spec.id}.`, validationErrors: {} }
    },
  }
}

async function open(tools: Readonly<Record<string, MastraTool>>, more: { context?: () => unknown } = {}) {
  const { approve, asked } = personSaying('allow_once')
  const adopted = fromMastra(tools, { namespace: 'shop', permission: 'readonly', ...more })
  const session = (
    await openRuntime({ tools: adopted, store: 'memory', approve, onError: () => {} })
  ).session()
  return { session, asked }
}

test('tools of Mastra take the road, under the names of their record (SDK-1)', async () => {
  const weather = createTool({
    id: 'get-weather',
    inputSchema: z.object({ city: z.string().transform((name) => name.trim()) }),
    execute: async ({ city }) => ({ city, warm: true }),
  })
  const { session } = await open({ weather })
  expect((await session.call('shop.weather', { city: ' Bern ' })).data).toEqual({ city: 'Bern', warm: true })
  expect((await session.call('shop.weather', { cty: 'Bern' })).error?.message).toContain(
    'did you mean "city"?',
  )
})

test('execute gets the signal, the id of the tool call and its context', async () => {
  const seen: unknown[] = []
  const look = createTool({
    id: 'look',
    inputSchema: z.object({}),
    execute: async (_, { abortSignal, agent, user, observe }) => {
      seen.push(abortSignal.aborted, agent.toolCallId, user)
      return observe.span('work', () => 'seen')
    },
  })
  const { session } = await open({ look }, { context: () => ({ user: 'ann' }) })
  const [result] = (await session.turn([{ id: 'call_7', tool: 'shop.look', input: {} }])).results
  expect(result?.data).toBe('seen')
  expect(seen).toEqual([false, 'call_7', 'ann'])
})

test('what Mastra refuses is an invalid input; a tool that suspends fails with what to do', async () => {
  const odd = createTool({
    id: 'odd',
    inputSchema: z.object({ n: z.number().refine((n) => n % 2 === 1) }),
    execute: async ({ n }) => n,
  })
  const waits = createTool({
    id: 'waits',
    inputSchema: z.object({}),
    execute: async (_, { agent }) => agent.suspend({ why: 'a person must look' }),
  })
  const { session } = await open({ odd, waits })
  expect((await session.call('shop.odd', { n: 2 })).error).toMatchObject({ reason: 'invalid_input' })
  expect((await session.call('shop.waits')).error).toMatchObject({ reason: 'cannot_suspend' })
})

test('models see what toModelOutput says, and a tool that requires an approval always asks', async () => {
  const careful = createTool({
    id: 'careful',
    inputSchema: z.object({}),
    requireApproval: true,
    execute: async () => ({ secret: 1 }),
    toModelOutput: () => ({ type: 'content', value: [{ type: 'text', text: 'hidden' }] }),
  })
  const { session, asked } = await open({ careful })
  expect(await session.call('shop.careful')).toMatchObject({
    content: [{ type: 'text', text: 'hidden' }],
    data: { secret: 1 },
  })
  expect(asked).toHaveLength(1)
})

test('a tool without execute is refused where it is taken', () => {
  const remote = { id: 'remote', description: 'Runs elsewhere.' }
  expect(() => fromMastra({ remote }, { namespace: 'shop' })).toThrow(/"remote" has no "execute"/)
})
