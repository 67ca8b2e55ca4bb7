import { join } from 'node:path'
import { codeTools, type RuntimeOptions } from 'handrail'
import { createAgentDefinitionRegistry, delegationTools } from 'handrail/agents'
import { taskTools } from 'handrail/tools'
import { expect, test } from 'vitest'
import type { ModelAsked, Said } from '../support/mock-model.ts'
import { makeFolder, personSaying } from '../support/project.ts'
import { allowAgents, lastTold, modelOf, openAgents, say } from './open-team.ts'
import { steps, workOn } from './task-doors.ts'

const makeStore = () => ({ path: join(makeFolder(), 'store.db') })

const lead = 'Have it done.'
const one = 'default-1\\"'
const two = 'default-2\\"'

const claim = (task_id: string, step_id?: string) =>
  say('task_claim_step', { task_id, ...(step_id && { step_id }) })
const close = (task_id: string, step_id: string, more: object = {}) =>
  say('task_update_step', { task_id, step_id, attempt: 1, status: 'completed', ...more })
const dispatch = (task_id: string, more: object = {}): Said =>
  say('dispatch_worker', { task_id, instruction: 'Do it well.', ...more })
/** Several calls of one answer. */
const together = (...all: readonly Said[]): Said => ({
  calls: all.flatMap(({ calls = [] }, index) => calls.map((call) => ({ ...call, id: `call_${index}` }))),
})
const namesOf = (asked: ModelAsked | undefined) => (asked?.tools ?? []).map(({ name }) => name)

async function open(graph: Parameters<typeof steps>[0], options: RuntimeOptions = {}) {
  const runtime = await openAgents(options)
  const author = workOn(runtime.session())
  return { runtime, author, task: await author.create(steps(graph)) }
}

test('a worker does the steps that it was dispatched for, and claims no other, whatever it tries (BI-2, BI-3, POOL-5)', async () => {
  const { runtime, author, task } = await open({ a: [], b: ['a'], c: [] })
  const other = await author.create(steps({ z: [] }))
  const { model, asked } = modelOf({
    [one]: [
      claim(task, 'c'),
      claim(other),
      claim(task),
      close(task, 'a', { output: 'built' }),
      claim(task),
      close(task, 'b'),
      claim(task),
      { text: 'a and b are done.' },
    ],
    [lead]: [dispatch(task, { allowed_step_ids: ['b', 'a'], context: 'It is Monday.' }), { text: 'Done.' }],
  })
  const run = await runtime.run({ model, prompt: lead })
  expect(await run.result).toMatchObject({ endReason: 'completed', text: 'Done.' })
  const worker = asked[one] ?? []
  expect(namesOf(worker[0]).filter((name) => name.startsWith('agent__'))).toEqual([
    'agent__task_claim_step',
    'agent__task_get',
    'agent__task_query_steps',
    'agent__task_update_step',
  ])
  expect(namesOf(worker[0])).toContain('code__read_file')
  expect(namesOf(worker[0]).filter((name) => /write|edit|delete|run_command|message/.test(name))).toEqual([])
  expect(JSON.stringify(worker[0]?.prompt)).toMatch(
    /Claim these steps alone: b, a\.[^]*Do it well\.[^]*It is Monday\./,
  )
  for (const refused of [worker[1], worker[2]]) expect(lastTold(refused)).toContain('step_not_allowed')
  // Its own steps are over, though "c" is ready.
  expect(lastTold(worker[7])).toContain('There is nothing left to claim.')
  expect(lastTold(asked[lead]?.[1])).toContain('a and b are done.')
  expect(await author.stand(task)).toEqual({ a: 'completed', b: 'completed', c: 'ready' })
  expect(await author.stand(other)).toEqual({ z: 'ready' })
  const { steps: shown } = await author.data<{ steps: { worker: { role: string } }[] }>('query_steps', {
    task_id: task,
    status: 'completed',
  })
  expect(shown.map((step) => step.worker.role)).toEqual(['worker', 'worker'])
})

