import { SetupError, type Policy } from 'handrail'
import type { RunResult } from 'handrail/agents'
import { delegationTools } from 'handrail/agents'
import { expect, test } from 'vitest'
import { modelSaying, type Said } from '../support/mock-model.ts'
import { openProject } from './open-project.ts'

const dayMs = 86_400_000
const answer = (input: number, output: number): Said => ({ text: 'Done.', tokens: { input, output } })

type Start = (
  session?: { tenant?: string; actor?: string },
  more?: object,
) => Promise<Pick<RunResult, 'endReason' | 'error'>>

/** Runs of one answer each, of 100 tokens. */
async function openBudgets(policy: Policy, now?: () => number): Promise<Start> {
  const { runtime } = await openProject({ policy, ...(now !== undefined && { now }) })
  return async (session = {}, more = {}) => {
    const { model } = modelSaying([answer(60, 40)])
    return (await runtime.run({ model, prompt: 'Go.', session, maxOutputTokens: 40, ...more })).result
  }
}

const ends = async (start: Promise<Pick<RunResult, 'endReason'>>): Promise<string> => (await start).endReason

test('tokens are counted by tenant and actor, and for those that the budget is for (AGENT-3, AUTH-4)', async () => {
  const start = await openBudgets({
    tenants: { acme: {}, zeta: {} },
    budgets: [
      { id: 'each', unit: 'tokens', limit: 150, each: ['tenant', 'actor'] },
      { id: 'bots', unit: 'tokens', limit: 1, actors: ['bot-*'] },
    ],
  })
  const ann = { tenant: 'acme', actor: 'ann' }
  expect(await ends(start(ann))).toBe('completed')
  expect(await ends(start(ann))).toBe('completed')
  expect(await start(ann)).toMatchObject({
    endReason: 'budget_exceeded',
    error: { reason: 'tokens', data: { budget: 'each', unit: 'tokens', limit: 150 } },
  })
  for (const other of [
    { tenant: 'acme', actor: 'bob' },
    { tenant: 'zeta', actor: 'ann' },
  ])
    expect(await ends(start(other))).toBe('completed')
  const bot = { tenant: 'acme', actor: 'bot-1' }
  expect([await ends(start(bot)), await ends(start(bot))]).toEqual(['completed', 'budget_exceeded'])
})

test('a window of tokens says when it ends, and the next one starts at nothing (AGENT-3, AUTH-4)', async () => {
  let now = 10 * dayMs + 1_000
  const budget = { id: 'day', unit: 'tokens', limit: 100, windowMs: dayMs, kind: 'rate' } as const
  const start = await openBudgets({ budgets: [budget] }, () => now)
  expect(await ends(start())).toBe('completed')
  expect(await start()).toMatchObject({
    endReason: 'budget_exceeded',
    error: { code: 'QUOTA.RATE_LIMITED', reason: 'tokens', data: { retryAfterMs: dayMs - 1_000 } },
  })
  now += dayMs
  expect(await ends(start())).toBe('completed')
})

test('money is counted by the price of the run, and a run without a price is refused (AGENT-3, AUTH-4)', async () => {
  const start = await openBudgets({ budgets: [{ id: 'purse', unit: 'money', limit: 3 }] })
  const price = { input: 10_000, output: 40_000 }
  // 60 tokens for 0.6, 40 for 1.6.
  expect(await start({}, { price })).toMatchObject({ endReason: 'completed', usage: { cost: 2.2 } })
  expect(await ends(start({}, { price }))).toBe('completed')
  expect(await start({}, { price })).toMatchObject({
    endReason: 'budget_exceeded',
    error: { reason: 'money', data: { limit: 3 } },
  })
  expect(await start()).toMatchObject({
    endReason: 'budget_exceeded',
    error: { reason: 'money', message: expect.stringContaining('Give the run a "price"') as string },
  })
})

