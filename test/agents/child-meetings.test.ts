import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { codeTools, type Policy, type RuntimeOptions } from 'handrail'
import { createAgentDefinitionRegistry, createSkillRegistry, delegationTools } from 'handrail/agents'
import { planTools, skillTools } from 'handrail/tools'
import { expect, test } from 'vitest'
import { gatedTool } from '../support/gated-tool.ts'
import { modelSaying, toldResults, type ModelAsked, type Said } from '../support/mock-model.ts'
import { giveAway, makeFolder, openRuntime, personSaying } from '../support/project.ts'
import { makeRepository } from '../support/repository.ts'
import { others } from './open-skills.ts'

const start = (input: object): Said => ({ calls: [{ tool: 'agent__create_sub_agent', input }] })
const open = (options: RuntimeOptions = {}) =>
  openRuntime({
    project: makeFolder({ 'a.txt': 'alpha\n' }),
    tools: [codeTools(), delegationTools(), planTools()],
    sandbox: 'host',
    ...options,
  })
const told = (asked: ModelAsked | undefined): string => toldResults(asked ?? { prompt: [] }).at(-1) ?? ''
const write: Said = { calls: [{ tool: 'code__write_file', input: { path: 'b.txt', content: 'new\n' } }] }
const writer = { allowed_tools: ['code.*'] }

test('what ends in a child ends the wait of its parent: an abort ends both runs, and they go on together (AGENT-2, AGENT-3)', async () => {
  const gate = gatedTool({ onAbort: () => 'stopped' })
  const tools = [gate.tool, delegationTools()]
  const runtime = await open({ tools })
  const { model, asked } = modelSaying([
    start({ task: 'Wait.', allowed_tools: ['t.*'] }),
    { calls: [{ tool: 't__gated', input: { id: '1' } }] },
    { text: 'I was stopped.' },
    { text: 'All is said.' },
  ])
  const run = await runtime.run({ model, prompt: 'Go.' })
  await gate.started('1')
  run.abort('enough')
  expect(await run.result).toMatchObject({ endReason: 'aborted_tools' })
  expect(runtime.runs.list().map(({ state, endReason }) => [state, endReason])).toEqual([
    ['ended', 'aborted_tools'],
    ['ended', 'aborted_tools'],
  ])
  expect(gate.open()).toBe(0)
  const again = await (await runtime.run({ model, resume: run.id })).result
  expect(again.endReason).toBe('completed')
  expect(told(asked[2])).toMatch(/abort/)
})

test('a child that is over its time is told to its parent, which goes on (AGENT-2, SCHED-4)', async () => {
  const gate = gatedTool({ onAbort: () => 'stopped' })
  const runtime = await open({ tools: [gate.tool, delegationTools()] })
  const { model, asked } = modelSaying([
    start({ task: 'Wait.', allowed_tools: ['t.*'], timeout_ms: 1_000 }),
    { calls: [{ tool: 't__gated', input: { id: '1' } }] },
    { text: 'It took too long.' },
  ])
  const result = await (await runtime.run({ model, prompt: 'Go.' })).result
  expect(result).toMatchObject({ endReason: 'completed', text: 'It took too long.' })
  expect(told(asked[2])).toMatch(/agent_unfinished[\s\S]*aborted_tools/)
})

test('a child that uses up the tokens is told to its parent as that, before the parent ends for it too (AGENT-2, AUTH-4)', async () => {
  const policy: Policy = { budgets: [{ id: 'all', unit: 'tokens', limit: 40 }] }
  const runtime = await open({ policy })
  const { model } = modelSaying([
    start({ task: 'Spend.' }),
    { calls: [{ tool: 'code__read_file', input: { path: 'a.txt' } }], tokens: { input: 60, output: 40 } },
  ])
  const result = await (await runtime.run({ model, prompt: 'Go.' })).result
  expect(result).toMatchObject({ endReason: 'budget_exceeded', error: { reason: 'tokens' } })
  const [node] = runtime.runs.transcript(result.id).filter(({ type }) => type === 'tool')
  expect(JSON.stringify(node)).toMatch(/ended after 1 turns \(budget_exceeded\)/)
})

test('fifty plans that the person refuses end a run by its turns, in plan mode, and none is asked twice for one call (BI-4, AGENT-3)', async () => {
  const person = personSaying('deny')
  const runtime = await open({ approve: person.approve })
  const exit: Said = { calls: [{ tool: 'plan__exit', input: { plan: 'Do it.' } }] }
  const { model } = modelSaying([
    { calls: [{ tool: 'plan__enter', input: {} }] },
    ...Array.from({ length: 60 }, () => exit),
  ])
  const result = await (await runtime.run({ model, prompt: 'Go.', wait: true })).result
  expect(result).toMatchObject({ endReason: 'max_turns', turns: 50 })
  expect(person.asked).toHaveLength(49)
})

test('without a person a plan ends its run for the answer, and goes on after it (BI-4, AGENT-3)', async () => {
  const runtime = await open()
  const { model } = modelSaying([
    { calls: [{ tool: 'plan__enter', input: {} }] },
    { calls: [{ tool: 'plan__exit', input: { plan: 'Do it.' } }] },
    { text: 'I may not.' },
  ])
  const first = await (await runtime.run({ model, prompt: 'Go.' })).result
  expect(first).toMatchObject({ endReason: 'approval_pending', waiting: [{}] })
  await runtime.approvals.decide(first.waiting[0]?.id ?? '', { decision: 'deny', by: 'ann' })
  const last = await (await runtime.run({ model, resume: first.id })).result
  expect(last).toMatchObject({ endReason: 'completed', text: 'I may not.' })
})

