import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { createSkillRegistry } from 'handrail/agents'
import { replayAgentRun } from 'handrail/replay'
import { memoryTools, skillTools, type MemoryFact } from 'handrail/tools'
import { expect, onTestFinished, test } from 'vitest'
import { serveHttp } from '../../src/mcp/server/http/serve-http.ts'
import { textOf } from '../mcp/connect.ts'
import { modelSaying } from '../support/mock-model.ts'
import { makeFolder } from '../support/project.ts'
import { allowMemory, openMemory, recall, write } from './open-memory.ts'

const tabs = { content: 'This project indents with tabs.', tags: ['style'] }

test('a candidate whose text became a secret meanwhile is not taken, and can be forgotten (BI-8, OUT-4)', async () => {
  const places = {
    project: makeFolder(),
    store: { path: join(makeFolder(), 'store.db') },
    memory: { dir: join(makeFolder(), 'memory') },
  }
  const before = await openMemory(places)
  const { id } = await write(before.runtime.session(), { content: 'The word is hunter2-hunter2.' })
  const { runtime, files } = await openMemory({ ...places, secrets: { WORD: 'hunter2-hunter2' } })
  await expect(runtime.memory.accept(id)).rejects.toMatchObject({ code: 'secret_in_memory' })
  expect(files()).toEqual([])
  await runtime.memory.reject(id)
  expect((await runtime.memory.list()).facts).toEqual([])
})

test('what a memory of a program answers is held to what a fact is (BI-8)', async () => {
  const answers: unknown[] = []
  const answer = async () => answers.shift() as never
  const { runtime } = await openMemory({
    memory: { mode: 'external', external: { recall: answer, write: answer } },
  })
  const session = runtime.session()
  const fact = { id: 'a', content: 'c', tags: [], scope: 'tenant', source: { by: 'model' } }
  const wrong = [
    undefined,
    [{ ...fact, tags: [1] }],
    [{ ...fact, scope: 'all' }],
    [{ ...fact, source: { by: 'alien' } }],
    [{ ...fact, source: { by: 'model', at: 'never' } }],
    [{ ...fact, source: { by: 'model', at: Number.NaN } }],
  ]
  for (const each of wrong) {
    answers.push(each)
    const { error } = await session.call('internal.recall_memory', { query: 'c' })
    expect(error, JSON.stringify(each)).toMatchObject({ reason: 'memory_unusable' })
  }
  for (const each of [undefined, null, {}, { id: '' }, { id: {} }]) {
    answers.push(each)
    const { error } = await session.call('internal.write_memory', { content: 'c' })
    expect(error, JSON.stringify(each)).toMatchObject({ reason: 'memory_unusable' })
  }
  answers.push([fact])
  expect((await recall(session, { query: 'c' })).facts).toHaveLength(1)
})

test('a run that recalled is replayed with what it recalled, whatever the memory has by then (BI-8, EVID-4)', async () => {
  const { runtime } = await openMemory({ store: { path: join(makeFolder(), 'store.db') } })
  const { id } = await write(runtime.session(), tabs)
  await runtime.memory.accept(id)
  const { model } = modelSaying([
    { calls: [{ tool: 'internal__recall_memory', input: { query: 'tabs' } }] },
    { text: 'With tabs.' },
  ])
  const run = await runtime.run({ model, prompt: 'How is it indented?' })
  expect((await run.result).endReason).toBe('completed')
  const other = await openMemory()
  expect((await recall(other.runtime.session(), { query: 'tabs' })).facts).toEqual([])
  const memory = { dir: other.dir }
  const replay = await replayAgentRun({
    store: runtime.store,
    run: run.id,
    runtime: { project: runtime.project, memory, policy: allowMemory, tools: [memoryTools(memory)] },
  })
  expect(replay.divergence).toBeUndefined()
})

