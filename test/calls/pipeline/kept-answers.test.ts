import { defineTool, SetupError, toWireResult, type ApprovalRequest, type RuntimeEvent } from 'handrail'
import { expect, test } from 'vitest'
import { makeTool } from '../../support/make-tool.ts'
import { openRuntime } from '../../support/project.ts'

const token = ['ghp_', 'k'.repeat(36)].join('')

test.each(['allow_once', 'allow_for_session', 'deny'] as const)(
  'who answered %s, and why, stands in the result, the event and the evidence, without secrets (PERM-3)',
  async (decision) => {
    const events: RuntimeEvent[] = []
    const metadata = { by: 'ann', ticket: 'OPS-77', token, at: new Date(0) }
    const runtime = await openRuntime({
      tools: [makeTool('a.write', { permission: 'write' })],
      approve: async () => ({ decision, reason: `seen ${token}`, metadata: metadata as never }),
      onEvent: (event) => events.push(event),
    })
    const session = runtime.session()
    const result = await session.call('a.write')
    const answer = {
      decision,
      reason: 'seen [redacted]',
      metadata: { by: 'ann', ticket: 'OPS-77', token: '[redacted]', at: '1970-01-01T00:00:00.000Z' },
    }
    expect(result.metadata.approval).toEqual(answer)
    expect(toWireResult(result)).toMatchObject({ metadata: { approval: answer } })
    expect(events.find(({ type }) => type === 'permission_decided')?.data).toMatchObject(answer)
    const [begin, end] = [...runtime.store.records({ call: result.callId })]
    expect(JSON.parse(end?.body ?? '')).toMatchObject({ metadata: { approval: answer } })
    const { approval } = JSON.parse(begin?.text ?? '') as { approval?: object }
    if (decision === 'deny') expect(approval).toBeUndefined()
    else expect(approval).toMatchObject(answer)
    if (decision !== 'allow_for_session') return
    // A call that is not asked about has no answer of its own.
    expect((await session.call('a.write')).metadata.approval).toBeUndefined()
  },
)

test.each<[string, unknown]>([
  ['too long', { text: 'x'.repeat(5_000) }],
  ['no JSON', { f: () => 1 }],
])('what an approver adds is left out where it is %s, and the log says so (PERM-3)', async (_, metadata) => {
  const issues: string[] = []
  const runtime = await openRuntime({
    tools: [makeTool('a.write', { permission: 'write' })],
    approve: async () => ({ decision: 'allow_once', metadata: metadata as never }),
    onError: ({ cause }) => void issues.push(String(cause)),
  })
  const result = await runtime.session().call('a.write')
  expect([result.ok, result.metadata.approval]).toEqual([true, { decision: 'allow_once' }])
  expect(issues.join()).toContain('"metadata" of an approval is not kept')
})

test.each<[string, unknown, string]>([
  ['a word', 'allow_once', '"allow_once"'],
  ['true', true, 'boolean'],
  ['another input', { decision: 'allow_once', input: {} }, 'decision, input'],
  ['metadata that is a list', { decision: 'allow_once', metadata: [] }, 'decision, metadata'],
])(
  'an approver that answers with %s is told in the log what an answer is (PERM-5)',
  async (_, answer, shown) => {
    const issues: string[] = []
    const runtime = await openRuntime({
      tools: [makeTool('a.write', { permission: 'write' })],
      approve: async () => answer as never,
      onError: ({ cause }) => void issues.push(String(cause)),
    })
    expect((await runtime.session().call('a.write')).error?.reason).toBe('callback_failed')
    expect(issues.join()).toContain(shown)
    expect(issues.join()).toContain('an answer is { decision: "allow_once", "allow_for_session" or "deny"')
  },
)

test('what a hook notes about a call that is not asked about is kept in its result, its event and its evidence (HOOK-2)', async () => {
  const events: RuntimeEvent[] = []
  const runtime = await openRuntime({
    tools: [makeTool('a.read')],
    hooks: [
      { name: 'one', before: () => ({ decision: 'allow', notes: ['on call', `with ${token}`] }) },
      {
        name: 'two',
        before: () => ({ decision: 'allow', notes: Array.from({ length: 50 }, () => 'x'.repeat(5_000)) }),
      },
    ],
    onEvent: (event) => events.push(event),
  })
  const result = await runtime.session().call('a.read')
  const [first, second, ...rest] = result.metadata.hookNotes ?? []
  expect([first, second, rest.length, rest[0]?.length]).toEqual(['on call', 'with [redacted]', 20, 1_001])
  expect(events.at(-1)?.data).toEqual({ hookNotes: result.metadata.hookNotes })
  const [end] = runtime.store.records({ kind: 'end' })
  expect(JSON.parse(end?.body ?? '')).toMatchObject({ metadata: { hookNotes: result.metadata.hookNotes } })
})

