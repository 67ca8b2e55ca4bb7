import { join } from 'node:path'
import { tool as langTool } from '@langchain/core/tools'
import { interrupt } from '@langchain/langgraph'
import type { Session } from 'handrail'
import { aiSdk } from 'handrail/ai-sdk'
import { anthropic } from 'handrail/anthropic'
import { bedrock } from 'handrail/bedrock'
import { google } from 'handrail/google'
import { langChain } from 'handrail/langchain'
import { mastra } from 'handrail/mastra'
import { openAiAgents } from 'handrail/openai-agents'
import { openaiChat, openaiResponses } from 'handrail/openai'
import { expect, test } from 'vitest'
import { createClient, textOf } from '../mcp/connect.ts'
import { modelApis } from '../doors/model-apis.ts'
import { handrail, jsonOf, makePlace, type Place } from '../support/command-line.ts'
import { toolFile, writeTools } from '../support/declared-tools.ts'
import { makeTool } from '../support/make-tool.ts'
import { modelSaying, toldResults } from '../support/mock-model.ts'
import { openRuntime } from '../support/project.ts'
import { toServer } from '../support/serve-stdio.ts'

const deprecations = [{ what: 'shop.old', since: '2.0.0', advice: 'Use shop.any.' }]
const listed = 'Deprecated: shop.old since 2.0.0: Use shop.any.'
/** Models read the names that they call tools by. */
const told = listed.replaceAll('shop.', 'shop__')

/** One tool for every model, one each for a provider, one for a model, and one that is deprecated. */
const shop = [
  makeTool('shop.any'),
  makeTool('shop.claude', { compatibility: { providers: ['anthropic'] } }),
  makeTool('shop.gpt', { compatibility: { providers: ['openai'], models: ['gpt-*'] } }),
  makeTool('shop.old', { deprecations }),
]
const open = () => openRuntime({ tools: shop })
const claude = { provider: 'anthropic', name: 'claude-5' }

test('a call may name its model where the session names none, in a call, a turn and a preflight (DEF-7)', async () => {
  const runtime = await open()
  const session = runtime.session()
  expect(session.tools({ model: claude }).map(({ tool }) => tool)).toEqual([
    'shop.any',
    'shop.claude',
    'shop.old',
  ])
  const asGpt = { tool: 'shop.gpt', model: claude }
  const denied = { ok: false, error: { code: 'POLICY.DENY_TOOL', reason: 'model_denied' } }
  expect(await session.call('shop.gpt', {}, { model: claude })).toMatchObject(denied)
  expect((await session.turn([asGpt, { tool: 'shop.gpt' }])).results).toMatchObject([denied, { ok: true }])
  expect((await session.step([asGpt])).results).toMatchObject([denied])
  expect(await session.preflight('shop.gpt', {}, { model: claude })).toMatchObject({ effect: 'deny' })
  expect(await session.call('shop.claude', {}, { model: claude })).toMatchObject({ ok: true })
  // The operator of a session knows better than the door.
  const own = runtime.session({ model: { provider: 'openai', name: 'gpt-5' } })
  expect(await own.call('shop.gpt', {}, { model: claude })).toMatchObject({ ok: true })
})

test('a call whose model is none does nothing (DEF-7)', async () => {
  const session = (await open()).session()
  const { error } = await session.call('shop.any', {}, { model: { name: 'claude' } as never })
  expect(error).toMatchObject({ reason: 'invalid_call', message: expect.stringContaining('/model/provider') })
})

test.each([
  ['Anthropic Messages', (session: Session) => anthropic(session, { model: 'claude-5' }), 'claude'],
  ['OpenAI Responses', (session: Session) => openaiResponses(session, { model: 'gpt-5' }), 'gpt'],
  ['OpenAI Chat Completions', (session: Session) => openaiChat(session, { model: 'gpt-5' }), 'gpt'],
  ['Gemini generateContent', (session: Session) => google(session, { model: 'gemini-3' }), undefined],
  ['Bedrock Converse', (session: Session) => bedrock(session, { model: 'amazon.nova' }), undefined],
] as const)(
  'the door to %s shows and runs the tools of its model, and their advice (DEF-7)',
  async (name, openDoor, own) => {
    const api = modelApis.find((each) => each.api === name)
    const door = openDoor((await open()).session())
    const names = ['any', 'claude', 'gpt', 'old']
    const fits = names.filter((each) => each === 'any' || each === 'old' || each === own)
    expect(api?.names([...door.tools]).map((each) => each.replace('shop__', ''))).toEqual(fits)
    expect(JSON.stringify(door.tools)).toContain(told)
    const calls = names.map((each) => ({ id: `call_${each}`, name: `shop__${each}`, input: {} }))
    const { messages } = await door.results(api?.answer(calls) as never)
    const denied = api?.results([...messages]).filter(({ isError }) => isError)
    expect(denied?.map(({ id, text }) => [id, text.includes('POLICY.DENY_TOOL')])).toEqual(
      names.filter((each) => !fits.includes(each)).map((each) => [`call_${each}`, true]),
    )
  },
)

