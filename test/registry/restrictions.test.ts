import { codeTools, defineTool, SetupError, type Runtime, type Session } from 'handrail'
import { expect, test } from 'vitest'
import { makeTool } from '../support/make-tool.ts'
import { openRuntime } from '../support/project.ts'

const names = ['a.one', 'a.two', 'b.one', 'b.two']

async function open(options: Parameters<Runtime['session']>[0] = {}): Promise<Session> {
  const runtime = await openRuntime({ tools: names.map((name) => makeTool(name)) })
  return runtime.session(options)
}

const toolsOf = (session: Session) => session.tools().map((shown) => shown.tool)

test('restrictions nest: each narrows what the one before it left, and taking it away gives that back (POOL-6)', async () => {
  const session = await open()
  const outer = session.restrict({ allowedTools: ['a.*', 'b.one'] })
  expect(toolsOf(session)).toEqual(['a.one', 'a.two', 'b.one'])
  const inner = session.restrict({ allowedTools: ['*.one', 'b.two'] })
  expect(toolsOf(session)).toEqual(['a.one', 'b.one'])
  inner()
  expect(toolsOf(session)).toEqual(['a.one', 'a.two', 'b.one'])
  outer()
  expect(toolsOf(session)).toEqual(names)
})

test('an empty restriction lets all through that there is without it (POOL-6)', async () => {
  const session = await open({ disallowedTools: ['b.two'] })
  session.restrict({ allowedTools: ['a.*'] })
  session.restrict({})
  session.restrict({ allowedTools: [], disallowedTools: [] })
  expect(toolsOf(session)).toEqual(['a.one', 'a.two'])
  session.restrict({ replace: true })
  expect(toolsOf(session)).toEqual(['a.one', 'a.two', 'b.one'])
})

test('a replacing restriction stands in the place of those before it, and no wider than the session was opened (POOL-6)', async () => {
  const session = await open({ allowedTools: ['a.one', 'b.*'], disallowedTools: ['b.two'] })
  session.restrict({ allowedTools: ['a.*'], disallowedTools: ['b.one'] })
  const replacing = session.restrict({ allowedTools: ['b.*', 'a.two'], replace: true })
  expect(toolsOf(session)).toEqual(['b.one'])
  const narrower = session.restrict({ disallowedTools: ['b.*'] })
  expect(toolsOf(session)).toEqual([])
  narrower()
  replacing()
  expect(toolsOf(session)).toEqual(['a.one'])
})

test('restrictions may end in any order, each once (POOL-6)', async () => {
  const session = await open()
  const first = session.restrict({ allowedTools: ['a.*'] })
  const second = session.restrict({ allowedTools: ['b.one'], replace: true })
  const third = session.restrict({ disallowedTools: ['b.one'] })
  first()
  first()
  expect(toolsOf(session)).toEqual([])
  third()
  expect(toolsOf(session)).toEqual(['b.one'])
  first()
  second()
  expect(toolsOf(session)).toEqual(names)
})

test('a denial counts over an allow, and a deny of an outer restriction in an inner one (POOL-6, POOL-1)', async () => {
  const session = await open()
  session.restrict({ allowedTools: ['a.*'], disallowedTools: ['a.one'] })
  session.restrict({ allowedTools: ['a.one', 'a.two'] })
  expect(toolsOf(session)).toEqual(['a.two'])
})