test('workers work beside each other, as many as their pool has; all are waited for (SCHED-2, SCHED-3)', async () => {
  const { runtime, author, task } = await open(
    { a: [], b: [] },
    { agents: { workerPools: { default: { size: 2, description: 'For all.' } } } },
  )
  const both = Promise.withResolvers<void>()
  let at = 0
  const wait = async (then: Said): Promise<Said> => {
    if (++at === 2) both.resolve()
    await both.promise
    return then
  }
  const { model, asked } = modelOf({
    [one]: [() => wait(claim(task, 'a')), () => Promise.reject(new Error('down'))],
    [two]: [() => wait(claim(task, 'b')), close(task, 'b'), { text: 'b is done.' }],
    [lead]: [
      together(dispatch(task), dispatch(task), dispatch(task), say('list_workers')),
      say('list_workers'),
      { text: 'Done.' },
    ],
  })
  const run = await runtime.run({ model, prompt: lead })
  expect(await run.result).toMatchObject({ endReason: 'completed' })
  const told = (asked[lead]?.[1]?.prompt ?? []).flatMap(({ role, content }) =>
    role === 'tool' ? [JSON.stringify(content)] : [],
  )[0]
  expect(told).toMatch(
    /agent_unfinished[^]*left steps behind[^]*a[^]*b is done\.[^]*workers_busy[^]*2 of 2 idle/,
  )
  expect(lastTold(asked[lead]?.[2])).toMatch(/default: 2 of 2 idle\. For all\./)
  // One that ended without a word on its step has failed it.
  expect(await author.stand(task)).toEqual({ a: 'failed', b: 'completed' })
})

test('a step that an aborted worker left is ready again, and its place is free (BI-2, SCHED-6)', async () => {
  const { runtime, author, task } = await open({ a: [] })
  const session = runtime.session()
  const claimed = Promise.withResolvers<void>()
  const { model } = modelOf({
    [one]: [
      claim(task),
      ({ abortSignal }) => {
        claimed.resolve()
        return new Promise((_, reject) =>
          abortSignal?.addEventListener('abort', () => reject(new Error('aborted'))),
        )
      },
    ],
    [lead]: [dispatch(task), { text: 'Done.' }],
  })
  const run = await runtime.run({ model, prompt: lead })
  await claimed.promise
  const list = async () =>
    (await session.call('agent.list_workers', { worker_pool_id: 'default' })).data as {
      pools: { idle: number; workers: { task_id?: string }[] }[]
    }
  const during = await list()
  expect(during).toMatchObject({
    pools: [{ idle: 3, workers: [{ status: 'busy' }, { status: 'idle' }, {}, {}] }],
  })
  // What it does is for the session to know that dispatched it.
  expect(JSON.stringify(during)).not.toContain(task)
  run.abort()
  await run.result
  expect(await author.stand(task)).toEqual({ a: 'ready' })
  expect(await list()).toMatchObject({ pools: [{ idle: 4 }] })
})

test('two processes on one store share the workers of a pool, and tenants have their own (BI-2, AUTH-6)', async () => {
  const store = makeStore()
  const agents = { workerPools: { few: { size: 1 } } }
  const policy = { ...allowAgents, tenants: { local: {}, acme: {} } }
  const gate = Promise.withResolvers<void>()
  const { model } = modelOf({
    'few-1': [
      async () => {
        await gate.promise
        return { text: 'Late.' }
      },
      { text: 'Free.' },
    ],
    'acme-task': [],
  })
  const first = await open({ a: [] }, { store, policy, agents: { ...agents, model } })
  const second = await openAgents({ store, policy, agents: { ...agents, model } })
  const order = { task_id: first.task, instruction: 'Go.' }
  const working = first.runtime.session().call('agent.dispatch_worker', order)
  const idle = async (options = {}) =>
    ((await second.session(options).call('agent.list_workers')).data as { pools: { idle: number }[] })
      .pools[0]?.idle
  await expect.poll(() => idle()).toBe(0)
  expect(await idle({ tenant: 'acme' })).toBe(1)
  const busy = await second.session().call('agent.dispatch_worker', order)
  expect(busy.error).toMatchObject({ reason: 'workers_busy' })
  const named = await second.session().call('agent.dispatch_worker', { ...order, worker_agent_id: 'few-1' })
  expect(named.error?.message).toContain('The worker "few-1" is at work.')
  gate.resolve()
  expect((await working).data).toMatchObject({
    worker_agent_id: 'few-1',
    worker_pool_id: 'few',
    text: 'Late.',
  })
  expect((await second.session().call('agent.dispatch_worker', order)).ok).toBe(true)
})

