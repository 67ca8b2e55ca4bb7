import { join } from 'node:path'
import {
  codeTools,
  createRuntime,
  defineTool,
  type ApprovalRequest,
  type Runtime,
  type SessionOptions,
  type ToolResult,
} from 'handrail'
import { describe, expect, onTestFinished, test } from 'vitest'
import { makeFolder, openRuntime, personSaying } from '../../support/project.ts'

/** A keyed tool that counts what it did. */
function makePay(more: { fail?: () => boolean; wait?: () => Promise<void> } = {}) {
  const done: unknown[] = []
  const tool = defineTool({
    name: 'shop.pay',
    description: 'Pays an amount.',
    permission: 'write',
    sideEffect: 'none',
    safety: 'medium',
    idempotency: 'keyed',
    keyFrom: 'call',
    input: { type: 'object', properties: { amount: { type: 'integer' } }, required: ['amount'] },
    async run({ amount }) {
      await more.wait?.()
      done.push(amount)
      if (more.fail?.() === true) throw new Error('the bank said no')
      return { paid: amount, number: done.length }
    },
  })
  return { tool, done }
}

const allowPay = { rules: [{ effect: 'allow' as const, tools: ['shop.*'] }] }

describe.each(['memory', 'sqlite'] as const)('over a %s store', (kind) => {
  const store = () => (kind === 'memory' ? ('memory' as const) : { path: join(makeFolder(), 'store.db') })

  test('concurrent calls with one key join the running one (CALL-4)', async () => {
    const go = Promise.withResolvers<void>()
    const pay = makePay({ wait: () => go.promise })
    const runtime = await openRuntime({ tools: [pay.tool], policy: allowPay, store: store() })
    const sessions = [runtime.session(), runtime.session(), runtime.session()]
    const calls = sessions.flatMap((session) =>
      [1, 2, 3].map(() => session.call('shop.pay', { amount: 5 }, { idempotencyKey: 'k' })),
    )
    go.resolve()
    const results = await Promise.all(calls)
    expect(pay.done).toEqual([5])
    expect(results.map((result) => result.data)).toEqual(calls.map(() => ({ paid: 5, number: 1 })))
    expect(results.filter((result) => result.metadata.replayed !== true)).toHaveLength(1)
    expect(new Set(results.map((result) => result.callId)).size).toBe(9)
  })

  test('a person is asked once for all concurrent calls with one key (CALL-4)', async () => {
    const asked: ApprovalRequest[] = []
    const pay = makePay()
    const runtime = await openRuntime({
      tools: [pay.tool],
      store: store(),
      approve: async (request) => {
        asked.push(request)
        return { decision: 'allow_once' }
      },
    })
    const session = runtime.session()
    const results = await Promise.all(
      [1, 2, 3].map(() => session.call('shop.pay', { amount: 1 }, { idempotencyKey: 'k' })),
    )
    expect(results.every((result) => result.ok)).toBe(true)
    expect(asked).toHaveLength(1)
    expect(pay.done).toHaveLength(1)
  })

  test('a failed outcome is kept and the tool is not run again (CALL-4)', async () => {
    const pay = makePay({ fail: () => true })
    const runtime = await openRuntime({ tools: [pay.tool], policy: allowPay, store: store() })
    const call = () => runtime.session().call('shop.pay', { amount: 1 }, { idempotencyKey: 'k' })
    const [first, second] = [await call(), await call()]
    expect(first.error).toMatchObject({ code: 'TOOL.FAILED' })
    expect(second.error).toEqual(first.error)
    expect(second.metadata.replayed).toBe(true)
    expect(pay.done).toHaveLength(1)
  })

  test('a no leaves the key free, and the call is decided anew (CALL-4)', async () => {
    const person = personSaying('deny')
    const pay = makePay()
    const runtime = await openRuntime({ tools: [pay.tool], store: store(), approve: person.approve })
    const call = (amount: number) => runtime.session().call('shop.pay', { amount }, { idempotencyKey: 'k' })
    expect((await call(1)).error?.reason).toBe('denied')
    expect((await call(2)).error?.reason).toBe('denied')
    expect(person.asked).toHaveLength(2)
    await runtime.reload({ policy: allowPay })
    expect((await call(3)).data).toEqual({ paid: 3, number: 1 })
    await runtime.reload({ policy: { rules: [{ effect: 'deny', tools: ['shop.*'] }] } })
    expect((await call(3)).error?.reason).toBe('rule_denied')
    await runtime.reload({ policy: allowPay })
    expect((await call(3)).metadata.replayed).toBe(true)
    expect(pay.done).toEqual([3])
  })

  test('the no of a person is the no to all concurrent calls with one key and one input (CALL-4)', async () => {
    const person = personSaying('deny')
    const pay = makePay()
    const runtime = await openRuntime({ tools: [pay.tool], store: store(), approve: person.approve })
    const call = (amount: number, role: 'main' | 'sub') =>
      runtime
        .session({ role, allowedTools: ['shop.*'] })
        .call('shop.pay', { amount }, { idempotencyKey: 'k' })
    const same = await Promise.all([call(1, 'main'), call(1, 'main'), call(1, 'main')])
    expect(same.map(({ error }) => error?.reason)).toEqual(['denied', 'denied', 'denied'])
    expect(person.asked).toHaveLength(1)
    const others = await Promise.all([call(1, 'main'), call(2, 'main'), call(1, 'sub')])
    expect(others.map(({ error }) => error?.reason)).toEqual(['denied', 'denied', 'denied'])
    expect(person.asked.map(({ principal }) => principal.role)).toEqual(['main', 'main', 'main', 'sub'])
    expect(pay.done).toEqual([])
  })

  test('the no of a person is not the no to a call that need not ask (CALL-4, PERM-9)', async () => {
    const pay = makePay()
    const waiting: Promise<ToolResult>[] = []
    const asked: string[] = []
    const runtime = await openRuntime({
      tools: [pay.tool],
      store: store(),
      policy: { allowBypass: true },
      approve: async ({ callId }) => {
        asked.push(callId)
        if (asked.length > 1) return { decision: 'allow_once' }
        waiting.push(call({ mode: 'bypass' }), call({}))
        await new Promise(setImmediate)
        return { decision: 'deny' }
      },
    })
    const call = (options: SessionOptions) =>
      runtime.session(options).call('shop.pay', { amount: 1 }, { idempotencyKey: 'k' })
    const denied = await call({})
    expect(denied.error?.reason).toBe('denied')
    const [free, kept] = await Promise.all(waiting)
    expect(free).toMatchObject({ ok: true, data: { paid: 1 } })
    expect(kept).toMatchObject({ ok: true, metadata: { replayed: true } })
    expect(asked).toEqual([denied.callId, kept?.callId])
    expect(pay.done).toEqual([1])
  })

  test('where nobody said no, the same key may be tried again (CALL-4)', async () => {
    const pay = makePay()
    const runtime = await openRuntime({ tools: [pay.tool], store: store() })
    const alone = await runtime.session().call('shop.pay', { amount: 1 }, { idempotencyKey: 'k' })
    expect(alone.error?.reason).toBe('no_callback')
    const asked = runtime.session({ approve: personSaying('allow_once').approve })
    expect((await asked.call('shop.pay', { amount: 1 }, { idempotencyKey: 'k' })).ok).toBe(true)
  })

  test('a call that no budget lets through leaves its key free (CALL-4, AUTH-4)', async () => {
    let now = 1_800_000_000_000
    const pay = makePay()
    const runtime = await openRuntime({
      tools: [pay.tool],
      store: store(),
      now: () => now,
      policy: { ...allowPay, budgets: [{ id: 'm', unit: 'calls', limit: 1, windowMs: 60_000 }] },
    })
    const call = (key: string) => runtime.session().call('shop.pay', { amount: 1 }, { idempotencyKey: key })
    expect((await call('a')).ok).toBe(true)
    expect((await call('b')).error?.code).toBe('QUOTA.BUDGET_EXCEEDED')
    now += 60_000
    expect((await call('b')).ok).toBe(true)
    expect((await call('a')).metadata.replayed).toBe(true)
    expect(pay.done).toHaveLength(2)
  })

  test('after its window a key is free again (CALL-4)', async () => {
    let now = 1_800_000_000_000
    const pay = makePay()
    const runtime = await openRuntime({
      tools: [pay.tool],
      store: store(),
      policy: allowPay,
      now: () => now,
      limits: { idempotencyWindowMs: 1_000 },
    })
    const call = (amount: number) => runtime.session().call('shop.pay', { amount }, { idempotencyKey: 'k' })
    await call(1)
    now += 999
    expect((await call(1)).metadata.replayed).toBe(true)
    now += 1
    expect((await call(2)).data).toEqual({ paid: 2, number: 2 })
  })

  test('the key from a field of the input is the same as one beside the call (CALL-4)', async () => {
    let runs = 0
    const order = defineTool({
      name: 'shop.order',
      description: 'Orders.',
      permission: 'readonly',
      idempotency: 'keyed',
      keyFrom: '/order_id',
      input: { type: 'object', properties: { order_id: { type: 'string' } }, required: ['order_id'] },
      run: () => ++runs,
    })
    const runtime = await openRuntime({ tools: [order], store: store() })
    const session = runtime.session()
    expect((await session.call('shop.order', { order_id: 'o1' })).data).toBe(1)
    expect((await session.call('shop.order', { order_id: 'o1' })).data).toBe(1)
    expect((await session.call('shop.order', { order_id: 'o2' })).data).toBe(2)
  })
})

