import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createRuntime, defineTool, type Runtime } from 'handrail'
import {
  resolveOutcome,
  verifyEvidence,
  type BeginRecord,
  type EndRecord,
  type ResolveRequest,
} from 'handrail/evidence'
import type { RegistryView } from 'handrail/tools'
import { expect, test } from 'vitest'
import { atEnd } from '../../support/at-end.ts'
import { makeFolder, openRuntime } from '../../support/project.ts'

/** A store, and processes on it: each is a runtime of its own, and gone for the others once it is killed. */
function makePlace() {
  const folder = makeFolder()
  const path = join(folder, 'store.db')
  const open = async () => {
    const gate = Promise.withResolvers<void>()
    let started = Promise.withResolvers<void>()
    const tool = defineTool({
      name: 'demo.slow',
      description: 'Runs until it is told to end.',
      permission: 'write',
      cost: 7,
      limits: { timeoutMs: 60_000 },
      input: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
      output: { type: 'object', properties: { paid: { type: 'integer' } }, required: ['paid'] },
      async run() {
        started.resolve()
        await gate.promise
        return { paid: 1 }
      },
    })
    const runtime = await createRuntime({
      project: folder,
      home: folder,
      store: { path },
      tools: [tool],
      policy: {
        rules: [{ id: 'slow', effect: 'allow', tools: ['demo.slow'] }],
        budgets: [
          { id: 'calls', unit: 'calls', limit: 3 },
          { id: 'cost', unit: 'cost', limit: 100, windowMs: 86_400_000_000 },
          { id: 'time', unit: 'wallMs', limit: 600_000 },
          { id: 'purse', unit: 'money', limit: 5 },
        ],
        prices: [{ tools: ['demo.*'], perCall: 0.25 }],
      },
      onError: () => {},
    })
    atEnd(async () => {
      gate.resolve()
      await runtime.close()
    })
    const call = () => runtime.session().call('demo.slow', { id: 'x' })
    return {
      runtime,
      call,
      /** Starts calls, and is cut off in the middle of them. */
      async killWithin(calls: number): Promise<void> {
        for (let i = 0; i < calls; i++) {
          started = Promise.withResolvers<void>()
          void call()
          await started.promise
        }
        const db = new DatabaseSync(path)
        const gone = db.prepare("UPDATE writers SET pid = ?, started = 'long ago' WHERE id = ?")
        gone.run(2 ** 22 + 1, runtime.store.writer)
        db.close()
      },
      /** Its calls end at once from here on. */
      hurry: () => gate.resolve(),
    }
  }
  return { open }
}

async function budgetsOf(runtime: Runtime) {
  const report = await runtime.session().preflight('demo.slow', { id: 'x' })
  return Object.fromEntries(
    (report.budget?.accounts ?? []).map(({ id, spent, reserved }) => [id, { spent, reserved }]),
  )
}

/** A registry without tools. */
const noTools: RegistryView = {
  find: () => undefined,
  findCompatible: () => undefined,
  list: () => [],
  search: () => [],
  deferred: 0,
  size: 0,
}

const exceeded = { code: 'QUOTA.BUDGET_EXCEEDED', reason: 'calls' }

test('a call that is cut off has spent what it had reserved, once it is recovered (AUTH-4, EVID-1)', async () => {
  const { open } = makePlace()
  for (let round = 0; round < 3; round++) await (await open()).killWithin(1)
  const { runtime, call } = await open()
  expect(await budgetsOf(runtime)).toEqual({
    calls: { spent: 3, reserved: 0 },
    cost: { spent: 21, reserved: 0 },
    time: { spent: 180_000, reserved: 0 },
    purse: { spent: 0.75, reserved: 0 },
  })
  expect((await call()).error).toMatchObject(exceeded)
  const [ended] = runtime.store.records({ kind: 'end' })
  expect(JSON.parse(ended?.text ?? '') as EndRecord).toMatchObject({
    outcome: 'unknown',
    spent: { calls: 1, cost: 7, time: 60_000, purse: 250_000 },
  })
  const [begun] = runtime.store.records({ kind: 'begin' })
  expect((JSON.parse(begun?.text ?? '') as BeginRecord).reserved).toEqual([
    { budget: 'calls', account: 'calls tenant=local', units: 1 },
    {
      budget: 'cost',
      account: expect.stringMatching(/^cost tenant=local \d+$/),
      units: 7,
      endsAt: expect.any(Number),
    },
    { budget: 'time', account: 'time tenant=local', units: 60_000 },
    { budget: 'purse', account: 'purse tenant=local', units: 250_000 },
  ])
  expect(verifyEvidence(runtime.store).ok).toBe(true)
})

test('nobody gets what a call had reserved that was cut off, before or after it is recovered (AUTH-4)', async () => {
  const { open } = makePlace()
  const beside = await open()
  beside.hurry()
  await (await open()).killWithin(2)
  expect(await budgetsOf(beside.runtime)).toMatchObject({ calls: { spent: 0, reserved: 2 } })
  expect((await beside.call()).ok).toBe(true)
  expect((await beside.call()).error).toMatchObject(exceeded)
  const later = await open()
  expect(await budgetsOf(later.runtime)).toMatchObject({ calls: { spent: 3, reserved: 0 } })
  expect((await beside.call()).error).toMatchObject(exceeded)
})

