import {
  defineTool,
  toolOutput,
  type Elicitation,
  type ElicitationResult,
  type ElicitationRequest,
  type ElicitationHandler,
  type RuntimeEvent,
  type RuntimeOptions,
  type ToolContext,
} from 'handrail'
import { expect, test } from 'vitest'
import { openRuntime, personSaying } from '../../support/project.ts'

/** A tool that asks all of this, one after the other, and gives back what it was told. */
function asking(...requests: readonly ElicitationRequest[]) {
  return defineTool({
    name: 'shop.ask',
    description: 'Asks.',
    permission: 'readonly',
    async run({ elicit }) {
      const answers: ElicitationResult[] = []
      for (const request of requests) answers.push(await elicit(request))
      return toolOutput({ data: answers as never })
    },
  })
}

/** What a tool that asks this is told, what was asked of the person, and what a watcher saw. */
async function ask(
  requests: ElicitationRequest | readonly ElicitationRequest[],
  elicit?: ElicitationHandler,
  options: RuntimeOptions = {},
) {
  const asked: Elicitation[] = []
  const events: RuntimeEvent[] = []
  const runtime = await openRuntime({
    tools: [asking(...[requests].flat())],
    ...(elicit !== undefined && {
      elicit: (elicitation: Elicitation, signal: AbortSignal) => {
        asked.push(elicitation)
        return elicit(elicitation, signal)
      },
    }),
    onError: () => {},
    ...options,
  })
  const session = runtime.session()
  session.on((event) => void (event.type.startsWith('elicitation') && events.push(event)))
  const result = await session.call('shop.ask', {})
  const answers = result.data as unknown as ElicitationResult[]
  return { asked, events, result, answers, answer: answers[0], session }
}

const form = (properties: object, more: object = {}): ElicitationRequest => ({
  mode: 'form',
  message: 'Who?',
  schema: { type: 'object', properties, ...more } as never,
})
const accept =
  (content: object): ElicitationHandler =>
  async () => ({ action: 'accept', content: content as never })

test('a tool asks its person, who sees who asks and for which call; a watcher sees that it was asked and how it ended, and no content (MCP-1)', async () => {
  const { asked, answer, events, result, session } = await ask(
    form({ name: { type: 'string', title: 'Your name' } }, { required: ['name'] }),
    accept({ name: 'Ada' }),
  )
  expect(answer).toEqual({ action: 'accept', content: { name: 'Ada' } })
  expect(asked).toEqual([
    {
      mode: 'form',
      message: 'Who?',
      schema: {
        type: 'object',
        properties: { name: { type: 'string', title: 'Your name' } },
        required: ['name'],
      },
      callId: result.callId,
      toolCallId: result.callId,
      tool: 'shop.ask',
      session: session.id,
      principal: { tenant: 'local', actor: 'user', role: 'main' },
      from: 'tool "shop.ask"',
    },
  ])
  expect(events).toMatchObject([
    { type: 'elicitation_asked', call: result.callId, tool: 'shop.ask', data: { mode: 'form' } },
    {
      type: 'elicitation_answered',
      level: 'info',
      summary: 'accept',
      data: { mode: 'form', action: 'accept' },
    },
  ])
  expect(JSON.stringify(events)).not.toContain('Ada')
})

test('what is left out gets its default, and what was not asked stays here (MCP-1)', async () => {
  const { answer } = await ask(
    form(
      {
        text: { type: 'string', default: 'Ada' },
        whole: { type: 'integer', default: 3 },
        yes: { type: 'boolean', default: true },
        one: { type: 'string', oneOf: [{ const: 'a', title: 'A' }], default: 'a' },
        many: { type: 'array', items: { type: 'string', enum: ['x', 'y'] }, default: ['y'] },
        open: { type: 'number' },
      },
      { required: ['text'] },
    ),
    accept({ whole: 4, password: 'x' }),
  )
  expect(answer).toEqual({
    action: 'accept',
    content: { text: 'Ada', whole: 4, yes: true, one: 'a', many: ['y'] },
  })
})

