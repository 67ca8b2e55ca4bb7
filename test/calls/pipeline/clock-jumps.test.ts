import { defineTool, type Runtime } from 'handrail'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { openRuntime, personSaying } from '../../support/project.ts'

const start = Date.UTC(2026, 0, 1)
const day = 86_400_000
const jumps = [5 * 60_000, -5 * 60_000, 30 * day, -30 * day]

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: start }))
afterEach(() => void vi.useRealTimers())

/** A runtime in which the clock is set by this much while a call runs, or while a person is asked about one. */
async function openJumping() {
  let jump = 0
  const set = () => void vi.setSystemTime(Date.now() + jump)
  const define = (name: string, asks: boolean) =>
    defineTool({
      name,
      description: 'Runs while the clock is set.',
      permission: 'readonly',
      consent: { required: asks, validForMs: 60_000 },
      async run() {
        if (!asks) set()
        await new Promise(setImmediate)
        return 'done'
      },
    })
  const told: unknown[] = []
  const person = personSaying('allow_for_session')
  const runtime = await openRuntime({
    tools: [define('demo.run', false), define('demo.ask', true)],
    policy: { budgets: [{ id: 'time', unit: 'wallMs', limit: 600_000 }] },
    approve: (request) => {
      set()
      return person.approve(request)
    },
    onError: (issue) => told.push(issue),
  })
  return { runtime, told, asked: person.asked, by: (next: number) => void (jump = next) }
}

async function spentOf(runtime: Runtime): Promise<number> {
  const report = await runtime.session().preflight('demo.run', {})
  return report.budget?.accounts?.[0]?.spent ?? Number.NaN
}

test('a clock that is set while a call runs changes neither its duration nor what it spends (AUTH-4, EVID-2)', async () => {
  const { runtime, told, by } = await openJumping()
  const session = runtime.session()
  for (const jump of jumps) {
    by(jump)
    const { ok, metadata } = await session.call('demo.run')
    expect([jump, ok]).toEqual([jump, true])
    expect(metadata.durationMs).toBeLessThan(10_000)
    expect(metadata.durationMs).toBeGreaterThanOrEqual(0)
  }
  expect(await spentOf(runtime)).toBeLessThan(40_000)
  expect((await session.call('demo.run')).ok).toBe(true)
  expect(told).toEqual([])
})

test('a clock that is set while a person thinks, or after, does not end their yes (PERM-3, AUTH-3)', async () => {
  const { runtime, asked, told, by } = await openJumping()
  for (const jump of jumps) {
    by(jump)
    const session = runtime.session()
    const before = asked.length
    expect([jump, (await session.call('demo.ask')).ok]).toEqual([jump, true])
    vi.setSystemTime(Date.now() + jump)
    // It holds for the session as long as it was given for, whatever the clock says.
    expect([jump, (await session.call('demo.ask')).ok, asked.length]).toEqual([jump, true, before + 1])
  }
  expect(told).toEqual([])
})
