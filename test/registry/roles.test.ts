import { codeTools, type Role } from 'handrail'
import { delegationTools } from 'handrail/agents'
import { agentDefinitionTools, planTools, taskTools } from 'handrail/tools'
import { expect, test } from 'vitest'
import { makeTool } from '../support/make-tool.ts'
import { openRuntime, personSaying } from '../support/project.ts'

const roles: readonly Role[] = ['main', 'orchestrator', 'sub', 'fork', 'worker']

/** Never for sub, fork and worker: planning, tasks but for their own step, starting agents, long-term memory. */
const delegation = [
  'agent.plan_template',
  'agent.task_template',
  'agent.task_create',
  'agent.task_update',
  'agent.task_complete',
  'agent.task_fail',
  'agent.task_cancel',
  'agent.task_list',
  'agent.task_reopen',
  'agent.create_sub_agent',
  'agent.fork_agent',
  'agent.inspect_agent',
  'agent.list_agent_definitions',
  'agent.list_workers',
  'agent.dispatch_worker',
  'agent.create_team',
  'agent.delete_team',
  'internal.recall_memory',
  'internal.write_memory',
]
const workerTools = [
  'agent.task_get',
  'agent.task_query_steps',
  'agent.task_claim_step',
  'agent.task_update_step',
]
const planning = ['plan.enter', 'plan.exit', 'plan.todo_write']
const others = ['agent.send_message', ...planning, 'web.fetch', 'mcp.github.create_issue']
const readsCode = ['code.glob', 'code.list_dir', 'code.lsp', 'code.read_file', 'code.search']
const writesCode = [
  'code.copy_path',
  'code.delete_path',
  'code.edit_file',
  'code.edit_notebook',
  'code.enter_worktree',
  'code.exit_worktree',
  'code.move_path',
  'code.run_command',
  'code.undo',
  'code.write_file',
]
const all = [...delegation, ...workerTools, ...others, ...readsCode, ...writesCode].toSorted()

async function open() {
  const sources = [taskTools(), delegationTools(), agentDefinitionTools(), planTools()]
  const real = new Set(sources.flatMap((source) => source.list().map(({ definition }) => definition.name)))
  const standIns = [...delegation, ...workerTools, ...others].filter((name) => !real.has(name))
  const made = standIns.map((name) => makeTool(name))
  return openRuntime({
    tools: [codeTools(), ...sources, ...made],
    policy: { allowBypass: true, rules: [{ effect: 'allow', tools: ['*'] }] },
    approve: personSaying('allow_once').approve,
  })
}

test.each<[Role, readonly string[]]>([
  ['main', all],
  ['orchestrator', all],
  ['sub', readsCode],
  ['fork', readsCode],
  ['worker', [...workerTools, ...readsCode].toSorted()],
])('the default set of the role %s (POOL-3, POOL-5)', async (role, expected) => {
  const runtime = await open()
  expect(
    runtime
      .session({ role })
      .tools()
      .map((tool) => tool.tool),
  ).toEqual(expected)
  expect(
    runtime
      .session({ role, allowedTools: [] })
      .tools()
      .map((tool) => tool.tool),
  ).toEqual(expected)
})

test.each(roles.flatMap((role) => delegation.map((tool) => [role, tool] as const)))(
  'role %s and %s, though it is asked for by name, in bypass mode, with an allow rule (POOL-4)',
  async (role, tool) => {
    const runtime = await open()
    const session = runtime.session({ role, mode: 'bypass', allowedTools: [tool, '*'] })
    const mayUse = role === 'main' || role === 'orchestrator'
    expect(session.tools().some((shown) => shown.tool === tool)).toBe(mayUse)
    const result = await session.call(tool)
    // A real one may want an input.
    if (mayUse) expect([undefined, 'invalid_input']).toContain(result.error?.reason)
    else expect(result.error).toMatchObject({ code: 'POLICY.DENY_TOOL', reason: 'role_denied' })
  },
)

test.each<Role>(['sub', 'fork', 'worker'])(
  'the role %s gets further tools by explicit request only (POOL-3, POOL-5)',
  async (role) => {
    const runtime = await open()
    const session = runtime.session({
      role,
      allowedTools: ['code.write_file', 'web.fetch', 'agent.task_create'],
    })
    expect(session.tools().map((tool) => tool.tool)).toEqual(['code.write_file', 'web.fetch'])
  },
)

test.each<Role>(['sub', 'fork', 'worker'])(
  'an allow-list of the configuration gives the role %s nothing beyond its default (POOL-3)',
  async (role) => {
    const runtime = await openRuntime({ tools: [codeTools()], allowedTools: ['code.*'] })
    expect(
      runtime
        .session({ role })
        .tools()
        .map((tool) => tool.tool),
    ).toEqual(readsCode)
    const narrow = await openRuntime({
      tools: [codeTools()],
      allowedTools: ['code.read_file', 'code.write_file'],
    })
    expect(
      narrow
        .session({ role })
        .tools()
        .map((tool) => tool.tool),
    ).toEqual(['code.read_file'])
  },
)

test.each(roles)('role %s and a tool of the host that starts agents (POOL-4)', async (role) => {
  const tools = [makeTool('crew.start', { tags: ['agent'] }), makeTool('agent.task_get', { tags: ['agent'] })]
  const runtime = await openRuntime({ tools })
  const session = runtime.session({ role, allowedTools: ['crew.start', 'agent.task_get'] })
  const mayStart = role === 'main' || role === 'orchestrator'
  expect((await session.call('crew.start')).error?.reason).toBe(mayStart ? undefined : 'role_denied')
  expect((await session.call('agent.task_get')).ok).toBe(true)
})

test('a write that a worker asked for is still subject to policy (POOL-5)', async () => {
  const person = personSaying('deny')
  const runtime = await openRuntime({ tools: [codeTools()], approve: person.approve })
  const session = runtime.session({ role: 'worker', allowedTools: ['code.write_file'] })
  const result = await session.call('code.write_file', { path: 'a.txt', content: 'a' })
  expect(result.error).toMatchObject({ code: 'POLICY.APPROVAL_DENIED' })
  expect(person.asked).toMatchObject([{ tool: 'code.write_file', principal: { role: 'worker' } }])
})

test('an unknown role or mode is refused, with every issue at once (POOL-4)', async () => {
  const runtime = await open()
  expect(() =>
    runtime.session({ role: 'root' as Role, mode: 'yolo' as never, tenant: 'a b', rol: 'main' } as never),
  ).toThrow(
    expect.objectContaining({
      code: 'invalid_options',
      issues: [
        expect.objectContaining({
          pointer: '/rol',
          code: 'unknown_field',
          message: expect.stringContaining('"role"'),
        }),
        expect.objectContaining({ pointer: '/role' }),
        expect.objectContaining({ pointer: '/mode' }),
        expect.objectContaining({ pointer: '/tenant' }),
      ],
    }),
  )
})
