import { join } from 'node:path'
import { codeTools, createRuntime, type RuntimeOptions } from 'handrail'
import { createSkillRegistry, delegationTools } from 'handrail/agents'
import { replayRun } from 'handrail/replay'
import { skillTools } from 'handrail/tools'
import { expect, test } from 'vitest'
import { atEnd } from '../support/at-end.ts'
import { handrail, makePlace, onBundle, startProgram } from '../support/command-line.ts'
import { modelSaying, toldResults, type ModelAsked, type Said } from '../support/mock-model.ts'
import { runModel } from '../support/run-model.ts'
import { anyCommand, makeFolder } from '../support/project.ts'
import { toServer } from '../support/serve-stdio.ts'
import { commit, load, openSkills, others } from './open-skills.ts'
import { Client } from '@modelcontextprotocol/client'
import { writeFileSync } from 'node:fs'

const systemOf = ({ prompt }: ModelAsked | undefined = { prompt: [] }) =>
  prompt.flatMap(({ role, content }) => (role === 'system' ? [JSON.stringify(content)] : [])).join('\n')
const toolsOf = (asked: ModelAsked | undefined) => (asked?.tools ?? []).map(({ name }) => name)
const loading = (name: string): Said => ({ calls: [{ tool: 'internal__load_skill', input: { name } }] })

test('a run begins with the same words about its skills in every request, and ends what it follows (BI-7, POOL-6, AGENT-3)', async () => {
  const { runtime, home } = await openSkills({
    home: { ...commit, ...others },
    project: { '.claude/skills/strange/SKILL.md': '---\nname: strange\ndescription: Of a stranger.\n---\nx' },
  })
  const { model, asked } = modelSaying([
    () => {
      writeFileSync(join(home, 'skills/look/SKILL.md'), 'broken')
      return loading('commit')
    },
    { calls: [{ tool: 'code__write_file', input: { path: 'b.txt', content: 'b' } }] },
    { text: 'Done.' },
    { text: 'More.' },
  ])
  const session = runtime.session({ id: 'thread' })
  const result = await (await runtime.run({ model, prompt: 'Go.', session })).result
  expect(result.endReason).toBe('completed')
  const systems = asked.map(systemOf)
  expect(new Set(systems).size).toBe(1)
  expect(systems[0]).toMatch(
    /- commit: Makes commits\.[^]*- look: Looks\.[^]*untrusted-[^]*- strange: Of a stranger\./,
  )
  expect(systems[0]).not.toContain('For people.')
  expect(toolsOf(asked[0])).toContain('code__write_file')
  expect(toolsOf(asked[1])).toEqual([
    'code__read_file',
    'code__run_command',
    'internal__list_skills',
    'internal__load_skill',
  ])
  expect(toldResults(asked[2] ?? { prompt: [] }).join()).toContain('tool_not_available')
  expect(session.skills()).toEqual([])
  // What comes next in it has all tools, and the words that it began with.
  const next = await runtime.run({ model, resume: result.id, prompt: 'More.', session })
  expect((await next.result).endReason).toBe('completed')
  expect(toolsOf(asked[3])).toEqual(toolsOf(asked[0]))
  expect(systemOf(asked[3])).toBe(systems[0])
})

test('an agent that may not load skills is told of none, and one below another starts narrowed (BI-7, POOL-4)', async () => {
  const { runtime } = await openSkills(
    {},
    { tools: [codeTools(), skillTools(), delegationTools()], disallowedTools: [] },
  )
  const { model, asked } = modelSaying([
    loading('look'),
    { calls: [{ tool: 'agent__create_sub_agent', input: { task: 'Go.' } }] },
    { text: 'Done.' },
  ])
  await (
    await runtime.run({ model, prompt: 'Go.' })
  ).result
  // The skill leaves out what starts agents.
  expect(toldResults(asked[2] ?? { prompt: [] }).join()).toContain('tool_not_available')
  const { model: second, asked: told } = modelSaying([
    loading('free'),
    { calls: [{ tool: 'agent__create_sub_agent', input: { task: 'Go.' } }] },
    { text: 'I am the child.' },
    { text: 'Done.' },
  ])
  await (
    await runtime.run({ model: second, prompt: 'Go.' })
  ).result
  expect(systemOf(told[2])).not.toContain('Skills say')
  expect(toolsOf(told[2])).not.toContain('internal__load_skill')
})

/** Options over a folder that has home, project and store in it. */
function optionsOf(folder: string): RuntimeOptions {
  return {
    project: folder,
    home: folder,
    tools: [codeTools(), skillTools()],
    services: { skillRegistry: createSkillRegistry({ home: folder }) },
    policy: anyCommand,
    sandbox: 'host',
    store: { path: join(folder, 'store.db') },
  }
}