test('a worker writes only if that is asked for, and only as the policy and its dispatcher may (POOL-5, PERM-4)', async () => {
  const person = personSaying('allow_once')
  const { runtime, task } = await open(
    { a: [] },
    {
      approve: person.approve,
      policy: { rules: [{ effect: 'allow', tools: ['agent.*'] }] },
      disallowedTools: ['code.edit_file'],
      agents: {
        workerPools: { default: { size: 1 }, writers: { size: 1, allowedTools: ['code.write_file'] } },
      },
    },
  )
  const write = (path: string): Said => ({
    calls: [{ tool: 'code__write_file', input: { path, content: 'b' } }],
  })
  const { model, asked } = modelOf({
    [one]: [write('b.txt'), { text: 'Written.' }],
    'writers-1': [write('c/d.txt'), { text: 'Written.' }],
    [lead]: [
      dispatch(task, { allowed_tools: ['code.write_file', 'code.edit_file', 'agent.create_*', 'plan.*'] }),
      dispatch(task, { worker_agent_id: 'writers-1' }),
      { text: 'Done.' },
    ],
  })
  await (
    await runtime.run({ model, prompt: lead, wait: true, session: { disallowedTools: ['code.glob'] } })
  ).result
  // Beside what every worker has.
  expect(namesOf(asked[one]?.[0])).toEqual(
    expect.arrayContaining(['code__write_file', 'code__read_file', 'agent__task_claim_step']),
  )
  expect(namesOf(asked[one]?.[0]).filter((name) => /edit|glob|dispatch|create|team/.test(name))).toEqual([])
  expect(namesOf(asked['writers-1']?.[0])).toContain('code__write_file')
  expect(person.asked.map(({ tool, principal }) => [tool, principal.role, principal.agent?.agentId])).toEqual(
    [
      ['code.write_file', 'worker', 'default-1'],
      ['code.write_file', 'worker', 'writers-1'],
    ],
  )
})

test('a worker that waits for a person goes on as the same worker, with its claim (BI-2, AGENT-3)', async () => {
  const places = { store: makeStore(), project: makeFolder(), home: makeFolder() }
  const ask = {
    policy: { rules: [{ effect: 'allow' as const, tools: ['agent.task_create', 'agent.task_update_step'] }] },
  }
  const { runtime, task } = await open({ a: [], b: [] }, { ...ask, ...places })
  const { model, asked } = modelOf({
    [one]: [claim(task), claim(task, 'b'), close(task, 'a'), { text: 'a is done.' }],
    [lead]: [dispatch(task, { allowed_step_ids: ['a'] }), { text: 'Done.' }],
  })
  const run = await runtime.run({ model, prompt: lead })
  const first = await run.result
  expect(first).toMatchObject({
    endReason: 'approval_pending',
    waiting: [{ request: { tool: 'agent.task_claim_step' } }],
  })
  await runtime.approvals.decide(first.waiting[0]?.id ?? '', { decision: 'allow_for_session', by: 'ada' })
  await runtime.close()
  const again = await openAgents({ ...ask, ...places })
  const end = await (await again.run({ model, resume: run.id })).result
  expect(end).toMatchObject({ endReason: 'completed', text: 'Done.' })
  // The bound of the worker holds in the process that goes on with it, whatever a person allows.
  expect(lastTold(asked[one]?.[2])).toContain('step_not_allowed')
  expect(await workOn(again.session()).stand(task)).toEqual({ a: 'completed', b: 'ready' })
})

test('what cannot be dispatched is refused, and says what there is (BI-2)', async () => {
  const { runtime, author, task } = await open({ a: [] })
  const session = runtime.session()
  const order = async (more: object) =>
    (await session.call('agent.dispatch_worker', { task_id: task, instruction: 'x', ...more })).error
  expect(await order({ task_id: 'task_none' })).toMatchObject({ reason: 'unknown_task' })
  expect(await order({ allowed_step_ids: ['a', 'zz'] })).toMatchObject({ reason: 'unknown_step' })
  expect(await order({ allowed_step_ids: [] })).toMatchObject({ reason: 'invalid_input' })
  expect(await order({ worker_pool_id: 'none' })).toMatchObject({
    reason: 'unknown_pool',
    message: expect.stringContaining('"default"') as string,
  })
  expect(await order({ worker_agent_id: 'default-5' })).toMatchObject({
    reason: 'unknown_worker',
    message: expect.stringContaining('"default-1"') as string,
  })
  expect(await order({})).toMatchObject({ reason: 'no_model' })
  expect((await session.call('agent.list_workers')).data).toMatchObject({ pools: [{ idle: 4 }] })
  await author.call('cancel', { task_id: task })
  expect(await order({})).toMatchObject({ reason: 'task_ended' })
  const other = runtime.session({ actor: 'bob' })
  const strange = await other.call('agent.dispatch_worker', { task_id: task, instruction: 'x' })
  expect(strange.error?.reason).toBe('unknown_task')
  await expect(
    openAgents({
      agents: { workerPools: { 'a b': { size: 1 }, none: { size: 0 }, odd: { size: 1, speed: 2 } as never } },
    }),
  ).rejects.toMatchObject({
    code: 'invalid_options',
    issues: [
      { pointer: '/agents/workerPools/a b' },
      { pointer: '/agents/workerPools/none/size' },
      { pointer: '/agents/workerPools/odd/speed' },
    ],
  })
})