test('a person sees the sessions above the one that asks, and what agents are behind them (PERM-6)', async () => {
  const asked: ApprovalRequest[] = []
  const runtime = await openRuntime({
    tools: [makeTool('a.write', { permission: 'write' })],
    approve: async (request) => {
      asked.push(request)
      return { decision: 'allow_once' }
    },
  })
  const main = runtime.session({ agent: { agentId: 'lead', runId: 'run-1' } })
  const child = runtime.session({ parent: main, role: 'orchestrator' })
  const grandchild = runtime.session({ parent: child, role: 'sub', allowedTools: ['a.*'] })
  for (const session of [main, grandchild]) await session.call('a.write')
  expect(asked.map(({ parents }) => parents)).toEqual([
    [],
    [
      { session: child.id, role: 'orchestrator' },
      { session: main.id, role: 'main', agent: { agentId: 'lead', runId: 'run-1' } },
    ],
  ])
})

test.each<[unknown, string]>([
  [{ foo: 1 }, '/agent/foo'],
  [{ agentId: 'a' }, '/agent/runId'],
  [{ agentId: 5, runId: 'r' }, '/agent/agentId'],
  [{ agentId: 'a', runId: 'r', parentRunId: '' }, '/agent/parentRunId'],
  ['lead', '/agent'],
])('a session for the agent %j is refused (PERM-6)', async (agent, pointer) => {
  const runtime = await openRuntime()
  const open = () => runtime.session({ agent: agent as never })
  expect(open).toThrow(SetupError)
  try {
    open()
  } catch (error) {
    expect((error as SetupError).issues.map((issue) => issue.pointer)).toContain(pointer)
  }
})

test('agent-starting calls of a whole family are counted together (SCHED-2)', async () => {
  let now = 0
  let most = 0
  const gate = Promise.withResolvers<void>()
  const tool = defineTool({
    name: 'agent.start',
    description: 'Starts an agent.',
    permission: 'readonly',
    tags: ['agent'],
    limits: { concurrency: 100 },
    async run() {
      most = Math.max(most, ++now)
      if (now === 3) gate.resolve()
      await gate.promise
      now--
    },
  })
  const runtime = await openRuntime({ tools: [tool], limits: { agentsPerSession: 3 } })
  const main = runtime.session()
  const family = [main, ...[1, 2, 3].map(() => runtime.session({ parent: main, role: 'orchestrator' }))]
  const calls = Array.from({ length: 4 }, () => ({ tool: 'agent.start' }))
  const turns = await Promise.all(family.map((session) => session.turn(calls)))
  expect(turns.flatMap(({ results }) => results.map(({ ok }) => ok))).toEqual(
    Array.from({ length: 16 }, () => true),
  )
  expect(most).toBe(3)
})

test('an agent that may change something and was denied stops the rest of its turn (SCHED-3)', async () => {
  const runtime = await openRuntime({
    tools: [
      makeTool('agent.look', { tags: ['agent'] }),
      makeTool('agent.work', { tags: ['agent'], permission: 'write' }),
      makeTool('a.read'),
    ],
    approve: async () => ({ decision: 'deny' }),
  })
  const { results, endReason } = await runtime
    .session()
    .turn([{ tool: 'agent.work' }, { tool: 'agent.look' }, { tool: 'a.read' }])
  expect(results.map(({ outcome }) => outcome)).toEqual(['denied', 'ok', 'aborted'])
  expect(endReason).toBe('stopped_after_failed_write')
})

test('a turn of something else than a list is refused with what it takes (SCHED-4)', async () => {
  const session = (await openRuntime()).session()
  await expect(session.turn({ tool: 'a.b' } as never)).rejects.toThrow(
    /takes the calls .* as a list.*session\.call/,
  )
})
