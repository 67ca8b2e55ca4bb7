import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { RuntimeOptions, Session } from 'handrail'
import { resolveOutcome, verifyEvidence } from 'handrail/evidence'
import { expect, test } from 'vitest'
import { gatedTool } from '../../support/gated-tool.ts'
import { makeFolder, openRuntime } from '../../support/project.ts'

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

const running = /^The tool of the call "call_\w+" did not stop .* Wait for the note "tool_ended" of the call/

test.each(stores)(
  'what became of such a call is said once its tool has ended, and a no gives back all that it spent (%s) (CALL-4, CALL-6, AUTH-4)',
  async (_, makeStore) => {
    const { runtime, started, release, accountsOf, pass } = await openDeaf(makeStore(), 40)
    const session = runtime.session()
    const first = session.call('t.gated', { id: 'a' })
    await started('a')
    const { callId: call } = await first
    const finding = { store: runtime.store, call, outcome: 'not_happened', actor: 'ann', at: 1 } as const
    expect(await resolveOutcome(finding)).toEqual({ refused: expect.stringMatching(running) })
    expect(await accountsOf(session)).toMatchObject([
      { spent: 0, reserved: 1 },
      { spent: 0, reserved: 40 },
    ])
    pass(700)
    release('a')
    await expect.poll(() => accountsOf(session)).toMatchObject([{ spent: 1 }, { spent: 700 }])
    const [note] = [...runtime.store.records({ call, kind: 'note' })].map(({ text }) => JSON.parse(text))
    expect(note).toMatchObject({
      event: 'tool_ended',
      tool: 't.gated',
      at: 1_000_700,
      data: { durationMs: 700, spent: { calls: 1, time: 700 } },
    })
    expect(await resolveOutcome(finding)).toMatchObject({ note: { event: 'outcome_resolved' } })
    expect(await accountsOf(session)).toEqual([
      { id: 'calls', spent: 0, reserved: 0 },
      { id: 'time', spent: 0, reserved: 0 },
    ])
    expect(verifyEvidence(runtime.store).ok).toBe(true)
  },
)

test('another process may say what became of such a call once the process of its tool is gone (CALL-4, CALL-6)', async () => {
  const path = join(makeFolder(), 'handrail.db')
  const { runtime, started, release, accountsOf } = await openDeaf({ path }, 40)
  const first = runtime.session().call('t.gated', { id: 'a' })
  await started('a')
  const { callId: call } = await first
  const other = await openDeaf({ path }, 40)
  const finding = { store: other.runtime.store, call, outcome: 'not_happened', actor: 'ann', at: 1 } as const
  expect(await resolveOutcome(finding)).toEqual({ refused: expect.stringMatching(running) })
  const db = new DatabaseSync(path)
  const gone = db.prepare("UPDATE writers SET pid = ?, started = 'long ago' WHERE id = ?")
  gone.run(2 ** 22 + 1, runtime.store.writer)
  db.close()
  expect(await resolveOutcome(finding)).toMatchObject({ note: { event: 'outcome_resolved' } })
  expect(await accountsOf(other.runtime.session())).toMatchObject([{ spent: 0 }, { spent: 0 }])
  release('a')
})