test('a skill that names no memory leaves none to its session (BI-8, BI-7)', async () => {
  const skill = { description: 'Looks.', instructions: 'Look.' }
  const skillRegistry = createSkillRegistry({
    skills: [
      { ...skill, name: 'look', allowedTools: ['Read'] },
      { ...skill, name: 'recall', disallowedTools: ['internal.write_memory'] },
    ],
  })
  const { runtime } = await openMemory({ tools: [skillTools()], services: { skillRegistry } })
  const reasons = async (name: string) => {
    const session = runtime.session()
    const loaded = await session.call('internal.load_skill', { name })
    expect(loaded.error).toBeUndefined()
    const results = [
      await session.call('internal.recall_memory', { query: 'x' }),
      await session.call('internal.write_memory', tabs),
    ]
    return results.map(({ error }) => error?.reason)
  }
  expect(await reasons('look')).toEqual(['tool_not_available', 'tool_not_available'])
  expect(await reasons('recall')).toEqual([undefined, 'tool_not_available'])
  expect((await runtime.memory.list()).facts).toEqual([])
})

test('a write that waits for a person notes its candidate after the yes, once, and none after a no (BI-8, APPR-1)', async () => {
  const { runtime } = await openMemory({ policy: {} })
  const session = runtime.session({ id: 'waiting' })
  const calls = ['The first.', 'The second.'].map((content, index) => ({
    id: `c${index}`,
    tool: 'internal.write_memory',
    input: { content },
  }))
  const answers = ['deny', 'allow_once'] as const
  for (const [index, call] of calls.entries()) {
    const step = await session.step([call])
    expect(step.waiting[0]?.approval.request.preview?.body).toContain(call.input.content)
    expect((await runtime.memory.list()).facts).toEqual([])
    const decision = answers[index] ?? 'deny'
    await runtime.approvals.decide(step.waiting[0]?.approval.id ?? '', { decision, by: 'ann' })
    await session.resume(step)
    await session.resume(step)
  }
  const { facts } = await runtime.memory.list()
  expect(facts).toMatchObject([{ content: 'The second.', state: 'candidate' }])
})

test('an MCP client recalls and notes as its session may (BI-8, MCP-2)', async () => {
  const { runtime } = await openMemory()
  const { id } = await write(runtime.session(), tabs)
  await runtime.memory.accept(id)
  const server = await serveHttp({ runtime, port: 0, closeGraceMs: 100, log: () => {} })
  onTestFinished(() => server.close())
  const client = new Client({ name: 'test', version: '1.0.0' })
  await client.connect(new StreamableHTTPClientTransport(new URL(server.url)))
  onTestFinished(() => client.close())
  const call = async (name: string, input: Record<string, unknown>) =>
    textOf(await client.callTool({ name, arguments: input }))
  expect(await call('internal__recall_memory', { query: 'tabs' })).toContain(tabs.content)
  expect(await call('internal__write_memory', { content: 'A client noted this.' })).toContain('candidate')
  expect(await call('internal__recall_memory', { query: 'client' })).toContain('Nothing that is kept fits')
  const { facts } = await runtime.memory.list()
  expect(facts.map(({ state }) => state).toSorted()).toEqual(['accepted', 'candidate'])
})

test('two that note, take and forget the same facts at once come to one end of each (BI-8)', async () => {
  const places = {
    project: makeFolder(),
    store: { path: join(makeFolder(), 'store.db') },
    memory: { dir: join(makeFolder(), 'memory') },
  }
  const both = [await openMemory(places), await openMemory(places)]
  const contents = Array.from({ length: 8 }, (_, index) => `Fact number ${index} holds.`)
  const noted = await Promise.all(
    contents.flatMap((content) => both.map(({ runtime }) => write(runtime.session(), { content }))),
  )
  const ids = [...new Set(noted.map(({ id }) => id))]
  expect(ids).toHaveLength(contents.length)
  const ends = await Promise.all(
    ids.map((id) =>
      Promise.allSettled([both[0]?.runtime.memory.accept(id), both[1]?.runtime.memory.reject(id)]),
    ),
  )
  const accepted = ids.filter((_, index) => ends[index]?.[0].status === 'fulfilled')
  for (const [taken, left] of ends)
    expect([taken.status, left.status].toSorted()).toEqual(['fulfilled', 'rejected'])
  const list = async () => (await both[1]?.runtime.memory.list())?.facts ?? []
  const kept: readonly MemoryFact[] = await list()
  expect(kept.map(({ id }) => id).toSorted()).toEqual(accepted.toSorted())
})
