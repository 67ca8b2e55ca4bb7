import { join } from 'node:path'
import { codeTools, createRuntime, defineTool, type Policy, type Runtime } from 'handrail'
import { verifyEvidence, type BeginRecord, type EndRecord, type ObservedCalls } from 'handrail/evidence'
import { afterEach, expect, test } from 'vitest'
import { makeFolder } from '../../support/project.ts'

const runtimes: Runtime[] = []
afterEach(async () => {
  for (const runtime of runtimes.splice(0)) await runtime.close()
})

interface Place {
  readonly project: string
  readonly store: string
}

function makePlace(): Place {
  return { project: makeFolder({ 'a.txt': 'one\n' }), store: join(makeFolder({}), 'store.db') }
}

async function open({ project, store }: Place, policy: Policy = {}): Promise<Runtime> {
  const runtime = await createRuntime({ project, store: { path: store }, tools: [codeTools(), pay], policy })
  runtimes.push(runtime)
  return runtime
}

const pay = defineTool({
  name: 'shop.pay',
  description: 'Pays.',
  input: { type: 'object', properties: { card: { type: 'string' } } },
  run: () => {
    throw new Error('An observed call ran here.')
  },
})

function observe(runtime: Runtime, session = 'one'): ObservedCalls {
  const { observed } = runtime.session({ observes: { agent: 'demo', session } })
  if (observed === undefined) throw new Error('The session observes nothing.')
  return observed
}

const about = (id: string, asks = true) => ({ id, name: 'Pay', asks })

function records(runtime: Runtime): (BeginRecord | EndRecord)[] {
  const all = [...runtime.store.records({ tenant: 'local' })].filter(({ kind }) => kind !== 'note')
  return all.map(({ text }) => JSON.parse(text) as BeginRecord | EndRecord)
}

test('an observed call is decided and begun in one process, and ended in another (EVID-1)', async () => {
  const place = makePlace()
  const first = await open(place)
  const call = await observe(first).begin('shop.pay', { card: '1' }, about('c1'))
  expect(call).toMatchObject({ tool: 'shop.pay', effect: 'ask', decision: { effect: 'ask' } })
  await first.close()

  const second = await open(place)
  expect(records(second)).toMatchObject([
    {
      kind: 'begin',
      call: call.call,
      observed: { agent: 'demo', session: 'one', tool: 'Pay' },
      writer: 'observed',
    },
  ])
  // Another session of the agent, and another id, do not find it.
  expect(await observe(second, 'two').end('c1', { outcome: 'ok', response: 1 })).toBeUndefined()
  expect(await observe(second).end('c2', { outcome: 'ok', response: 1 })).toBeUndefined()
  expect(await observe(second).end('c1', { outcome: 'ok', response: { paid: true } })).toBe(call.call)
  expect(await observe(second).end('c1', { outcome: 'ok', response: 1 })).toBeUndefined()
  const [begin, end] = records(second)
  expect(end).toMatchObject({ kind: 'end', call: call.call, outcome: 'ok', session: begin?.session })
  expect(verifyEvidence(second.store)).toMatchObject({ ok: true })
})

test('two processes that end one call at the same time write one end (EVID-1)', async () => {
  const place = makePlace()
  const [one, other] = [await open(place), await open(place)]
  await observe(one).begin('shop.pay', {}, about('c1'))
  const end = { outcome: 'failed', response: 'no money' } as const
  const ended = await Promise.all([observe(one).end('c1', end), observe(other).end('c1', end)])
  expect(ended.filter((id) => id !== undefined)).toHaveLength(1)
  expect(records(one).map(({ kind }) => kind)).toEqual(['begin', 'end'])
})