test('the doors for agent SDKs have the tools that work with the model of their session, and their advice (DEF-7)', async () => {
  const runtime = await open()
  const session = runtime.session({ model: claude })
  const names = ['shop__any', 'shop__claude', 'shop__old']
  const vercel = aiSdk(session)
  expect(Object.keys(vercel.tools)).toEqual(names)
  expect(vercel.tools['shop__old']?.description).toContain(told)
  const agents = openAiAgents(session, { approvals: runtime.approvals })
  expect(agents.tools.map(({ name }) => name)).toEqual(names)
  expect(JSON.stringify(agents.tools)).toContain(JSON.stringify(told).slice(1, -1))
  const lang = langChain(session, { tool: langTool, interrupt })
  expect(lang.tools.map(({ name }) => name)).toEqual(names)
  expect(lang.tools.find(({ name }) => name === 'shop__old')?.description).toContain(told)
  const { tools } = mastra(session, { createTool: (fields: object) => fields as { description: string } })
  expect(Object.keys(tools)).toEqual(names)
  expect(tools['shop__old']?.description).toContain(told)
})

test('a run shows and calls what works with its own model (DEF-7)', async () => {
  const runtime = await open()
  const call = (tool: string) => ({ calls: [{ tool, input: {} }] })
  const { model, asked } = modelSaying(
    [call('shop.gpt'), call('shop__claude'), { text: 'Done.' }],
    'anthropic.messages',
  )
  await (
    await runtime.run({ model, prompt: 'Go.' })
  ).result
  expect(asked[0]?.tools?.map(({ name }) => name)).toEqual(['shop__any', 'shop__claude', 'shop__old'])
  expect(JSON.stringify(asked[0]?.tools)).toContain(told)
  const [denied, ran] = toldResults(asked.at(-1) ?? { prompt: [] })
  expect(denied).toContain('model_denied')
  expect(ran).toBe('shop.claude')
})

test('every advice of a tool reaches its caller, in the result and its listing (DEF-7)', async () => {
  const two = [...deprecations, { what: 'the field id', since: '1.5.0', advice: 'Give "order".' }]
  const runtime = await openRuntime({ tools: [makeTool('shop.old', { deprecations: two })] })
  const { metadata } = await runtime.session().call('shop.old')
  expect(metadata.deprecated).toBe(
    'shop.old since 2.0.0: Use shop.any. the field id since 1.5.0: Give "order".',
  )
})

/** A place with declared tools. */
function placeWithTools(): Place {
  const place = makePlace()
  const says = { command: 'echo', args: ['done'], output: 'text', permission: 'readonly' }
  writeTools(join(place.home, 'tools'), {
    'any.json': toolFile({ ...says, name: 'shop.any' }),
    'claude.json': toolFile({ ...says, name: 'shop.claude', compatibility: { providers: ['anthropic'] } }),
    'gpt.json': toolFile({ ...says, name: 'shop.gpt', compatibility: { models: ['gpt-*'] } }),
    'old.json': toolFile({ ...says, name: 'shop.old', deprecations }),
    'both.json': {
      name: 'shop.both',
      description: 'Both.',
      parts: { one: { tool: 'shop.any' } },
      compatibility: { providers: ['openai'] },
    },
  })
  return place
}

test('at the command line --for-model says which model a call is for, and advice is told (DEF-7)', async () => {
  const place = placeWithTools()
  const list = await handrail(place, [
    'tools',
    '--group',
    'shop',
    '--for-model',
    'anthropic/claude-5',
    '--json',
  ])
  expect(jsonOf<{ name: string }[] & Record<string, unknown>>(list).map(({ name }) => name)).toEqual([
    'shop.any',
    'shop.claude',
    'shop.old',
  ])
  const table = await handrail(place, ['tools', '--group', 'shop'])
  expect(table.stdout).toMatch(/^shop\.old .*Deprecated: shop\.old since 2\.0\.0: Use shop\.any\.$/m)
  expect((await handrail(place, ['tools', 'show', 'shop.old'])).stdout).toContain(listed)
  const denied = await handrail(place, ['call', 'shop.gpt', '--for-model', 'anthropic/claude-5'])
  expect([denied.code === 0, denied.stderr]).toEqual([false, expect.stringContaining('model_denied')])
  const both = await handrail(place, ['call', 'shop.both', '--for-model', 'anthropic'])
  expect(both.stderr).toContain('model_denied')
  const why = await handrail(place, ['explain', 'shop.gpt', '--for-model', 'anthropic/claude-5'])
  expect(why.stdout).toContain('other providers or models')
  expect((await handrail(place, ['call', 'shop.gpt', '--for-model', 'openai/gpt-5'])).code).toBe(0)
  const old = await handrail(place, ['call', 'shop.old'])
  expect(old.stderr).toContain('"shop.old" is deprecated. Use shop.any.')
})

test('over MCP the model of the server holds, and advice is in the list and in the result (DEF-7)', async () => {
  const place = placeWithTools()
  const client = createClient({ era: 'modern' })
  await client.connect(toServer(place, ['--for-model', 'anthropic/claude-5']))
  const { tools } = await client.listTools()
  const own = tools.filter(({ name }) => name.startsWith('shop__'))
  expect(own.map(({ name }) => name)).toEqual(['shop__any', 'shop__claude', 'shop__old'])
  expect(own.at(-1)?.description).toContain(told)
  const denied = await client.callTool({ name: 'shop__gpt', arguments: {} })
  expect([denied.isError, textOf(denied)]).toEqual([true, expect.stringContaining('model_denied')])
  const old = await client.callTool({ name: 'shop__old', arguments: {} })
  expect(JSON.stringify(old._meta)).toContain('"deprecated":"Use shop.any."')
  await client.close()
})
