import { defineTool, type CallRequest } from 'handrail'
import { expect, test } from 'vitest'
import { makeTool } from '../../support/make-tool.ts'
import { openRuntime } from '../../support/project.ts'

test('results pair with calls by the ids that the provider gave, numbers and long ones too (CALL-2, SCHED-4)', async () => {
  const session = (await openRuntime({ tools: [makeTool('a.b')] })).session()
  const long = 'x'.repeat(1_024)
  const ids = [7, '0', 'x'.repeat(300), `${'x'.repeat(300)}y`, `${long}1`, `${long}2`]
  const { results } = await session.turn(ids.map((id) => ({ id, tool: 'a.b' })))
  expect(results.slice(0, 4).map(({ toolCallId }) => toolCallId)).toEqual(ids.slice(0, 4).map(String))
  expect(new Set(results.map(({ toolCallId }) => toolCallId)).size).toBe(ids.length)
  expect(results.map(({ toolCallId }) => toolCallId.length)).toEqual([1, 1, 300, 301, 1_024, 1_024])
  expect(results.map(({ metadata }) => metadata.rawId)).toEqual(results.map(({ toolCallId }) => toolCallId))
})

test('a call is aborted by the id that the provider gave, whatever its form (CALL-2, SCHED-6)', async () => {
  const tool = defineTool({
    name: 'a.wait',
    description: 'Waits.',
    permission: 'readonly',
    run: (context) => new Promise<never>((_, reject) => context.signal.addEventListener('abort', reject)),
  })
  const session = (await openRuntime({ tools: [tool] })).session()
  const ids = [7, 'y'.repeat(2_000)]
  const calls = ids.map((id) => session.call('a.wait', {}, { id }))
  expect(ids.map((id) => session.abort(String(id), 'enough'))).toEqual([true, true])
  expect((await Promise.all(calls)).map(({ outcome }) => outcome)).toEqual(['aborted', 'aborted'])
})

test.each<[string, Partial<CallRequest>]>([
  ['origin', { origin: 'root' as never }],
  ['presentation', { presentation: 'weird' as never }],
  ['option "idempotencykey". Did you mean "idempotencyKey"?', { idempotencykey: 'order-17' } as never],
  ['option "a". Take it out.', { a: 1 } as never],
])('a call with another %s than there is does not run (CALL-8)', async (option, options) => {
  const runtime = await openRuntime({ tools: [makeTool('a.b')] })
  const session = runtime.session()
  const alone = await session.call('a.b', {}, options)
  const { results } = await session.turn([{ tool: 'a.b', ...options }])
  for (const result of [alone, ...results])
    expect(result.error).toMatchObject({ reason: 'invalid_call', message: expect.stringContaining(option) })
  expect((await session.preflight('a.b', {}, options)).error?.reason).toBe('invalid_call')
  const origins = [...runtime.store.records({ kind: 'begin' })].map(({ text }) => JSON.parse(text).origin)
  expect(origins).toEqual(['api', 'llm'])
})

test('a turn of another origin than there is runs nothing (CALL-8)', async () => {
  const session = (await openRuntime({ tools: [makeTool('a.b')] })).session()
  const { results } = await session.turn([{ tool: 'a.b' }], { origin: 'root' as never })
  expect(results[0]?.error?.reason).toBe('invalid_call')
})

test('a compatible presentation whose mapping throws is told as a fault of the input (SDK-4)', async () => {
  const tool = makeTool('a.presentation', {
    compatible: {
      name: 'Presentation',
      inputSchema: { type: 'object', properties: {} },
      toCanonical: () => {
        throw new Error('no such form')
      },
    },
  })
  const session = (await openRuntime({ tools: [tool] })).session()
  expect((await session.call('Presentation', {}, { presentation: 'compatible' })).error).toMatchObject({
    code: 'SCHEMA.VALIDATION_FAILED',
    reason: 'invalid_input',
    message: expect.stringContaining('no such form'),
  })
})

test('a call whose tool ignores its abort says that it was aborted, and why (SCHED-6)', async () => {
  const end = Promise.withResolvers<void>()
  const started = Promise.withResolvers<void>()
  const deaf = (name: string, timeoutMs: number) =>
    defineTool({
      name,
      description: 'Hears nothing.',
      permission: 'readonly',
      limits: { timeoutMs },
      run: () => {
        if (name === 'a.stopped') started.resolve()
        return end.promise
      },
    })
  const tools = [deaf('a.late', 1), deaf('a.stopped', 60_000)]
  const session = (await openRuntime({ tools, limits: { abortGraceMs: 1 } })).session()
  const late = session.call('a.late')
  const stopped = session.call('a.stopped', {}, { id: 'stopped' })
  await started.promise
  session.abort('stopped')
  const results = await Promise.all([late, stopped])
  end.resolve()
  expect(results.map(({ outcome }) => outcome)).toEqual(['unknown', 'unknown'])
  expect(results.map(({ metadata }) => [metadata.aborted, metadata.partial, metadata.abortReason])).toEqual([
    [true, false, 'timeout'],
    [true, false, 'aborted_by_user'],
  ])
})