test('an agent that does not ask its person gets no call through that wants one asked (PERM-1)', async () => {
  const runtime = await open(makePlace())
  const call = await observe(runtime).begin('shop.pay', {}, about('c1', false))
  expect(call).toMatchObject({ effect: 'deny', error: { code: 'POLICY.APPROVAL_DENIED' } })
  expect(records(runtime).map(({ kind }) => kind)).toEqual(['begin', 'end'])
  expect(await observe(runtime).end('c1', { outcome: 'ok', response: 1 })).toBeUndefined()
})

test('a budget counts the observed calls of all processes', async () => {
  const place = makePlace()
  const budgets = [{ id: 'few', unit: 'calls', limit: 2, tools: ['shop.pay'] }] as const
  const runtime = await open(place, { budgets })
  for (const id of ['c1', 'c2'])
    expect((await observe(runtime).begin('shop.pay', { card: id }, about(id))).effect).not.toBe('deny')
  await runtime.close()
  const again = await open(place, { budgets })
  expect(await observe(again).begin('shop.pay', { card: 'c3' }, about('c3'))).toMatchObject({
    effect: 'deny',
    error: { code: 'QUOTA.BUDGET_EXCEEDED' },
  })
})

test('what the agent tells no more of ends as unknown, and nothing of it runs here', async () => {
  const runtime = await open(makePlace())
  const observed = observe(runtime)
  await Promise.all(['c1', 'c2'].map((id) => observed.begin('shop.pay', {}, about(id))))
  await observed.begin('code.read_file', { path: 'a.txt' }, about('c3'))
  await observed.end('c3', { outcome: 'aborted' })
  expect([await observed.endAll(), await observed.endAll()]).toEqual([2, 0])
  const ends = records(runtime).flatMap((record) => (record.kind === 'end' ? [record] : []))
  expect(ends.map(({ outcome }) => outcome).toSorted()).toEqual(['aborted', 'unknown', 'unknown'])
})

test('an input that does not fit, an unknown tool and a closed session are denied, and never thrown', async () => {
  const runtime = await open(makePlace())
  const session = runtime.session({ observes: { agent: 'demo', session: 'one' } })
  const begin = (tool: string, input: unknown) => session.observed?.begin(tool, input, about('c'))
  expect(await begin('shop.pay', { card: {} })).toMatchObject({ effect: 'deny' })
  expect(await begin('shop.sell', {})).toMatchObject({
    effect: 'deny',
    error: { reason: 'tool_not_available' },
  })
  await session.close()
  expect(await begin('shop.pay', {})).toMatchObject({ effect: 'deny', error: { code: 'TOOL.ABORTED' } })
})

test.each([
  { agent: 'a b', session: 's' },
  { agent: 'a', session: '' },
  { agent: 'a' },
  { agent: 'a', session: 's', more: 1 },
  'demo',
])('a session that observes %j is refused', async (observes) => {
  const runtime = await open(makePlace())
  expect(() => runtime.session({ observes: observes as never })).toThrow('The session cannot be opened')
  expect(runtime.session().observed).toBeUndefined()
})

test("a call that named people decide about waits for them, and not for the agent's own person (AUTH-3)", async () => {
  const policy: Policy = { approvers: [{ tools: ['shop.*'], approvers: ['bob'], notRequester: true }] }
  const runtime = await open(makePlace(), policy)
  const observed = observe(runtime)
  const denied = await observed.begin('shop.pay', { card: '1' }, about('c1'))
  expect(denied).toMatchObject({ effect: 'deny', error: { code: 'POLICY.APPROVAL_PENDING' } })
  const [waiting] = runtime.approvals.list()
  await runtime.approvals.decide(waiting?.id ?? '', { decision: 'allow_once', by: 'bob' })
  expect(await observed.begin('shop.pay', { card: '1' }, about('c2'))).toMatchObject({ effect: 'allow' })
  expect(await observed.begin('shop.pay', { card: '1' }, about('c3'))).toMatchObject({ effect: 'deny' })
  expect(runtime.approvals.find(waiting?.id ?? '')).toMatchObject({ state: 'used' })
})
