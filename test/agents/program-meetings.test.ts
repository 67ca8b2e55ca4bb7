import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { codeTools } from 'handrail'
import { delegationTools } from 'handrail/agents'
import { codeModeTools, skillTools } from 'handrail/tools'
import { expect, test } from 'vitest'
import { createClient, textOf } from '../mcp/connect.ts'
import { handrail, jsonOf, makePlace } from '../support/command-line.ts'
import { modelSaying, toldResults } from '../support/mock-model.ts'
import { startModelServer } from '../support/model-server.ts'
import { listRuns, modelAt, modelEnv, runModel } from '../support/run-model.ts'
import { toServer } from '../support/serve-stdio.ts'
import { anyTool, openSkills } from './open-skills.ts'
import { openPrograms, returnedBy, runCode } from './open-programs.ts'

const code = `const before = await tools.code__read_file({ path: 'a.txt' })
const written = await tools.code__write_file({ path: 'b.txt', content: 'new' })
const third = await tools.code__read_file({ path: 'b.txt' }).catch((error) => error.reason)
return [before.content, third]`
const own = { 'config.json': { toolGroups: ['code_mode'], codeMode: { calls: 2 }, sandbox: 'host' } }

test('handrail run waits within a program, and goes on after the yes of another process without a call made twice (NEXT-5, PERM-3)', async () => {
  const place = makePlace({ 'a.txt': 'alpha' }, own)
  const program = { calls: [{ tool: 'code_mode.run', input: { code } }] }
  const first = await runModel(place, [program], { argv: ['copy it'] })
  expect([first.code, existsSync(join(place.project, 'b.txt'))]).toEqual([4, false])
  expect((await handrail(place, ['approvals', 'allow', 'last', '--yes'])).code).toBe(0)
  const server = await startModelServer([{ text: 'Done.' }])
  const resume = ['run', '--resume', 'last', ...modelAt(server.url)]
  const last = await handrail(place, resume, { env: modelEnv })
  expect([last.code, last.stdout]).toEqual([0, 'Done.\n'])
  expect(readFileSync(join(place.project, 'b.txt'), 'utf8')).toBe('new')
  // The configuration lets a program make two calls.
  expect(JSON.stringify(server.asked[0]?.body['messages'])).toContain('program_calls')
  const [run] = await listRuns(place)
  expect(run).toMatchObject({ endReason: 'completed' })
  const listed = jsonOf<{ call: string; tool: string; outcome: string }[] & Record<string, unknown>>(
    await handrail(place, ['evidence', 'list', '--json']),
  )
  const ran = listed.filter(({ outcome }) => outcome === 'ok').map(({ tool }) => tool)
  expect(ran.toSorted()).toEqual(['code.read_file', 'code.write_file', 'code_mode.run'])
  const written = listed.find(({ tool, outcome }) => tool === 'code.write_file' && outcome === 'ok')
  const why = await handrail(place, ['explain', '--call', written?.call ?? ''])
  expect(why.stdout).toContain('code.write_file')
  expect(why.stdout).toMatch(/^ {2}part of {5}call_\w+, as 2$/m)
})

test('over MCP the person at the client is asked about the calls of a program, which then goes on (NEXT-5, MCP-2)', async () => {
  const place = makePlace({ 'a.txt': 'alpha' }, own)
  const asked: unknown[] = []
  const client = createClient({
    era: 'modern',
    onAsk: (request) => {
      asked.push(request)
      return { action: 'accept', content: { decision: 'allow_once' } }
    },
  })
  await client.connect(toServer(place))
  const result = await client.callTool({ name: 'code_mode__run', arguments: { code } })
  expect(textOf(result)).toContain('program_calls')
  expect(asked).toHaveLength(1)
  expect(readFileSync(join(place.project, 'b.txt'), 'utf8')).toBe('new')
  await client.close()
})