test.each<[string, ElicitationHandler | undefined, ElicitationResult['action']]>([
  ['nobody is there', undefined, 'decline'],
  ['they decline', async () => ({ action: 'decline' }), 'decline'],
  ['asking fails', () => Promise.reject(new Error('gone')), 'cancel'],
  [
    'asking throws',
    () => {
      throw new Error('gone')
    },
    'cancel',
  ],
  ['the answer is none', async () => 'yes' as never, 'cancel'],
  ['the action is none', async () => ({ action: 'allow_once' }) as never, 'cancel'],
  ['a field is missing', accept({}), 'cancel'],
  ['a value is of another type', accept({ name: 7 }), 'cancel'],
  ['a value is not a choice', accept({ name: 'c' }), 'cancel'],
])('where %s, the call goes on without an answer (MCP-1)', async (_, elicit, action) => {
  const { answer, result, events } = await ask(
    form({ name: { type: 'string', enum: ['a', 'b'] } }, { required: ['name'] }),
    elicit,
  )
  expect(result.outcome).toBe('ok')
  expect(answer).toEqual({ action })
  expect(events.at(-1)).toMatchObject({ type: 'elicitation_answered', level: 'failure', data: { action } })
})

const hidden = '\u202e\u200b\u{e0041}'

test('words of the asker come without characters that nobody can see, and bounded (MCP-1)', async () => {
  const { asked } = await ask(
    {
      mode: 'form',
      from: `MCP server "a${hidden}"\nb`,
      message: `One${hidden}\n\n\n\n\n\n\n\nTwo${'x'.repeat(10_000_000)}`,
      schema: {
        type: 'object',
        title: 'Allow "Write a file"?',
        properties: {
          name: {
            type: 'string',
            title: `Na${hidden}me`,
            description: 'd'.repeat(5_000),
            'x-secret': { deep: true },
          },
        },
      } as never,
    },
    async () => ({ action: 'decline' }),
  )
  const [elicitation] = asked
  expect(elicitation).toMatchObject({ from: 'MCP server "a" b' })
  const { message, schema } = elicitation as Extract<Elicitation, { mode: 'form' }>
  expect(message).toMatch(/^One\n\nTwox+…$/)
  expect(message.length).toBeLessThan(4_100)
  expect(schema).toEqual({
    type: 'object',
    properties: { name: { type: 'string', title: 'Name', description: `${'d'.repeat(1_000)}…` } },
  })
})

test.each<[string, ElicitationRequest]>([
  ['a reference to elsewhere', form({ a: { $ref: 'https://evil.example/schema.json' } })],
  ['a form within a form', form({ a: { type: 'object', properties: {} } })],
  ['no schema', { mode: 'form', message: '', schema: null as never }],
  ['a name that shows itself as another', form({ [`pass${hidden}word`]: { type: 'string' } })],
  ['a value that shows itself as another', form({ a: { type: 'string', enum: ['yes', `no${hidden}`] } })],
  ['a default that nobody sees', form({ a: { type: 'string', default: hidden } })],
  ['a default that does not fit', form({ a: { type: 'integer', default: 'many' } })],
  ['bounds that nothing fits', form({ a: { type: 'integer', minimum: 3, maximum: 1 } })],
  ['a bound that is none', form({ a: { type: 'string', maxLength: 'long' } })],
  ['ten megabytes', form({ a: { type: 'string', title: 'x'.repeat(10_000_000) } })],
  [
    'a thousand fields',
    form(Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`f${i}`, { type: 'string' }]))),
  ],
  ['a choice of nothing', form({ a: { type: 'array', items: { type: 'string', enum: [] } } })],
  ['a page that runs', { mode: 'url', message: '', url: 'javascript:alert(1)' }],
  ['a page of this machine', { mode: 'url', message: '', url: 'file:///etc/passwd' }],
  ['a page that passes for another', { mode: 'url', message: '', url: 'https://bank.example@evil.example/' }],
  ['no page', { mode: 'url', message: '', url: 'evil' }],
  ['a long page', { mode: 'url', message: '', url: `https://a.example/${'x'.repeat(5_000)}` }],
  ['no messages', { mode: 'sampling', params: {} }],
  ['two megabytes for a model', { mode: 'sampling', params: { messages: ['x'.repeat(2_000_000)] } }],
])('is declined without being shown: %s (MCP-1)', async (_, request) => {
  const { asked, answer, result } = await ask(request, accept({ a: 'x' }))
  expect([asked, answer, result.outcome]).toEqual([[], { action: 'decline' }, 'ok'])
})

