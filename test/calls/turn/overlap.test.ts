import { join } from 'node:path'
import { setImmediate as nextRound } from 'node:timers/promises'
import { defineTool, type RuntimeOptions, type Tool } from 'handrail'
import { expect, test } from 'vitest'
import { gatedTool } from '../../support/gated-tool.ts'
import { makeFolder, openRuntime, personSaying } from '../../support/project.ts'

/** Everything that can go on without waiting for anything outside has gone on. */
async function quiet(): Promise<void> {
  for (let round = 0; round < 20; round++) await nextRound()
}

/** A reading and a writing tool, each on the file that its id names, whose runs end when the test says so. */
function openPair(options: RuntimeOptions = {}) {
  const project = makeFolder()
  const make = (name: string, permission: 'readonly' | 'write', kind: 'fs.read' | 'fs.write') => {
    const gated = gatedTool({
      name,
      permission,
      sideEffect: permission === 'readonly' ? 'read' : 'filesystem',
      scopes: permission === 'readonly' ? [] : [{ resource: 'files', action: 'write' }],
      capabilities: { fs: { read: ['*'], write: permission === 'readonly' ? [] : ['*'] } },
    })
    // Its schema lets nothing else through.
    const plan = (input: unknown) => ({
      operations: [{ kind, path: join(project, (input as { id: string }).id) }],
    })
    const tool: Tool = { ...gated.tool, plan }
    return { ...gated, tool }
  }
  const read = make('t.read', 'readonly', 'fs.read')
  const write = make('t.write', 'write', 'fs.write')
  const { approve, asked } = personSaying('allow_once')
  const runtime = openRuntime({
    project,
    tools: [read.tool, write.tool],
    approve,
    overlapCalls: true,
    ...options,
  })
  return { read, write, runtime, asked }
}

const reads = (id: string) => ({ id: `r-${id}`, tool: 't.read', input: { id } })
const writes = (id: string) => ({ id: `w-${id}`, tool: 't.write', input: { id } })

test('a write does not wait for a read of another file, nor do the reads after it (SCHED-1)', async () => {
  const { read, write, runtime } = openPair()
  const turn = (await runtime).session().turn([reads('a'), writes('b'), reads('c')])
  await read.started('a')
  await write.started('b')
  await quiet()
  expect(read.seen).toEqual(['+a'])
  write.release('b')
  await read.started('c')
  expect(read.seen).toEqual(['+a', '+c'])
  read.release('c')
  read.release('a')
  expect((await turn).results.map(({ toolCallId, ok }) => [toolCallId, ok])).toEqual([
    ['r-a', true],
    ['w-b', true],
    ['r-c', true],
  ])
})

test('a write waits for the read of the same file alone, before anybody is asked (SCHED-1)', async () => {
  const { read, write, runtime, asked } = openPair()
  const turn = (await runtime).session().turn([reads('a'), reads('b'), writes('b')])
  await Promise.all([read.started('a'), read.started('b')])
  await quiet()
  expect([asked, write.seen]).toEqual([[], []])
  read.release('b')
  await write.started('b')
  expect(read.seen).toEqual(['+a', '+b', '-b'])
  write.release('b')
  read.release('a')
  expect((await turn).endReason).toBe('completed')
})

test('a write never runs beside a write: the first one may have to stop the rest (SCHED-3)', async () => {
  const { read, write, runtime } = openPair()
  const turn = (await runtime).session().turn([reads('a'), writes('b'), writes('c'), reads('d')])
  await write.started('b')
  await quiet()
  expect(write.seen).toEqual(['+b'])
  write.release('b', new Error('broken'))
  read.release('a')
  const { results, endReason } = await turn
  expect(endReason).toBe('stopped_after_failed_write')
  expect(results.map(({ error }) => error?.reason)).toEqual([
    undefined,
    'failed',
    'not_run_after_failed_write',
    'not_run_after_failed_write',
  ])
  expect([read.seen, write.seen]).toEqual([
    ['+a', '-a'],
    ['+b', '-b'],
  ])
})

test('a write that waits is aborted at once, by its id and with its turn (SCHED-6)', async () => {
  for (const whole of [false, true]) {
    const { read, write, runtime } = openPair()
    const session = (await runtime).session()
    const controller = new AbortController()
    const turn = session.turn([reads('a'), writes('a'), reads('b')], { signal: controller.signal })
    await read.started('a')
    await quiet()
    if (whole) controller.abort()
    else expect(session.abort('w-a')).toBe(true)
    await quiet()
    read.release('a')
    const { results, endReason } = await turn
    expect(results[1]).toMatchObject({ outcome: 'aborted', error: { reason: 'aborted_by_user' } })
    expect(endReason).toBe(whole ? 'aborted_tools' : 'stopped_after_failed_write')
    expect(write.seen).toEqual([])
  }
})

test('no more reads of a turn run at a time than without it (SCHED-1)', async () => {
  const { read, write, runtime } = openPair({ limits: { parallelReads: 2 } })
  const turn = (await runtime).session().turn([reads('a'), reads('b'), writes('c'), reads('d')])
  await Promise.all([read.started('a'), read.started('b')])
  write.release('c')
  await write.started('c')
  await quiet()
  expect(read.seen).toEqual(['+a', '+b'])
  read.release('b')
  await read.started('d')
  for (const id of ['a', 'd']) read.release(id)
  expect((await turn).endReason).toBe('completed')
})

test.each<[string, RuntimeOptions]>([
  ['the option is not set', { overlapCalls: false }],
  ['a hook sees the end of calls', { hooks: [{ name: 'sees', after: () => {} }] }],
  [
    'budgets count',
    { policy: { budgets: [{ id: 'all', unit: 'wallMs', limit: 1_000_000, windowMs: 1_000 }] } },
  ],
  ['the calls of the session may run out', { limits: { callsPerSession: 1 } }],
])('a write waits for every read where %s (SCHED-1)', async (_, options) => {
  const { read, write, runtime } = openPair(options)
  const turn = (await runtime).session().turn([reads('a'), writes('b')])
  await read.started('a')
  await quiet()
  expect(write.seen).toEqual([])
  write.release('b')
  read.release('a')
  const { results } = await turn
  expect(results[0]?.ok).toBe(true)
})

test('an agent and what comes after it wait for every read (SCHED-2)', async () => {
  const { read, runtime } = openPair()
  const agent = defineTool({
    name: 'agent.start',
    description: 'Starts an agent.',
    permission: 'readonly',
    tags: ['agent'],
    run: () => read.seen.join(' '),
  })
  const live = await runtime
  await live.register([agent])
  const turn = live.session().turn([reads('a'), { id: 'agent', tool: 'agent.start', input: {} }])
  await read.started('a')
  await quiet()
  read.release('a')
  expect((await turn).results[1]?.data).toBe('+a -a')
})

test('the option is checked like all others', async () => {
  const overlapCalls = 'yes' as unknown as boolean
  await expect(openRuntime({ overlapCalls })).rejects.toMatchObject({
    code: 'invalid_options',
    issues: [{ pointer: '/overlapCalls' }],
  })
})