test('what narrows a session narrows its programs, from the next call of one that runs on (NEXT-5, BI-7)', async () => {
  const { runtime } = await openPrograms({ policy: { rules: [{ effect: 'allow', tools: ['shop.*'] }] } })
  const session = runtime.session()
  session.on(({ type, tool }) => {
    if (type === 'tool_completed' && tool === 'shop.look')
      session.restrict({ disallowedTools: ['shop.note'] })
  })
  const said = await runCode(
    session,
    'const first = await tools.shop__note({ n: 1 }); await tools.shop__look({ n: 1 }); return [first, await tools.shop__note({ n: 2 }).catch((error) => error.reason)]',
  )
  expect(returnedBy(said)).toEqual(['noted 1', 'tool_not_available'])
})

test('a skill that a program loads, or its session follows, holds for what the program calls (NEXT-5, BI-7)', async () => {
  const { runtime } = await openSkills(
    {},
    { tools: [codeTools(), skillTools(), codeModeTools()], policy: anyTool },
  )
  const write = "await tools.code__write_file({ path: 'b.txt', content: 'b' }).catch((error) => error.reason)"
  const loading = runtime.session()
  const said = await runCode(
    loading,
    `const before = ${write}; await tools.internal__load_skill({ name: 'careful' }); return [typeof before, ${write}]`,
  )
  expect(returnedBy(said)).toEqual(['object', 'tool_not_available'])
  const following = runtime.session()
  await following.call('internal.load_skill', { name: 'look' })
  expect(returnedBy(await runCode(following, `return ${write}`))).toContain('not in the set of tools')
})

test('a program starts agents, each with its own tools, and returns what they said (NEXT-5, AGENT-3)', async () => {
  const { runtime, did } = await openPrograms({ tools: [delegationTools()] })
  const start = `return await Promise.all([1, 2].map((n) =>
    tools.agent__create_sub_agent({ task: 'part ' + n, allowed_tools: ['shop.look'] })))`
  const look = { calls: [{ tool: 'shop__look', input: { n: 5 } }] }
  const { model, asked } = modelSaying([
    { calls: [{ tool: 'code_mode__run', input: { code: start } }] },
    look,
    look,
    { text: 'I looked.' },
    { text: 'I looked.' },
    { text: 'Done.' },
  ])
  const result = await (await runtime.run({ model, prompt: 'Go.' })).result
  expect(result).toMatchObject({ endReason: 'completed', text: 'Done.' })
  expect(
    toldResults(asked.at(-1) ?? { prompt: [] })
      .join('')
      .match(/I looked\./g),
  ).toHaveLength(2)
  expect(did.filter((each) => each === 'look 5')).toHaveLength(2)
  const children = asked.filter(({ tools = [] }) => !tools.some(({ name }) => name === 'code_mode__run'))
  expect(children.map(({ tools }) => tools?.map(({ name }) => name))).toEqual(
    Array.from({ length: 4 }, () => ['shop__look']),
  )
})

test('of two processes that go on with one program one wins, and nothing is done twice (NEXT-5, APPR-1)', async () => {
  const asking = await openPrograms()
  const waiting = 'await tools.shop__look({ n: 1 }); return await tools.shop__note({ n: 2 })'
  const call = { id: 'call_0', tool: 'code_mode.run', input: { code: waiting } }
  const step = await asking.runtime.session({ id: 'thread' }).step([call])
  const [question] = asking.runtime.approvals.list()
  await asking.runtime.approvals.decide(question?.id ?? '', { decision: 'allow_once', by: 'ann' })
  await asking.runtime.close()
  const processes = await Promise.all([asking.open(), asking.open()])
  const plain = JSON.stringify(step)
  const ends = await Promise.all(
    processes.map((runtime) => runtime.session({ id: 'thread' }).resume(JSON.parse(plain))),
  )
  expect(asking.did).toEqual(['look 1', 'looked 1', 'note 2'])
  const results = ends.flatMap((end) => end.results)
  // Which of them is the other's depends on how soon each comes.
  for (const { ok, error } of results) expect(ok || error?.reason === 'program_taken').toBe(true)
  expect(results.map((result) => returnedBy(result))).toContain('noted 2')
})
