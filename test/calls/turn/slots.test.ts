import { join } from 'node:path'
import { setImmediate as nextRound } from 'node:timers/promises'
import { defineTool, type Runtime, type ToolReturn } from 'handrail'
import { expect, test } from 'vitest'
import { gatedTool } from '../../support/gated-tool.ts'
import { makeFolder, openRuntime, personSaying } from '../../support/project.ts'

/** Everything that can go on without waiting for anything outside has gone on. */
async function quiet(): Promise<void> {
  for (let round = 0; round < 20; round++) await nextRound()
}

const serial = { concurrency: 'serial' } as const

test('a serial tool runs once at a time, over sessions and tenants, in the order of coming (SCHED-5)', async () => {
  const { tool, seen, started, release } = gatedTool(serial)
  const runtime = await openRuntime({ tools: [tool] })
  const one = runtime.session({ tenant: 'acme' })
  const other = runtime.session({ tenant: 'globex' })
  const calls = [
    one.call('t.gated', { id: 'a' }),
    other.call('t.gated', { id: 'b' }),
    one.call('t.gated', { id: 'c' }),
  ]
  await started('a')
  await quiet()
  expect(seen).toEqual(['+a'])
  release('a')
  await started('b')
  await quiet()
  expect(seen).toEqual(['+a', '-a', '+b'])
  release('b')
  release('c')
  expect((await Promise.all(calls)).map((result) => result.data)).toEqual(['a', 'b', 'c'])
  expect(seen).toEqual(['+a', '-a', '+b', '-b', '+c', '-c'])
})

test('a tool that runs one call at a time takes callers in turn, however many calls one of them sent (SCHED-5, AUTH-6)', async () => {
  const { tool, seen, started, release } = gatedTool(serial)
  const runtime = await openRuntime({ tools: [tool] })
  const ids = ['ann-1', 'ann-2', 'ann-3', 'bob-1', 'cid-1']
  const call = (id: string) => runtime.session({ actor: id.slice(0, 3) }).call('t.gated', { id })
  const calls = ids.map(call)
  await started('ann-1')
  await quiet()
  for (const id of ids) release(id)
  await Promise.all(calls)
  expect(seen.filter((each) => each.startsWith('+'))).toEqual([
    '+ann-1',
    '+ann-2',
    '+bob-1',
    '+cid-1',
    '+ann-3',
  ])
})

test('the neighbouring reads of a turn keep to the bound of their tool (SCHED-1, SCHED-5)', async () => {
  const { tool, seen, started, release, open } = gatedTool({ limits: { concurrency: 2 } })
  const runtime = await openRuntime({ tools: [tool] })
  const ids = ['a', 'b', 'c', 'd', 'e']
  const turn = runtime.session().turn(ids.map((id) => ({ id, tool: 't.gated', input: { id } })))
  for (const id of ids) {
    await started(id)
    await quiet()
    expect(open()).toBe(Math.min(2, ids.length - ids.indexOf(id)))
    release(id)
  }
  expect((await turn).results.map((result) => result.toolCallId)).toEqual(ids)
  expect(seen).toHaveLength(10)
})

test('the bound of one tool does not hold up another (SCHED-5)', async () => {
  const { tool, started, release } = gatedTool(serial)
  const other = gatedTool({ ...serial, name: 't.other' })
  const runtime = await openRuntime({ tools: [tool, other.tool] })
  const session = runtime.session()
  const first = session.call('t.gated', { id: 'a' })
  await started('a')
  other.release('b')
  expect((await session.call('t.other', { id: 'b' })).ok).toBe(true)
  release('a')
  expect((await first).ok).toBe(true)
})

test('a tool that outlives its abort keeps its slot until it has really ended (CALL-6, SCHED-5, SCHED-6)', async () => {
  const { tool, seen, started, release } = gatedTool(serial)
  const runtime = await openRuntime({ tools: [tool], limits: { abortGraceMs: 10 } })
  const session = runtime.session()
  const first = session.call('t.gated', { id: 'a' }, { id: 'first' })
  await started('a')
  expect(session.abort('first')).toBe(true)
  expect(await first).toMatchObject({
    outcome: 'unknown',
    error: { code: 'TOOL.TIMEOUT', reason: 'still_running' },
  })
  const second = session.call('t.gated', { id: 'b' })
  await quiet()
  expect(seen).toEqual(['+a'])
  release('a')
  release('b')
  expect((await second).ok).toBe(true)
  expect(seen).toEqual(['+a', '-a', '+b', '-b'])
})

test('a call waits at most as long as it may run, is told so, and did nothing (SCHED-5)', async () => {
  const { tool, seen, started, release } = gatedTool({ ...serial, limits: { timeoutMs: 30 } })
  const runtime = await openRuntime({ tools: [tool], limits: { abortGraceMs: 10 } })
  const session = runtime.session()
  const first = session.call('t.gated', { id: 'a' })
  await started('a')
  await first
  const late = await session.call('t.gated', { id: 'b' })
  expect(late).toMatchObject({
    outcome: 'denied',
    error: {
      code: 'QUOTA.RATE_LIMITED',
      reason: 'concurrency',
      next: 'wait',
      data: { limit: 1 },
      message:
        'At most 1 calls of "t.gated" run at a time, and none ended within 30 ms. "t.gated" did not run; call it again later.',
    },
  })
  release('a')
  await quiet()
  release('c')
  expect((await session.call('t.gated', { id: 'c' })).ok).toBe(true)
  expect(seen).toEqual(['+a', '-a', '+c', '-c'])
})

