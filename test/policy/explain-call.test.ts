import { createRuntime, defineTool, type Runtime, type RuntimeOptions } from 'handrail'
import { explainCall } from 'handrail/replay'
import { expect, test } from 'vitest'
import { makeTool } from '../support/make-tool.ts'
import { makeFolder, openRuntime, personSaying } from '../support/project.ts'

const noSuch = makeTool('demo.say')

/** What was recorded here, explained by what these options decide. */
function explain(runtime: Runtime, call: string, options: RuntimeOptions = {}) {
  return explainCall({
    store: runtime.store,
    call,
    runtime: { project: runtime.project, home: makeFolder(), tools: [noSuch], ...options },
  })
}

test('a tool that there is now and was not then is told, and so is one that is defined in another way (PERM-10)', async () => {
  const runtime = await openRuntime()
  const unknown = await runtime.session().call('demo.say')
  expect(await explain(runtime, unknown.callId)).toMatchObject({
    now: { obstacle: 'its tool can be used now, and what it was called with is not in the evidence' },
    differences: [
      { what: 'definition', recorded: 'no such tool', now: expect.stringMatching(/^1\.0\.0 /) as string },
    ],
  })
  await runtime.register([noSuch])
  const known = await runtime.session().call('demo.say')
  const tools = [makeTool('demo.say', { version: '2.0.0', permission: 'write' })]
  expect(await explain(runtime, known.callId, { tools })).toMatchObject({
    now: { preflight: { effect: 'ask' } },
    differences: [
      {
        what: 'definition',
        recorded: expect.stringMatching(/^1\.0\.0 /) as string,
        now: expect.stringMatching(/^2\.0\.0 /) as string,
      },
      { what: 'decision', recorded: 'allow by defaults/readonly', now: 'ask by defaults/write' },
    ],
  })
  expect(await explain(runtime, 'call_none')).toBeUndefined()
})

test('a call that has not ended is explained from its begin (PERM-10)', async () => {
  let end = () => {}
  const waiting = new Promise<void>((resolve) => (end = resolve))
  const slow = defineTool({
    name: 'demo.slow',
    description: 'Waits.',
    permission: 'write',
    run: async () => {
      begun()
      await waiting
      return 'done'
    },
  })
  let begun = () => {}
  const running = new Promise<void>((resolve) => (begun = resolve))
  const runtime = await openRuntime({ tools: [slow], approve: personSaying('allow_once').approve })
  const result = runtime.session().call('demo.slow')
  await running
  const [begin] = runtime.store.records({ kind: 'begin' })
  const found = await explain(runtime, begin?.call ?? '', { tools: [slow] })
  expect(found).toMatchObject({
    begin: { approval: { decision: 'allow_once' } },
    now: { preflight: { effect: 'ask' } },
    differences: [],
  })
  expect(found?.end).toBeUndefined()
  end()
  expect((await result).ok).toBe(true)
})

test('a call that the counts of its session refused was decided by no rule (PERM-10)', async () => {
  const runtime = await openRuntime({ tools: [noSuch], limits: { callsPerSession: 1 } })
  const session = runtime.session()
  await session.call('demo.say')
  const refused = await session.call('demo.say')
  expect(await explain(runtime, refused.callId)).toMatchObject({
    end: { code: 'QUOTA.BUDGET_EXCEEDED', reason: 'calls' },
    now: { obstacle: expect.stringContaining('no rule decided') as string },
    differences: [],
  })
})

test('a child is explained below its parents, whose mode counts (PERM-10, POOL-3)', async () => {
  const tools = [makeTool('demo.write', { permission: 'write' })]
  const runtime = await openRuntime({ tools })
  const parent = runtime.session({ mode: 'plan', role: 'orchestrator' })
  const child = runtime.session({ parent, role: 'worker', allowedTools: ['demo.write'] })
  const denied = await child.call('demo.write')
  const found = await explain(runtime, denied.callId, { tools })
  expect(found?.begin).toMatchObject({
    role: 'worker',
    mode: 'plan',
    parents: [{ session: parent.id, role: 'orchestrator', mode: 'plan' }],
  })
  expect(found).toMatchObject({ end: { reason: denied.error?.reason }, differences: [] })
})

test('a grant, and a decision point of the host, are explained with the origin of the call (PERM-10, AUTH-1, CALL-8)', async () => {
  const options: RuntimeOptions = {
    tools: [noSuch],
    policy: { grants: [{ id: 'desk', actors: ['ann'] }] },
    decisionPoints: [
      {
        id: 'by-origin',
        digest: '1',
        authorise: ({ origin }) => ({
          effect: origin === 'llm' ? 'forbid' : 'permit',
          decidedBy: `origin-${origin}`,
          reason: 'models may not',
        }),
      },
    ],
  }
  const runtime = await openRuntime(options)
  const { results } = await runtime.session({ actor: 'ann' }).turn([{ tool: 'demo.say' }])
  const model = results[0]?.callId ?? ''
  expect(await explain(runtime, model, options)).toMatchObject({
    begin: { origin: 'llm', decision: { effect: 'deny', layer: 'decision-point', rule: 'origin-llm' } },
    now: { preflight: { effect: 'deny', decision: { layer: 'decision-point', rule: 'origin-llm' } } },
    differences: [],
  })
  const ben = await runtime.session({ actor: 'ben' }).call('demo.say')
  expect(await explain(runtime, ben.callId, options)).toMatchObject({
    begin: { decision: { layer: 'grants', rule: 'no grant' } },
    differences: [],
  })
})

test('explaining makes nothing happen: no tool, person or hook is reached and no record is written (PERM-10)', async () => {
  const reached: string[] = []
  const act = defineTool({
    name: 'demo.act',
    description: 'Acts.',
    permission: 'write',
    run: () => {
      reached.push('tool')
      return 'acted'
    },
  })
  const options: RuntimeOptions = {
    tools: [act],
    approve: async () => {
      reached.push('person')
      return { decision: 'allow_for_session' }
    },
    hooks: [
      {
        name: 'watch',
        before() {
          reached.push('hook')
          return { decision: 'allow' }
        },
      },
    ],
  }
  const runtime = await createRuntime({ project: makeFolder(), home: makeFolder(), ...options })
  const session = runtime.session()
  await session.call('demo.act')
  const second = await session.call('demo.act')
  const before = [...runtime.store.records({})].length
  reached.length = 0
  expect(await explain(runtime, second.callId, options)).toMatchObject({
    begin: { decision: { layer: 'session-approval' } },
    now: { preflight: { effect: 'allow' } },
    differences: [],
  })
  expect(reached).toEqual([])
  expect([...runtime.store.records({})]).toHaveLength(before)
  await runtime.close()
})
