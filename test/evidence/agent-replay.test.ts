import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { codeTools, createRuntime, defineTool, type Runtime, type RuntimeOptions } from 'handrail'
import { createAgentDefinitionRegistry, delegationTools, type RunOptions } from 'handrail/agents'
import { pruneEvidence } from 'handrail/evidence'
import { replayAgentRun, type AgentReplay, type ReplayTask } from 'handrail/replay'
import { taskTools } from 'handrail/tools'
import { expect, onTestFinished, test } from 'vitest'
import { modelSaying, type Said } from '../support/mock-model.ts'
import { makeFolder } from '../support/project.ts'
import { fingerprint, tamper } from './recorded-run.ts'

const read: Said = { calls: [{ tool: 'code__read_file', input: { path: 'a.txt' } }] }
const write: Said = { calls: [{ tool: 'code__write_file', input: { path: 'b.txt', content: 'b' } }] }
const start = (input: object): Said => ({ calls: [{ tool: 'agent__create_sub_agent', input }] })
const poet = { id: 'poet', description: 'Writes verse.', instructions: 'You write verse.' }

type Answers = Parameters<typeof modelSaying>[0]
type Start = Omit<RunOptions, 'model'>

/** A run of a model that says this, and what a replay of it needs. */
async function record(
  answers: Answers,
  { options = {}, run: how = {} }: { options?: RuntimeOptions; run?: Start } = {},
) {
  const path = join(makeFolder(), 'store.db')
  const project = makeFolder({ 'a.txt': 'alpha\n' })
  const given: RuntimeOptions = {
    project,
    home: makeFolder(),
    tools: [codeTools(), delegationTools(), taskTools()],
    services: { agentDefinitions: createAgentDefinitionRegistry({ definitions: [poet] }) },
    sandbox: 'host',
    ...options,
  }
  const runtime = await createRuntime({ ...given, store: { path } })
  let closed = false
  const close = async (): Promise<void> => {
    if (!closed) await runtime.close()
    closed = true
  }
  onTestFinished(close)
  const { model, asked } = modelSaying(answers)
  const first = await runtime.run({ model, prompt: 'Go.', ...how })
  const result = await first.result
  const goOn = async (more: Start = {}) => (await runtime.run({ model, resume: first.id, ...more })).result
  return { path, project, options: given, runtime, close, id: first.id, result, goOn, asked }
}

type Recorded = Pick<Awaited<ReturnType<typeof record>>, 'runtime' | 'id' | 'options'>

function replay(
  { runtime, id, options }: Recorded,
  changed: RuntimeOptions = {},
  task: ReplayTask = {},
): Promise<AgentReplay> {
  return replayAgentRun({ store: runtime.store, run: id, runtime: { ...options, ...changed }, task })
}

const childOf = ({ runs }: Runtime): string =>
  runs.list().find(({ parent }) => parent !== undefined)?.id ?? ''
const fail = (): never => {
  throw new Error('the world was asked')
}

test('a run with a child, tasks, a person and a write goes again as it went, and touches nothing (EVID-3, AGENT-3)', async () => {
  const run = await record([
    start({
      task: 'Look.',
      allowed_tools: ['code.read_file', 'code.write_file'],
      agent_definition_id: 'poet',
    }),
    read,
    write,
    { text: 'Seen.' },
    {
      calls: [
        { tool: 'agent__task_create', input: { title: 'T', steps: [{ step_id: 'a', title: 'A' }] } },
        { id: 'again', tool: 'code__read_file', input: { path: 'a.txt' } },
        { id: 'again', tool: 'nothing__there', input: {} },
      ],
    },
    { text: 'Done.' },
  ])
  expect(run.result.endReason).toBe('approval_pending')
  expect(await replay(run)).toMatchObject({
    divergence: undefined,
    skipped: [
      { turn: 2, tool: 'code__write_file', reason: expect.stringMatching(/waits for a person/) as string },
    ],
  })
  let { result } = run
  while (result.endReason === 'approval_pending') {
    for (const { id } of run.runtime.approvals.list())
      await run.runtime.approvals.decide(id, { decision: 'allow_once', by: 'ada' })
    result = await run.goOn()
  }
  expect(result).toMatchObject({ endReason: 'completed', text: 'Done.' })
  const asked = run.asked.length
  rmSync(join(run.project, 'a.txt'))
  rmSync(join(run.project, 'b.txt'))
  const before = fingerprint(run.project)
  const elsewhere = join(makeFolder(), 'kept')
  const records = () => [...run.runtime.store.records({})].length
  const count = records()
  const again = await replay(run, {
    approve: fail,
    elicit: fail,
    onEvent: fail,
    hooks: [],
    observers: [{ began: fail, enters: fail, within: fail, ended: fail }],
    archive: { dir: elsewhere },
    artifacts: { dir: elsewhere },
    store: { path: join(elsewhere, 'store.db') },
    onError: ({ cause }) => {
      throw cause
    },
  })
  expect(again).toMatchObject({
    run: run.id,
    turns: 6,
    children: [childOf(run.runtime)],
    divergence: undefined,
  })
  expect(again.skipped).toEqual([])
  expect(again.replayed).toBe(again.calls)
  expect(again.policies.recorded).toEqual([again.policies.now])
  expect([fingerprint(run.project), existsSync(elsewhere), records(), run.asked.length]).toEqual([
    before,
    false,
    count,
    asked,
  ])
})