test('a form that contains itself is cancelled, and the call goes on (MCP-1)', async () => {
  const loop: { properties: { a?: object } } = { properties: {} }
  loop.properties.a = loop
  const { answer, result } = await ask(form({ a: loop }), accept({}))
  expect([answer?.action, result.outcome]).toEqual(['cancel', 'ok'])
})

test('a page is shown in full, in letters that can be told apart, and nobody opens it (MCP-1)', async () => {
  const { asked, answer } = await ask(
    { mode: 'url', message: 'Log in', url: 'https://аррle.example/a b?q=\u202e', id: 'e1' },
    accept({ stolen: true }),
  )
  expect(asked).toMatchObject([
    { mode: 'url', url: 'https://xn--le-6kc8da.example/a%20b?q=%E2%80%AE', id: 'e1', message: 'Log in' },
  ])
  expect(answer).toEqual({ action: 'accept' })
})

test('a model gets what is said to it and no context beside, and its words go back (MCP-1)', async () => {
  const message = { role: 'assistant', content: { type: 'text', text: 'Hi' }, model: 'm' }
  const messages = [{ role: 'user', content: { type: 'text', text: `Hel${hidden}lo` } }]
  const { asked, answer } = await ask(
    {
      mode: 'sampling',
      params: { messages, maxTokens: 5, includeContext: 'allServers', _meta: { a: 1 } } as never,
    },
    accept(message),
  )
  expect(asked).toMatchObject([{ mode: 'sampling' }])
  expect((asked[0] as Extract<Elicitation, { mode: 'sampling' }>).params).toEqual({
    messages: [{ role: 'user', content: { type: 'text', text: 'Hello' } }],
    maxTokens: 5,
  })
  expect(answer).toEqual({ action: 'accept', content: message })
})

test.each([[{}], [{ role: 'assistant', model: 'm' }], [{ role: 'system', content: [], model: 'm' }]])(
  'what is not a message of a model is none: %j (MCP-1)',
  async (content) => {
    const { answer } = await ask({ mode: 'sampling', params: { messages: [{}] } as never }, accept(content))
    expect(answer).toEqual({ action: 'cancel' })
  },
)

test('secrets are hidden from whoever is asked (MCP-1)', async () => {
  const { asked } = await ask(
    {
      ...form({ a: { type: 'string', title: 'of hunter2hunter2' } }),
      message: 'It is hunter2hunter2',
    } as never,
    accept({}),
    { secrets: { KEY: 'hunter2hunter2' } },
  )
  expect(asked).toHaveLength(1)
  expect(JSON.stringify(asked)).not.toContain('hunter2')
})

test.each<ElicitationRequest>([
  { mode: 'url', message: 'Look.', url: 'https://shop.example/?k=sesame-123456' },
  {
    mode: 'form',
    message: 'Choose.',
    schema: { type: 'object', properties: { a: { type: 'string', enum: ['sesame-123456'] } } },
  },
  {
    mode: 'form',
    message: 'Choose.',
    schema: { type: 'object', properties: { a: { type: 'string', default: 'sesame-123456' } } },
  },
])('what carries a secret in what goes on as it is, is not asked: %j (MCP-1)', async (request) => {
  const secrets = { secrets: { KEY: 'sesame-123456' } }
  const { asked, answers, events } = await ask(request, async () => ({ action: 'accept' }), secrets)
  expect([asked, answers]).toEqual([[], [{ action: 'decline' }]])
  expect(JSON.stringify(events)).not.toContain('sesame')
})

test('the seventeenth question of a call is declined without being shown (MCP-1)', async () => {
  const many = Array.from({ length: 17 }, () => form({ a: { type: 'string' } }))
  const { asked, answers } = await ask(many, accept({ a: 'x' }))
  expect(asked).toHaveLength(16)
  expect(answers.map(({ action }) => action)).toEqual([...Array<string>(16).fill('accept'), 'decline'])
})