test('a call that did not happen, as a person found out, costs nothing after all (AUTH-4, CALL-4)', async () => {
  const { open } = makePlace()
  await (await open()).killWithin(3)
  const { runtime, call, hurry } = await open()
  hurry()
  const [first, second] = [...runtime.store.records({ kind: 'end' })].map((record) => record.call)
  const about = { store: runtime.store, actor: 'ann', at: Date.now() }
  await resolveOutcome({ ...about, call: first ?? '', outcome: 'not_happened' })
  await resolveOutcome({ ...about, call: second ?? '', outcome: 'happened' })
  expect(await budgetsOf(runtime)).toMatchObject({
    calls: { spent: 2, reserved: 0 },
    cost: { spent: 14, reserved: 0 },
    time: { spent: 120_000, reserved: 0 },
    purse: { spent: 0.5, reserved: 0 },
  })
  expect((await call()).ok).toBe(true)
  expect((await call()).error).toMatchObject(exceeded)
  expect(runtime.store.examine()).toEqual([])
})

test('a result that a person gives is held to what its tool may return, and one that is refused loses nothing (CALL-4, SCHEMA-3)', async () => {
  const { open } = makePlace()
  await (await open()).killWithin(1)
  const { runtime } = await open()
  const { store, registry } = runtime
  const [end] = [...store.records({ kind: 'end' })]
  const about = { store, call: end?.call ?? '', outcome: 'happened' as const, actor: 'ann', at: Date.now() }
  const refused: [Partial<ResolveRequest>, RegExp][] = [
    [{ registry, result: { paid: 'much' } }, /^The result does not fit .* "demo\.slow": \/paid: /],
    [{ registry, result: { paid: 1, more: 'x'.repeat(40_000) } }, /^The result has 400\d\d characters/],
    [{ registry, result: { paid: () => 1 } as never }, /^The result is not JSON: \/paid: /],
    [{ result: { paid: 1 } }, /^A result is held to the output schema of its tool\. .*"registry"/],
    [{ registry: { view: () => noTools }, result: { paid: 1 } }, /^There is no tool "demo\.slow" here/],
    [{ registry, result: { paid: 1 }, outcome: 'not_happened' }, /^What did not happen has no result/],
  ]
  for (const [request, says] of refused)
    expect(await resolveOutcome({ ...about, ...request })).toEqual({ refused: expect.stringMatching(says) })
  expect([...store.records({ call: about.call, kind: 'note' })]).toEqual([])
  expect(await resolveOutcome({ ...about, registry, result: { paid: 1 } })).toMatchObject({
    note: { data: { outcome: 'happened', result: { paid: 1 } } },
  })
})

test.each(['one process', 'two processes'])(
  'two findings at once about one call, of %s, are one: it gives back what it had reserved once (AUTH-4, CALL-4)',
  async (writers) => {
    const { open } = makePlace()
    await (await open()).killWithin(2)
    const { runtime } = await open()
    const other = writers === 'one process' ? runtime : (await open()).runtime
    const [first] = [...runtime.store.records({ kind: 'end' })].map((record) => record.call)
    const about = { at: Date.now(), call: first ?? '' }
    const found = await Promise.all([
      resolveOutcome({ ...about, store: runtime.store, actor: 'ann', outcome: 'not_happened' }),
      resolveOutcome({ ...about, store: other.store, actor: 'ben', outcome: 'not_happened' }),
    ])
    expect(found.filter((each) => 'note' in each)).toHaveLength(1)
    expect(found.flatMap((each) => ('refused' in each ? each.refused : []))).toEqual([
      expect.stringMatching(new RegExp(`^The call "${first}" was resolved before, by (ann|ben) at `)),
    ])
    expect(await budgetsOf(runtime)).toMatchObject({ calls: { spent: 1, reserved: 0 } })
    expect([...runtime.store.records({ call: first ?? '', kind: 'note' })]).toHaveLength(1)
    expect(verifyEvidence(runtime.store).ok).toBe(true)
  },
)

test('a call spends no more than it reserved, and one that finds too little says what others hold (AUTH-4)', async () => {
  let now = 1_000
  const [started, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const tool = defineTool({
    name: 'demo.long',
    description: 'Takes longer than its time.',
    permission: 'readonly',
    limits: { timeoutMs: 60_000 },
    async run() {
      started.resolve()
      await gate.promise
      now += 10_000_000
      return 'done'
    },
  })
  const policy = { budgets: [{ id: 'time', unit: 'wallMs' as const, limit: 60_000 }] }
  const runtime = await openRuntime({ tools: [tool], policy, now: () => now })
  const session = runtime.session()
  const first = session.call('demo.long')
  await started.promise
  expect((await session.call('demo.long')).error).toMatchObject({
    reason: 'wall_ms',
    message: expect.stringContaining(
      'Calls that run or come next hold 60000 more; what they do not spend is free when they end.',
    ),
    data: { left: 0, reserved: 60_000 },
  })
  gate.resolve()
  expect((await first).metadata.durationMs).toBe(10_000_000)
  const report = await session.preflight('demo.long', {})
  expect(report.budget?.accounts).toMatchObject([{ spent: 60_000, reserved: 0 }])
  expect((await session.call('demo.long')).error?.message).toContain('Stop, or let the operator raise it.')
})
