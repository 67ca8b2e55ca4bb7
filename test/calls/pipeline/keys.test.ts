import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { codeTools, defineTool, type ManifestSpec } from 'handrail'
import { exportEvidence, type BeginRecord } from 'handrail/evidence'
import { expect, test } from 'vitest'
import { makeFolder, openRuntime, personSaying } from '../../support/project.ts'

/** A tool that takes anything and counts how often it ran. */
function counting(more: Partial<ManifestSpec> = {}) {
  let runs = 0
  return defineTool({
    name: 'shop.pay',
    description: 'Pays.',
    permission: 'readonly',
    ...more,
    rawInput: {
      type: 'object',
      properties: {
        token: { type: 'string' },
        order: {
          type: 'object',
          properties: { 'id/no': { type: 'string' }, number: { type: 'integer' }, any: {} },
          required: ['id/no', 'number', 'any'],
        },
      },
      required: ['order'],
    },
    run: () => ++runs,
  })
}

const order = { 'id/no': 'o-1', number: 1, any: 'x' }
const allow = { rules: [{ effect: 'allow' as const, tools: ['shop.*'] }] }

test('the question of the key comes before any person or hook is asked (CALL-4, CALL-1)', async () => {
  const person = personSaying('allow_once')
  const hooked: string[] = []
  const hooks = [
    {
      name: 'h',
      before: ({ tool }: { tool: string }) => {
        hooked.push(tool)
        return { decision: 'allow' as const }
      },
    },
  ]
  const write = { permission: 'write', idempotency: 'keyed', keyFrom: 'call' } as const
  const runtime = await openRuntime({ tools: [counting(write)], approve: person.approve, hooks })
  const session = runtime.session()
  expect((await session.call('shop.pay', { order })).error).toMatchObject({
    reason: 'invalid_call',
    message: expect.stringContaining('give the call a key') as string,
  })
  expect(await session.preflight('shop.pay', { order })).toMatchObject({
    effect: 'deny',
    error: { reason: 'invalid_call' },
  })
  expect([person.asked, hooked]).toEqual([[], []])
})

test.each([
  ['none', undefined, 'takes no idempotency key'],
  ['keyed', '/order/number', 'from its input, at "/order/number"'],
] as const)(
  'a key beside a call to a tool with idempotency %s and keyFrom %s is refused, and nothing runs (CALL-4)',
  async (idempotency, keyFrom, told) => {
    const tool = counting({ idempotency, ...(keyFrom !== undefined && { keyFrom }) })
    const runtime = await openRuntime({ tools: [tool] })
    const session = runtime.session()
    const { error } = await session.call('shop.pay', { order }, { idempotencyKey: 'order-17' })
    expect(error).toMatchObject({
      code: 'IDEMPOTENCY.CONFLICT',
      reason: 'key_not_supported',
      message: expect.stringContaining(told) as string,
    })
    expect((await session.call('shop.pay', { order })).data).toBe(1)
  },
)

test('tools that come with Handrail take a key where they change something, and refuse one where they read (CALL-4)', async () => {
  const runtime = await openRuntime({ tools: [codeTools()], approve: personSaying('allow_once').approve })
  const session = runtime.session()
  const key = { idempotencyKey: 'order-17' }
  const write = () => session.call('code.write_file', { path: 'a.txt', content: 'a' }, key)
  expect((await write()).ok).toBe(true)
  expect((await write()).metadata.replayed).toBe(true)
  expect((await session.call('code.read_file', { path: 'a.txt' }, key)).error?.reason).toBe(
    'key_not_supported',
  )
})

test('a key that counts the calls of a conversation is refused, one that names what is done is taken (CALL-4)', async () => {
  const runtime = await openRuntime({ tools: [counting({ idempotency: 'optional' })] })
  const session = runtime.session()
  const reasonOf = async (idempotencyKey: string) =>
    (await session.call('shop.pay', { order }, { idempotencyKey })).error?.reason
  const counters = [
    'call_0',
    'call-12',
    'CALL_3',
    '0',
    '17',
    'tool_call_1',
    'toolcall2',
    'fc_0',
    'request-4',
    'step 2',
  ]
  const malformed = ['', ' ', 'x'.repeat(257), 17 as unknown as string, {} as unknown as string]
  for (const key of [...counters, 'functions.shop__pay:0', 'call_0_1', ...malformed])
    expect([key, await reasonOf(key)]).toEqual([key, 'invalid_call'])
  const names = [
    'order-17',
    'refund-1',
    'k',
    'k1',
    'a',
    'write-a',
    'call-mum',
    'D681PevKs',
    '1700000000000',
    'call_8f14e45f',
  ]
  for (const key of [...names, 'toolu_01A09q90qw90lq917835lq9', crypto.randomUUID(), 'functions', 'order 1'])
    expect([key, await reasonOf(key)]).toEqual([key, undefined])
})

test('a key from the input is what its pointer leads to, a number too (CALL-4)', async () => {
  for (const [keyFrom, other] of [
    ['/order/id~1no', { ...order, 'id/no': 'o-2' }],
    ['/order/number', { ...order, number: 2 }],
  ] as const) {
    const runtime = await openRuntime({ tools: [counting({ idempotency: 'keyed', keyFrom })] })
    const session = runtime.session()
    const call = async (given: object) => (await session.call('shop.pay', { order: given })).data
    expect([await call(order), await call(order), await call(other)]).toEqual([1, 1, 2])
  }
})

