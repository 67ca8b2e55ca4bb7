import { join } from 'node:path'
import { codeTools, defineTool, type Role } from 'handrail'
import { verifyEvidence } from 'handrail/evidence'
import { expect, test } from 'vitest'
import { modelSaying } from '../support/mock-model.ts'
import { makeFolder, personSaying } from '../support/project.ts'
import { allowAll, lastRunOf, noteTool, openSchedules, schedule } from './schedule-doors.ts'

const patient = { interval: 50 }
const makeStore = () => ({ path: join(makeFolder(), 'store.db') })
const onlyCron = { rules: [{ effect: 'allow' as const, tools: ['cron.*'] }] }

test('schedules of another tenant or actor are not there, and each run is its author’s (BI-5, AUTH-6)', async () => {
  const { runtime, clock } = await openSchedules({ policy: { ...allowAll, tenants: { one: {}, other: {} } } })
  const made = await schedule(runtime.session({ tenant: 'one', actor: 'ada' }))
  for (const principal of [
    { tenant: 'one', actor: 'bob' },
    { tenant: 'other', actor: 'ada' },
  ]) {
    const session = runtime.session(principal)
    expect((await session.call('cron.list')).data).toEqual({ schedules: [] })
    expect((await session.call('cron.delete', { id: made.id })).error?.reason).toBe('unknown_schedule')
  }
  expect(runtime.schedules.list()).toEqual([])
  expect(runtime.schedules.find(made.id, 'one')).toMatchObject({ tenant: 'one', actor: 'ada' })
  runtime.schedules.start()
  clock.forward(1)
  await expect.poll(() => lastRunOf(runtime, made.id, 'one')?.state, patient).toBe('ok')
  const run = lastRunOf(runtime, made.id, 'one')
  expect([...runtime.store.records({ tenant: 'one', session: run?.id ?? '' })].length).toBeGreaterThan(0)
})

test.each<Role>(['sub', 'fork', 'worker'])(
  'the role %s makes and deletes no schedules (BI-5, POOL-4)',
  async (role) => {
    const { runtime } = await openSchedules()
    const session = runtime.session({ role, allowedTools: ['*'] })
    for (const tool of ['cron.create', 'cron.delete'])
      expect((await session.call(tool, {})).error?.reason).toBe('role_denied')
  },
)

test('a session below another one makes no schedules, whatever its role (BI-5)', async () => {
  const { runtime } = await openSchedules()
  const session = runtime.session({ parent: runtime.session(), role: 'main' })
  await expect(schedule(session)).rejects.toThrow('role_denied')
})

test('in plan mode no schedule is made, and none that was made writes (BI-5, POOL-3)', async () => {
  const { runtime, clock, lines } = await openSchedules()
  const plans = await runtime.session({ mode: 'plan' }).call('cron.create', {
    name: 'x',
    schedule: '* * * * *',
    tool: 'demo.note',
    input: { line: 'x' },
  })
  expect(plans.error?.reason).toBe('mode_denied')
  const made = await schedule(runtime.session())
  await runtime.reload({ policy: { ...allowAll, mode: 'plan' } })
  runtime.schedules.start()
  clock.forward(1)
  await expect.poll(() => lastRunOf(runtime, made.id)?.error?.reason, patient).toBe('mode_denied')
  expect(lines()).toEqual([])
})

test('a session that may not call a tool schedules no call of it (BI-5, POOL-6)', async () => {
  const { runtime } = await openSchedules()
  const session = runtime.session()
  const end = session.restrict({ allowedTools: ['cron.*'] })
  await expect(schedule(session)).rejects.toThrow('tool_not_available')
  end()
  await schedule(session)
  await expect(schedule(runtime.session({ disallowedTools: ['demo.note'] }))).rejects.toThrow(
    'tool_not_available',
  )
})

test('each run is decided by the policy of then (BI-5)', async () => {
  const { runtime, clock, lines } = await openSchedules()
  const made = await schedule(runtime.session())
  runtime.schedules.start()
  clock.forward(1)
  await expect.poll(() => lastRunOf(runtime, made.id)?.state, patient).toBe('ok')
  await runtime.reload({ policy: { rules: [{ effect: 'deny', tools: ['demo.note'] }] } })
  clock.forward(1)
  await expect.poll(() => lastRunOf(runtime, made.id)?.error?.code, patient).toBe('POLICY.DENY_TOOL')
  expect(lines()).toHaveLength(1)
})

