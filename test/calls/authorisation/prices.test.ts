import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineTool, type Policy } from 'handrail'
import { composeTools } from 'handrail/tools'
import { expect, test } from 'vitest'
import { call, handrail, makePlace } from '../../support/command-line.ts'
import { makeTool } from '../../support/make-tool.ts'
import { modelSaying } from '../../support/mock-model.ts'
import { makeFolder, openRuntime, personSaying } from '../../support/project.ts'

const purse = { id: 'purse', unit: 'money', limit: 1 } as const
const policy: Policy = {
  budgets: [purse],
  prices: [
    { tools: ['search.web'], perCall: 0.4 },
    { tools: ['search.*'], perCall: 0.1 },
  ],
}
const tools = [makeTool('search.web'), makeTool('search.news'), makeTool('demo.free')]

const exceeded = { code: 'QUOTA.BUDGET_EXCEEDED', reason: 'money' }

test.each([['memory'], ['sqlite']] as const)(
  'a call costs the money that the table of prices says, until the budget has too little left, over a %s store (AUTH-4)',
  async (kind) => {
    const store = kind === 'memory' ? ('memory' as const) : { path: join(makeFolder(), 'store.db') }
    const runtime = await openRuntime({ tools, policy, store })
    const session = runtime.session()
    for (const tool of ['search.web', 'search.web', 'search.news'])
      expect(await session.call(tool)).toMatchObject({ ok: true })
    const { error } = await session.call('search.web')
    expect(error).toMatchObject({
      ...exceeded,
      data: { budget: 'purse', unit: 'money', limit: 1, left: 0.1 },
    })
    expect(error?.message).toContain('0.1 of 1 money left, too few for "search.web", which needs 0.4')
    expect(await session.call('demo.free')).toMatchObject({ ok: true })
    expect(await session.call('search.news')).toMatchObject({ ok: true })
    expect(await session.preflight('search.news')).toMatchObject({
      effect: 'deny',
      budget: { accounts: [{ id: 'purse', unit: 'money', limit: 1, spent: 1, reserved: 0 }] },
    })
  },
)

test('what calls that run may cost is held, and what does not start costs nothing (AUTH-4)', async () => {
  const gate = Promise.withResolvers<string>()
  const slow = defineTool({
    name: 'search.web',
    description: 'Waits.',
    permission: 'write',
    run: () => gate.promise,
  })
  const person = personSaying('allow_once')
  const runtime = await openRuntime({ tools: [slow], policy, approve: person.approve })
  const session = runtime.session()
  const running = [session.call('search.web'), session.call('search.web')]
  await expect
    .poll(async () => (await session.preflight('search.web')).budget?.accounts)
    .toMatchObject([{ spent: 0, reserved: 0.8 }])
  expect((await session.call('search.web')).error).toMatchObject({
    ...exceeded,
    data: { left: 0.2, reserved: 0.8 },
  })
  gate.resolve('done')
  expect((await Promise.all(running)).map(({ ok }) => ok)).toEqual([true, true])
  const other = await openRuntime({ tools: [slow], policy, approve: personSaying('deny').approve })
  await other.session().call('search.web')
  const { budget } = await other.session().preflight('search.web')
  expect(budget?.accounts).toMatchObject([{ spent: 0, reserved: 0 }])
})

test('models and calls of a run draw from one purse (AUTH-4, AGENT-3)', async () => {
  const runtime = await openRuntime({ tools, policy })
  const search = { calls: [{ tool: 'search__web', input: {} }], tokens: { input: 10, output: 0 } }
  const { model } = modelSaying([search, search, { text: 'Done.', tokens: { input: 10, output: 0 } }])
  // Ten tokens for 0.1.
  const price = { input: 10_000, output: 0 }
  const { endReason } = await (await runtime.run({ model, price, prompt: 'Go.', maxOutputTokens: 1 })).result
  // 0.1, 0.4, 0.1, 0.4: nothing is left for the third answer.
  expect(endReason).toBe('budget_exceeded')
  const { budget } = await runtime.session().preflight('search.web')
  expect(budget?.accounts).toMatchObject([{ id: 'purse', spent: 1 }])
})

test('the parts of a composition cost what they cost, and are held before the first one runs (AUTH-4)', async () => {
  const twice = composeTools({
    name: 'demo.twice',
    description: 'Looks twice.',
    parts: {
      one: { tool: makeTool('search.web') },
      two: { tool: makeTool('search.web') },
      three: { tool: makeTool('search.web') },
    },
  })
  const web = makeTool('search.web')
  const runtime = await openRuntime({
    tools: [web, twice],
    policy,
  })
  const { error } = await runtime.session().call('demo.twice')
  expect(error).toMatchObject(exceeded)
  const { budget } = await runtime.session().preflight('search.web')
  expect(budget?.accounts).toMatchObject([{ spent: 0, reserved: 0 }])
})

test('a price without a budget, and one of no number, are told (AUTH-4)', async () => {
  const open = (wrong: Policy) => openRuntime({ tools, policy: wrong })
  await expect(open({ prices: [{ tools: ['search.*'], perCall: 1 }] })).rejects.toMatchObject({
    issues: [{ pointer: '/policy/prices/0', message: expect.stringContaining('No budget counts money') }],
  })
  await expect(
    open({ budgets: [purse], prices: [{ tools: ['search.*'], perCall: -1 }] }),
  ).rejects.toMatchObject({ issues: [{ pointer: '/policy/prices/0/perCall' }] })
})

test('prices of policy.json hold at the command line, for built-in tools too (AUTH-4)', async () => {
  const place = makePlace()
  writeFileSync(join(place.project, 'a.txt'), 'a')
  mkdirSync(place.home, { recursive: true })
  writeFileSync(
    join(place.home, 'policy.json'),
    JSON.stringify({ budgets: [purse], prices: [{ tools: ['code.read_file'], perCall: 0.75 }] }),
  )
  const input = { path: 'a.txt' }
  expect((await call(place, 'code.read_file', input)).code).toBe(0)
  const told = await handrail(place, ['explain', 'code.read_file', JSON.stringify(input)])
  expect(told.stdout).toContain('budget purse: 0.75 of 1 money spent')
  const over = await call(place, 'code.read_file', input)
  expect(over.stderr).toContain('QUOTA.BUDGET_EXCEEDED (money)')
})