test('what a restriction leaves out cannot be called, and is not there for anybody who asks (POOL-6, POOL-7)', async () => {
  const runtime = await openRuntime({ tools: names.map((name) => makeTool(name)) })
  const session = runtime.session()
  expect((await session.call('b.one')).ok).toBe(true)
  const end = session.restrict({ allowedTools: ['a.*'] })
  const denied = await session.call('b.one')
  expect(denied).toMatchObject({
    outcome: 'denied',
    error: {
      code: 'POLICY.DENY_TOOL',
      reason: 'tool_not_available',
      data: { because: 'tool_not_available' },
    },
  })
  const [, record] = [...runtime.store.records({ call: denied.callId })]
  expect(JSON.parse(record?.text ?? '')).toMatchObject({ outcome: 'denied', reason: 'tool_not_available' })
  expect(await session.preflight('b.one')).toMatchObject({
    effect: 'deny',
    error: { reason: 'tool_not_available' },
  })
  const spec = await session.available()
  expect(spec.tools.map(({ tool, effect, error }) => [tool, effect, error?.reason])).toEqual([
    ['a.one', 'allow', undefined],
    ['a.two', 'allow', undefined],
    ['b.one', 'deny', 'tool_not_available'],
    ['b.two', 'deny', 'tool_not_available'],
  ])
  // Names that cannot be called are not proposed.
  const unknown = await session.call('b.onee')
  expect(unknown.error?.data?.['nearest']).not.toContain('b.one')
  expect(runtime.session().tools()).toHaveLength(4)
  end()
  expect((await session.call('b.one')).ok).toBe(true)
})

test('a call that runs is not touched by a restriction; the next one is, in the same answer too (POOL-6)', async () => {
  const load = defineTool({
    name: 'skill.load',
    description: 'Follows a skill that has no further use for it.',
    permission: 'write',
    run() {
      session.restrict({ allowedTools: ['a.*'] })
      return 'loaded'
    },
  })
  const runtime = await openRuntime({
    tools: [load, makeTool('a.one'), makeTool('b.one')],
    policy: { rules: [{ effect: 'allow', tools: ['skill.load'] }] },
  })
  const session: Session = runtime.session()
  const { results } = await session.turn([{ tool: 'skill.load' }, { tool: 'b.one' }, { tool: 'a.one' }])
  expect(results.map(({ ok, error }) => [ok, error?.reason])).toEqual([
    [true, undefined],
    [false, 'tool_not_available'],
    [true, undefined],
  ])
})

test('a yes to a call whose tool is left out meanwhile is stale (POOL-6)', async () => {
  const runtime = await openRuntime({ tools: [codeTools()] })
  const session: Session = runtime.session({
    approve: async () => {
      session.restrict({ allowedTools: ['code.read_file'] })
      return { decision: 'allow_once' }
    },
  })
  const result = await session.call('code.write_file', { path: 'a.txt', content: 'a' })
  expect(result.error).toMatchObject({ code: 'POLICY.APPROVAL_DENIED', reason: 'approval_stale' })
})

test('a role and a mode stay what they are under any restriction (POOL-4, POOL-6)', async () => {
  const runtime = await openRuntime({
    tools: [
      makeTool('agent.task_create'),
      makeTool('agent.task_get'),
      makeTool('b.write', { permission: 'write' }),
    ],
  })
  const worker = runtime.session({ role: 'worker' })
  worker.restrict({ allowedTools: ['agent.*'], replace: true })
  expect(toolsOf(worker)).toEqual(['agent.task_get'])
  const planning = runtime.session({ mode: 'plan' })
  planning.restrict({ allowedTools: ['*'], replace: true })
  expect(toolsOf(planning)).toEqual(['agent.task_create', 'agent.task_get'])
})

test('a restriction is read when it is made, and a faulty one is refused with every issue at once (POOL-6)', async () => {
  const session = await open()
  const allowedTools = ['a.one']
  session.restrict({ allowedTools })
  allowedTools.push('b.one')
  expect(toolsOf(session)).toEqual(['a.one'])
  expect(() =>
    session.restrict({
      allowedTool: [],
      allowedTools: 'a.one',
      disallowedTools: ['Read'],
      replace: 'yes',
    } as never),
  ).toThrow(
    expect.objectContaining({
      name: SetupError.name,
      code: 'invalid_options',
      issues: [
        expect.objectContaining({ pointer: '/allowedTool', code: 'unknown_field' }),
        expect.objectContaining({ pointer: '/allowedTools', code: 'wrong_type' }),
        expect.objectContaining({ pointer: '/disallowedTools/0', code: 'never_matches' }),
        expect.objectContaining({ pointer: '/replace', code: 'wrong_type' }),
      ],
    }),
  )
  expect(toolsOf(session)).toEqual(['a.one'])
})