test('a run that asks waits for a person, also after a restart, and a yes for the session of its author says nothing (BI-5, APPR-9)', async () => {
  const store = makeStore()
  const project = makeFolder()
  const home = makeFolder()
  const person = personSaying('allow_for_session')
  const first = await openSchedules({ store, project, home, policy: onlyCron, approve: person.approve })
  const session = first.runtime.session({ actor: 'ada' })
  await session.call('demo.note', { line: 'asked' })
  const made = await schedule(session, { input: { line: 'waited' } })
  first.runtime.schedules.start()
  first.clock.forward(1)
  await expect.poll(() => lastRunOf(first.runtime, made.id)?.state, patient).toBe('waiting')
  await first.runtime.close()

  const next = await openSchedules({ store, project, home, policy: onlyCron })
  next.clock.forward(1)
  next.runtime.schedules.start()
  const [waiting] = next.runtime.approvals.list()
  expect(waiting?.request).toMatchObject({
    tool: 'demo.note',
    principal: { actor: 'ada', agent: { agentId: made.id } },
  })
  expect(next.lines()).toEqual(['asked'])
  await next.runtime.approvals.decide(waiting?.id ?? '', { decision: 'allow_once', by: 'bob' })
  await expect.poll(() => next.lines(), patient).toEqual(['asked', 'waited'])
  await expect.poll(() => lastRunOf(next.runtime, made.id)?.state, patient).toBe('ok')
  next.clock.forward(1)
  await expect.poll(() => next.runtime.approvals.list().length, patient).toBe(1)
  const [second] = next.runtime.approvals.list()
  await next.runtime.approvals.decide(second?.id ?? '', { decision: 'deny', by: 'bob' })
  await expect.poll(() => lastRunOf(next.runtime, made.id)?.error?.reason, patient).toBe('denied')
  expect(verifyEvidence(next.runtime.store).ok).toBe(true)
})

test('a tool that is another one than when the schedule was made is not run, nor one that is gone (BI-5)', async () => {
  const { runtime, clock, project, lines } = await openSchedules()
  const made = await schedule(runtime.session())
  const other = noteTool(project)
  const changed = { ...other, definition: { ...other.definition, description: 'Sends all your mail.' } }
  await runtime.remove(['demo.note'])
  await runtime.register([changed])
  runtime.schedules.start()
  clock.forward(1)
  await expect.poll(() => lastRunOf(runtime, made.id)?.error?.reason, patient).toBe('tool_changed')
  await runtime.remove(['demo.note'])
  clock.forward(1)
  await expect.poll(() => lastRunOf(runtime, made.id)?.error?.reason, patient).toBe('tool_not_available')
  expect(lines()).toEqual([])
})

test('a schedule keeps no secret (BI-5, OUT-4)', async () => {
  const { runtime } = await openSchedules({ secrets: { KEY: 'correct-horse-battery' } })
  const session = runtime.session()
  await expect(schedule(session, { input: { line: 'correct-horse-battery' } })).rejects.toThrow(
    'secret_in_schedule',
  )
  await expect(schedule(session, { prompt: 'log in with correct-horse-battery' })).rejects.toThrow(
    'secret_in_schedule',
  )
})

test('one that is not durable ends with its session (BI-5)', async () => {
  const { runtime } = await openSchedules()
  const session = runtime.session()
  await schedule(session, { durable: false })
  await schedule(session)
  expect(runtime.schedules.list()).toHaveLength(2)
  await session.close()
  await expect.poll(() => runtime.schedules.list().map(({ durable }) => durable), patient).toEqual([true])
})

test('budgets count runs, and one that is used up ends them (BI-5, GOV-4)', async () => {
  const { runtime, clock, lines } = await openSchedules({
    policy: { ...allowAll, budgets: [{ id: 'notes', unit: 'calls', limit: 1, tools: ['demo.note'] }] },
  })
  const made = await schedule(runtime.session())
  runtime.schedules.start()
  clock.forward(1)
  await expect.poll(() => lastRunOf(runtime, made.id)?.state, patient).toBe('ok')
  clock.forward(1)
  await expect.poll(() => lastRunOf(runtime, made.id)?.error?.code, patient).toBe('QUOTA.BUDGET_EXCEEDED')
  expect(lines()).toHaveLength(1)
})

test('a tool that runs once for each key gets one of its run (BI-5, IDEM-1)', async () => {
  const keyed = defineTool({
    name: 'demo.keyed',
    description: 'Runs once for each key.',
    permission: 'write',
    idempotency: 'keyed',
    keyFrom: 'call',
    input: { type: 'object', properties: {} },
    run: () => 'done',
  })
  const { runtime, clock } = await openSchedules({ tools: [keyed] })
  const made = await schedule(runtime.session(), { tool: 'demo.keyed', input: {} }).catch(
    (error: unknown) => error,
  )
  expect(made).toMatchObject({ runs: 0 })
  const { id } = made as { id: string }
  runtime.schedules.start()
  for (const runs of [1, 2]) {
    clock.forward(1)
    await expect.poll(() => runtime.schedules.find(id)?.runs, patient).toBe(runs)
    await expect.poll(() => lastRunOf(runtime, id), patient).toMatchObject({ state: 'ok' })
  }
})

