import { codeTools, defineTool, toolOutput, type RuntimeEvent, type Session } from 'handrail'
import { expect, test } from 'vitest'
import { gatedTool } from '../../support/gated-tool.ts'
import { makeFolder, openRuntime, personSaying } from '../../support/project.ts'

const yes = personSaying('allow_once').approve
const call = (id: string, tool = 't.gated') => ({ id, tool, input: { id } })

test('one call of a turn is aborted by its provider id, with the reason, and the others go on (SCHED-6)', async () => {
  const { tool, started, release } = gatedTool({ onAbort: (id) => `half of ${id}` })
  const runtime = await openRuntime({ tools: [tool] })
  const session = runtime.session()
  const events: RuntimeEvent[] = []
  session.on((event) => events.push(event))
  const turn = session.turn([call('a'), call('b')])
  await Promise.all([started('a'), started('b')])
  expect(session.abort('a', 'it takes too long')).toBe(true)
  release('b')
  const { results, endReason } = await turn
  expect(endReason).toBe('completed')
  expect(results).toMatchObject([
    {
      ok: false,
      outcome: 'aborted',
      error: { code: 'TOOL.ABORTED', reason: 'aborted_by_user' },
      metadata: { aborted: true, partial: true, abortReason: 'aborted_by_user' },
    },
    { ok: true, data: 'b' },
  ])
  expect(results[0]?.error?.message).toBe('"t.gated" was aborted: it takes too long')
  expect(JSON.stringify(results[0]?.content)).toContain('half of a')
  expect(events.filter(({ type }) => type === 'aborted_tools').map(({ toolCallId }) => toolCallId)).toEqual([
    'a',
  ])
})

test('a runtime aborts a call in whatever session it runs, of the named tenant alone, and the evidence says who did it (SCHED-6)', async () => {
  const { tool, started, release } = gatedTool({ onAbort: () => 'partial' })
  const runtime = await openRuntime({ tools: [tool], secrets: { KEY: 'hush-hush-4711' } })
  const ids: string[] = []
  const session = runtime.session({ actor: 'ann' })
  session.on((event) => {
    if (event.type === 'tool_started') ids.push(event.call ?? '')
  })
  const running = session.call('t.gated', { id: 'a' })
  await started('a')
  const other = runtime.session().call('t.gated', { id: 'b' })
  await started('b')
  const [id = ''] = ids
  expect(await runtime.abort(id, { by: 'eve', tenant: 'acme' })).toBe(false)
  expect(await runtime.abort('no such call', { by: 'eve' })).toBe(false)
  const about = { by: 'bob', tenant: 'local', reason: 'It shows hush-hush-4711.' }
  expect(await runtime.abort(id, about)).toBe(true)
  expect((await running).error).toMatchObject({ code: 'TOOL.ABORTED', reason: 'aborted_by_user' })
  expect(await runtime.abort(id, about)).toBe(false)
  release('b')
  expect(await other).toMatchObject({ ok: true })
  const notes = [...runtime.store.records({ kind: 'note' })].map(({ text }) => JSON.parse(text))
  const told = notes.filter(({ event }) => event === 'call_aborted')
  expect(told).toMatchObject([{ call: id, actor: 'bob', session: session.id, tenant: 'local' }])
  expect(JSON.stringify([told, await running])).not.toContain('hush-hush')
})

test('a call is aborted by the id that its events tell, and what does not run cannot be (SCHED-6)', async () => {
  const { tool, started, release } = gatedTool({ onAbort: () => 'partial' })
  const runtime = await openRuntime({ tools: [tool] })
  const session = runtime.session()
  const ids: string[] = []
  session.on((event) => {
    if (event.type === 'tool_started') ids.push(event.call ?? '')
  })
  const running = session.call('t.gated', { id: 'a' })
  const other = session.call('t.gated', { id: 'b' })
  await Promise.all([started('a'), started('b')])
  expect(runtime.session().abort(ids[0] ?? '')).toBe(false)
  expect(session.abort('no such call')).toBe(false)
  expect(session.abort(ids[0] ?? '')).toBe(true)
  expect((await running).outcome).toBe('aborted')
  expect(session.abort(ids[0] ?? '')).toBe(false)
  release('b')
  expect((await other).outcome).toBe('ok')
})

