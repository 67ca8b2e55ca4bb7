import {
  createRuntime,
  defineTool,
  type Policy,
  type Rule,
  type RuntimeOptions,
  type Session,
} from 'handrail'
import { aiSdk, type AiSdkOutput } from 'handrail/ai-sdk'
import { expect, test } from 'vitest'
import { atEnd } from '../support/at-end.ts'
import { makeFolder } from '../support/project.ts'
import { makeStore, openShop } from '../support/shop.ts'

const look = 'shop__look'

/** Asks about a call as the SDK does: what it is told of the person. */
async function ask(session: Session, input: unknown, toolCallId = 'c1') {
  const door = aiSdk(session)
  const asked = await door.toolApproval[look]?.(input, { toolCallId, messages: [] })
  const run = async (given: unknown = input): Promise<AiSdkOutput | undefined> => {
    let last: AiSdkOutput | undefined
    for await (const output of door.tools[look]?.execute(given, { toolCallId }) ?? []) last = output
    return last
  }
  return { asked, run }
}

const asking = (more: Partial<Rule> = {}): Policy => ({
  rules: [{ effect: 'ask', tools: ['shop.look'], ...more }],
})

test.each<[string, (about: Awaited<ReturnType<typeof openShop>> & { session: Session }) => unknown, object]>([
  [
    'a rule that asks',
    ({ runtime }) => runtime.reload({ policy: asking() }),
    { outcome: 'waiting', error: { code: 'POLICY.APPROVAL_PENDING' } },
  ],
  [
    'a rule of the project that asks',
    ({ runtime }) =>
      runtime.reload({ projectConfiguration: { rules: [{ effect: 'ask', tools: ['shop.look'] }] } }),
    { outcome: 'waiting' },
  ],
  [
    'a rule that denies',
    ({ runtime }) => runtime.reload({ policy: { rules: [{ effect: 'deny', tools: ['shop.look'] }] } }),
    { outcome: 'denied', error: { reason: 'rule_denied' } },
  ],
  [
    'a restriction of the session',
    ({ session }) => session.restrict({ disallowedTools: ['shop.look'] }),
    { ok: false, error: { reason: 'tool_not_available' } },
  ],
  [
    'a tool that is paused',
    ({ runtime }) => runtime.setToolState('shop.look', 'paused', { by: 'ann' }),
    { ok: false, error: { reason: 'paused' } },
  ],
  ['a session that was closed', ({ session }) => session.close(), { outcome: 'aborted' }],
])('what came between the question of an SDK and the run counts: %s (PERM-3)', async (_, change, end) => {
  const shop = await openShop(makeStore(), { policy: {} })
  const session = shop.runtime.session()
  const { asked, run } = await ask(session, { order: '1' })
  expect(asked).toBeUndefined()
  await change({ ...shop, session })
  expect(await run()).toMatchObject(end)
})

test('an input that the SDK changed after it asked is decided as it is then (PERM-3)', async () => {
  const { runtime } = await openShop(makeStore(), { policy: asking({ input: { order: '99' } }) })
  const session = runtime.session()
  const input = { order: '1' }
  const { asked, run } = await ask(session, input)
  expect(asked).toBeUndefined()
  expect(await run({ order: '99' })).toMatchObject({ outcome: 'waiting' })
  input.order = '99'
  expect(await run(input)).toMatchObject({ outcome: 'waiting' })
  const second = await ask(session, { order: '99' }, 'c2')
  expect(second.asked).toMatchObject({ type: 'user-approval' })
  expect(await second.run({ order: '1' })).toMatchObject({ outcome: 'ok' })
})

test('a yes that another door of the session used after the SDK asked lets nothing run twice (PERM-3)', async () => {
  const { runtime } = await openShop(makeStore(), { policy: asking() })
  const session = runtime.session({ actor: 'ann' })
  const { asked, run } = await ask(session, { order: '1' })
  expect(asked).toMatchObject({ type: 'user-approval' })
  const [question] = runtime.approvals.list()
  await runtime.approvals.decide(question?.id ?? '', { decision: 'allow_once', by: 'bob' })
  const elsewhere = await ask(session, { order: '1' })
  expect([elsewhere.asked, await elsewhere.run()]).toMatchObject([undefined, { outcome: 'ok' }])
  expect(await run()).toMatchObject({ outcome: 'waiting' })
})

