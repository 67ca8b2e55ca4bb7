import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { codeTools, type Mode, type Role, type SessionOptions } from 'handrail'
import type { BeginRecord } from 'handrail/evidence'
import { replayRun } from 'handrail/replay'
import { describe, expect, test } from 'vitest'
import { makeTool } from '../../support/make-tool.ts'
import { makeFolder, openRuntime, personSaying } from '../../support/project.ts'

const say = makeTool('demo.say')
const write = { path: 'a.txt', content: 'new' }

/** What a session of this runtime may use. */
const names = (session: { tools(): readonly { tool: string }[] }) => session.tools().map(({ tool }) => tool)

describe('the tools of a child', () => {
  test('are those of its own role, not the set of its parent (POOL-3)', async () => {
    const runtime = await openRuntime({ tools: [codeTools(), say, makeTool('agent.task_get')] })
    const parent = runtime.session()
    expect(names(parent)).toContain('demo.say')
    const sub = runtime.session({ parent })
    expect(sub.principal.role).toBe('sub')
    expect(names(sub)).toEqual(['code.glob', 'code.list_dir', 'code.lsp', 'code.read_file', 'code.search'])
    const worker = runtime.session({ parent, role: 'worker' })
    expect(names(worker)).toEqual([...names(sub), 'agent.task_get'].toSorted())
  })

  test('are asked for by name, writing ones too, and still go by the policy (POOL-5)', async () => {
    const person = personSaying('deny')
    const runtime = await openRuntime({ tools: [codeTools()], approve: person.approve })
    const worker = runtime.session({
      parent: runtime.session(),
      role: 'worker',
      allowedTools: ['code.write_file'],
    })
    expect(names(worker)).toEqual(['code.write_file'])
    expect((await worker.call('code.write_file', write)).error).toMatchObject({
      code: 'POLICY.APPROVAL_DENIED',
    })
    expect(person.asked).toHaveLength(1)
  })

  test('are never more than its parent has, whatever is asked for (POOL-3)', async () => {
    const runtime = await openRuntime({ tools: [codeTools(), say] })
    const parent = runtime.session({
      allowedTools: ['code.read_file', 'demo.*'],
      disallowedTools: ['demo.say'],
    })
    const child = runtime.session({ parent, allowedTools: ['*'] })
    expect(names(child)).toEqual(['code.read_file'])
    expect((await child.call('demo.say')).error).toMatchObject({ reason: 'tool_not_available' })
  })

  test('follow what restricts its parent, at once (POOL-6)', async () => {
    const runtime = await openRuntime({ tools: [codeTools()] })
    const parent = runtime.session()
    const child = runtime.session({ parent })
    expect(names(child)).toContain('code.search')
    const end = parent.restrict({ allowedTools: ['code.read_file'] })
    expect(names(child)).toEqual(['code.read_file'])
    expect((await child.call('code.glob', { pattern: '*' })).error).toMatchObject({
      reason: 'tool_not_available',
    })
    end()
    expect(names(child)).toContain('code.search')
  })
})