test('an aborted write stops the rest of its turn, an aborted read does not (SCHED-3, SCHED-6)', async () => {
  const read = gatedTool({ onAbort: () => 'partial' })
  const write = gatedTool({ name: 't.write', permission: 'write', onAbort: () => 'partial' })
  const runtime = await openRuntime({ tools: [read.tool, write.tool], approve: yes })
  const session = runtime.session()
  const turn = session.turn([call('r1'), call('w1', 't.write'), call('r2')])
  await read.started('r1')
  session.abort('r1')
  await write.started('w1')
  session.abort('w1')
  const { results, endReason } = await turn
  expect(results.map(({ error }) => error?.reason)).toEqual([
    'aborted_by_user',
    'aborted_by_user',
    'not_run_after_failed_write',
  ])
  expect(endReason).toBe('stopped_after_failed_write')
})

test('the signal of one request of a turn aborts that call alone (SCHED-6)', async () => {
  const { tool, started, release } = gatedTool({ onAbort: () => 'partial' })
  const runtime = await openRuntime({ tools: [tool] })
  const controller = new AbortController()
  const turn = runtime.session().turn([{ ...call('a'), signal: controller.signal }, call('b')])
  await Promise.all([started('a'), started('b')])
  controller.abort()
  release('b')
  expect((await turn).results.map(({ outcome }) => outcome)).toEqual(['aborted', 'ok'])
})

test('a call is aborted while a person is asked, and nothing happens (SCHED-6, PERM-1)', async () => {
  const { tool, seen } = gatedTool({ permission: 'write' })
  const asked = Promise.withResolvers<AbortSignal>()
  const runtime = await openRuntime({
    tools: [tool],
    approve: (_request, signal) => {
      asked.resolve(signal)
      return new Promise(() => {})
    },
  })
  const session = runtime.session()
  const running = session.call('t.gated', { id: 'a' }, { id: 'mine' })
  const signal = await asked.promise
  session.abort('mine')
  expect((await running).error).toMatchObject({ code: 'TOOL.ABORTED', reason: 'aborted_by_user' })
  expect(signal.aborted).toBe(true)
  expect(seen).toEqual([])
})

test('a call that is aborted between two steps does not run (SCHED-6)', async () => {
  const { tool, seen } = gatedTool()
  const sessions: Session[] = []
  const runtime = await openRuntime({
    tools: [tool],
    hooks: [
      {
        name: 'aborts',
        before: () => {
          sessions[0]?.abort('mine')
          return { decision: 'allow' }
        },
      },
    ],
  })
  const session = runtime.session()
  sessions.push(session)
  const { outcome, error } = await session.call('t.gated', { id: 'a' }, { id: 'mine' })
  expect([outcome, error?.reason]).toEqual(['aborted', 'aborted_by_user'])
  expect(seen).toEqual([])
})

/** A tool whose plan never ends. */
function stuckInPlan(timeoutMs: number) {
  const planning = Promise.withResolvers<void>()
  const ran: string[] = []
  const tool = defineTool({
    name: 't.stuck',
    description: 'Plans for ever.',
    permission: 'readonly',
    limits: { timeoutMs },
    rawInput: { type: 'object' },
    plan: () => {
      planning.resolve()
      return new Promise<never>(() => {})
    },
    run: () => ran.push('ran'),
  })
  return { tool, planning: planning.promise, ran }
}

test('a plan ends at the limit of its call too (CALL-6)', async () => {
  const { tool, ran } = stuckInPlan(30)
  const runtime = await openRuntime({ tools: [tool] })
  expect(await runtime.session().call('t.stuck')).toMatchObject({
    outcome: 'failed',
    error: {
      code: 'TOOL.TIMEOUT',
      reason: 'timed_out',
      message:
        '"t.stuck" did not say within 30 ms what the call would do, so it did not run. Ask for less at a time.',
    },
  })
  expect(ran).toEqual([])
})

test.each([
  ['aborted', 'aborted_by_user'],
  ['of a closed session', 'run_cancelled'],
])('a plan %s is waited for no longer (SCHED-6)', async (how, reason) => {
  const { tool, planning, ran } = stuckInPlan(60_000)
  const runtime = await openRuntime({ tools: [tool] })
  const session = runtime.session()
  const running = session.call('t.stuck', {}, { id: 'mine' })
  await planning
  if (how === 'aborted') session.abort('mine')
  else await session.close()
  expect((await running).error).toMatchObject({ code: 'TOOL.ABORTED', reason })
  expect(ran).toEqual([])
})