test('a fork of an agent that follows a skill is as narrow as that is (POOL-6, BI-7)', async () => {
  const home = makeFolder({ 'skills/careful/SKILL.md': others['careful/SKILL.md'] })
  const policy: Policy = { rules: [{ effect: 'allow', tools: ['code.*'] }] }
  const runtime = await open({
    policy,
    tools: [codeTools(), delegationTools(), skillTools()],
    services: { skillRegistry: createSkillRegistry({ home }) },
  })
  const { model, asked } = modelSaying([
    { calls: [{ tool: 'internal__load_skill', input: { name: 'careful' } }] },
    { calls: [{ tool: 'agent__fork_agent', input: { task: 'Write.', ...writer } }] },
    write,
    { text: 'It may not.' },
    { text: 'Done.' },
  ])
  const result = await (await runtime.run({ model, prompt: 'Go.' })).result
  expect(result).toMatchObject({ endReason: 'completed', text: 'Done.' })
  expect(told(asked[3])).toContain('POLICY.DENY_TOOL')
  expect(existsSync(join(runtime.project, 'b.txt'))).toBe(false)
})

test('a definition that changes while its agent waits holds for it as it goes on, and never for more than its parent has (AGENT-1, AGENT-2)', async () => {
  const home = makeFolder({
    'agents/scribe.md': '---\nname: scribe\ndescription: S.\ntools: Read, Write\n---\nWrite in English.\n',
  })
  const runtime = await open({ services: { agentDefinitions: createAgentDefinitionRegistry({ home }) } })
  const { model, asked } = modelSaying([
    start({ task: 'Write.', agent_definition_id: 'scribe' }),
    write,
    { text: 'Written.' },
    { text: 'Done.' },
  ])
  const first = await (await runtime.run({ model, prompt: 'Go.' })).result
  expect(first.endReason).toBe('approval_pending')
  writeFileSync(
    join(home, 'agents/scribe.md'),
    '---\nname: scribe\ndescription: S.\ntools: Read\n---\nWrite in French.\n',
  )
  await runtime.approvals.decide(first.waiting[0]?.id ?? '', { decision: 'allow_once', by: 'ann' })
  const last = await (await runtime.run({ model, resume: first.id })).result
  expect(last).toMatchObject({ endReason: 'completed', text: 'Done.' })
  expect(asked[2]?.prompt[0]?.content).toContain('French')
  expect(told(asked[2])).toContain('tool_not_available')
  expect(existsSync(join(runtime.project, 'b.txt'))).toBe(false)
})

test('a run that goes on under a narrower policy does what that one lets it, also after a yes to more (AGENT-3, PERM-4)', async () => {
  const runtime = await open()
  const { model, asked } = modelSaying([write, { text: 'I may not.' }])
  const first = await (await runtime.run({ model, prompt: 'Go.' })).result
  await runtime.approvals.decide(first.waiting[0]?.id ?? '', { decision: 'allow_once', by: 'ann' })
  await runtime.reload({ policy: { rules: [{ effect: 'deny', tools: ['code.write_file'] }] } })
  const last = await (await runtime.run({ model, resume: first.id })).result
  expect(last).toMatchObject({ endReason: 'completed', text: 'I may not.' })
  expect(told(asked[1])).toContain('rule_denied')
  expect(existsSync(join(runtime.project, 'b.txt'))).toBe(false)
})

test('the parent takes back what a child wrote in a worktree, and nothing else of it (AGENT-2, BI-6)', async () => {
  const project = makeFolder({ 'a.txt': 'alpha\n' })
  makeRepository(project)
  giveAway(project)
  const policy: Policy = { rules: [{ effect: 'allow', tools: ['code.*'] }] }
  const { model } = modelSaying([write, { text: 'Written.' }])
  const kept = makeFolder()
  chmodSync(kept, 0o700)
  const store = { path: join(kept, 'store.db') }
  const runtime = await open({ project, agents: { model }, policy, store })
  const session = runtime.session()
  writeFileSync(join(project, 'b.txt'), 'of the project\n')
  const input = { task: 'Go.', isolation: 'worktree', ...writer }
  const { data } = await session.call('agent.create_sub_agent', input)
  const { path } = (data as { worktree: { path: string } }).worktree
  expect(readFileSync(join(project, path, 'b.txt'), 'utf8')).toBe('new\n')
  const begins = [...runtime.store.records({ tenant: 'local', kind: 'begin' })].map(
    ({ text }) => JSON.parse(text) as { call: string; tool: string },
  )
  const written = begins.find(({ tool }) => tool === 'code.write_file')?.call
  const undone = await session.call('code.undo', { call: written })
  expect(undone.data).toMatchObject({ calls: [written], paths: [`${path}/b.txt`] })
  expect(existsSync(join(project, path, 'b.txt'))).toBe(false)
  expect(readFileSync(join(project, 'b.txt'), 'utf8')).toBe('of the project\n')
})