test('a kept result and the yes to its call outlive the process, a no does not (CALL-4)', async () => {
  const options = {
    project: makeFolder(),
    home: makeFolder(),
    store: { path: join(makeFolder(), 'store.db') },
    tools: [codeTools()],
  }
  const first = await createRuntime({
    ...options,
    approve: async ({ inputSummary }) => ({
      decision: inputSummary.includes('no.txt') ? 'deny' : 'allow_once',
    }),
  })
  const write = (runtime: Runtime, name: string) =>
    runtime.session().call('code.write_file', { path: `${name}.txt`, content: 'x' }, { idempotencyKey: name })
  expect((await write(first, 'no')).error?.reason).toBe('denied')
  const written = await write(first, 'yes')
  await first.close()
  const person = personSaying('allow_once')
  const second = await createRuntime({ ...options, approve: person.approve })
  onTestFinished(() => second.close())
  const again = await write(second, 'yes')
  expect(again).toMatchObject({ ok: true, content: written.content, metadata: { replayed: true } })
  expect(person.asked).toEqual([])
  expect((await write(second, 'no')).ok).toBe(true)
  expect(person.asked).toHaveLength(1)
})

test('a call without a key is never retried or joined (CALL-4)', async () => {
  const done: number[] = []
  const add = defineTool({
    name: 'demo.add',
    description: 'Adds.',
    permission: 'readonly',
    input: { type: 'object' },
    run: () => done.push(1),
  })
  const runtime = await openRuntime({ tools: [add] })
  const session = runtime.session()
  await Promise.all([session.call('demo.add'), session.call('demo.add')])
  expect(done).toHaveLength(2)
})

test.each(['memory', 'sqlite'] as const)(
  'a call that was aborted before its tool ran leaves its key free, and one that gets a kept result ends all the same (%s) (CALL-4, SCHED-6)',
  async (kind) => {
    const store = kind === 'memory' ? kind : { path: join(makeFolder(), 'store.db') }
    const pay = makePay()
    const runtime = await openRuntime({ tools: [pay.tool], policy: allowPay, store })
    const call = (more: object = {}) =>
      runtime.session().call('shop.pay', { amount: 1 }, { idempotencyKey: 'k', ...more })
    const signal = AbortSignal.abort()
    expect((await call({ signal })).outcome).toBe('aborted')
    expect(pay.done).toEqual([])
    expect(await call()).toMatchObject({ ok: true, data: { number: 1 } })
    expect((await call({ signal })).error?.reason).toBe('aborted_by_user')
    expect((await call()).metadata.replayed).toBe(true)
  },
)
