import { defineTool, toolOutput, type ApprovalRequest, type CallRequest, type Elicitation } from 'handrail'
import { expect, test } from 'vitest'
import { makeTool } from '../../support/make-tool.ts'
import { openRuntime, personSaying } from '../../support/project.ts'

const pay = makeTool('shop.pay', { permission: 'write' })

test('a call asks its own approver, and the next one that of the session (PERM-5)', async () => {
  const own = personSaying('allow_once')
  const person = personSaying('deny')
  const session = (await openRuntime({ tools: [pay], approve: person.approve })).session()
  const [alone, plain] = [
    await session.call('shop.pay', {}, { approve: own.approve }),
    await session.call('shop.pay'),
  ]
  const { results } = await session.turn([{ tool: 'shop.pay', approve: own.approve }, { tool: 'shop.pay' }])
  expect([alone, plain, ...results].map(({ outcome }) => outcome)).toEqual(['ok', 'denied', 'ok', 'denied'])
  expect([own.asked.length, person.asked.length]).toEqual([2, 2])
  expect(own.asked.map(({ session: id }: ApprovalRequest) => id)).toEqual([session.id, session.id])
})

test('a yes for the session that the approver of a call gives holds for the session (PERM-4)', async () => {
  const own = personSaying('allow_for_session')
  const runtime = await openRuntime({ tools: [pay] })
  const session = runtime.session()
  expect((await session.call('shop.pay')).error).toMatchObject({ reason: 'no_callback' })
  const given = await session.call('shop.pay', {}, { approve: own.approve })
  expect(session.approvals()).toMatchObject([{ call: given.callId, tool: 'shop.pay' }])
  expect((await session.call('shop.pay')).outcome).toBe('ok')
  expect((await runtime.session().call('shop.pay')).outcome).toBe('denied')
  session.revokeApproval(given.callId, 'ada')
  expect((await session.call('shop.pay')).outcome).toBe('denied')
})

test('a call of a child asks the approver of its parent, also if a call of that one has its own (PERM-5, POOL-3)', async () => {
  const own = personSaying('allow_once')
  const person = personSaying('deny')
  const runtime = await openRuntime({ tools: [pay], approve: person.approve })
  const parent = runtime.session({ role: 'main' })
  const child = runtime.session({ parent, role: 'main' })
  const [above, below] = await Promise.all([
    parent.call('shop.pay', {}, { approve: own.approve }),
    child.call('shop.pay'),
  ])
  expect([above.outcome, below.outcome]).toEqual(['ok', 'denied'])
  expect([own.asked.length, person.asked.length]).toEqual([1, 1])
})

test('an approver of a call that fails, or answers nonsense, denies, and no other approver is asked (PERM-5)', async () => {
  const person = personSaying('allow_once')
  const session = (await openRuntime({ tools: [pay], approve: person.approve, onError: () => {} })).session()
  for (const approve of [() => Promise.reject(new Error('gone')), async () => 'yes'])
    expect((await session.call('shop.pay', {}, { approve: approve as never })).error).toMatchObject({
      code: 'POLICY.APPROVAL_DENIED',
      reason: 'callback_failed',
    })
  expect(person.asked).toEqual([])
})

test('a preflight says whether a call with this approver would ask (PERM-5)', async () => {
  const session = (await openRuntime({ tools: [pay] })).session()
  const { approve, asked } = personSaying('allow_once')
  expect((await session.preflight('shop.pay')).effect).toBe('deny')
  expect((await session.preflight('shop.pay', {}, { approve })).effect).toBe('ask')
  expect(asked).toEqual([])
})

test.each<[string, Partial<CallRequest>]>([
  ['approve', { approve: true as never }],
  ['elicit', { elicit: { action: 'accept' } as never }],
  ['onProgress', { onProgress: 'log' as never }],
  ['signal', { signal: 3 as never }],
])('a call whose %s is of another kind does not run (CALL-8)', async (option, options) => {
  const session = (await openRuntime({ tools: [makeTool('a.b')] })).session()
  for (const result of [
    await session.call('a.b', {}, options),
    ...(await session.turn([{ tool: 'a.b', ...options }])).results,
  ])
    expect(result.error).toMatchObject({ reason: 'invalid_call', message: expect.stringContaining(option) })
})

test('a call asks its own elicitation handler, at the same time as others ask theirs (MCP-1)', async () => {
  const ask = defineTool({
    name: 'shop.ask',
    description: 'Asks.',
    permission: 'readonly',
    run: async ({ elicit }) =>
      toolOutput({
        data: (await elicit({
          mode: 'form',
          message: 'Who?',
          schema: { type: 'object', properties: { who: { type: 'string' } } },
        })) as never,
      }),
  })
  const asked: string[] = []
  const says = (who: string) => async (elicitation: Elicitation) => {
    asked.push(`${who} ${elicitation.toolCallId}`)
    return { action: 'accept' as const, content: { who } }
  }
  const session = (await openRuntime({ tools: [ask], elicit: says('session') })).session()
  const results = await Promise.all([
    session.call('shop.ask', {}, { id: '1', elicit: says('ada') }),
    session.call('shop.ask', {}, { id: '2', elicit: says('bob') }),
    session.call('shop.ask', {}, { id: '3' }),
  ])
  expect(results.map(({ data }) => data)).toMatchObject(
    ['ada', 'bob', 'session'].map((who) => ({ content: { who } })),
  )
  expect(asked.toSorted()).toEqual(['ada 1', 'bob 2', 'session 3'])
})

test('a call tells its progress to its caller, without secrets, beside all who watch (CALL-7)', async () => {
  const secret = 'sk-live-0123456789abcdef'
  const work = defineTool({
    name: 'a.work',
    description: 'Works.',
    permission: 'readonly',
    async run({ progress, toolCallId }) {
      progress({ message: `${toolCallId}: ${secret}`, done: 1, total: 2 })
      progress({})
    },
  })
  const issues: unknown[] = []
  const runtime = await openRuntime({
    tools: [work],
    secrets: { KEY: secret },
    onError: (issue) => void issues.push(issue),
  })
  const session = runtime.session()
  const seen: unknown[] = []
  const call = (id: string) => session.call('a.work', {}, { id, onProgress: (update) => seen.push(update) })
  await call('1')
  expect(seen).toEqual([
    { message: expect.stringMatching(/^1: (?!sk-live)/), done: 1, total: 2 },
    { message: '' },
  ])
  const watched: (string | undefined)[] = []
  session.on(({ type, toolCallId }) => void (type === 'tool_progress' && watched.push(toolCallId)))
  await Promise.all([call('2'), session.call('a.work', {}, { id: '3' })])
  expect(seen).toHaveLength(4)
  expect(watched.toSorted((one, other) => Number(one) - Number(other))).toEqual(['2', '2', '3', '3'])
  const thrown = await session.call('a.work', {}, { onProgress: () => expect.unreachable('the listener') })
  expect([thrown.outcome, issues.length]).toEqual(['ok', 2])
})

test('a tool finds the caller of its call in its context, and nothing records it (CALL-8)', async () => {
  const found: unknown[] = []
  const look = defineTool({
    name: 'a.look',
    description: 'Looks.',
    permission: 'readonly',
    run: ({ caller }) => void found.push(caller),
  })
  const runtime = await openRuntime({ tools: [look] })
  const session = runtime.session()
  const caller = { request: 'request-of-ada' }
  await session.call('a.look', {}, { caller })
  await session.call('a.look')
  expect(found).toEqual([caller, undefined])
  expect(found[0]).toBe(caller)
  expect(JSON.stringify([...runtime.store.records({})])).not.toContain('request-of-ada')
})