test('a call that is aborted while it asks withdraws its question (MCP-1)', async () => {
  const shown = Promise.withResolvers<AbortSignal>()
  const runtime = await openRuntime({
    tools: [asking(form({ a: { type: 'string' } }))],
    elicit: (_elicitation, signal) => {
      shown.resolve(signal)
      return new Promise(() => {})
    },
  })
  const stopping = new AbortController()
  const ended = runtime.session().call('shop.ask', {}, { signal: stopping.signal })
  const signal = await shown.promise
  stopping.abort()
  expect((await ended).error?.code).toBe('TOOL.ABORTED')
  expect(signal.aborted).toBe(true)
})

test('a question that a tool leaves behind is withdrawn when its call ends, and the session goes on (MCP-1)', async () => {
  const shown: AbortSignal[] = []
  const told: Promise<ElicitationResult>[] = []
  const runtime = await openRuntime({
    tools: [
      defineTool({
        name: 'shop.ask',
        description: 'Asks, and does not wait.',
        permission: 'readonly',
        input: { type: 'object', properties: { later: { type: 'boolean' } } },
        run({ later }, { elicit }) {
          told.push(elicit(form({ a: { type: 'string' } })))
          return later === true ? new Promise((resolve) => setImmediate(resolve, 'done')) : 'done'
        },
      }),
    ],
    elicit: (_elicitation, signal) => {
      shown.push(signal)
      return new Promise(() => {})
    },
  })
  const session = runtime.session()
  for (const later of [false, true]) expect((await session.call('shop.ask', { later })).data).toBe('done')
  expect(shown.map(({ aborted }) => aborted)).toEqual([true, true])
  expect(await Promise.all(told)).toEqual([{ action: 'cancel' }, { action: 'cancel' }])
})

test('a question can be withdrawn alone, and the call goes on (MCP-1)', async () => {
  const withdrawing = new AbortController()
  const runtime = await openRuntime({
    tools: [
      defineTool({
        name: 'shop.ask',
        description: 'Asks.',
        permission: 'readonly',
        run: async ({ elicit }) =>
          toolOutput({
            data: (await elicit(form({ a: { type: 'string' } }), withdrawing.signal)) as never,
          }),
      }),
    ],
    elicit: () => {
      withdrawing.abort()
      return new Promise(() => {})
    },
  })
  const result = await runtime.session().call('shop.ask', {})
  expect([result.outcome, result.data]).toEqual(['ok', { action: 'cancel' }])
})

test('a session has an elicitation handler of its own, and a child that of its parent (MCP-1)', async () => {
  const { approve } = personSaying('allow_once')
  const asked: string[] = []
  const says =
    (name: string): ElicitationHandler =>
    async () => {
      asked.push(name)
      return { action: 'decline' }
    }
  const runtime = await openRuntime({
    tools: [asking(form({ a: { type: 'string' } }))],
    approve,
    elicit: says('runtime'),
  })
  const own = runtime.session({ elicit: says('session') })
  await runtime.session().call('shop.ask', {})
  await own.call('shop.ask', {})
  await runtime.session({ parent: own, role: 'main' }).call('shop.ask', {})
  expect(asked).toEqual(['runtime', 'session', 'session'])
  expect(() => runtime.session({ parent: own, elicit: says('child') })).toThrow('/elicit')
})

test.each([
  ['returned at once', undefined],
  ['returned', Promise.resolve()],
])(
  'a tool that has %s asks nobody for its call, and tells nothing of it (MCP-1, EVID-4)',
  async (_, before) => {
    const contexts: ToolContext[] = []
    const person: Elicitation[] = []
    const events: string[] = []
    const runtime = await openRuntime({
      tools: [
        defineTool({
          name: 'shop.ask',
          description: 'Keeps its context.',
          permission: 'readonly',
          run(context) {
            contexts.push(context)
            return before === undefined ? 'done' : before.then(() => 'done')
          },
        }),
      ],
      elicit: async (elicitation) => {
        person.push(elicitation)
        return { action: 'accept', content: {} }
      },
      onEvent: ({ type }) => void events.push(type),
    })
    await runtime.session().call('shop.ask', {})
    for (const { elicit, progress } of contexts) {
      progress({ message: 'late' })
      expect(await elicit(form({}))).toEqual({ action: 'cancel' })
    }
    expect([contexts.length, person.length, events.at(-1)]).toEqual([1, 0, 'tool_completed'])
  },
)