test('the first point where it would part: policy, prompt, definition of an agent, tool, model, limits (EVID-3)', async () => {
  const answers = [
    start({ task: 'Look.', agent_definition_id: 'poet' }),
    read,
    { text: 'Seen.' },
    read,
    { text: 'Done.' },
  ]
  const run = await record(answers, { run: { instructions: ['Tabs.'] } })
  const child = childOf(run.runtime)
  const divergence = async (changed: RuntimeOptions, task?: ReplayTask) =>
    (await replay(run, changed, task)).divergence

  const rules = [{ id: 'no', effect: 'deny' as const, tools: ['code.read_file'], roles: ['sub' as const] }]
  expect(await divergence({ policy: { rules } })).toMatchObject({
    run: child,
    turn: 1,
    tool: 'code.read_file',
    differences: [{ what: 'decision', now: 'deny by policy/no' }, { what: 'outcome' }],
  })
  expect(await divergence({}, { system: 'Be brief.' })).toMatchObject({
    run: run.id,
    turn: 1,
    differences: [{ what: 'system', now: 'Be brief.' }],
  })
  expect(await divergence({}, { instructions: ['Spaces.'] })).toMatchObject({
    differences: [{ what: 'instructions', recorded: 'Tabs.', now: 'Spaces.' }],
  })
  const secret = `sk-ant-api03-${'k3Y'.repeat(20)}`
  expect(await divergence({}, { system: `The key is ${secret}.` })).toMatchObject({
    differences: [{ what: 'system', now: 'The key is [redacted].' }],
  })
  expect(await divergence({}, { maxTurns: 2 })).toMatchObject({
    run: run.id,
    turn: 3,
    differences: [{ what: 'next', now: 'max_turns' }],
  })
  const define = (definitions: (typeof poet)[]) => ({
    services: { agentDefinitions: createAgentDefinitionRegistry({ definitions }) },
  })
  expect(await divergence(define([{ ...poet, instructions: 'You write prose.' }]))).toMatchObject({
    run: child,
    turn: 1,
    differences: [{ what: 'system', recorded: 'You write verse.', now: 'You write prose.' }],
  })
  expect(await divergence(define([]))).toMatchObject({ run: child, differences: [{ what: 'agent' }] })
  const [tool] = codeTools()
    .list()
    .filter(({ definition }) => definition.name === 'code.read_file')
  if (tool === undefined) throw new Error('The tool is not there.')
  const other = { ...tool, definition: { ...tool.definition, description: 'Reads.' } }
  const rest = codeTools()
    .list()
    .filter(({ definition }) => definition.name !== 'code.read_file')
  const tools = [
    { id: 'own', kind: 'code' as const, list: () => [...rest, other] },
    delegationTools(),
    taskTools(),
  ]
  expect(await divergence({ tools })).toMatchObject({
    run: run.id,
    turn: 1,
    differences: [{ what: 'tools', recorded: expect.stringMatching(/^code__read_file /) as string }],
  })
  expect(await divergence({ tools: [codeTools(), delegationTools()] })).toMatchObject({
    differences: expect.arrayContaining([
      { what: 'tools', recorded: expect.stringContaining('agent__task_create') as string, now: 'not there' },
    ]) as object[],
  })
  const budgets = [{ id: 'few', unit: 'tokens' as const, limit: 20 }]
  expect(await divergence({ policy: { budgets } })).toMatchObject({
    run: child,
    turn: 2,
    differences: [{ what: 'next', now: expect.stringMatching(/budget_exceeded.*"few"/) as string }],
  })
  expect(await divergence({})).toBeUndefined()
})

test('lists and restrictions of sessions are known to it: what was left out stays out (EVID-3, POOL-6)', async () => {
  const path = join(makeFolder(), 'store.db')
  const options = { project: makeFolder({ 'a.txt': 'a' }), tools: [codeTools()], sandbox: 'host' as const }
  const runtime = await createRuntime({ ...options, store: { path } })
  onTestFinished(() => runtime.close())
  const session = runtime.session({ allowedTools: ['code.*'], disallowedTools: ['code.glob'] })
  session.restrict({ disallowedTools: ['code.search'] })
  const search: Said = { calls: [{ tool: 'code__search', input: { query: 'a' } }] }
  const { model } = modelSaying([search, read, { text: 'Done.' }])
  const run = await runtime.run({ model, prompt: 'Go.', session })
  await run.result
  const found = await replay({ runtime, id: run.id, options })
  expect(found).toMatchObject({ turns: 3, calls: 2, replayed: 2, skipped: [], divergence: undefined })
})