describe('the permission of a child', () => {
  const roles: readonly Role[] = ['main', 'orchestrator', 'sub', 'fork', 'worker']
  const modes: readonly Mode[] = ['plan', 'default', 'accept-edits', 'bypass']

  test('reaches no further than the role and mode of its parent (POOL-3)', async () => {
    const runtime = await openRuntime({ policy: { allowBypass: true } })
    for (const [index, role] of roles.entries())
      for (const [place, mode] of modes.entries()) {
        const parent = runtime.session({ role, mode })
        expect(runtime.session({ parent })).toMatchObject({
          principal: { role: index < 2 ? 'sub' : role },
          mode,
        })
        for (const wider of roles.slice(0, index))
          expect(() => runtime.session({ parent, role: wider })).toThrow(/reaches further than the parent's/)
        for (const wider of modes.slice(place + 1))
          expect(() => runtime.session({ parent, mode: wider })).toThrow(/reaches further than the parent's/)
        for (const narrower of modes.slice(0, place))
          expect(runtime.session({ parent, mode: narrower }).mode).toBe(narrower)
      }
  })

  test.each<[string, SessionOptions]>([
    ['tenant', { tenant: 'other' }],
    ['actor', { actor: 'eve' }],
    ['approver', { approve: async () => ({ decision: 'allow_once' }) }],
  ])('has the %s of its parent, and no other one (POOL-3)', async (_what, options) => {
    const runtime = await openRuntime()
    const parent = runtime.session({ actor: 'ada' })
    expect(() => runtime.session({ parent, ...options })).toThrow(/parent/)
    expect(runtime.session({ parent }).principal).toMatchObject({ tenant: 'local', actor: 'ada' })
  })

  test('is denied and asked for by the rules of everybody above it (PERM-1, PERM-10)', async () => {
    const person = personSaying('deny')
    const runtime = await openRuntime({
      tools: [codeTools(), say],
      approve: person.approve,
      policy: {
        rules: [
          { id: 'planners-read', effect: 'deny', tools: ['code.write_file'], roles: ['orchestrator'] },
          { id: 'mind-planners', effect: 'ask', tools: ['demo.say'], roles: ['orchestrator'] },
          { id: 'subs-work', effect: 'allow', tools: ['*'], roles: ['sub', 'worker'] },
        ],
      },
    })
    const alone = runtime.session({ role: 'sub', allowedTools: ['*'] })
    expect((await alone.preflight('code.write_file', write)).effect).toBe('allow')

    const parent = runtime.session({ role: 'orchestrator' })
    const child = runtime.session({ parent, allowedTools: ['*'] })
    const grandchild = runtime.session({ parent: child, role: 'worker', allowedTools: ['*'] })
    for (const session of [child, grandchild]) {
      expect((await session.call('code.write_file', write)).error).toMatchObject({
        code: 'POLICY.DENY_TOOL',
        reason: 'rule_denied',
        data: { rule: 'planners-read' },
      })
      expect((await session.preflight('demo.say')).decision).toMatchObject({
        effect: 'ask',
        rule: 'mind-planners',
      })
      const { tools } = await session.available()
      expect(tools.find(({ tool }) => tool === 'code.write_file')?.effect).toBe('deny')
    }
    const { alternatives } = await child.preflight('code.write_file', write)
    expect(alternatives).toMatchObject([{ without: { rule: 'planners-read' }, effect: 'ask', rule: 'write' }])
  })

  test('is granted by the grants of everybody above it, and within their bounds (AUTH-1, AUTH-2)', async () => {
    const project = makeFolder({ 'in/a.txt': 'A\n', 'out/b.txt': 'B\n' })
    const runtime = await openRuntime({
      project,
      tools: [codeTools(), say],
      policy: {
        grants: [
          { roles: ['main'], tools: ['code.*'], capabilities: { read: ['{project}/in'] } },
          { roles: ['sub'] },
        ],
      },
    })
    const alone = runtime.session({ role: 'sub', allowedTools: ['*'] })
    expect((await alone.call('code.read_file', { path: 'out/b.txt' })).ok).toBe(true)
    expect((await alone.call('demo.say')).ok).toBe(true)
    const child = runtime.session({ parent: runtime.session(), allowedTools: ['*'] })
    expect((await child.call('code.read_file', { path: 'in/a.txt' })).ok).toBe(true)
    expect((await child.call('code.read_file', { path: 'out/b.txt' })).ok).toBe(false)
    expect((await child.call('demo.say')).error).toMatchObject({ code: 'AUTH.FORBIDDEN' })
  })

  test('does not come from what the person allowed its parent (PERM-4)', async () => {
    const person = personSaying('allow_for_session')
    const runtime = await openRuntime({
      project: makeFolder({ 'a.txt': 'old' }),
      tools: [codeTools()],
      approve: person.approve,
    })
    const parent = runtime.session()
    const change = (text: string) => ({ path: `${text}.txt`, content: text })
    await parent.call('code.write_file', change('one'))
    await parent.call('code.write_file', change('two'))
    expect(person.asked).toHaveLength(1)
    const child = runtime.session({ parent, allowedTools: ['code.write_file'] })
    await child.call('code.write_file', change('three'))
    expect(person.asked).toHaveLength(2)
    expect(person.asked[1]?.principal).toMatchObject({ role: 'sub' })
  })
})

test('the person sees which agent asks and which one started it (PERM-6)', async () => {
  const person = personSaying('deny')
  const runtime = await openRuntime({ tools: [codeTools()], approve: person.approve })
  const parent = runtime.session({ agent: { agentId: 'planner', runId: 'run-1' } })
  const agent = { agentId: 'editor', runId: 'run-2', parentAgentId: 'somebody', parentRunId: 'else' }
  const child = runtime.session({ parent, agent, allowedTools: ['code.write_file'] })
  await child.call('code.write_file', write)
  expect(person.asked[0]?.principal.agent).toEqual({
    agentId: 'editor',
    runId: 'run-2',
    parentAgentId: 'planner',
    parentRunId: 'run-1',
  })
})

test('calls of children count as the calls of their parent too (AUTH-4)', async () => {
  const runtime = await openRuntime({ tools: [say], limits: { callsPerSession: 3 } })
  const parent = runtime.session()
  const open = () => runtime.session({ parent, allowedTools: ['*'] })
  const results = [
    await parent.call('demo.say', {}),
    await open().call('demo.say', {}),
    await runtime.session({ parent: open(), allowedTools: ['*'] }).call('demo.say', {}),
    await open().call('demo.say', {}),
    await parent.call('demo.say', {}),
  ]
  expect(results.map(({ ok, error }) => (ok ? 'ok' : error?.reason))).toEqual([
    'ok',
    'ok',
    'ok',
    'calls',
    'calls',
  ])
  expect((await runtime.session().call('demo.say', {})).ok).toBe(true)
})

test('a parent that is closed or aborted takes its children with it (SCHED-6)', async () => {
  let began: (() => void) | undefined
  const wait = makeTool('demo.wait')
  wait.run = (_input, { signal }) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason))
      began?.()
    })
  const runtime = await openRuntime({ tools: [wait] })
  const start = async (options: SessionOptions) => {
    const child = runtime.session({ allowedTools: ['*'], ...options })
    const started = new Promise<void>((resolve) => (began = resolve))
    const result = child.call('demo.wait')
    await started
    return { child, result }
  }
  const parent = runtime.session()
  const { child, result } = await start({ parent: runtime.session({ parent, allowedTools: ['*'] }) })
  await parent.close()
  expect((await result).error).toMatchObject({ code: 'TOOL.ABORTED', reason: 'run_cancelled' })
  expect((await child.call('demo.wait')).error).toMatchObject({ code: 'TOOL.ABORTED' })
  expect(() => runtime.session({ parent })).toThrow('The parent is closed')

  const stop = new AbortController()
  const other = await start({ parent: runtime.session({ signal: stop.signal }) })
  stop.abort()
  expect((await other.result).error).toMatchObject({ code: 'TOOL.ABORTED' })
})

