import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { codeTools, defineTool, type Policy, type RuntimeOptions } from 'handrail'
import { describe, expect, test, vi } from 'vitest'
import { makeFolder, openRuntime, personSaying } from '../../support/project.ts'
import { firstOf } from '../../support/rounds.ts'

const noInput = { type: 'object' } as const

/** A tool that runs until its call is let go. */
function makeGate() {
  const gates: (() => void)[] = []
  const tool = defineTool({
    name: 'demo.wait',
    description: 'Waits.',
    permission: 'readonly',
    input: { type: 'object', properties: { n: { type: 'integer' } } },
    run: () => new Promise<string>((resolve) => gates.push(() => resolve('done'))),
  })
  return { tool, open: () => gates.splice(0).forEach((open) => open()), waiting: () => gates.length }
}

const say = defineTool({
  name: 'demo.say',
  description: 'Says its text again.',
  permission: 'readonly',
  cost: 3,
  input: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  run: ({ text }) => text,
})

const stores = ['sqlite', 'memory'] as const

describe.each(stores)('over a %s store', (kind) => {
  const open = (policy: Policy, more: RuntimeOptions = {}) =>
    openRuntime({
      tools: [say],
      policy,
      store: kind === 'memory' ? 'memory' : { path: join(makeFolder(), 'store.db') },
      ...more,
    })

  test('calls over a budget are refused with the time to wait, and run again in the next window (AUTH-4)', async () => {
    let now = 1_800_000_000_000
    const runtime = await open(
      { budgets: [{ id: 'minute', unit: 'calls', limit: 2, windowMs: 60_000 }] },
      { now: () => now },
    )
    const session = runtime.session()
    for (const text of ['a', 'b']) expect((await session.call('demo.say', { text })).ok).toBe(true)
    now += 20_000
    const over = await session.call('demo.say', { text: 'c' })
    expect(over.outcome).toBe('denied')
    expect(over.error).toMatchObject({
      code: 'QUOTA.BUDGET_EXCEEDED',
      reason: 'calls',
      actor: 'operator',
      data: { budget: 'minute', limit: 2, left: 0, retryAfterMs: 40_000 },
    })
    now += 40_000
    expect((await session.call('demo.say', { text: 'c' })).ok).toBe(true)
  })

  test('a rate limit says when to come again (AUTH-4)', async () => {
    const runtime = await open(
      { budgets: [{ id: 'pace', kind: 'rate', unit: 'calls', limit: 1, windowMs: 1_000 }] },
      { now: () => 1_800_000_000_250 },
    )
    const session = runtime.session()
    await session.call('demo.say', { text: 'a' })
    const { error } = await session.call('demo.say', { text: 'b' })
    expect(error).toMatchObject({ code: 'QUOTA.RATE_LIMITED', data: { retryAfterMs: 750 }, next: 'wait' })
    expect(error?.message).toContain('750 ms')
  })

  test('64 concurrent callers cannot overdraw a budget by one call (AUTH-4)', async () => {
    const gate = makeGate()
    const runtime = await open(
      { budgets: [{ id: 'total', unit: 'calls', limit: 40 }] },
      { tools: [gate.tool] },
    )
    const calls = Array.from({ length: 8 }, (_, index) => {
      const session = runtime.session({ actor: `a${index}` })
      return Array.from({ length: 8 }, (__, n) =>
        session.call('demo.wait', { n: index * 8 + n }, { origin: 'llm' }),
      )
    }).flat()
    await expect.poll(() => gate.waiting()).toBe(40)
    gate.open()
    const results = await Promise.all(calls)
    expect(results.filter((result) => result.ok)).toHaveLength(40)
    expect(results.filter((result) => result.error?.code === 'QUOTA.BUDGET_EXCEEDED')).toHaveLength(24)
    const { budget } = await runtime.session().preflight('demo.wait', { n: 1 })
    expect(budget.accounts).toMatchObject([{ id: 'total', spent: 40, reserved: 0 }])
  })

  test('each tenant, actor and tool has an account of its own where the budget says so (AUTH-4)', async () => {
    const runtime = await open({
      tenants: { acme: {}, zeta: {} },
      budgets: [
        { id: 'tenant', unit: 'calls', limit: 2 },
        { id: 'actor', unit: 'calls', limit: 1, each: ['tenant', 'actor'], tenants: ['acme'] },
      ],
    })
    const call = async (tenant: string, actor: string, text: string) => {
      const { error } = await runtime.session({ tenant, actor }).call('demo.say', { text })
      return error?.data?.['budget']
    }
    expect(await call('acme', 'ann', '1')).toBeUndefined()
    expect(await call('acme', 'ann', '2')).toBe('actor')
    expect(await call('acme', 'bob', '3')).toBeUndefined()
    expect(await call('acme', 'cat', '4')).toBe('tenant')
    expect(await call('zeta', 'ann', '5')).toBeUndefined()
  })

  test('a preflight says that a spent budget lets no call run, and takes nothing (AUTH-4, CALL-1)', async () => {
    const runtime = await open({ budgets: [{ id: 'one', unit: 'calls', limit: 1 }] })
    const session = runtime.session()
    expect(await session.preflight('demo.say', { text: 'a' })).toMatchObject({ effect: 'allow' })
    expect((await session.call('demo.say', { text: 'a' })).ok).toBe(true)
    const report = await session.preflight('demo.say', { text: 'a' })
    expect(report).toMatchObject({
      effect: 'deny',
      error: { code: 'QUOTA.BUDGET_EXCEEDED', reason: 'calls', data: { budget: 'one' } },
      budget: { accounts: [{ id: 'one', spent: 1, reserved: 0 }] },
    })
    const denied = await session.call('demo.say', { text: 'a' })
    expect(denied.error?.message).toBe(report.error?.message)
    expect(denied.error?.message).toContain('has 0 of 1 calls left, too few for "demo.say", which needs 1.')
  })

  test('a call that a budget cuts short says that it was the budget (AUTH-4)', async () => {
    const runtime = await open({ budgets: [{ id: 'out', unit: 'bytesOut', limit: 100 }] })
    const { error } = await runtime.session().call('demo.say', { text: 'x'.repeat(300) })
    expect(error).toMatchObject({ code: 'TOOL.FAILED', reason: 'output_too_large' })
    expect(error?.message).toMatch(/it may return 100, which is all that its budgets leave\./)
  })

  test('bytes, time and cost are reserved before and settled after the call (AUTH-4)', async () => {
    const runtime = await open({
      budgets: [
        { id: 'in', unit: 'bytesIn', limit: 1_000 },
        { id: 'out', unit: 'bytesOut', limit: 100_000 },
        { id: 'wall', unit: 'wallMs', limit: 600_000 },
        { id: 'cost', unit: 'cost', limit: 7 },
      ],
    })
    const session = runtime.session()
    const first = await session.call('demo.say', { text: 'x'.repeat(300) })
    expect(first.ok).toBe(true)
    const { budget } = await session.preflight('demo.say', { text: 'y' })
    const spent = Object.fromEntries(budget.accounts.map((each) => [each.id, each.spent]))
    expect(spent['in']).toBe(JSON.stringify({ text: 'x'.repeat(300) }).length)
    expect(spent['out']).toBeGreaterThan(300)
    expect(spent['out']).toBeLessThan(2_000)
    expect(spent['cost']).toBe(3)
    expect(budget.accounts.map((each) => each.reserved)).toEqual([0, 0, 0, 0])
    expect((await session.call('demo.say', { text: 'z' })).ok).toBe(true)
    expect((await session.call('demo.say', { text: 'z' })).error).toMatchObject({
      code: 'QUOTA.BUDGET_EXCEEDED',
      reason: 'cost',
      data: { left: 1 },
    })
  })

  test('a call may not give back more than its budget has left (AUTH-4)', async () => {
    const runtime = await open({ budgets: [{ id: 'out', unit: 'bytesOut', limit: 400 }] })
    const { error } = await runtime.session().call('demo.say', { text: 'x'.repeat(1_000) })
    expect(error).toMatchObject({ code: 'TOOL.FAILED', reason: 'output_too_large' })
  })

  test('a call that is denied, or fails its plan, spends nothing (AUTH-4)', async () => {
    const person = personSaying('deny')
    const runtime = await open(
      { budgets: [{ id: 'calls', unit: 'calls', limit: 1 }] },
      { tools: [codeTools()], approve: person.approve },
    )
    const session = runtime.session()
    for (let n = 0; n < 3; n++) {
      const { error } = await session.call('code.write_file', { path: `${n}.txt`, content: '' })
      expect(error).toMatchObject({ code: 'POLICY.APPROVAL_DENIED', reason: 'denied' })
    }
    expect((await session.call('code.read_file', { path: '/etc/passwd' })).error?.code).toBe(
      'SANDBOX.CAPABILITY_BLOCKED',
    )
    expect((await session.call('code.list_dir', { path: '.' })).ok).toBe(true)
    const asked = person.asked.length
    expect((await session.call('code.write_file', { path: 'x.txt', content: '' })).error?.code).toBe(
      'QUOTA.BUDGET_EXCEEDED',
    )
    expect(person.asked).toHaveLength(asked)
  })

  test('a call that is aborted before its tool starts spends nothing (AUTH-4, CALL-6)', async () => {
    const budgets = (['calls', 'cost', 'bytesIn', 'bytesOut', 'wallMs'] as const).map((unit) => ({
      id: unit,
      unit,
      limit: 1_000_000,
    }))
    const session = (await open({ budgets })).session()
    session.on(({ type, call }) => void (type === 'tool_started' && session.abort(call ?? '')))
    expect(await session.call('demo.say', { text: 'hi' })).toMatchObject({ outcome: 'aborted' })
    const { budget } = await session.preflight('demo.say', { text: 'hi' })
    expect(budget.accounts.map(({ spent, reserved }) => [spent, reserved])).toEqual(budgets.map(() => [0, 0]))
  })

  test('a clock that goes back finds what was spent in the window it goes back to (AUTH-4)', async () => {
    let now = 1_800_000_000_000
    const runtime = await open(
      { budgets: [{ id: 'minute', unit: 'calls', limit: 1, windowMs: 60_000 }] },
      { now: () => now },
    )
    const session = runtime.session()
    expect((await session.call('demo.say', { text: 'a' })).ok).toBe(true)
    now += 60_000
    expect((await session.call('demo.say', { text: 'b' })).ok).toBe(true)
    now -= 60_000
    expect((await session.call('demo.say', { text: 'c' })).error?.code).toBe('QUOTA.BUDGET_EXCEEDED')
  })

  // What a command took is the same, whatever store it is written into.
  if (firstOf(stores).includes(kind))
    test('the CPU time of commands counts (AUTH-4)', async () => {
      const runtime = await open(
        {
          budgets: [{ id: 'cpu', unit: 'cpuMs', limit: 500_000 }],
          rules: [{ effect: 'allow', tools: ['code.run_command'], argv: ['node', '**'] }],
        },
        { tools: [codeTools()] },
      )
      const session = runtime.session()
      const burn = 'const end = process.cpuUsage().user + 300_000; while (process.cpuUsage().user < end);'
      const ran = await session.call('code.run_command', { argv: ['node', '-e', burn] })
      expect(ran.ok).toBe(true)
      const { budget } = await session.preflight('code.run_command', { argv: ['node', '-v'] })
      const [cpu] = budget.accounts
      expect(cpu?.spent).toBeGreaterThanOrEqual(290)
      expect(cpu?.reserved).toBe(0)
    })
})