test('there are at most 100 of one actor (BI-5)', async () => {
  const { runtime } = await openSchedules()
  const session = runtime.session({ actor: 'ada' })
  for (let count = 0; count < 100; count++) await schedule(session)
  await expect(schedule(session)).rejects.toThrow('too_many_schedules')
  await schedule(runtime.session({ actor: 'bob' }))
})

test('a schedule outlives evidence prune, and keeps its last 20 runs (BI-5, EVID-6)', async () => {
  const { runtime, clock } = await openSchedules({ store: makeStore() })
  const made = await schedule(runtime.session())
  for (let run = 0; run < 22; run++) expect((await runtime.schedules.run(made.id)).state).toBe('ok')
  runtime.store.prune({ at: clock.now() + 1 })
  expect(runtime.schedules.runs(made.id)).toHaveLength(20)
  runtime.schedules.start()
  clock.forward(1)
  await expect.poll(() => runtime.schedules.find(made.id)?.runs, patient).toBe(23)
  await expect.poll(() => lastRunOf(runtime, made.id)?.state, patient).toBe('ok')
  expect(runtime.store.examine()).toEqual([])
})

test('a scheduled agent works with the tools that its author had, waits for a person and goes on (BI-5, AGENT-3)', async () => {
  const project = makeFolder({ 'a.txt': 'alpha\n' })
  const { model, asked } = modelSaying([
    { calls: [{ tool: 'code__write_file', input: { path: 'b.txt', content: 'new' } }] },
    { text: 'It is written.' },
  ])
  const { runtime, clock } = await openSchedules({
    project,
    tools: [codeTools()],
    sandbox: 'host',
    agents: { model },
  })
  const session = runtime.session({ allowedTools: ['cron.*', 'code.write_file', 'code.read_file'] })
  const made = await schedule(session, { prompt: 'Write b.txt.', schedule: '0 9 * * *' })
  runtime.schedules.start()
  clock.forward(1)
  await expect.poll(() => lastRunOf(runtime, made.id)?.state, patient).toBe('waiting')
  expect(asked[0]?.tools?.map(({ name }) => name).toSorted()).toEqual([
    'code__read_file',
    'code__write_file',
    'cron__delete',
    'cron__list',
  ])
  const [waiting] = runtime.approvals.list()
  await runtime.approvals.decide(waiting?.id ?? '', { decision: 'allow_once', by: 'ann' })
  await expect.poll(() => lastRunOf(runtime, made.id)?.state, patient).toBe('ok')
  const run = lastRunOf(runtime, made.id)
  expect(run?.summary).toBe('It is written.')
  expect(runtime.runs.find(run?.id ?? '')?.endReason).toBe('completed')
})

test('without a model a scheduled agent fails and says what to set (BI-5)', async () => {
  const { runtime } = await openSchedules()
  const made = await schedule(runtime.session(), { prompt: 'Work.' })
  expect(await runtime.schedules.run(made.id)).toMatchObject({
    state: 'failed',
    error: { reason: 'no_model', message: expect.stringContaining('agents.model') as string },
  })
  await expect(runtime.schedules.run('schedule_x')).rejects.toMatchObject({ code: 'unknown_schedule' })
})

test('of two processes that run schedules on one store one runs each time, and the other takes over (BI-5)', async () => {
  const shared = { store: makeStore(), project: makeFolder(), home: makeFolder() }
  const [one, other] = [await openSchedules(shared), await openSchedules(shared)]
  const made = await schedule(one.runtime.session())
  const forward = () => [one, other].forEach(({ clock }) => clock.forward(1))
  const runner = one.runtime.schedules.start()
  other.runtime.schedules.start()
  for (const runs of [1, 2]) {
    forward()
    await expect.poll(() => lastRunOf(other.runtime, made.id), patient).toMatchObject({ state: 'ok' })
    await expect.poll(() => other.runtime.schedules.find(made.id)?.runs, patient).toBe(runs)
  }
  await runner.close()
  forward()
  await expect.poll(() => one.lines().length, patient).toBe(3)
  expect(one.runtime.schedules.find(made.id)?.runs).toBe(3)
})

test('a run that is asked for while another one goes on is refused (BI-5)', async () => {
  let open: (() => void) | undefined
  const { runtime, lines } = await openSchedules({
    during: () => new Promise<void>((resolve) => (open = resolve)),
  })
  const made = await schedule(runtime.session())
  const first = runtime.schedules.run(made.id)
  await expect.poll(() => lines().length, patient).toBe(1)
  await expect(runtime.schedules.run(made.id)).rejects.toMatchObject({ code: 'schedule_running' })
  await runtime.schedules.delete(made.id)
  open?.()
  expect(await first).toMatchObject({ state: 'ok' })
  expect(runtime.schedules.list()).toEqual([])
  expect(runtime.store.documents({ tenant: 'local', kind: 'schedule_run' })).toEqual([])
})
