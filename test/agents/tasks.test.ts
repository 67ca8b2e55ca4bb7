import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeFolder } from '../support/project.ts'
import { openTasks, steps, workOn } from './task-doors.ts'

const diamond = { a: [], b: ['a'], c: ['a'], d: ['b', 'c'] }

test.each([
  ['memory', () => 'memory' as const],
  ['a file', () => ({ path: join(makeFolder(), 'store.db') })],
])('a task goes from its template to its end, in %s (BI-3)', async (_, store) => {
  const runtime = await openTasks({ store: store() })
  const author = workOn(runtime.session())
  const { template } = await author.data<{ template: object }>('template', { goal: 'Ship the shop' })
  expect((await author.call('create', template)).data).toMatchObject({ counts: { ready: 1, pending: 3 } })
  const task = await author.create(steps(diamond), { summary: 'All of it' })
  const worker = workOn(runtime.session({ role: 'worker' }))
  expect(await author.stand(task)).toEqual({ a: 'ready', b: 'pending', c: 'pending', d: 'pending' })

  const first = await worker.claim(task)
  expect(first).toMatchObject({ step_id: 'a', status: 'running', attempt: 1 })
  if (first === undefined) throw new Error('A step was ready.')
  expect(await worker.claim(task)).toBeUndefined()
  await worker.update(task, first, { status: 'running', output: 'half' })
  await worker.update(task, first, { status: 'completed', output: { path: 'a.txt' } })
  expect(await author.stand(task)).toEqual({ a: 'completed', b: 'ready', c: 'ready', d: 'pending' })
  for (const name of ['b', 'c', 'd']) {
    expect(await author.refusal('complete', { task_id: task })).toBe('steps_open')
    const step = await worker.claim(task)
    expect(step?.step_id).toBe(name)
    if (step !== undefined) await worker.update(task, step, { status: 'completed' })
  }
  const { data } = await author.call('complete', { task_id: task, reason: 'all done' })
  expect(data).toMatchObject({ task: { status: 'completed', reason: 'all done' }, counts: { completed: 4 } })
  const { data: got } = await worker.call('get', { task_id: task })
  expect(got).toMatchObject({
    task: { title: 'Ship it', summary: 'All of it', steps: 4 },
    steps: [{ step_id: 'a', output: { path: 'a.txt' } }, {}, {}, {}],
    more: false,
  })
  const listed = await author.data<{ tasks: { title: string }[] }>('list', {})
  expect(listed.tasks).toHaveLength(1)
  const all = await author.data<{ tasks: { task_id: string }[] }>('list', { include_terminal: true })
  expect(all.tasks.map(({ task_id }) => task_id)[0]).toBe(task)
  expect(runtime.store.examine()).toEqual([])
})

test('models work with tasks under the names that they know (BI-3)', async () => {
  const runtime = await openTasks()
  const session = runtime.session()
  const call = async (tool: string, input: object) => {
    const result = await session.call(tool, { ...input }, { presentation: 'compatible' })
    expect(result.error).toBeUndefined()
    return result
  }
  const idOf = async (subject: string) =>
    (
      (await call('TaskCreate', { subject, description: 'd', activeForm: 'x' })).data as never as {
        task: { task_id: string }
      }
    ).task.task_id
  const [one, two] = [await idOf('One'), await idOf('Two')]
  await call('TaskUpdate', { taskId: one, status: 'in_progress', owner: 'me', addBlocks: [two] })
  const back = await session.call(
    'TaskUpdate',
    { taskId: one, addBlockedBy: [two] },
    { presentation: 'compatible' },
  )
  expect(back.error?.reason).toBe('dependency_cycle')
  expect((await call('TaskGet', { taskId: two })).data).toMatchObject({ task: { depends_on: [one] } })
  await call('TaskUpdate', { taskId: one, status: 'completed', subject: 'One, done' })
  await call('TaskUpdate', { taskId: two, status: 'deleted' })
  expect((await call('TaskList', {})).data).toMatchObject({
    tasks: [
      { task_id: two, status: 'cancelled' },
      { task_id: one, status: 'completed', title: 'One, done', owner: 'me' },
    ],
  })
})

