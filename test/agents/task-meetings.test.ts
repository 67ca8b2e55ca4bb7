import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ApprovalRequest, Role } from 'handrail'
import { taskTools } from 'handrail/tools'
import { DatabaseSync } from 'node:sqlite'
import { verifyEvidence } from 'handrail/evidence'
import { expect, test } from 'vitest'
import { makeFolder } from '../support/project.ts'
import { allowTasks, openTasks, steps, workOn, type ShownStep } from './task-doors.ts'

const makeStore = () => ({ path: join(makeFolder(), 'store.db') })

test('tasks of another tenant or actor are not there, and nothing of them is told (BI-3, AUTH-6)', async () => {
  const runtime = await openTasks({ policy: { ...allowTasks, tenants: { one: {}, other: {} } } })
  const own = workOn(runtime.session({ tenant: 'one', actor: 'ada' }))
  const task = await own.create(steps({ a: [] }))
  const others = [
    { tenant: 'one', actor: 'bob' },
    { tenant: 'other', actor: 'ada' },
    { tenant: 'local', actor: 'ada' },
  ]
  for (const principal of others) {
    const { session, data, refusal } = workOn(runtime.session(principal))
    expect(await data('list', { include_terminal: true })).toEqual({ tasks: [], more: false })
    const unknown = (await session.call('agent.task_get', { task_id: 'task_x' })).error?.message
    expect((await session.call('agent.task_get', { task_id: task })).error?.message).toBe(
      unknown?.replace('task_x', task),
    )
    for (const [tool, more] of [
      ['query_steps', {}],
      ['claim_step', {}],
      ['update_step', { step_id: 'a', attempt: 1, status: 'completed' }],
      ['update', { operations: [{ op: 'update_task', title: 'mine' }] }],
      ['complete', {}],
      ['fail', {}],
      ['cancel', {}],
    ] as const)
      expect(await refusal(tool, { task_id: task, ...more })).toBe('unknown_task')
    expect(await refusal('create', { title: 'x', depends_on: [task] })).toBe('unknown_task')
  }
  expect(await own.stand(task)).toEqual({ a: 'ready' })
})

test.each<Role>(['sub', 'fork', 'worker'])(
  'the role %s has the tools of its own step at most, whatever is asked for (POOL-4, POOL-5)',
  async (role) => {
    const runtime = await openTasks()
    const own = [
      'agent.task_claim_step',
      'agent.task_get',
      'agent.task_query_steps',
      'agent.task_update_step',
    ]
    const names = (options: object) =>
      runtime
        .session({ role, ...options })
        .tools()
        .map(({ tool }) => tool)
    expect(names({})).toEqual(role === 'worker' ? own : [])
    expect(names({ allowedTools: ['*'] })).toEqual(own)
    const session = runtime.session({ role, allowedTools: ['*'] })
    for (const { definition } of taskTools().list()) {
      const { error } = await session.call(definition.name, {})
      expect(error?.reason === 'role_denied').toBe(!own.includes(definition.name))
    }
  },
)

test('no tool for tasks counts as one that starts agents (SCHED-2)', () => {
  expect(
    taskTools()
      .list()
      .filter(({ definition }) => definition.tags.includes('agent')),
  ).toEqual([])
})

test('a worker below a session works by the ordinary road: asked about with its role, recorded, counted for that session (AGENT-2)', async () => {
  const asked: ApprovalRequest[] = []
  const runtime = await openTasks({
    policy: {},
    limits: { callsPerSession: 5 },
    approve: async (request) => {
      asked.push(request)
      return { decision: 'allow_for_session' }
    },
  })
  const session = runtime.session()
  const author = workOn(session)
  const task = await author.create(steps({ a: [], b: [] }))
  const worker = workOn(runtime.session({ parent: session, role: 'worker' }))
  const first = await worker.claim(task)
  if (first !== undefined) await worker.update(task, first, { status: 'completed' })
  await worker.claim(task)
  expect(asked.map(({ tool, principal }) => [tool, principal.role])).toEqual([
    ['agent.task_create', 'main'],
    ['agent.task_claim_step', 'worker'],
    ['agent.task_update_step', 'worker'],
  ])
  expect(asked[1]?.preview?.title).toBe(`Claim a step of ${task}`)
  await author.stand(task)
  // The sixth call of both.
  expect(await worker.refusal('get', { task_id: task })).toMatch(/calls/)
  const roles = [...runtime.store.records({ kind: 'begin' })].map(
    ({ text }) => (JSON.parse(text) as { role: Role }).role,
  )
  expect(roles).toEqual(['main', 'worker', 'worker', 'worker', 'main', 'worker'])
  expect(verifyEvidence(runtime.store).ok).toBe(true)
})

test('without a rule or a person nothing of a task is changed, and in plan mode neither (BI-3)', async () => {
  const runtime = await openTasks({ policy: {} })
  const { data, refusal } = workOn(runtime.session())
  expect(await refusal('create', { title: 'x' })).toBe('no_callback')
  expect(await data('list', {})).toEqual({ tasks: [], more: false })
  const plan = workOn((await openTasks()).session({ mode: 'plan' }))
  expect(await plan.refusal('create', { title: 'x' })).toBe('mode_denied')
  expect(await plan.refusal('list', {})).toBeUndefined()
  const { decision, preview } = await runtime.session().preflight('agent.task_create', { title: 'x' })
  expect([decision?.effect, preview?.title]).toEqual(['ask', 'Create task x'])
  expect(await data('list', { include_terminal: true })).toEqual({ tasks: [], more: false })
})