test.each(['bubblewrap', 'host'] as const)(
  'the CPU time counts of what nothing waits for, and of what is ended (AUTH-4, %s)',
  async (sandbox) => {
    const runtime = await openRuntime({
      sandbox,
      // What a command writes is seen while it runs.
      tools: [codeTools({ commands: { review: 'never' } })],
      policy: { budgets: [{ id: 'cpu', unit: 'cpuMs', limit: 500_000 }] },
      approve: personSaying('allow_once').approve,
    })
    const session = runtime.session()
    const spin = 'n=0; while [ $n -lt 300000 ]; do n=$((n+1)); done'
    const run = async (script: string, signal?: AbortSignal) => {
      const input = { argv: ['sh', '-c', script] }
      const { outcome } = await session.call('code.run_command', input, { ...(signal && { signal }) })
      const { budget } = await session.preflight('code.run_command', input)
      return [outcome, budget.accounts[0]?.spent ?? 0] as const
    }
    const behind = `(${spin}; touch spun; while :; do :; done) & until [ -e spun ]; do sleep 0.01; done`
    const [ended, first] = await run(behind)
    const controller = new AbortController()
    const aborting = run(`${spin}; touch over; while :; do :; done`, controller.signal)
    await vi.waitFor(() => expect(existsSync(join(runtime.project, 'over'))).toBe(true))
    controller.abort()
    const [aborted, second] = await aborting
    expect([ended, aborted]).toEqual(['ok', 'aborted'])
    expect(Math.min(first, second - first)).toBeGreaterThanOrEqual(100)
  },
)

test('a tool without input spends its budgets too (AUTH-4)', async () => {
  const ping = defineTool({
    name: 'demo.ping',
    description: 'Answers.',
    permission: 'readonly',
    input: noInput,
    run: () => 'pong',
  })
  const runtime = await openRuntime({
    tools: [ping],
    policy: { budgets: [{ id: 'one', unit: 'calls', limit: 1, tools: ['demo.*'] }] },
  })
  const session = runtime.session()
  expect((await session.call('demo.ping')).data).toBe('pong')
  expect((await session.call('demo.ping')).error?.reason).toBe('calls')
})
