import { join } from 'node:path'
import { createRuntime, defineTool, type RuntimeOptions } from 'handrail'
import { openKeyFiles, verifyEvidence, type EvidenceRecord } from 'handrail/evidence'
import { expect, onTestFinished, test } from 'vitest'
import { makeFolder } from '../support/project.ts'

const hour = 3_600_000

/** A keyed tool that counts its runs and can be held, over a store in a file and a clock that can be set. */
function makeWorld() {
  const home = makeFolder()
  const clock = { at: 1_795_000_000_000 }
  let runs = 0
  let release: (() => void) | undefined
  const count = defineTool({
    name: 'demo.count',
    description: 'Counts its runs.',
    permission: 'write',
    sideEffect: 'none',
    idempotency: 'keyed',
    keyFrom: 'call',
    limits: { timeoutMs: 300_000 },
    input: { type: 'object', properties: { held: { type: 'boolean' } } },
    run: async ({ held }) => {
      const run = ++runs
      if (held === true) await new Promise<void>((resolve) => (release = resolve))
      return { runs: run }
    },
  })
  const options: RuntimeOptions = {
    project: home,
    tools: [count],
    store: { path: join(home, 'store.db') },
    signing: { dir: join(home, 'keys') },
    policy: {
      rules: [{ effect: 'allow', tools: ['demo.count'] }],
      budgets: [{ id: 'few', unit: 'calls', limit: 3 }],
    },
    now: () => clock.at,
  }
  const open = async (more: RuntimeOptions = {}) => {
    const runtime = await createRuntime({ ...options, ...more })
    onTestFinished(() => runtime.close())
    return runtime
  }
  return { clock, open, keys: openKeyFiles(join(home, 'keys')), runs: () => runs, release: () => release?.() }
}

const noBudgets = { policy: { rules: [{ effect: 'allow' as const, tools: ['demo.count'] }] } }

test('records stay in order and signed, however the clock jumps between and within processes (EVID-7)', async () => {
  const { clock, open, keys } = makeWorld()
  let keyNumber = 0
  for (const jump of [-30 * hour, 9_000 * hour, -1, -9_000 * hour]) {
    const runtime = await open(noBudgets)
    const session = runtime.session()
    for (const after of [jump, 0]) {
      const { ok } = await session.call('demo.count', {}, { idempotencyKey: `count ${keyNumber++}` })
      expect(ok).toBe(true)
      clock.at += after
    }
    await runtime.close()
  }
  const { store } = await open(noBudgets)
  const records = [...store.records({ tenant: 'local' })]
  expect(records.map(({ sequence }) => sequence)).toEqual(records.map((_, index) => index + 1))
  const times = records.map(({ text }) => (JSON.parse(text) as EvidenceRecord).at)
  expect(times).not.toEqual(times.toSorted((one, other) => one - other))
  expect(verifyEvidence(store, { keys })).toMatchObject({ ok: true, calls: 8, signed: { pending: 0 } })
  const ends = [...store.records({ tenant: 'local', kind: 'end' })]
  const durations = ends.map(({ text }) => (JSON.parse(text) as { durationMs: number }).durationMs)
  expect(durations.every((durationMs) => durationMs >= 0)).toBe(true)
})

test('a key holds its result when the clock is set back, and is free once its window is over by the clock (CALL-4)', async () => {
  const { clock, open, runs } = makeWorld()
  const runtime = await open(noBudgets)
  const session = runtime.session()
  const ask = async () => (await session.call('demo.count', {}, { idempotencyKey: 'k' })).data
  expect(await ask()).toEqual({ runs: 1 })
  clock.at -= 400 * hour
  expect([await ask(), runs()]).toEqual([{ runs: 1 }, 1])
  clock.at += 400 * hour + 23 * hour
  expect([await ask(), runs()]).toEqual([{ runs: 1 }, 1])
  clock.at += 2 * hour
  expect([await ask(), runs()]).toEqual([{ runs: 2 }, 2])
})

test('a call that runs keeps its key, whatever the clock says meanwhile (CALL-4)', async () => {
  const { clock, open, runs, release } = makeWorld()
  const runtime = await open(noBudgets)
  const session = runtime.session()
  const first = session.call('demo.count', { held: true }, { idempotencyKey: 'k' })
  await expect.poll(runs).toBe(1)
  const joined = []
  for (const jump of [9_000 * hour, -18_000 * hour]) {
    clock.at += jump
    // Another process as far as the store can tell: it waits for the one that runs.
    const other = (await open(noBudgets)).session()
    joined.push(other.call('demo.count', { held: true }, { idempotencyKey: 'k' }))
    await other.call('demo.count', {}, { idempotencyKey: `other ${jump}` })
  }
  expect(runs()).toBe(3)
  release()
  for (const result of await Promise.all([first, ...joined])) expect(result.data).toEqual({ runs: 1 })
})

test('a clock that jumps frees nothing that a living process has reserved (AUTH-4)', async () => {
  const { clock, open, runs, release } = makeWorld()
  const runtime = await open()
  const session = runtime.session()
  const held = session.call('demo.count', { held: true }, { idempotencyKey: 'held' })
  await expect.poll(runs).toBe(1)
  clock.at += 9_000 * hour
  const other = (await open()).session()
  const results = []
  for (let each = 0; each < 3; each++)
    results.push(await other.call('demo.count', {}, { idempotencyKey: `count ${each}` }))
  expect(results.map(({ error }) => error?.code)).toEqual([undefined, undefined, 'QUOTA.BUDGET_EXCEEDED'])
  release()
  expect((await held).ok).toBe(true)
})