test('secrets do not come to rest in tasks (BI-3)', async () => {
  const store = makeStore()
  const secret = 'correct-horse-battery'
  const runtime = await openTasks({ store, secrets: { KEY: secret } })
  const { session, create, claim, update, change, call } = workOn(runtime.session())
  const task = await create([{ step_id: 'a', title: `use ${secret}`, description: secret }], {
    summary: secret,
  })
  await change(task, { op: 'update_step', step_id: 'a', title: `with ${secret}` })
  const step = await claim(task)
  if (step !== undefined)
    await update(task, step, { status: 'failed', output: { token: secret }, reason: secret })
  await call('fail', { task_id: task, reason: secret })
  await session.close()
  await runtime.close()
  const again = await openTasks({ store })
  const shown = JSON.stringify((await workOn(again.session()).call('get', { task_id: task })).data)
  expect(shown).toContain('with [redacted]')
  await again.close()
  expect(readFileSync(store.path).includes(secret)).toBe(false)
})

test('a key makes a task once, and claims one step (BI-3, CALL-4)', async () => {
  const runtime = await openTasks({ store: makeStore() })
  const session = runtime.session()
  const { data } = workOn(session)
  const make = () =>
    session.call(
      'agent.task_create',
      { title: 'x', steps: steps({ a: [], b: [] }) as never },
      { idempotencyKey: 'ship-17' },
    )
  const [one, two] = [await make(), await make()]
  expect(two.data).toEqual(one.data)
  const { tasks } = await data<{ tasks: { task_id: string }[] }>('list', {})
  expect(tasks).toHaveLength(1)
  const claim = () =>
    session.call(
      'agent.task_claim_step',
      { task_id: tasks[0]?.task_id ?? '' },
      { idempotencyKey: 'step-of-run-9' },
    )
  const claims = await Promise.all([claim(), claim(), claim()])
  expect(new Set(claims.map(({ data: shown }) => JSON.stringify(shown))).size).toBe(1)
  expect(claims[0]?.data).toMatchObject({ step: { step_id: 'a', attempt: 1 } })
})

test('two runtimes on one store claim at once: each step goes to one of them (BI-3)', async () => {
  const store = makeStore()
  const runtimes = [await openTasks({ store }), await openTasks({ store })]
  const graph = Object.fromEntries(
    Array.from({ length: 40 }, (_, i) => [`s${i}`, i < 20 ? [] : [`s${i - 20}`]]),
  )
  const task = await workOn((runtimes[0] ?? (await openTasks())).session()).create(steps(graph))
  const taken: string[] = []
  await Promise.all(
    runtimes.flatMap((runtime) =>
      Array.from({ length: 5 }, async () => {
        const worker = workOn(runtime.session({ role: 'worker' }))
        for (let left = true; left;) {
          const { step, more } = await worker.data<{ step?: ShownStep; more: boolean }>('claim_step', {
            task_id: task,
          })
          left = more
          if (step === undefined) continue
          taken.push(step.step_id)
          await worker.update(task, step, { status: 'completed' })
        }
      }),
    ),
  )
  expect(taken.toSorted()).toEqual(Object.keys(graph).toSorted())
  expect(runtimes[0]?.store.examine()).toEqual([])
})

test('a task goes on in another process after a restart, under a session with the same id (BI-3)', async () => {
  const store = makeStore()
  const open = async () => {
    const runtime = await openTasks({ store })
    return { runtime, ...workOn(runtime.session({ id: 'session_kept', role: 'main' })) }
  }
  const before = await open()
  const task = await before.create(steps({ a: [], b: ['a'] }))
  const step = await before.claim(task)
  await before.runtime.close()
  const after = await open()
  if (step !== undefined) await after.update(task, step, { status: 'completed' })
  expect(await after.stand(task)).toEqual({ a: 'completed', b: 'ready' })
})

test('a task that another program changed in the file stops its store, and no step of it is claimed (BI-3, EVID-7)', async () => {
  const store = makeStore()
  const runtime = await openTasks({ store })
  const { create, refusal } = workOn(runtime.session())
  const task = await create(steps({ a: [], b: ['a'] }))
  const db = new DatabaseSync(store.path)
  db.exec(`UPDATE documents SET value = replace(value, '"pending"', '"ready"') WHERE id = 'b'`)
  db.close()
  expect(await refusal('claim_step', { task_id: task, step_id: 'b' })).toBe('store_read_only')
  expect(await refusal('claim_step', { task_id: task })).toBe('store_read_only')
})

test('a call that is aborted before its change changes nothing (BI-3)', async () => {
  const { session, create, stand } = workOn((await openTasks({ store: makeStore() })).session())
  const task = await create(steps({ a: [], b: [], c: [] }))
  const ends = new AbortController()
  const [kept, aborted] = [
    session.call('agent.task_claim_step', { task_id: task }),
    session.call('agent.task_claim_step', { task_id: task }, { signal: ends.signal }),
  ]
  ends.abort()
  expect((await aborted).ok).toBe(false)
  expect((await kept).ok).toBe(true)
  expect(Object.values(await stand(task)).toSorted()).toEqual(['ready', 'ready', 'running'])
})
