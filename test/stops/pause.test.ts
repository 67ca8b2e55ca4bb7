import { defineTool, type Json, type RuntimeOptions } from 'handrail'
import type { PauseRequest } from 'handrail/policy'
import { composeTools } from 'handrail/tools'
import { expect, onTestFinished, test } from 'vitest'
import { modelSaying } from '../support/mock-model.ts'
import { openMcpFeed } from '../../src/compose/sources/mcp-tools.ts'
import { openRuntime, personSaying } from '../support/project.ts'
import { makeStore, openShop, refundOf } from '../support/shop.ts'
import { openPrograms, runCode } from '../agents/open-programs.ts'
import { fixtureTool, makeFixtureServer, openUpstreams } from '../support/upstreams.ts'

const paused = { code: 'POLICY.DENY_TOOL', reason: 'calls_paused', next: 'stop', actor: 'operator' }

/** Two runtimes on one store, as two processes would have it. */
async function openTwo(options: RuntimeOptions = {}) {
  const path = makeStore()
  const one = await openShop(path, options)
  const other = await openShop(path, options)
  return { path, one, other }
}

const look = (order = '1') => ['shop.look', { order }] as const

test.each<[string, Omit<PauseRequest, 'by'>]>([
  ['a tool', { tools: 'shop.look' }],
  ['a pattern of tools', { tools: 'shop.*' }],
  ['a tenant', { tenant: 'local' }],
  ['a caller', { actor: 'ann' }],
  ['a caller of a tenant and a tool', { actor: 'ann', tenant: 'local', tools: '*.look' }],
  ['everything', {}],
])(
  'after %s was paused no such call runs, in any process on the store, until it is resumed',
  async (_, scope) => {
    const { one, other } = await openTwo()
    const session = other.runtime.session({ actor: 'ann' })
    expect(await session.call(...look())).toMatchObject({ ok: true })
    const pause = await one.runtime.stops.pause({ ...scope, by: 'bob', why: 'It pays twice.' })
    const { error } = await session.call(...look())
    expect(error).toMatchObject({ ...paused, data: { pause: pause.id, by: 'bob', why: 'It pays twice.' } })
    expect(error?.message).toMatch(/bob paused .* on \d{4}-.*: It pays twice\. Stop here/)
    expect(await session.preflight(...look())).toMatchObject({ error: paused })
    expect(other.runtime.stops.pauses()).toEqual([pause])
    expect(await other.runtime.stops.resume(pause.id, 'eve')).toEqual(pause)
    expect(await session.call(...look())).toMatchObject({ ok: true })
    expect(await one.runtime.stops.resume(pause.id, 'eve')).toBeUndefined()
    const notes = [...one.runtime.store.records({ kind: 'note' })].map(({ text }) => JSON.parse(text))
    const told = notes.filter(({ event }) => event === 'calls_paused' || event === 'calls_resumed')
    expect(told.map(({ event, actor }) => [event, actor])).toEqual([
      ['calls_paused', 'bob'],
      ['calls_resumed', 'eve'],
    ])
  },
)

test('what a pause does not mean runs', async () => {
  const { one } = await openTwo({ policy: { tenants: { acme: {} } } })
  const { stops } = one.runtime
  const scopes = [{ tools: 'shop.refund' }, { actor: 'bob' }, { tenant: 'acme' }, { server: 'shop' }]
  for (const scope of [...scopes, { actor: 'ann', tools: 'shop.refund' }])
    await stops.pause({ ...scope, by: 'eve' })
  const session = one.runtime.session({ actor: 'ann' })
  expect(await session.call(...look())).toMatchObject({ ok: true })
  const acme = one.runtime.session({ actor: 'ann', tenant: 'acme' })
  expect((await acme.call(...look())).error).toMatchObject(paused)
  expect(stops.pauses('acme')).toHaveLength(5)
  expect(stops.pauses('local')).toHaveLength(4)
})

test('a pause outlives the process that made it', async () => {
  const path = makeStore()
  const first = await openShop(path)
  await first.runtime.stops.pause({ by: 'bob' })
  await first.runtime.close()
  const { runtime } = await openShop(path)
  expect((await runtime.session().call(...look())).error).toMatchObject(paused)
})