test('a change of a task is made whole or not at all, and says what is wrong with which (BI-3)', async () => {
  const { session, create, refusal, stand, change } = workOn((await openTasks()).session())
  const task = await create(steps(diamond))
  const before = await stand(task)
  const add = { op: 'add_step', step_id: 'e', title: 'E', depends_on: ['d'] }
  const link = (step_id: string, ...depends_on: string[]) => ({ op: 'add_dependency', step_id, depends_on })
  for (const [reason, message, ...operations] of [
    ['dependency_cycle', /a → e → d → (b|c) → a|→ .* →/, add, link('a', 'e')],
    ['dependency_cycle', /a → a/, link('a', 'a')],
    ['unknown_step', /no step "x"/, add, link('e', 'x')],
    ['unknown_step', /no step "zz"/, { ...add, depends_on: ['zz'] }],
    ['unknown_step', /"b" does not depend on the step "d"/, { ...link('b', 'd'), op: 'remove_dependency' }],
    ['step_exists', /has a step "e" already/, add, add],
    ['dependency_needed', /"a" cannot be deleted.*"b", "c"/, add, { op: 'delete_step', step_id: 'a' }],
    ['invalid_input', /\/operations\/1\/step_id: delete_step needs/, add, { op: 'delete_step' }],
    [
      'invalid_input',
      /\/operations\/0\/owner: delete_step takes no/,
      { op: 'delete_step', step_id: 'd', owner: 'x' },
    ],
    ['unknown_task', /no task "task_x"/, add, { op: 'update_task', add_depends_on: ['task_x'] }],
    ['steps_open', /are ready: "a"/, { op: 'update_task', status: 'completed' }],
  ] as const) {
    const { error } = await session.call('agent.task_update', {
      task_id: task,
      operations: [...operations] as never,
    })
    expect([error?.reason, error?.message]).toEqual([reason, expect.stringMatching(message)])
    expect(await stand(task)).toEqual(before)
  }
  expect(await refusal('create', { title: 'x', steps: steps({ a: ['b'], b: ['c'], c: ['a'] }) })).toBe(
    'dependency_cycle',
  )
  expect(await refusal('get', { task_id: 'task_x' })).toBe('unknown_task')
  // What stands later in the list may be named before.
  await change(task, { ...add, depends_on: ['f'] }, { op: 'add_step', step_id: 'f', title: 'F' })
  expect(await stand(task)).toEqual({ ...before, e: 'pending', f: 'ready' })
})

test('steps are ready, wait and go back as what they depend on does (BI-3)', async () => {
  const { create, claim, update, change, stand, refusal } = workOn((await openTasks()).session())
  const task = await create(steps(diamond))
  const take = async (step: string, status?: string) => {
    const claimed = await claim(task, step)
    if (claimed !== undefined && status !== undefined) await update(task, claimed, { status, reason: 'so' })
    return claimed
  }
  const reopen = (step_id: string) => ({ op: 'reopen_step', step_id })
  await take('a', 'completed')
  await take('b', 'failed')
  expect(await stand(task)).toEqual({ a: 'completed', b: 'failed', c: 'ready', d: 'pending' })
  expect(await refusal('claim_step', { task_id: task, step_id: 'd' })).toBe('step_not_ready')
  await change(task, reopen('a'))
  expect(await stand(task)).toEqual({ a: 'ready', b: 'failed', c: 'pending', d: 'pending' })
  await take('a', 'completed')
  await take('c', 'completed')
  expect(await refusal('update', { task_id: task, operations: [reopen('a')] })).toBe('dependency_needed')
  await change(task, reopen('c'), reopen('b'), reopen('a'))
  expect(await stand(task)).toEqual({ a: 'ready', b: 'pending', c: 'pending', d: 'pending' })
  await take('a', 'completed')
  // A step that is cancelled lets nothing go on: its author says what shall.
  await change(task, { op: 'cancel_step', step_id: 'b', reason: 'not needed' })
  await take('c', 'completed')
  expect(await stand(task)).toMatchObject({ b: 'cancelled', d: 'pending' })
  await change(task, { op: 'remove_dependency', step_id: 'd', depends_on: ['b'] })
  expect(await stand(task)).toMatchObject({ d: 'ready' })
  const d = await take('d', 'ready')
  expect(d?.attempt).toBe(1)
  expect((await take('d', 'completed'))?.attempt).toBe(2)
  await change(task, { op: 'update_task', status: 'completed' })
  expect(await refusal('update', { task_id: task, operations: [reopen('d')] })).toBe('task_ended')
  await change(task, { op: 'update_task', status: 'running' }, reopen('d'))
  expect(await stand(task)).toMatchObject({ d: 'ready' })
})