test('waiting is not a part of the run: neither of its time nor of its evidence (SCHED-5)', async () => {
  let clock = 1_000_000
  const { tool, started, release } = gatedTool(serial)
  const runtime = await openRuntime({ tools: [tool], now: () => clock })
  const session = runtime.session()
  const first = session.call('t.gated', { id: 'a' })
  await started('a')
  const second = session.call('t.gated', { id: 'b' })
  await quiet()
  clock += 5_000
  release('a')
  await started('b')
  clock += 7
  release('b')
  expect((await first).metadata.durationMs).toBe(5_000)
  expect((await second).metadata.durationMs).toBe(7)
  const begun = [...runtime.store.records({ kind: 'begin' })].map(({ text }) => JSON.parse(text).at)
  expect(begun).toEqual([1_000_000, 1_005_000])
})

test.each([
  ['its own signal', 'aborted_by_user', (_: Runtime, controller: AbortController) => controller.abort()],
  ['session.abort', 'aborted_by_user', (_: Runtime, __: AbortController, abort: () => void) => abort()],
])('a call that waits is ended by %s and lets the next one up (SCHED-5, SCHED-6)', async (_, reason, end) => {
  const { tool, seen, started, release } = gatedTool(serial)
  const runtime = await openRuntime({ tools: [tool] })
  const session = runtime.session()
  const controller = new AbortController()
  const first = session.call('t.gated', { id: 'a' })
  await started('a')
  const second = session.call('t.gated', { id: 'b' }, { id: 'second', signal: controller.signal })
  const third = session.call('t.gated', { id: 'c' })
  await quiet()
  end(runtime, controller, () => session.abort('second'))
  expect(await second).toMatchObject({ outcome: 'aborted', error: { code: 'TOOL.ABORTED', reason } })
  release('a')
  release('c')
  await Promise.all([first, third])
  expect(seen).toEqual(['+a', '-a', '+c', '-c'])
})

test('a session that closes gives up its place in line (SCHED-5, SCHED-6)', async () => {
  const { tool, seen, started, release } = gatedTool(serial)
  const runtime = await openRuntime({ tools: [tool] })
  const staying = runtime.session()
  const leaving = runtime.session()
  const first = staying.call('t.gated', { id: 'a' })
  await started('a')
  const second = leaving.call('t.gated', { id: 'b' })
  const third = staying.call('t.gated', { id: 'c' })
  await quiet()
  await leaving.close()
  expect((await second).error).toMatchObject({ code: 'TOOL.ABORTED', reason: 'run_cancelled' })
  release('a')
  release('c')
  await Promise.all([first, third])
  expect(seen).toEqual(['+a', '-a', '+c', '-c'])
})

test('however a call ends, its slot comes back (SCHED-5)', async () => {
  // A tool in JavaScript may return anything.
  const ends: Record<string, () => unknown> = {
    value: () => 'done',
    promise: async () => 'done',
    throws: () => {
      throw new Error('broken')
    },
    rejects: () => Promise.reject(new Error('broken')),
    'no JSON': () => Symbol('none'),
    'then throws': () => ({
      // A thenable is what this is about.
      // oxlint-disable-next-line unicorn/no-thenable
      get then() {
        throw new Error('broken')
      },
    }),
  }
  const tool = defineTool({
    name: 't.ends',
    description: 'Ends in many ways.',
    permission: 'write',
    ...serial,
    idempotency: 'keyed',
    keyFrom: 'call',
    limits: { timeoutMs: 5_000 },
    input: { type: 'object', properties: { how: { type: 'string' } }, required: ['how'] },
    run: ({ how }) => ends[how]?.() as ToolReturn,
  })
  const person = personSaying('allow_once')
  const runtime = await openRuntime({
    tools: [tool],
    approve: person.approve,
    limits: { callsPerSession: 8 },
  })
  const session = runtime.session()
  const outcomes: string[] = []
  for (const [index, how] of [...Object.keys(ends), 'value', 'value'].entries()) {
    const key = index === 6 ? 'key 0' : `key ${index}`
    const { outcome } = await session.call('t.ends', { how }, { idempotencyKey: key })
    outcomes.push(outcome)
  }
  const aborted = AbortSignal.abort()
  const early = await session.call('t.ends', { how: 'value' }, { idempotencyKey: 'x', signal: aborted })
  const unkeyed = await session.call('t.ends', { how: 'value' })
  const conflict = await session.call('t.ends', { how: 'promise' }, { idempotencyKey: 'key 0' })
  const last = await session.call('t.ends', { how: 'promise' }, { idempotencyKey: 'last' })
  const over = await session.call('t.ends', { how: 'value' }, { idempotencyKey: 'over' })
  const next = await runtime.session().call('t.ends', { how: 'value' }, { idempotencyKey: 'next' })
  expect(outcomes).toEqual(['ok', 'ok', 'failed', 'failed', 'failed', 'failed', 'ok', 'ok'])
  expect([early, unkeyed, conflict, last, over, next].map(({ error }) => error?.reason)).toEqual([
    'aborted_by_user',
    'invalid_call',
    'same_key_other_input',
    undefined,
    'calls',
    undefined,
  ])
})