test('a call that waits for a person does not run after its yes, if it was paused meanwhile', async () => {
  const answer = Promise.withResolvers<void>()
  const asked = Promise.withResolvers<void>()
  const { one, other } = await openTwo({
    approve: async () => {
      asked.resolve()
      await answer.promise
      return { decision: 'allow_once' }
    },
  })
  const call = one.runtime.session().call('shop.refund', { order: '1' })
  await asked.promise
  await other.runtime.stops.pause({ tools: 'shop.refund', by: 'bob' })
  answer.resolve()
  expect((await call).error).toMatchObject(paused)
  expect(one.done).toEqual([])
})

test('a question that is answered elsewhere leads to nothing if its call was paused meanwhile, and the person is asked anew after that', async () => {
  const { one, other } = await openTwo()
  const session = one.runtime.session({ id: 'kept', actor: 'ann' })
  const step = await session.step([refundOf('a')])
  const [waiting] = step.waiting
  const pause = await other.runtime.stops.pause({ actor: 'ann', by: 'bob' })
  const { id = '', digest = '' } = waiting?.approval ?? {}
  await other.runtime.approvals.decide(id, { decision: 'allow_once', by: 'bob', digest })
  const { results } = await session.resume(step)
  expect(results).toMatchObject([{ ok: false, error: paused }])
  expect(one.done).toEqual([])
  await other.runtime.stops.resume(pause.id, 'bob')
  expect(await session.step([refundOf('a')])).toMatchObject({ waiting: [{ call: { id: 'a' } }] })
  expect(one.done).toEqual([])
})

test('the kept result of a key is not given while its call is paused', async () => {
  let paid = 0
  const pay = defineTool({
    name: 'shop.pay',
    description: 'Pays once for a key.',
    permission: 'write',
    idempotency: 'optional',
    input: { type: 'object', properties: {} },
    run: () => ++paid,
  })
  const { approve } = personSaying('allow_once')
  const runtime = await openRuntime({ tools: [pay], approve })
  const again = () => runtime.session().call('shop.pay', {}, { idempotencyKey: 'refund-order-17' })
  expect(await again()).toMatchObject({ ok: true })
  expect(await again()).toMatchObject({ ok: true, metadata: { replayed: true } })
  const pause = await runtime.stops.pause({ tools: 'shop.pay', by: 'bob' })
  expect((await again()).error).toMatchObject(paused)
  await runtime.stops.resume(pause.id, 'bob')
  expect(await again()).toMatchObject({ ok: true, metadata: { replayed: true } })
  expect(paid).toBe(1)
})

test('the parts of a composition and the calls of a program are paused as other calls are', async () => {
  const part = defineTool({
    name: 'shop.part',
    description: 'Is a part.',
    permission: 'readonly',
    input: { type: 'object', properties: {} },
    run: () => 'done',
  })
  const whole = composeTools({
    name: 'shop.whole',
    description: 'Is made of a part.',
    input: { type: 'object', properties: {} },
    parts: { one: { tool: part, input: {} } },
  })
  const { did, runtime } = await openPrograms({ tools: [part, whole] })
  const session = runtime.session()
  expect(await session.call('shop.whole', {})).toMatchObject({ ok: true })
  await runtime.stops.pause({ tools: 'shop.part', by: 'bob' })
  expect((await session.call('shop.whole', {})).error?.message).toContain('bob paused')
  await runtime.stops.pause({ tools: 'shop.look', by: 'bob' })
  const program = 'try { await tools.shop__look({ n: 1 }) } catch (error) { return error.reason }'
  expect(await runCode(session, program)).toMatchObject({ data: { returned: 'calls_paused' } })
  expect(did).toEqual([])
})