test('a session of another runtime is not a parent', async () => {
  const [one, two] = [await openRuntime(), await openRuntime()]
  expect(() => two.session({ parent: one.session() })).toThrow('It is not a session of this runtime.')
})

test('the evidence says below which sessions a call was made, and a replay goes below the same ones (EVID-2, EVID-3)', async () => {
  const project = makeFolder({ 'a.txt': 'A\n' })
  const options = {
    project,
    tools: [codeTools()],
    policy: { rules: [{ effect: 'deny' as const, tools: ['code.glob'], roles: ['main' as const] }] },
  }
  const runtime = await openRuntime(options)
  const parent = runtime.session()
  const child = runtime.session({ parent, mode: 'plan' })
  await child.call('code.read_file', { path: 'a.txt' })
  await child.call('code.glob', { pattern: '*' })
  const begins = [...runtime.store.records({ session: child.id, kind: 'begin' })].map(
    ({ text }) => JSON.parse(text) as BeginRecord,
  )
  expect(begins.map(({ parents }) => parents)).toEqual([
    [{ session: parent.id, role: 'main' }],
    [{ session: parent.id, role: 'main' }],
  ])
  writeFileSync(join(project, 'a.txt'), 'changed')
  const replay = await replayRun({ store: runtime.store, session: child.id, runtime: options })
  expect(replay).toMatchObject({ calls: 2, replayed: 2, divergence: undefined })
  expect(readFileSync(join(project, 'a.txt'), 'utf8')).toBe('changed')
})