test('what a session may claim its children may at most, and a plan claims nothing (BI-3, POOL-5)', async () => {
  const { runtime, task } = await open({ a: [], b: [], c: [] })
  const outer = runtime.session({ claims: { task, steps: ['a', 'b'] } })
  const inner = workOn(
    runtime.session({ parent: outer, role: 'worker', claims: { task, steps: ['b', 'c'] } }),
  )
  expect(await inner.refusal('claim_step', { task_id: task, step_id: 'c' })).toBe('step_not_allowed')
  expect(await inner.refusal('claim_step', { task_id: task, step_id: 'a' })).toBe('step_not_allowed')
  expect(await inner.claim(task)).toMatchObject({ step_id: 'b' })
  expect(await inner.data('claim_step', { task_id: task })).toEqual({ more: true })
  const none = workOn(runtime.session({ claims: { task, steps: [] } }))
  expect(await none.data('claim_step', { task_id: task })).toEqual({ more: false })
  const elsewhere = workOn(runtime.session({ parent: outer, role: 'worker', claims: { task: 'task_other' } }))
  expect(await elsewhere.refusal('claim_step', { task_id: task, step_id: 'a' })).toBe('step_not_allowed')
  const plan = workOn(runtime.session({ mode: 'plan', claims: { task } }))
  expect(await plan.refusal('claim_step', { task_id: task })).toBe('mode_denied')
  expect(() => runtime.session({ claims: { task, step: 'a' } as never })).toThrow(
    expect.objectContaining({ issues: [expect.objectContaining({ pointer: '/claims/step' })] }),
  )
})

test('a worker of a definition is told what that says, and has what it suggests (AGENT-1, POOL-5)', async () => {
  const home = makeFolder({
    'agents/builder.md':
      '---\nname: builder\ndescription: Builds.\ntools: Write\n---\nYou build, and nothing else.',
  })
  const { runtime, task } = await open(
    { a: [] },
    {
      tools: [codeTools(), delegationTools(), taskTools()],
      services: { agentDefinitions: createAgentDefinitionRegistry({ home }) },
      agents: {
        workerPools: { builders: { size: 1, definition: 'builder' }, lost: { size: 1, definition: 'gone' } },
      },
    },
  )
  const { model, asked } = modelOf({
    'builders-1': [{ text: 'Built.' }],
    [lead]: [dispatch(task), dispatch(task, { worker_pool_id: 'lost' }), { text: 'Done.' }],
  })
  await (
    await runtime.run({ model, prompt: lead })
  ).result
  expect(asked['builders-1']?.[0]?.prompt[0]).toMatchObject({
    role: 'system',
    content: 'You build, and nothing else.',
  })
  expect(namesOf(asked['builders-1']?.[0])).toEqual(
    expect.arrayContaining(['code__write_file', 'code__read_file', 'agent__task_claim_step']),
  )
  expect(lastTold(asked[lead]?.[2])).toContain('unknown_definition')
})

test('what a run may claim at most stays with it, in whatever process it goes on (BI-3, AGENT-3)', async () => {
  const places = { store: makeStore(), project: makeFolder(), home: makeFolder() }
  const { runtime, task } = await open({ a: [], b: [] }, places)
  const { model, asked } = modelOf({
    'Do a.': [{ text: 'Later.' }, claim(task, 'b'), claim(task), { text: 'I have a.' }],
  })
  const session = { role: 'worker' as const, claims: { task, steps: ['a'] } }
  const { id } = await (await runtime.run({ model, prompt: 'Do a.', session })).result
  await runtime.close()
  const again = await openAgents(places)
  await (
    await again.run({ model, resume: id, prompt: 'Now.' })
  ).result
  expect(lastTold(asked['Do a.']?.[2])).toContain('step_not_allowed')
  expect(await workOn(again.session()).stand(task)).toEqual({ a: 'running', b: 'ready' })
})