test('an agent costs what its own model costs: that of its parent if it has the same, and without a price it is refused (AGENT-2, AUTH-4)', async () => {
  const small = modelSaying([answer(60, 40), answer(60, 40)])
  const plain = modelSaying([answer(60, 40)])
  const start = (input: object): Said => ({
    calls: [{ tool: 'agent__create_sub_agent', input: { task: 'Go.', ...input } }],
    tokens: { input: 0, output: 0 },
  })
  const { model } = modelSaying([
    start({ model: 'small' }),
    start({ model: 'plain' }),
    start({}),
    answer(60, 40),
    answer(60, 40),
  ])
  const { runtime } = await openProject({
    tools: [delegationTools()],
    policy: { budgets: [{ id: 'purse', unit: 'money', limit: 1_000 }] },
    agents: {
      models: { small: small.model, plain: plain.model },
      prices: { small: { input: 1_000, output: 4_000 } },
    },
  })
  const price = { input: 10_000, output: 40_000 }
  const run = await runtime.run({ model, prompt: 'Go.', price })
  expect(await run.result).toMatchObject({ endReason: 'completed' })
  const costs = runtime.runs.list().map(({ usage }) => usage.cost)
  expect(small.asked).toHaveLength(1)
  expect(plain.asked).toHaveLength(0)
  // The parent and the child with its model, the small one, and the one that was refused.
  expect(costs).toHaveLength(4)
  expect(new Set(costs)).toEqual(new Set([0.22, 2.2, undefined]))
})

test('32 runs at once take at most one answer each beyond a budget (AGENT-3, AUTH-4)', async () => {
  const limit = 1_000
  const { runtime } = await openProject({ policy: { budgets: [{ id: 'all', unit: 'tokens', limit }] } })
  let spent = 0
  const all = await Promise.all(
    Array.from({ length: 32 }, async () => {
      const { model } = modelSaying(
        Array.from({ length: 50 }, () => async () => {
          await new Promise(setImmediate)
          return {
            calls: [{ tool: 'code__read_file', input: { path: 'a.txt' } }],
            tokens: { input: 60, output: 40 },
          }
        }),
      )
      const result = await (await runtime.run({ model, prompt: 'Go.' })).result
      spent += result.usage.inputTokens + result.usage.outputTokens
      return result.endReason
    }),
  )
  expect(new Set(all)).toEqual(new Set(['budget_exceeded']))
  expect(spent).toBeGreaterThanOrEqual(limit)
  expect(spent).toBeLessThanOrEqual(limit + 32 * 100)
  const balance = runtime.store.balance('all tenant=local', Date.now())
  expect(balance).toMatchObject({ spent, reserved: 0 })
})

test('an answer without counts, and one that broke off, are counted by their length; one that never came is not (AGENT-3, AUTH-4)', async () => {
  const { runtime } = await openProject({
    policy: { budgets: [{ id: 'all', unit: 'tokens', limit: 1_000_000 }] },
  })
  const spent = (): number => runtime.store.balance('all tenant=local', Date.now()).spent
  const endOf = async (said: Said | Error): Promise<string> =>
    ends((await runtime.run({ model: modelSaying([said]).model, prompt: 'Go.' })).result)
  expect(await endOf(new Error('no route'))).toBe('failed')
  expect(spent()).toBe(0)
  expect(await endOf({ text: 'Done.', tokens: { input: 0, output: 0 } })).toBe('completed')
  const first = spent()
  expect(first).toBeGreaterThan(1_000)
  const half = { type: 'text-delta', id: '1', delta: 'x'.repeat(40_000) }
  expect(await endOf({ parts: [half, new Error('reset')] })).toBe('failed')
  expect(spent()).toBeGreaterThan(first + 10_000)
})

test('the summary of a long conversation is counted as well (AGENT-3, AUTH-4)', async () => {
  const { runtime } = await openProject({
    policy: { budgets: [{ id: 'all', unit: 'tokens', limit: 100_000 }] },
  })
  const read = { calls: [{ tool: 'code__read_file', input: { path: 'a.txt' } }] }
  const { model } = modelSaying([
    { ...read, tokens: { input: 900, output: 50 } },
    { text: 'All is well.', tokens: { input: 960, output: 20 } },
    answer(100, 10),
  ])
  const result = await (await runtime.run({ model, prompt: 'Go.', contextTokens: 1_000 })).result
  expect(result).toMatchObject({ usage: { inputTokens: 1_960, outputTokens: 80 }, turns: 2 })
  expect(runtime.store.balance('all tenant=local', Date.now())).toMatchObject({ spent: 2_040 })
})

test.each([{ tools: ['code.*'] }, { each: ['tool'] }])(
  'a budget of tokens or money that is of tools is refused: %j (AUTH-4)',
  async (more) => {
    for (const unit of ['tokens', 'money'] as const) {
      const policy = { budgets: [{ id: 'odd', unit, limit: 5, ...more }] } as Policy
      const opened = openProject({ policy })
      await expect(opened).rejects.toBeInstanceOf(SetupError)
      await expect(opened).rejects.toThrow(/What models spend is of no tool/)
    }
  },
)