test('a step is its worker’s alone for 300 seconds after each word on it, and then the next one’s (BI-3)', async () => {
  let now = 1_000_000
  const runtime = await openTasks({ now: () => now })
  const author = workOn(runtime.session())
  const [one, two] = [
    workOn(runtime.session({ role: 'worker' })),
    workOn(runtime.session({ role: 'worker' })),
  ]
  const task = await author.create(steps({ a: [], b: ['a'] }))
  const first = await one.claim(task)
  if (first === undefined) throw new Error('A step was ready.')
  now += 299_999
  expect(await two.claim(task)).toBeUndefined()
  await one.update(task, first, { status: 'running' })
  now += 299_999
  expect(await two.claim(task)).toBeUndefined()
  expect(await two.refusal('claim_step', { task_id: task, step_id: 'a' })).toBe('step_not_ready')
  expect(await author.stand(task)).toEqual({ a: 'running', b: 'pending' })
  now += 1
  expect(await author.stand(task)).toEqual({ a: 'ready', b: 'pending' })
  expect((await author.data<{ counts: object }>('get', { task_id: task })).counts).toMatchObject({
    ready: 1,
    running: 0,
  })
  const second = await two.claim(task)
  expect(second).toMatchObject({ step_id: 'a', attempt: 2, worker: { session: two.session.id } })
  // The first one comes back late.
  for (const status of ['running', 'completed', 'failed', 'ready'])
    for (const attempt of [1, 2])
      expect(await one.refusal('update_step', { task_id: task, step_id: 'a', attempt, status })).toBe(
        'claim_lost',
      )
  expect(await author.stand(task)).toEqual({ a: 'running', b: 'pending' })
  if (second !== undefined) await two.update(task, second, { status: 'completed' })
  expect(
    await two.refusal('update_step', { task_id: task, step_id: 'a', attempt: 2, status: 'completed' }),
  ).toBe('claim_lost')
  expect(await one.claim(task)).toMatchObject({ step_id: 'b' })
})

test('a session that claims a step again changes nothing under its earlier claim (BI-3)', async () => {
  let now = 1_000_000
  const { create, claim, refusal, update } = workOn((await openTasks({ now: () => now })).session())
  const task = await create(steps({ a: [] }))
  await claim(task)
  now += 300_000
  const second = await claim(task)
  expect(await refusal('update_step', { task_id: task, step_id: 'a', attempt: 1, status: 'completed' })).toBe(
    'claim_lost',
  )
  if (second !== undefined)
    expect((await update(task, second, { status: 'completed' })).step.status).toBe('completed')
})

test('what a worker has done is not lost because its lease ran out, as long as no other has the step (BI-3)', async () => {
  let now = 1_000_000
  const { create, claim, update } = workOn((await openTasks({ now: () => now })).session())
  const task = await create(steps({ a: [] }))
  const step = await claim(task)
  now += 1_000_000
  if (step !== undefined)
    expect((await update(task, step, { status: 'completed' })).step.status).toBe('completed')
})

test('no step of a task that has ended, or that waits for another task, can be claimed or updated (BI-3)', async () => {
  const { create, claim, call, refusal } = workOn((await openTasks()).session())
  const before = await create([])
  const task = await create(steps({ a: [], b: [] }), { depends_on: [before] })
  expect(await refusal('claim_step', { task_id: task })).toBe('step_not_ready')
  await call('complete', { task_id: before })
  await claim(task, 'a')
  await call('fail', { task_id: task, reason: 'no time' })
  for (const [tool, more] of [
    ['claim_step', {}],
    ['update_step', { step_id: 'a', attempt: 1, status: 'completed' }],
    ['cancel', {}],
    ['complete', {}],
  ] as const)
    expect(await refusal(tool, { task_id: task, ...more })).toBe('task_ended')
  // It says the same a second time.
  await call('fail', { task_id: task })
})

test('pages of tasks and steps follow each other without a gap (BI-3)', async () => {
  const author = workOn((await openTasks()).session())
  const graph = Object.fromEntries(Array.from({ length: 25 }, (_, i) => [`s${i}`, []]))
  const task = await author.create(steps(graph))
  await author.claim(task, 's3')
  const seen: string[] = []
  for (let offset = 0, more = true; more; offset += 10) {
    const page = await author.data<{ steps: { step_id: string }[]; more: boolean }>('query_steps', {
      task_id: task,
      limit: 10,
      offset,
    })
    seen.push(...page.steps.map(({ step_id }) => step_id))
    more = page.more
  }
  expect(seen).toEqual(Object.keys(graph).filter((name) => name !== 's3'))
  const some = await author.data<{ steps: object[] }>('query_steps', {
    task_id: task,
    step_ids: ['s3', 's9'],
  })
  expect(some.steps).toMatchObject([
    { step_id: 's3', status: 'running' },
    { step_id: 's9', status: 'ready' },
  ])
  const made = [task]
  for (let i = 0; i < 4; i++) made.unshift(await author.create([]))
  const list = (offset: number) =>
    author.data<{ tasks: { task_id: string }[]; more: boolean }>('list', { limit: 3, offset })
  const pages = [await list(0), await list(3)]
  expect(pages.flatMap(({ tasks }) => tasks.map(({ task_id }) => task_id)).toSorted()).toEqual(
    made.toSorted(),
  )
  expect(pages.map(({ more }) => more)).toEqual([true, false])
})
