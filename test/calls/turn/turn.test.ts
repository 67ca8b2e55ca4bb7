import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { codeTools, defineTool, type CallRequest } from 'handrail'
import { expect, test } from 'vitest'
import { makeFolder, openRuntime, personSaying } from '../../support/project.ts'

const yes = async () => ({ decision: 'allow_once' as const })

/** Tools that note when they start and end, and wait until they are let go. */
function timeline() {
  const seen: string[] = []
  const waiting = new Map<string, () => void>()
  const make = (name: string, permission: 'readonly' | 'write', tags: string[] = []) =>
    defineTool({
      name,
      description: 'Notes when it starts and ends.',
      permission,
      tags,
      ...(permission === 'readonly' && { sideEffect: 'read' as const }),
      input: {
        type: 'object',
        properties: { id: { type: 'string' }, fail: { type: 'boolean' } },
        required: ['id'],
      },
      async run({ id, fail }) {
        seen.push(`+${id}`)
        await new Promise<void>((resolve) => (waiting.set(id, resolve), setTimeout(resolve, 15)))
        seen.push(`-${id}`)
        if (fail === true) throw new Error(`${id} broke`)
        return id
      },
    })
  return {
    seen,
    tools: [make('t.read', 'readonly'), make('t.write', 'write'), make('agent.start', 'write', ['agent'])],
  }
}

const call = (tool: string, id: string, more: object = {}): CallRequest => ({
  id,
  tool,
  input: { id, ...more },
})

test('neighbouring reads overlap, a write runs alone, in model order (SCHED-1)', async () => {
  const { seen, tools } = timeline()
  const runtime = await openRuntime({ tools, approve: yes })
  const turn = await runtime
    .session()
    .turn([
      call('t.read', 'r1'),
      call('t.read', 'r2'),
      call('t.write', 'w1'),
      call('t.write', 'w2'),
      call('t.read', 'r3'),
    ])
  expect(turn.endReason).toBe('completed')
  expect(turn.results.map((result) => result.toolCallId)).toEqual(['r1', 'r2', 'w1', 'w2', 'r3'])
  expect(seen.slice(0, 2).sort()).toEqual(['+r1', '+r2'])
  expect(seen.slice(4)).toEqual(['+w1', '-w1', '+w2', '-w2', '+r3', '-r3'])
})

test('a read after a write of the same turn sees what was written (SCHED-1)', async () => {
  const project = makeFolder({ 'a.txt': 'old' })
  const runtime = await openRuntime({ project, tools: [codeTools()], approve: yes })
  const { results } = await runtime.session().turn([
    { tool: 'code.read_file', input: { path: 'a.txt' } },
    { tool: 'code.write_file', input: { path: 'a.txt', content: 'new', overwrite: true } },
    { tool: 'code.read_file', input: { path: 'a.txt' } },
  ])
  expect(results.map((result) => result.data)).toMatchObject([{ content: 'old' }, {}, { content: 'new' }])
})

test('a failed read lets the turn go on (SCHED-3)', async () => {
  const { tools } = timeline()
  const runtime = await openRuntime({ tools, approve: yes })
  const turn = await runtime
    .session()
    .turn([call('t.read', 'r1', { fail: true }), call('t.write', 'w1'), call('t.read', 'r2')])
  expect(turn.results.map((result) => result.outcome)).toEqual(['failed', 'ok', 'ok'])
  expect(turn.endReason).toBe('completed')
})

test('a failed write stops the rest, which is told so (SCHED-3)', async () => {
  const { seen, tools } = timeline()
  const runtime = await openRuntime({ tools, approve: yes })
  const turn = await runtime
    .session()
    .turn([call('t.write', 'w1', { fail: true }), call('t.read', 'r1'), call('t.write', 'w2')])
  expect(turn.results.map((result) => result.error?.reason)).toEqual([
    'failed',
    'not_run_after_failed_write',
    'not_run_after_failed_write',
  ])
  expect(turn.endReason).toBe('stopped_after_failed_write')
  expect(seen).toEqual(['+w1', '-w1'])
})

test('a denied write stops the rest, a denied read does not (SCHED-3, HOOK-2)', async () => {
  const { tools } = timeline()
  const person = personSaying('deny')
  const runtime = await openRuntime({
    tools,
    approve: person.approve,
    hooks: [
      {
        name: 'no-r1',
        tools: ['t.read'],
        before: (event) =>
          event.input['id'] === 'r1' ? { decision: 'deny', reason: 'not r1' } : { decision: 'allow' },
      },
    ],
  })
  const turn = await runtime
    .session()
    .turn([call('t.read', 'r1'), call('t.read', 'r2'), call('t.write', 'w1'), call('t.read', 'r3')])
  expect(turn.results.map((result) => result.error?.reason)).toEqual([
    'hook_denied',
    undefined,
    'denied',
    'not_run_after_failed_write',
  ])
})

test('agent-starting calls run beside each other, bounded, and all are waited for (SCHED-2, SCHED-3)', async () => {
  const { seen, tools } = timeline()
  const runtime = await openRuntime({ tools, approve: yes, limits: { parallelAgents: 2 } })
  const turn = await runtime
    .session()
    .turn([
      call('agent.start', 'a1', { fail: true }),
      call('agent.start', 'a2'),
      call('agent.start', 'a3'),
      call('t.read', 'r1'),
    ])
  expect(turn.results.map((result) => result.outcome)).toEqual(['failed', 'ok', 'ok', 'ok'])
  let open = 0
  const most = seen
    .slice(0, 6)
    .reduce((max, mark) => Math.max(max, (open += mark.startsWith('+') ? 1 : -1)), 0)
  expect(most).toBe(2)
})

