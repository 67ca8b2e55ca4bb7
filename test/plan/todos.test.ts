import { expect, test } from 'vitest'
import { planTools } from 'handrail/tools'
import { openRuntime } from '../support/project.ts'
import { makeStore, openShop } from '../support/shop.ts'

const familiar = {
  todos: [
    { content: 'Read the code', status: 'completed', activeForm: 'Reading the code' },
    { content: 'Run the tests', status: 'in_progress', activeForm: 'Running the tests' },
    { content: 'Write the page', status: 'pending' },
  ],
}

test('a todo list is the whole list that was written last, shown in the result, and read by the program (BI-4)', async () => {
  const runtime = await openRuntime({ tools: [planTools()] })
  const session = runtime.session()
  expect(session.todos()).toEqual([])
  const result = await session.call('TodoWrite', familiar, { presentation: 'compatible' })
  expect(result.content).toMatchObject([
    { text: '1 of 3 todos done\n[x] Read the code\n[>] Running the tests\n[ ] Write the page' },
  ])
  expect(result.data).toMatchObject({ todos: [{}, { active_form: 'Running the tests' }, {}] })
  expect(session.todos()).toEqual(familiar.todos)
  // What a program does to its copy stays its own.
  Object.assign(session.todos()[0] ?? {}, { content: 'x' })
  expect(session.todos()).toEqual(familiar.todos)
  await session.call('plan.todo_write', { todos: [] })
  expect(session.todos()).toEqual([])
  const wrong = await session.call('plan.todo_write', { todos: [{ content: 'x', status: 'done' }] })
  expect(wrong.error?.issues).toMatchObject([{ pointer: '/todos/0/status' }])
})

test('a todo list is of one session, and goes on with one that has an id of its own (BI-4)', async () => {
  const path = makeStore()
  const one = await openShop(path, { tools: [planTools()] })
  const write = (content: string) => ({ todos: [{ content, status: 'pending' }] })
  const session = one.runtime.session({ id: 'thread' })
  await session.call('plan.todo_write', write('mine'))
  const others = [
    one.runtime.session({ id: 'other' }),
    one.runtime.session({ parent: session }),
    one.runtime.session({ id: 'thread', tenant: 'acme' }),
  ]
  expect(others.map((each) => each.todos())).toEqual([[], [], []])
  await one.runtime.close()
  const two = await openShop(path, { tools: [planTools()] })
  const again = two.runtime.session({ id: 'thread' })
  expect(again.todos()).toEqual([{ content: 'mine', status: 'pending' }])
  await again.close({ forget: true })
  expect(two.runtime.session({ id: 'thread' }).todos()).toEqual([])
})

test('what a turn writes last is what stays, also if calls overlap and hooks are slow (BI-4)', async () => {
  for (const overlapCalls of [false, true]) {
    let first = true
    const before = async () => {
      const isFirst = first
      first = false
      if (isFirst) for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
      return { decision: 'allow' as const }
    }
    const runtime = await openRuntime({
      tools: [planTools()],
      overlapCalls,
      hooks: [{ name: 'slow', before }],
    })
    const session = runtime.session()
    const calls = ['one', 'two', 'three'].map((content) => ({
      id: content,
      tool: 'plan.todo_write',
      input: { todos: [{ content, status: 'pending' }] },
    }))
    await session.turn(calls)
    expect([overlapCalls, session.todos()]).toEqual([overlapCalls, [{ content: 'three', status: 'pending' }]])
  }
})

test('a todo list is kept without secrets, and works in plan mode (BI-4)', async () => {
  const path = makeStore()
  const secrets = { KEY: 'very-secret-value-1234' }
  const { runtime } = await openShop(path, { tools: [planTools()], secrets })
  const session = runtime.session({ id: 'thread', mode: 'plan' })
  const todos = [{ content: `Use ${secrets.KEY}`, status: 'pending' }]
  expect(await session.call('plan.todo_write', { todos })).toMatchObject({ ok: true })
  expect(JSON.stringify(runtime.store.facts('session'))).toContain('"Use ')
  expect(JSON.stringify([session.todos(), runtime.store.facts('session')])).not.toContain(secrets.KEY)
})

test('a template of a plan has the goal, a path in the project, and writes nothing (BI-4)', async () => {
  const runtime = await openRuntime({ tools: [planTools()] })
  const session = runtime.session()
  const made = await session.call('agent.plan_template', {
    goal: 'Größe der Läden: ändern!',
    suggested_dir: 'docs/plans/',
  })
  expect(made.data).toMatchObject({
    path: 'docs/plans/größe-der-läden-ändern.md',
    template: expect.stringMatching(/^## Goal\n\nGröße der Läden: ändern!\n/) as string,
  })
  expect((await session.call('agent.plan_template', { goal: '!' })).data).toMatchObject({
    path: 'plans/plan.md',
  })
  for (const suggested_dir of ['/etc', '../x'])
    expect(await session.call('agent.plan_template', { goal: 'x', suggested_dir })).toMatchObject({
      error: { reason: 'invalid_input' },
    })
})

test('sub, fork and worker have no template of a plan, whatever they ask for (POOL-4)', async () => {
  const runtime = await openRuntime({ tools: [planTools()] })
  for (const role of ['sub', 'fork', 'worker'] as const) {
    const session = runtime.session({ role, allowedTools: ['*'] })
    const result = await session.call('agent.plan_template', { goal: 'x' })
    expect([role, result.error?.reason]).toEqual([role, 'role_denied'])
    expect(session.tools().map(({ name }) => name)).toEqual(['plan.enter', 'plan.exit', 'plan.todo_write'])
  }
})