test('a call that is refused after it waited gives its slot back (SCHED-5)', async () => {
  const { tool, seen, started, release } = gatedTool(serial)
  const runtime = await openRuntime({ tools: [tool], limits: { callsPerSession: 1 } })
  const session = runtime.session()
  const calls = [session.call('t.gated', { id: 'a' }), session.call('t.gated', { id: 'b' })]
  await started('a')
  calls.push(runtime.session().call('t.gated', { id: 'c' }))
  await quiet()
  release('a')
  release('c')
  expect((await Promise.all(calls)).map(({ error }) => error?.reason)).toEqual([
    undefined,
    'calls',
    undefined,
  ])
  expect(seen).toEqual(['+a', '-a', '+c', '-c'])
})

test('a call that finds its key taken by another process gives its slot back (CALL-4, SCHED-5)', async () => {
  const { tool, seen, release } = gatedTool({
    ...serial,
    permission: 'write',
    idempotency: 'keyed',
    keyFrom: 'call',
  })
  const { approve } = personSaying('allow_once')
  const store = { path: join(makeFolder(), 'handrail.db') }
  const project = makeFolder()
  const open = () => openRuntime({ project, store, tools: [tool], approve })
  const sessions = [(await open()).session(), (await open()).session()]
  for (const id of ['a', 'b', 'c']) {
    release(id)
    const calls = sessions.map((session) => session.call('t.gated', { id }, { idempotencyKey: id }))
    expect((await Promise.all(calls)).map(({ data }) => data)).toEqual([id, id])
  }
  expect(seen).toEqual(['+a', '-a', '+b', '-b', '+c', '-c'])
})

test('agent-starting calls of a session are bounded over all its turns and calls (SCHED-2)', async () => {
  const { tool, seen, started, release } = gatedTool({
    name: 'agent.start',
    permission: 'write',
    tags: ['agent'],
  })
  const runtime = await openRuntime({
    tools: [tool],
    approve: personSaying('allow_once').approve,
    limits: { agentsPerSession: 3, parallelAgents: 2 },
  })
  const session = runtime.session()
  const call = (id: string) => ({ id, tool: 'agent.start', input: { id } })
  const one = session.turn(['a', 'b'].map(call))
  const two = session.turn(['c', 'd'].map(call))
  await Promise.all(['a', 'b', 'c'].map(started))
  const alone = session.call('agent.start', { id: 'e' })
  const elsewhere = runtime.session().call('agent.start', { id: 'x' })
  await started('x')
  await quiet()
  expect(seen).toEqual(['+a', '+b', '+c', '+x'])
  release('b')
  await started('d')
  await quiet()
  expect(seen.slice(4)).toEqual(['-b', '+d'])
  for (const id of ['a', 'c', 'd', 'e', 'x']) release(id)
  const results = [...(await one).results, ...(await two).results, await alone, await elsewhere]
  expect(results.map((result) => result.data)).toEqual(['a', 'b', 'c', 'd', 'e', 'x'])
})

test('agent-starting calls that find no room in time are refused, and hold nothing (SCHED-2, SCHED-5)', async () => {
  const make = (name: string, timeoutMs: number) =>
    gatedTool({ name, permission: 'write', tags: ['agent'], ...serial, limits: { timeoutMs } })
  const slow = make('agent.slow', 60_000)
  const hurried = make('agent.hurried', 20)
  const quick = make('agent.quick', 60_000)
  const runtime = await openRuntime({
    tools: [slow.tool, hurried.tool, quick.tool],
    approve: personSaying('allow_once').approve,
    limits: { agentsPerSession: 1 },
  })
  const session = runtime.session()
  const first = session.call('agent.slow', { id: 'a' })
  await slow.started('a')
  expect((await session.call('agent.hurried', { id: 'b' })).error).toMatchObject({
    code: 'QUOTA.RATE_LIMITED',
    reason: 'concurrency',
    message: expect.stringContaining('At most 1 agent-starting calls of a session run at a time'),
  })
  const elsewhere = runtime.session()
  quick.release('c')
  expect((await elsewhere.call('agent.quick', { id: 'c' })).ok).toBe(true)
  const crowded = runtime.session()
  const behind = crowded.call('agent.slow', { id: 'e' }, { id: 'behind' })
  await quiet()
  crowded.abort('behind')
  expect((await behind).error?.reason).toBe('aborted_by_user')
  quick.release('f')
  expect((await crowded.call('agent.quick', { id: 'f' })).ok).toBe(true)
  slow.release('a')
  expect((await first).ok).toBe(true)
  quick.release('d')
  expect((await session.call('agent.quick', { id: 'd' })).ok).toBe(true)
})