test('compacted, forked, aborted, out of turns and out of budget runs go again (EVID-3)', async () => {
  const long = { text: 'x '.repeat(2_000), calls: read.calls ?? [], tokens: { input: 900, output: 900 } }
  const compacted = await record([long, { text: 'In short: alpha.' }, { text: 'Done.' }], {
    run: { contextTokens: 2_000 },
  })
  expect(compacted.runtime.runs.transcript(compacted.id).map(({ type }) => type)).toContain('summary')
  expect((await replay(compacted)).divergence).toBeUndefined()
  expect((await replay(compacted, {}, { contextTokens: 100_000 })).divergence).toMatchObject({
    differences: [{ what: 'next', recorded: 'the conversation was summarised' }],
  })

  const forked = await record([
    read,
    { calls: [{ tool: 'agent__fork_agent', input: { task: 'Say it.' } }] },
    { text: 'ahpla' },
    { text: 'Done.' },
  ])
  expect(await replay(forked)).toMatchObject({
    turns: 4,
    children: [childOf(forked.runtime)],
    divergence: undefined,
  })

  const turns = await record([read, read, read, { text: 'Done.' }], { run: { maxTurns: 2 } })
  expect(turns.result.endReason).toBe('max_turns')
  expect((await replay(turns)).divergence).toBeUndefined()
  expect((await replay(turns, {}, { maxTurns: 9 })).divergence).toMatchObject({
    turn: 3,
    differences: [{ what: 'next', recorded: 'max_turns', now: 'the model would be asked' }],
  })
  await turns.goOn()
  expect(await replay(turns)).toMatchObject({ turns: 4, divergence: undefined })

  const budgets = [{ id: 'few', unit: 'tokens' as const, limit: 20 }]
  const poor = await record([read, read, { text: 'Done.' }], { options: { policy: { budgets } } })
  expect(poor.result.endReason).toBe('budget_exceeded')
  expect(await replay(poor)).toMatchObject({ turns: 2, divergence: undefined, skipped: [{ run: poor.id }] })

  const abort = new AbortController()
  const stop = defineTool({
    name: 'demo.stop',
    description: 'Stops.',
    permission: 'readonly',
    run: ({ signal }) => {
      abort.abort()
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('stopped'))))
    },
  })
  const aborted = await record([{ calls: [{ tool: 'demo__stop' }] }], {
    options: { tools: [stop] },
    run: { signal: abort.signal },
  })
  expect(aborted.result.endReason).toBe('aborted_tools')
  expect(await replay(aborted)).toMatchObject({ turns: 1, divergence: undefined })
})

test('a run of another tenant is not found, its own one is (EVID-3, AUTH-6)', async () => {
  const policy = { tenants: { acme: {} } }
  const run = await record([read, { text: 'Done.' }], {
    options: { policy },
    run: { session: { tenant: 'acme' } },
  })
  await expect(replay(run)).rejects.toMatchObject({ code: 'unknown_run' })
  const found = await replayAgentRun({
    store: run.runtime.store,
    run: run.id,
    tenant: 'acme',
    runtime: run.options,
  })
  expect(found).toMatchObject({ calls: 1, replayed: 1, divergence: undefined })
})

test('what was pruned or tampered with is said, and never replayed as if it were whole (EVID-3, EVID-7)', async () => {
  const pruned = await record([read, { text: 'Done.' }])
  const at = Date.now() + 60_000
  await pruneEvidence({ store: pruned.runtime.store, before: at, at, actor: 'ada' })
  expect(await replay(pruned)).toMatchObject({
    turns: 0,
    skipped: [{ run: pruned.id, reason: 'its conversation was pruned' }],
  })

  for (const change of [
    "UPDATE documents SET value = replace(value, 'Done', 'Gone') WHERE kind = 'node'",
    "UPDATE records SET body = replace(body, 'alpha', 'omega')",
  ]) {
    const run = await record([read, { text: 'Done.' }])
    await run.close()
    tamper(run.path, change)
    const runtime = await createRuntime({
      ...run.options,
      store: { path: run.path },
      onError: () => undefined,
    })
    onTestFinished(() => runtime.close())
    const outcome = await replay({ ...run, runtime }).then(
      ({ divergence }) => divergence?.differences[0]?.what,
      (error: unknown) => String(error),
    )
    expect(outcome).toMatch(
      change.includes('node') ? /tampered|was not written by Handrail|changed/i : /^result$/,
    )
  }
})
