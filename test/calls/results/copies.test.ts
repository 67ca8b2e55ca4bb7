import { defineTool, toolOutput, type CallRequest, type RuntimeEvent, type ToolResult } from 'handrail'
import { expect, test } from 'vitest'
import { makeTool } from '../../support/make-tool.ts'
import { openRuntime, personSaying } from '../../support/project.ts'

interface Order {
  state: string
  lines: string[]
}

const secret = 'correct-horse-battery'

test('a result is a copy: what the tool does to its own later changes neither it nor the evidence (OUT-1, CALL-3)', async () => {
  const row: Order = { state: 'paid', lines: ['one'] }
  const block = { type: 'text' as const, text: 'paid' }
  const content = [block]
  const tools = [
    defineTool({
      name: 'order.look',
      description: 'Looks.',
      permission: 'readonly',
      run: () => row as never,
    }),
    defineTool({
      name: 'order.show',
      description: 'Shows.',
      permission: 'readonly',
      run: () => toolOutput({ content, data: row as never, metadata: row as never }),
    }),
  ]
  const runtime = await openRuntime({ tools, secrets: { S: secret } })
  const session = runtime.session()
  const results = [await session.call('order.look'), await session.call('order.show')]
  const before = structuredClone(results)
  row.state = secret
  row.lines.push(secret)
  block.text = secret
  content.push(block)
  expect(results).toEqual(before)
  expect(JSON.stringify(results)).not.toContain(secret)
  const bodies = [...runtime.store.records({ kind: 'end' })].map(({ body }) => body)
  expect(bodies[0]).toContain('"data":{"state":"paid","lines":["one"]}')
})

test('what a caller does to a result changes nothing that Handrail keeps (CALL-4)', async () => {
  let ran = 0
  const tool = defineTool({
    name: 'order.make',
    description: 'Makes.',
    permission: 'readonly',
    idempotency: 'keyed',
    keyFrom: 'call',
    run: () => ({ ran: ++ran }),
  })
  const session = (await openRuntime({ tools: [tool] })).session()
  const first = await session.call('order.make', {}, { idempotencyKey: 'a' })
  Object.assign(first.data as object, { ran: 99 })
  first.metadata.session = 'another'
  expect(await session.call('order.make', {}, { idempotencyKey: 'a' })).toMatchObject({
    data: { ran: 1 },
    metadata: { session: session.id },
  })
})

test('a tool gets a copy of its input: neither its caller nor it can change what was checked and recorded (SCHEMA-3, PERM-3)', async () => {
  const input: Order = { state: 'open', lines: ['one'] }
  const seen: unknown[] = []
  const told: unknown[] = []
  const tool = defineTool({
    name: 'order.take',
    description: 'Takes.',
    permission: 'write',
    rawInput: { type: 'object' },
    async run(given) {
      seen.push(structuredClone(given))
      ;(given['lines'] as string[]).push('by the tool')
      return null
    },
  })
  const runtime = await openRuntime({
    tools: [tool],
    approve: async () => {
      // The caller goes on with its own while the person is asked.
      input.state = 'changed'
      input.lines.push('by the caller')
      return { decision: 'allow_once' }
    },
    hooks: [
      {
        name: 'before',
        before(event) {
          ;(event.input['lines'] as string[]).push('by a hook')
          ;(event.tags as string[]).push('changed')
          return { decision: 'allow' }
        },
      },
      { name: 'after', after: (event) => void told.push(event.input) },
    ],
  })
  const result = await runtime.session().call('order.take', input)
  expect(result.ok).toBe(true)
  const asked = { state: 'open', lines: ['one'] }
  expect(seen).toEqual([asked])
  expect(told).toEqual([asked])
  expect(input.lines).toEqual(['one', 'by the caller'])
  const [begin] = runtime.store.records({ kind: 'begin' })
  expect(JSON.parse(begin?.body ?? '')).toEqual(asked)
})

test('an input is looked at once, as JSON: a getter cannot show something else to the check than to the tool (SCHEMA-6)', async () => {
  let looks = 0
  const seen: unknown[] = []
  const tool = defineTool({
    name: 'order.count',
    description: 'Counts.',
    permission: 'readonly',
    input: {
      type: 'object',
      properties: { n: { type: 'integer', maximum: 1 }, at: { type: 'string' } },
      required: ['n'],
    },
    run: (given) => void seen.push(given),
  })
  const session = (await openRuntime({ tools: [tool] })).session()
  const tricky = {
    get n() {
      return ++looks
    },
    at: new Date(0),
  }
  expect((await session.call('order.count', tricky)).ok).toBe(true)
  expect(seen).toEqual([{ n: 1, at: '1970-01-01T00:00:00.000Z' }])
  const broken = await session.call('order.count', { n: () => 1 })
  expect(broken.error).toMatchObject({ reason: 'invalid_input', issues: [{ pointer: '/n' }] })
})