test('a run whose process was killed goes on narrowed, with the words that it began with (BI-7, POOL-6, AGENT-3)', async () => {
  const place = makePlace(
    Object.fromEntries(
      Object.entries({ ...commit, ...others }).map(([path, text]) => [join('skills', path), text]),
    ),
  )
  const program = join(import.meta.dirname, 'skilled-agent.ts')
  const running = startProgram(place, [onBundle, program, place.project])
  await running.saw('loaded')
  running.child.kill('SIGKILL')
  await running.ended
  const runtime = await createRuntime(optionsOf(place.project))
  atEnd(() => runtime.close())
  const [run] = runtime.runs.list({})
  writeFileSync(join(place.project, 'skills/look/SKILL.md'), 'broken')
  const { model, asked } = modelSaying([
    { calls: [{ tool: 'code__run_command', input: { argv: ['true'] } }] },
    { text: 'Done.' },
  ])
  const resumed = await runtime.run({ model, resume: run?.id ?? '', wait: false })
  const waiting = await resumed.result
  expect(waiting.endReason).toBe('approval_pending')
  expect(toolsOf(asked[0])).toEqual([
    'code__read_file',
    'code__run_command',
    'internal__list_skills',
    'internal__load_skill',
  ])
  expect(systemOf(asked[0])).toContain('- look: Looks.')
  await runtime.approvals.decide(waiting.waiting[0]?.id ?? '', { decision: 'allow_once', by: 'ann' })
  const last = await (await runtime.run({ model, resume: waiting.id })).result
  expect(last.endReason).toBe('completed')
})

test('a run with skills is replayed as it was, also if they are gone (BI-7, EVID-4)', async () => {
  const folder = makeFolder(
    Object.fromEntries(Object.entries(commit).map(([path, text]) => [join('skills', path), text])),
  )
  const runtime = await createRuntime(optionsOf(folder))
  atEnd(() => runtime.close())
  const session = runtime.session()
  await load(session, 'commit')
  expect(await session.call('code.write_file', { path: 'b', content: '' })).toMatchObject({
    error: { reason: 'tool_not_available' },
  })
  expect((await session.call('code.run_command', { argv: ['true'] })).outcome).toBe('denied')
  await session.close()
  writeFileSync(join(folder, 'skills/commit/SKILL.md'), 'gone')
  const { store: _store, ...options } = optionsOf(folder)
  const replay = await replayRun({ store: runtime.store, session: session.id, runtime: options })
  expect(replay).toMatchObject({ calls: 3, replayed: 3, skipped: [], divergence: undefined })
})

const withSkills = (files: Record<string, string> = { ...commit, ...others }) =>
  makePlace(
    { '.claude/skills/review/SKILL.md': '---\nname: review\ndescription: Reviews.\nmodel: x\n---\nx' },
    {
      'config.json': { toolGroups: ['skill'] },
      ...Object.fromEntries(Object.entries(files).map(([path, text]) => [join('skills', path), text])),
    },
  )

test('the command line lists skills, shows one, and says what is wrong with which file (BI-7)', async () => {
  const place = withSkills()
  const list = await handrail(place, ['skills'])
  expect(list).toMatchObject({ code: 0, stderr: '' })
  expect(list.stdout).toMatch(
    /^careful +home +Never pushes\.\ncommit[^]*\nreview +project +Reviews\.\n1 more/,
  )
  const show = await handrail(place, ['skills', 'show', 'commit'])
  expect(show.stdout).toMatch(
    /digest: sha256:[0-9a-f]{64}\n[^]*asks: [^]*git:\*[^]*files: SKILL\.md, say\.sh\n/,
  )
  const unknown = await handrail(place, ['skills', 'show', 'comit'])
  expect(unknown.code).toBe(2)
  expect(unknown.stderr).toMatch(/unknown_skill: There is no skill "comit"\. Did you mean "commit"\?/)
  const faulty = withSkills({ ...commit, 'bad/SKILL.md': '# No front matter' })
  for (const verb of ['list', 'check']) {
    const { code, stdout } = await handrail(faulty, ['skills', verb])
    expect([verb, code]).toEqual([verb, 2])
    expect(stdout).toMatch(/bad\/SKILL\.md:1: The file has no front matter\./)
  }
  expect((await handrail(faulty, ['skills', 'check'])).stdout).toMatch(
    /review\/SKILL\.md:4: "model" counts for nothing[^]*2 can be loaded, 1 cannot\./,
  )
  const off = makePlace()
  expect((await handrail(off, ['skills'])).stdout).toMatch(
    /There are no skills\.\nNo agent can load them: add "skill"/,
  )
})

test('handrail run and MCP clients load skills too (BI-7)', async () => {
  const place = withSkills()
  const { code, asked } = await runModel(
    place,
    [{ calls: [{ tool: 'internal__load_skill', input: { name: 'commit' } }] }, { text: 'Done.' }],
    { argv: ['Go.'] },
  )
  expect(code).toBe(0)
  expect(JSON.stringify(asked[0])).toContain('- commit: Makes commits.')
  expect(JSON.stringify(asked[1])).toContain('Follow the skill')
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(toServer(place))
  atEnd(() => client.close())
  const result = await client.callTool({ name: 'internal__load_skill', arguments: { name: 'look' } })
  expect(JSON.stringify(result)).toContain('Follow the skill')
  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name)).toEqual([
    'artifact__read',
    'code__read_file',
    'code__search',
    'internal__list_skills',
    'internal__load_skill',
  ])
})