test('the model of a run whose caller is paused is not asked again', async () => {
  const { one, other } = await openTwo()
  const pauseNow = async () => {
    await other.runtime.stops.pause({ actor: 'ann', by: 'bob', why: 'stop' })
    return { calls: [{ tool: 'shop__look', input: { order: '1' } }] }
  }
  const { model, asked } = modelSaying([pauseNow, { text: 'never' }])
  const run = await one.runtime.run({ model, prompt: 'Look.', session: { actor: 'ann' } })
  expect(await run.result).toMatchObject({ endReason: 'failed', error: { reason: 'calls_paused' } })
  expect(asked).toHaveLength(1)
})

test('a server of MCP that is paused is asked for nothing, neither tool nor resource', async () => {
  const [held, free] = [makeFixtureServer([fixtureTool('echo')]), makeFixtureServer([fixtureTool('echo')])]
  const runtime = await openUpstreams({ held: held.file, free: free.file })
  const session = runtime.session()
  const asked = held.asked().length
  await runtime.stops.pause({ server: 'held', by: 'bob' })
  expect((await session.call('mcp.held.echo', {})).error).toMatchObject(paused)
  const read = await session.call('mcp.read_resource', { server: 'held', uri: 'file:///a' })
  expect(read.error).toMatchObject(paused)
  const listed = await session.call('mcp.list_resources', {})
  expect(listed.data).toMatchObject({ failed: ['held'] })
  expect(await session.call('mcp.free.echo', {})).toMatchObject({ ok: true })
  expect(held.asked()).toHaveLength(asked)
})

test('a caller that is paused at a server of MCP reads nothing of it, neither by a call nor past the calls', async () => {
  const server = makeFixtureServer()
  const servers = openMcpFeed({ servers: { held: server.file } })
  const { approve } = personSaying('allow_once')
  const runtime = await openRuntime({ feeds: [servers], approve })
  await runtime.settled(120_000)
  const [asked, asks] = [server.asked().length, new AbortController().signal]
  const read = (actor: string) =>
    runtime.session({ actor }).call('mcp.read_resource', { server: 'held', uri: 'file:///a' })
  const prompts = (actor: string) => {
    const client = { tenant: 'local', actor, era: 'legacy', capabilities: {}, notify: () => {} } as const
    const line = servers.openDirectConnection('held', client)
    onTestFinished(() => line.close())
    return line.ask('prompts/list', {}, asks)
  }
  await runtime.stops.pause({ actor: 'ann', server: 'held', by: 'bob' })
  expect((await read('ann')).error).toMatchObject(paused)
  await expect(prompts('ann')).rejects.toMatchObject({ code: paused.code, reason: paused.reason })
  expect(server.asked()).toHaveLength(asked)
  expect((await read('eve')).error?.reason).toBe('upstream_error')
  await expect(prompts('eve')).rejects.toMatchObject({ reason: 'upstream_error' })
})

test('what is kept of a pause and cannot be read pauses everything, and so does a store that cannot say', async () => {
  const { one } = await openTwo()
  const { store } = one.runtime
  for (const value of [
    5,
    { by: 'bob', at: 1, tools: 7 },
    { by: 'bob', at: 1, onlyOn: 'mondays' },
  ] as readonly Json[]) {
    const fact = { tenant: '', kind: 'pause', id: 'pause_x' } as const
    await store.append([], { facts: [{ ...fact, value }] })
    const { error } = await one.runtime.session().call(...look())
    expect(error).toMatchObject(paused)
    expect(error?.message).toContain('cannot be read')
    await one.runtime.stops.resume('pause_x', 'bob')
    expect(await one.runtime.session().call(...look())).toMatchObject({ ok: true })
  }
})

test('a pause that means nothing is refused, with all that is wrong with it', async () => {
  const { one } = await openTwo({ policy: { tenants: {} } })
  const request = { by: '', tenant: 'acme', actor: 'a b', tool: 'x', tools: '' }
  await expect(one.runtime.stops.pause(request as never)).rejects.toMatchObject({
    code: 'invalid_options',
    message: expect.stringMatching(/\/tool:[^]*\/tools:[^]*\/by:[^]*\/actor:[^]*\/tenant:/),
  })
  expect(one.runtime.stops.pauses()).toEqual([])
})