test('the calls of a turn are taken as they are when it starts (SCHED-1)', async () => {
  const ran: string[] = []
  const write = (name: string) =>
    defineTool({ name, description: 'Writes.', permission: 'write', run: () => void ran.push(name) })
  const runtime = await openRuntime({
    tools: [write('order.first'), write('order.second'), write('order.other')],
    approve: personSaying('allow_once').approve,
  })
  const calls: CallRequest[] = [{ tool: 'order.first' }, { tool: 'order.second' }]
  const turn = runtime.session().turn(calls)
  calls[1] = { tool: 'order.other' }
  Object.assign(calls[0] as object, { tool: 'order.other' })
  await turn
  expect(ran).toEqual(['order.first', 'order.second'])
})

test('definitions leave as plain copies, and what is done to them reaches nothing inside (REG-5)', async () => {
  const tool = defineTool({
    name: 'order.typed',
    description: 'Takes a number.',
    permission: 'readonly',
    input: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] },
    compatible: {
      name: 'Typed',
      inputSchema: { type: 'object', properties: { n: { type: 'integer' } } },
      toCanonical: (given) => given,
    },
    run: ({ n }) => n,
  })
  const session = (await openRuntime({ tools: [tool] })).session()
  for (const presentation of ['canonical', 'compatible'] as const) {
    const [shown] = session.tools({ presentation })
    const schema = shown?.inputSchema as { properties: object; __absolute_uri__?: string }
    schema.__absolute_uri__ = 'added'
    Object.assign(schema.properties, { n: { type: 'string' } })
    expect(session.tools({ presentation })[0]?.inputSchema).toMatchObject({
      properties: { n: { type: 'integer' } },
    })
  }
  expect((await session.call('order.typed', { n: 'x' })).error?.reason).toBe('invalid_input')
  expect(session.tools({ shared: true })[0]).toBe(session.tools({ shared: true })[0])
})

test('nobody who is shown a principal, an event, a call or a setting can change it for others (AUTH-6, CALL-7)', async () => {
  const events: RuntimeEvent[] = []
  const results: ToolResult[] = []
  const rise = defineTool({
    name: 'order.rise',
    description: 'Rises.',
    permission: 'readonly',
    run(context) {
      context.principal.role = 'main'
    },
  })
  const set = defineTool({
    name: 'order.set',
    description: 'Sets what it is set to.',
    permission: 'readonly',
    run: (context) => void Object.assign(context.settings, { limit: 99 }),
  })
  const peek = defineTool({
    name: 'order.peek',
    description: 'Peeks.',
    permission: 'readonly',
    run: (context) => context.settings,
  })
  const runtime = await openRuntime({
    tools: [rise, set, peek],
    policy: { tenants: { acme: { settings: { 'order.set': { limit: 1 }, 'order.peek': { limit: 1 } } } } },
    onEvent(event) {
      event.tool = 'changed'
      if (event.data !== undefined) Object.assign(event.data, { code: 'changed' })
    },
    observers: [
      {
        began: (call) => void Object.assign(call, { tool: 'changed', input: { list: [1] } }),
        enters: () => {},
        within: (_, run) => run(),
        ended: (_, result) => void Object.assign(result, { summary: 'changed', ok: true }),
      },
    ],
  })
  runtime.on((event) => events.push(event))
  const session = runtime.session({ tenant: 'acme', role: 'worker', allowedTools: ['order.*'] })
  session.on((event) => void Object.assign(event, { summary: 'changed' }))
  for (const name of ['order.rise', 'order.set', 'order.peek']) results.push(await session.call(name))
  expect(results.map(({ ok, tool: name }) => [name, ok])).toEqual([
    ['order.rise', false],
    ['order.set', true],
    ['order.peek', true],
  ])
  expect(session.principal.role).toBe('worker')
  expect(results[2]?.data).toEqual({ limit: 1 })
  expect(JSON.stringify([results, events])).not.toContain('changed')
})

test('what was planned is what the call stands on, whatever becomes of the plan that the tool gave (PERM-6)', async () => {
  const operations = [{ kind: 'other' as const, resource: 'order:1' }]
  const preview = { kind: 'text' as const, title: 'one order', body: 'order 1' }
  const person = personSaying('allow_once')
  const tool = defineTool({
    name: 'order.plan',
    description: 'Plans.',
    permission: 'write',
    input: { type: 'object', properties: {} },
    plan: () => ({ operations, preview }),
    run: () => 'done',
  })
  const hook = {
    name: 'between plan and approval',
    before() {
      operations[0] = { kind: 'other', resource: 'order:2' }
      preview.body = 'order 2'
      return { decision: 'allow' as const }
    },
  }
  const runtime = await openRuntime({ tools: [tool], hooks: [hook], approve: person.approve })
  const result = await runtime.session().call('order.plan', {})
  expect(person.asked[0]?.preview.body).toBe('order 1')
  expect(result.error?.reason).toBe('approval_stale')
})

test('a set is listed the same each time (REG-9)', async () => {
  const session = (await openRuntime({ tools: [makeTool('a.one'), makeTool('b.two')] })).session()
  expect(session.tools()).toEqual(session.tools())
  expect(session.tools()).toEqual(session.tools({ shared: true }))
})