test('a key from the input that is neither text nor number is refused (CALL-4)', async () => {
  const runtime = await openRuntime({ tools: [counting({ idempotency: 'keyed', keyFrom: '/order/any' })] })
  const call = (any: unknown) => runtime.session().call('shop.pay', { order: { ...order, any } })
  for (const any of [{ a: 1 }, [1], null, true, ''])
    expect((await call(any)).error?.message).toContain('is the text or number at "/order/any" of its input')
  expect((await call('o-1')).data).toBe(1)
})

test('neither a key nor what it was read from stands in the store (OUT-4, CALL-4)', async () => {
  const token = `ghp_${'k'.repeat(36)}`
  const home = makeFolder()
  const fromCall = counting({ idempotency: 'optional' })
  const fromInput = counting({ name: 'shop.take', idempotency: 'keyed', keyFrom: '/token' })
  const store = { path: join(home, 'store.db') }
  const required = defineTool({
    name: 'shop.give',
    description: 'Gives.',
    permission: 'readonly',
    idempotency: 'keyed',
    keyFrom: '/token',
    input: { type: 'object', properties: { token: { type: 'string' } }, required: ['token'] },
    run: () => 1,
  })
  await expect(openRuntime({ tools: [fromInput] })).rejects.toThrow('/keyFrom')
  const runtime = await openRuntime({ tools: [fromCall, required], store })
  const session = runtime.session()
  await session.call('shop.pay', { order }, { idempotencyKey: token })
  await session.call('shop.give', { token })
  const again = await session.call('shop.give', { token })
  const other = { order: { ...order, number: 2 } }
  const pay = (input: unknown, idempotencyKey: string) => session.call('shop.pay', input, { idempotencyKey })
  const refused = [
    await pay(other, token),
    await pay({ order }, '482913'),
    await pay({ order }, 'x'.repeat(300)),
  ]
  expect(again.metadata.replayed).toBe(true)
  expect(refused.map(({ error }) => error?.reason)).toEqual([
    'same_key_other_input',
    'invalid_call',
    'invalid_call',
  ])
  await runtime.close()
  const kept = readdirSync(home, { recursive: true, encoding: 'utf8', withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    .join('\n')
  expect(kept).toContain('shop.give')
  expect(kept).not.toContain(token)
  expect(kept).not.toContain('482913')
  expect(kept).not.toContain('xxxxx')
})

const [first, second] = ['a', 'b'].map((letter) => ({ token: `ghp_${letter.repeat(36)}`, order }))

test('inputs that differ in a secret alone are two: for a key, a yes for the session, a consent, the count of repeats (CALL-4, PERM-4, AUTH-3)', async () => {
  const person = personSaying('allow_for_session')
  const keyed = counting({ name: 'shop.once', idempotency: 'optional' })
  const tool = counting({ permission: 'write' })
  const look = defineTool({
    name: 'shop.look',
    description: 'Looks.',
    permission: 'readonly',
    rawInput: { type: 'object' },
    run: () => 'as ever',
  })
  const runtime = await openRuntime({
    tools: [keyed, tool, look],
    approve: person.approve,
    limits: { repeatsPerSession: 1 },
  })
  const session = runtime.session()
  const once = (input: unknown) => session.call('shop.once', input, { idempotencyKey: 'k' })
  expect((await once(first)).ok).toBe(true)
  expect((await once(second)).error?.reason).toBe('same_key_other_input')

  const ask = async (input: unknown) => (await session.call('shop.pay', input)).error?.reason
  expect([await ask(first), await ask(second)]).toEqual([undefined, undefined])
  expect(person.asked).toHaveLength(2)
  const lookAt = async (input: unknown) => (await session.call('shop.look', input)).error?.reason
  const looks = [await lookAt(first), await lookAt(second), await lookAt(first), await lookAt(second)]
  expect(looks).toEqual([undefined, undefined, 'repeats', 'repeats'])

  const { inputDigest = '' } = await session.preflight('shop.pay', first)
  const alone = runtime.session({ approve: personSaying('deny').approve })
  await runtime.consents.give({ tool: 'shop.pay', scope: inputDigest, givenBy: 'ann' })
  expect((await alone.call('shop.pay', first)).ok).toBe(true)
  expect((await alone.call('shop.pay', second)).error?.reason).toBe('denied')
})

test('what evidence has of an input tells nothing of its secrets, and tells two of them apart (EVID-2, OUT-4)', async () => {
  const runtime = await openRuntime({
    tools: [counting({ permission: 'write' })],
    policy: allow,
    secrets: { PIN: 'pin-1234' },
  })
  const other = await openRuntime({ tools: [counting()], secrets: { PIN: 'pin-1234' } })
  const begin = async (at: typeof runtime, token: string) => {
    const { callId } = await at.session().call('shop.pay', { token, order })
    return JSON.parse([...at.store.records({ call: callId, kind: 'begin' })][0]?.text ?? '') as BeginRecord
  }
  const [hidden, same, open] = [
    await begin(runtime, 'pin-1234'),
    await begin(runtime, 'pin-1234'),
    await begin(runtime, 'pin-1235'),
  ]
  expect(hidden.said?.input).toMatch(/^[\w-]{43}$/)
  expect(same.said).toEqual(hidden.said)
  expect(open.said).toBeUndefined()
  expect((await begin(other, 'pin-1234')).said).not.toEqual(hidden.said)
  const text = JSON.stringify({ order, token: 'pin-1234' })
  const tried = createHash('sha256').update(text).digest('base64url')
  const exported = [...exportEvidence(runtime.store, { at: 1 })].join('')
  expect(exported).toContain(hidden.said?.input)
  expect(exported).not.toContain(tried)
})
