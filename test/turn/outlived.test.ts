import { join } from 'node:path'
import type { RuntimeOptions, Session } from 'handrail'
import { expect, test } from 'vitest'
import { gatedTool } from '../support/gated-tool.ts'
import { makeFolder, openRuntime } from '../support/project.ts'

const stores: [string, () => NonNullable<RuntimeOptions['store']>][] = [
  ['memory', () => 'memory'],
  ['sqlite', () => ({ path: join(makeFolder(), 'handrail.db') })],
]

/** A tool that hears no abort, under budgets of calls and of time, with a clock that the test turns. */
async function openDeaf(store: NonNullable<RuntimeOptions['store']>, timeoutMs: number) {
  let clock = 1_000_000
  const gated = gatedTool({ concurrency: 'serial', limits: { timeoutMs } })
  const runtime = await openRuntime({
    store,
    tools: [gated.tool],
    limits: { abortGraceMs: 10 },
    policy: {
      budgets: [
        { id: 'calls', unit: 'calls', limit: 10 },
        { id: 'time', unit: 'wallMs', limit: 100_000 },
      ],
    },
    now: () => clock,
  })
  const accountsOf = async (session: Session) => {
    const { budget } = await session.preflight('t.gated', { id: 'x' })
    return budget.accounts.map(({ id, spent, reserved }) => ({ id, spent, reserved }))
  }
  return { ...gated, runtime, accountsOf, pass: (ms: number) => void (clock += ms) }
}

test.each(stores)(
  'a tool that ignores its limit is answered with still_running, and holds its slot and its budgets until it ends (%s) (CALL-6, AUTH-4, SCHED-5)',
  async (_, makeStore) => {
    const { runtime, started, release, seen, accountsOf, pass } = await openDeaf(makeStore(), 40)
    const session = runtime.session()
    const first = session.call('t.gated', { id: 'a' })
    await started('a')
    expect(await first).toMatchObject({
      outcome: 'unknown',
      error: { code: 'TOOL.TIMEOUT', reason: 'still_running' },
    })
    expect(await accountsOf(session)).toEqual([
      { id: 'calls', spent: 0, reserved: 1 },
      { id: 'time', spent: 0, reserved: 40 },
    ])
    const elsewhere = runtime.session()
    const refused = await elsewhere.call('t.gated', { id: 'b' })
    expect(refused.error).toMatchObject({ code: 'QUOTA.RATE_LIMITED', reason: 'concurrency' })
    expect(seen).toEqual(['+a'])

    pass(700)
    release('a')
    await expect
      .poll(() => accountsOf(session))
      .toEqual([
        { id: 'calls', spent: 1, reserved: 0 },
        { id: 'time', spent: 700, reserved: 0 },
      ])
    release('c')
    expect((await elsewhere.call('t.gated', { id: 'c' })).ok).toBe(true)
    expect(await accountsOf(session)).toMatchObject([{ spent: 2 }, { spent: 700 }])
  },
)

test.each(stores)(
  'so does one that ignores the abort of its call, of its turn or of its session (%s) (CALL-6, SCHED-6)',
  async (_, makeStore) => {
    const { runtime, started, release, accountsOf } = await openDeaf(makeStore(), 60_000)
    const watching = runtime.session()
    const endings: ((session: Session, controller: AbortController) => unknown)[] = [
      (session) => session.abort('mine'),
      (_session, controller) => controller.abort(),
      (session) => session.close(),
    ]
    for (const [index, end] of endings.entries()) {
      const id = `call ${index}`
      const session = runtime.session()
      const controller = new AbortController()
      const turn = session.turn(
        [
          { id: 'mine', tool: 't.gated', input: { id } },
          { id: 'rest', tool: 't.missing' },
        ],
        { signal: controller.signal },
      )
      await started(id)
      const ended = end(session, controller)
      const { results, endReason } = await turn
      expect(results[0]).toMatchObject({ outcome: 'unknown', error: { reason: 'still_running' } })
      expect(endReason).toBe(index === 0 ? 'completed' : 'aborted_tools')
      expect(await accountsOf(watching)).toMatchObject([
        { id: 'calls', spent: index, reserved: 1 },
        { id: 'time', reserved: 60_000 },
      ])
      release(id)
      await ended
      await expect
        .poll(() => accountsOf(watching))
        .toMatchObject([{ id: 'calls', spent: index + 1, reserved: 0 }, { id: 'time' }])
    }
  },
)