/** Tools that differ in all that a question may hang on. */
const tools = () => {
  const base = { description: 'One.', run: () => 'done' } as const
  const input = { type: 'object', properties: { a: { type: 'string' } } } as const
  return [
    defineTool({ ...base, name: 't.read', permission: 'readonly', input }),
    defineTool({ ...base, name: 't.write', permission: 'write', input }),
    defineTool({ ...base, name: 't.consent', permission: 'readonly', consent: { required: true }, input }),
    defineTool({
      ...base,
      name: 't.once',
      permission: 'readonly',
      consent: { required: true, scope: 'once' },
      input,
    }),
    defineTool({ ...base, name: 't.dangerous', permission: 'readonly', safety: 'high', input }),
    defineTool({ ...base, name: 't.network', permission: 'readonly', sideEffect: 'network', input }),
    defineTool({
      ...base,
      name: 't.keyed',
      permission: 'write',
      idempotency: 'keyed',
      keyFrom: '/a',
      input: { ...input, required: ['a'] },
    }),
    defineTool({
      ...base,
      name: 't.plans',
      permission: 'readonly',
      sideEffect: 'read',
      capabilities: { fs: { read: ['project'] } },
      input,
      plan: ({ a = 'x' }: { a?: string }, { project }) => ({
        operations: [{ kind: 'fs.read', path: `${project}/${a}` }],
      }),
    }),
  ]
}

const rules: readonly (readonly Rule[])[] = [
  [],
  ...(['allow', 'ask', 'deny'] as const).flatMap((effect): Rule[][] => [
    [{ effect, tools: ['t.*'] }],
    [{ effect, tools: ['t.*'], input: { a: '.env' } }],
    [{ effect, tools: ['t.*'], roles: ['sub'] }],
    [{ effect, tools: ['t.*'], modes: ['plan'] }],
    [{ effect, resources: ['handrail:file:{project}/.env'] }],
    [{ effect, resources: ['handrail:tool:t.*'], sensitive: effect === 'allow' }],
    [
      { effect: 'allow', tools: ['t.*'] },
      { effect, tools: ['t.*'], input: { a: 'b*' } },
    ],
  ]),
]

test.each<[string, RuntimeOptions]>([
  ['nothing else', {}],
  [
    'a hook that denies',
    { hooks: [{ name: 'no', tools: ['t.write'], before: () => ({ decision: 'deny', reason: 'no' }) }] },
  ],
])(
  'session.asks says what preflight says, for every tool, rule, role and mode, with %s (PERM-3)',
  async (_, options) => {
    const runtime = await createRuntime({ project: makeFolder(), tools: tools(), ...options })
    atEnd(() => runtime.close())
    let asked = 0
    for (const list of rules) {
      await runtime.reload({ policy: { rules: list, allowBypass: true } })
      const parent = runtime.session()
      const sessions = [
        parent,
        runtime.session({ mode: 'plan' }),
        runtime.session({ mode: 'bypass' }),
        runtime.session({ mode: 'accept-edits' }),
        runtime.session({ role: 'sub' }),
        runtime.session({ parent, role: 'sub' }),
      ]
      for (const session of sessions)
        for (const { tool } of session.tools())
          for (const input of [{ a: '.env' }, { a: 'b1' }, {}, { a: 1 }, 'broken']) {
            const { effect, error, decision } = await session.preflight(tool, input, { origin: 'llm' })
            const asks = error === undefined && (effect === 'ask' || decision?.effect === 'ask')
            const said = await session.asks(tool, input, { origin: 'llm' })
            if (said !== asks) expect.fail(`${tool} ${JSON.stringify([input, list, session.mode])}: ${said}`)
            asked += asks ? 1 : 0
          }
      await Promise.all(sessions.map((session) => session.close()))
    }
    expect(asked).toBeGreaterThan(500)
  },
)