test('what a tool hands in with its own abort error is kept (SCHED-6)', async () => {
  const seen = Promise.withResolvers<void>()
  const tool = defineTool({
    name: 't.partial',
    description: 'Gives what it has when it is aborted.',
    permission: 'readonly',
    run: ({ signal }) => {
      seen.resolve()
      return new Promise((resolve) => {
        signal.addEventListener('abort', () =>
          resolve(
            toolOutput({
              content: 'three of ten',
              data: { done: 3 },
              error: { code: 'TOOL.ABORTED', reason: 'aborted_by_user', message: 'Stopped after three.' },
            }),
          ),
        )
      })
    },
  })
  const runtime = await openRuntime({ tools: [tool] })
  const session = runtime.session()
  const running = session.call('t.partial', {}, { id: 'mine' })
  await seen.promise
  session.abort('mine')
  expect(await running).toMatchObject({
    outcome: 'aborted',
    data: { done: 3 },
    error: { message: 'Stopped after three.' },
    metadata: { aborted: true, partial: true, abortReason: 'aborted_by_user' },
  })
})

test('an abort of the run ends every group: what runs is aborted, the rest does nothing (SCHED-6)', async () => {
  const { tool, seen, started } = gatedTool({ onAbort: (id) => `half of ${id}` })
  const runtime = await openRuntime({ tools: [tool, codeTools()], approve: yes, project: makeFolder() })
  const controller = new AbortController()
  const turn = runtime
    .session()
    .turn(
      [
        call('a'),
        call('b'),
        { id: 'w', tool: 'code.write_file', input: { path: 'a.txt', content: '' } },
        call('c'),
      ],
      { signal: controller.signal },
    )
  await Promise.all([started('a'), started('b')])
  controller.abort()
  const { results, endReason } = await turn
  expect(endReason).toBe('aborted_tools')
  expect(results.map(({ outcome, error, metadata }) => [outcome, error?.reason, metadata.aborted])).toEqual([
    ['aborted', 'aborted_by_user', true],
    ['aborted', 'aborted_by_user', true],
    ['aborted', 'run_cancelled', true],
    ['aborted', 'run_cancelled', true],
  ])
  expect(seen).toEqual(['+a', '+b', '-a', '-b'])
  const ends = [...runtime.store.records({ kind: 'end' })].map(({ text }) => JSON.parse(text).outcome)
  expect(ends).toEqual(['aborted', 'aborted', 'aborted', 'aborted'])
})

const enders: [string, (session: Session, call: string, ending: AbortController) => void][] = [
  ['its id', (session, id) => void session.abort(id)],
  ['its signal', (_, __, ending) => ending.abort()],
  ['the end of its session', (session) => void session.close()],
]

test.each(enders)(
  'a call that is aborted by %s while its tool starts, or while a person begins to be asked, ends (SCHED-6)',
  async (_, end) => {
    const eager = defineTool({
      name: 't.eager',
      description: 'Tells at once that it runs, and waits for its end.',
      permission: 'readonly',
      limits: { timeoutMs: 5_000 },
      run: ({ progress, signal }) =>
        new Promise<string>((resolve) => {
          signal.addEventListener('abort', () => resolve('half'), { once: true })
          progress({ message: 'runs' })
        }),
    })
    const { tool: asking, seen } = gatedTool({ permission: 'write' })
    for (const name of ['t.eager', 't.gated']) {
      const ending = new AbortController()
      const stop = (): void => end(session, 'first', ending)
      const runtime = await openRuntime({
        tools: [eager, asking],
        limits: { approvalTimeoutMs: 5_000 },
        approve: () => {
          stop()
          return new Promise(() => {})
        },
      })
      const session = runtime.session()
      session.on(({ type }) => void (type === 'tool_progress' && stop()))
      const input = name === 't.gated' ? { id: 'a' } : {}
      const { outcome } = await session.call(name, input, { id: 'first', signal: ending.signal })
      expect([name, outcome]).toEqual([name, 'aborted'])
    }
    expect(seen).toEqual([])
  },
)