test('every call gets one result in call order: unknown, malformed, denied and aborted ones too (SCHED-4, CALL-2, REG-8)', async () => {
  const { tools } = timeline()
  const runtime = await openRuntime({ tools, approve: yes })
  const calls = [
    call('t.read', 'ok'),
    { id: 'unknown', tool: 't.reed', input: {} },
    { id: 'not-json', tool: 't.read', input: '{"id": ' },
    { id: 'wrong-type', tool: 't.read', input: [1, 2] },
    { id: 'no-name', tool: undefined as unknown as string, input: {} },
    null as unknown as CallRequest,
    { id: 'text', tool: 't.read', input: '{"id": "from text"}' },
    { tool: 't.read', input: { id: 'no id given' } },
  ]
  const turn = await runtime.session().turn(calls)
  expect(turn.results).toHaveLength(calls.length)
  expect(turn.results.map((result) => result.outcome)).toEqual([
    'ok',
    'denied',
    'failed',
    'failed',
    'failed',
    'failed',
    'ok',
    'ok',
  ])
  expect(turn.results.slice(0, 5).map((result) => result.toolCallId)).toEqual([
    'ok',
    'unknown',
    'not-json',
    'wrong-type',
    'no-name',
  ])
  expect(turn.results[1]?.error).toMatchObject({
    code: 'POLICY.DENY_TOOL',
    reason: 'tool_not_available',
    data: { nearest: ['t.read'] },
  })
  expect(turn.results[7]?.toolCallId).toBe(turn.results[7]?.callId)
  const begun = [...runtime.store.records({ kind: 'begin' })].map((record) => record.call)
  const ended = [...runtime.store.records({ kind: 'end' })].map((record) => record.call)
  expect(begun.sort()).toEqual(turn.results.map((result) => result.callId).sort())
  expect(ended.sort()).toEqual(begun)
})

test('two calls of one answer with the same provider id keep their own results (SCHED-4)', async () => {
  const { tools } = timeline()
  const runtime = await openRuntime({ tools, approve: yes })
  const { results } = await runtime.session().turn([
    { id: 'same', tool: 't.read', input: { id: 'one' } },
    { id: 'same', tool: 't.read', input: { id: 'two' } },
  ])
  expect(results.map((result) => result.data)).toEqual(['one', 'two'])
  expect(new Set(results.map((result) => result.callId)).size).toBe(2)
})

test('an abort ends running calls with what they have, and the rest does not run (SCHED-6)', async () => {
  const project = makeFolder()
  const aborting = new AbortController()
  // Asked about before it runs: of what has run already, no progress is shown before the yes.
  const commands = { review: 'never' } as const
  const runtime = await openRuntime({ project, tools: [codeTools({ commands })], approve: yes })
  const session = runtime.session()
  session.on((event) => {
    if (event.type === 'tool_progress') aborting.abort('the user pressed stop')
  })
  const script = `process.stdout.write('partial output\\n'); setTimeout(() => {}, 60_000)`
  const turn = await session.turn(
    [
      { id: 'c1', tool: 'code.run_command', input: { argv: [process.execPath, '-e', script] } },
      { id: 'c2', tool: 'code.write_file', input: { path: 'never.txt', content: 'x' } },
      { id: 'c3', tool: 'code.list_dir', input: {} },
    ],
    { signal: aborting.signal },
  )
  expect(turn.endReason).toBe('aborted_tools')
  expect(turn.results.map((result) => result.outcome)).toEqual(['aborted', 'aborted', 'aborted'])
  expect(turn.results[0]).toMatchObject({
    error: { code: 'TOOL.ABORTED', reason: 'aborted_by_user' },
    metadata: { aborted: true, partial: true },
  })
  expect(JSON.stringify(turn.results[0]?.content)).toContain('partial output')
  expect(turn.results.slice(1).map((result) => result.error?.reason)).toEqual([
    'run_cancelled',
    'run_cancelled',
  ])
  expect(existsSync(join(project, 'never.txt'))).toBe(false)
})

test('closing a session aborts what runs and refuses what comes after (SCHED-6)', async () => {
  const hang = defineTool({
    name: 't.hang',
    description: 'Waits for its abort.',
    permission: 'readonly',
    run: ({ signal }) =>
      new Promise<string>((_, reject) =>
        signal.addEventListener('abort', () => reject(new Error('stopped'))),
      ),
  })
  const runtime = await openRuntime({ tools: [hang] })
  const session = runtime.session()
  const running = session.call('t.hang')
  await session.close()
  expect((await running).error).toMatchObject({ code: 'TOOL.ABORTED', reason: 'run_cancelled' })
  expect((await session.call('t.hang')).error).toMatchObject({
    code: 'TOOL.ABORTED',
    reason: 'run_cancelled',
  })
})

test('a result for every one of many calls, and nothing is written twice (SCHED-4)', async () => {
  const project = makeFolder()
  const runtime = await openRuntime({ project, tools: [codeTools()], approve: yes })
  const calls = Array.from({ length: 40 }, (_, index) => ({
    id: `c${index}`,
    tool: 'code.write_file',
    input: { path: `f${index % 20}.txt`, content: String(index) },
  }))
  const { results, endReason } = await runtime.session().turn(calls)
  expect(results).toHaveLength(40)
  expect(endReason).toBe('stopped_after_failed_write')
  expect(results[20]?.error?.reason).toBe('path_conflict')
  expect(readFileSync(join(project, 'f0.txt'), 'utf8')).toBe('0')
})
