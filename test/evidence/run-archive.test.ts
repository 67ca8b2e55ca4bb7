import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { codeTools, createRuntime, type RuntimeOptions } from 'handrail'
import { createAgentDefinitionRegistry, delegationTools } from 'handrail/agents'
import { pruneEvidence, rebuildArchive } from 'handrail/evidence'
import { expect, test } from 'vitest'
import { modelSaying, type Said } from '../support/mock-model.ts'
import { makeFolder, openRuntime } from '../support/project.ts'

const read: Said = { calls: [{ tool: 'code__read_file', input: { path: 'a.txt' } }] }
const secret = 'a-word-that-only-we-know'

async function open(options: RuntimeOptions = {}) {
  const dir = makeFolder()
  const runtime = await openRuntime({
    project: makeFolder({ 'a.txt': 'alpha\n' }),
    tools: [codeTools(), delegationTools()],
    sandbox: 'host',
    store: { path: join(makeFolder(), 'store.db') },
    archive: { dir },
    ...options,
  })
  return { dir, runtime }
}

const folderOf = (dir: string, run: string): string => join(dir, 'runs', run)
const textOf = (dir: string, run: string, path: string): string =>
  readFileSync(join(folderOf(dir, run), path), 'utf8')
const jsonOf = (dir: string, run: string, path = 'run.json') =>
  JSON.parse(textOf(dir, run, path)) as Record<string, unknown>
const linesOf = (dir: string, run: string, path: string) =>
  textOf(dir, run, path)
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Record<string, unknown>)
const filesOf = (dir: string) =>
  readdirSync(dir, { recursive: true, encoding: 'utf8' }).map((name) => join(dir, name))

test('a run and the agent that it started leave all that was said and set, for their owner alone and without secrets (EVID-4)', async () => {
  const home = makeFolder({
    'agents/poet.md': '---\nname: poet\ndescription: Writes verse.\n---\nYou write verse, and nothing else.',
  })
  const services = { agentDefinitions: createAgentDefinitionRegistry({ home }) }
  const { dir, runtime } = await open({ services, secrets: { word: secret } })
  const { model } = modelSaying([
    {
      calls: [
        {
          tool: 'agent__create_sub_agent',
          input: { task: `Find it by ${secret}.`, agent_definition_id: 'poet' },
        },
      ],
    },
    read,
    { text: `It says alpha, and ${secret}.` },
    { text: 'Done.' },
  ])
  const price = { input: 1, output: 2 }
  const run = await runtime.run({ model, prompt: `Go, by ${secret}.`, system: 'Be brief.', price })
  const result = await run.result
  const [child] = runtime.runs.list().filter(({ parent }) => parent !== undefined)
  const childId = child?.id ?? ''
  expect(child).toMatchObject({ definition: 'poet', parent: { run: run.id, session: run.id } })
  const nodes = runtime.runs.transcript(run.id)
  const policy = runtime.policyDigest
  await runtime.close()

  expect(readdirSync(folderOf(dir, run.id)).toSorted()).toEqual([
    'archive',
    'configuration.json',
    'deliverables',
    'events.jsonl',
    'logs',
    'prompt.md',
    'run.json',
    'sandbox.json',
    'system-prompt.md',
    'task.json',
    'tools.json',
    'transcript.jsonl',
    'workspace',
  ])
  const usage = { input_tokens: 20, cached_input_tokens: 0, output_tokens: 10, cost: result.usage.cost }
  expect(jsonOf(dir, run.id)).toMatchObject({
    run_id: run.id,
    session: run.id,
    parents: [],
    model: 'mock-provider/mock-model',
    state: 'ended',
    end_reason: 'completed',
    turns: 2,
    usage,
    error: null,
  })
  expect(jsonOf(dir, run.id)['ended_at']).toEqual(expect.any(String))
  expect(jsonOf(dir, childId)).toMatchObject({
    role: 'sub',
    definition: 'poet',
    parents: [{ session: run.id, run: run.id, tool_call_id: `${run.id}.2.1` }],
  })
  expect(jsonOf(dir, childId, 'definition.json')).toMatchObject({ id: 'poet', origin: 'home' })
  expect(textOf(dir, childId, 'system-prompt.md')).toBe('You write verse, and nothing else.')
  expect(textOf(dir, run.id, 'prompt.md')).toBe('Go, by [redacted].')
  expect(jsonOf(dir, run.id, 'task.json')).toMatchObject({ system: 'Be brief.', price })
  expect(jsonOf(dir, run.id, 'configuration.json')).toMatchObject({ policy_digest: policy })
  expect(JSON.stringify(jsonOf(dir, run.id, 'tools.json'))).toContain('"code__read_file"')
  expect(linesOf(dir, childId, 'logs/tools.jsonl')).toMatchObject([{ tool_name: 'code.read_file' }])
  // As it was said, but for the secret.
  const shown = JSON.parse(JSON.stringify(nodes).replaceAll(secret, '[redacted]')) as object[]
  expect(linesOf(dir, run.id, 'transcript.jsonl')).toEqual(shown)
  expect(linesOf(dir, run.id, 'events.jsonl').map(({ type }) => type)).toEqual(
    expect.arrayContaining(['run_started', 'turn_ended', 'tool_started', 'run_ended', 'session_ended']),
  )
  for (const path of filesOf(dir)) {
    const stat = statSync(path)
    expect([path, stat.mode & 0o777]).toEqual([path, stat.isDirectory() ? 0o700 : 0o600])
    if (!stat.isDirectory()) expect(readFileSync(path, 'utf8')).not.toContain(secret)
  }
})

test('the evidence says when a run started and ended, and what it took (EVID-2, EVID-4)', async () => {
  const { runtime } = await open()
  const { model } = modelSaying([read, { text: 'Alpha.' }])
  const run = await runtime.run({ model, prompt: 'Go.', price: { input: 1e6, output: 0 } })
  await run.result
  const notes = [...runtime.store.records({ tenant: 'local', kind: 'note' })].map(
    ({ text }) => JSON.parse(text) as object,
  )
  expect(notes).toMatchObject([
    {
      event: 'run_started',
      session: run.id,
      actor: 'user',
      data: { run: run.id, model: 'mock-provider/mock-model', resumed: false, node: 0 },
    },
    {
      event: 'run_ended',
      data: { run: run.id, end_reason: 'completed', turns: 2, input_tokens: 20, output_tokens: 10, cost: 20 },
    },
  ])
})

test('a run in a session of a program has a folder of its own, with its calls and no others (EVID-4)', async () => {
  const { dir, runtime } = await open()
  const session = runtime.session({ id: 'talk-1' })
  await session.call('code.list_dir', {})
  const { model } = modelSaying([read, { text: 'Alpha.' }])
  const run = await runtime.run({ model, prompt: 'Go.', session })
  await run.result
  await runtime.close()
  expect(linesOf(dir, run.id, 'logs/tools.jsonl').map((call) => call['tool_name'])).toEqual([
    'code.read_file',
  ])
  expect(linesOf(dir, 'talk-1', 'logs/tools.jsonl').map((call) => call['tool_name'])).toEqual([
    'code.list_dir',
    'code.read_file',
  ])
  expect(jsonOf(dir, run.id)).toMatchObject({ run_id: run.id, session: 'talk-1', end_reason: 'completed' })
})

test('sessions of two tenants under one id have a folder each (EVID-4, AUTH-6)', async () => {
  const { dir, runtime } = await open({ policy: { tenants: { acme: {}, other: {} } } })
  for (const tenant of ['acme', 'other', 'local']) {
    const session = runtime.session({ tenant, id: 'talk' })
    await session.call('code.read_file', { path: 'a.txt' })
  }
  await runtime.close()
  const abouts = readdirSync(join(dir, 'runs')).map((name) => jsonOf(dir, name))
  expect(abouts.map(({ tenant }) => String(tenant)).toSorted()).toEqual(['acme', 'local', 'other'])
  for (const name of readdirSync(join(dir, 'runs'))) {
    const { tenant } = jsonOf(dir, name)
    expect(linesOf(dir, name, 'events.jsonl').every((event) => event['tenant'] === tenant)).toBe(true)
  }
})

test('a log is as large as was said at most, and says what is left out (EVID-4)', async () => {
  const dir = makeFolder()
  const { runtime } = await open({ archive: { dir, logBytes: 2_000 } })
  const { model } = modelSaying([...Array.from({ length: 20 }, () => read), { text: 'Done.' }])
  const run = await runtime.run({ model, prompt: 'Go.' })
  expect(await run.result).toMatchObject({ endReason: 'completed' })
  await runtime.close()
  for (const log of ['transcript.jsonl', 'events.jsonl', 'logs/tools.jsonl']) {
    const lines = linesOf(dir, run.id, log)
    expect(textOf(dir, run.id, log).length).toBeLessThan(2_100)
    expect(lines.at(-1)).toEqual({ left_out: 'what is over 2000 bytes' })
    expect(lines.filter((line) => 'left_out' in line)).toHaveLength(1)
  }
  await expect(createRuntime({ archive: { dir: '', logBytes: 0 } })).rejects.toThrow(
    /archive\/dir[^]*archive\/logBytes/,
  )
})

test('a rebuild writes the conversation of a run again, also of one whose process was killed (EVID-4)', async () => {
  const { dir, runtime } = await open({ secrets: { word: secret } })
  const { model } = modelSaying([read, { text: `Alpha, ${secret}.` }])
  const run = await runtime.run({ model, prompt: 'Go.', session: runtime.session({ id: 'talk' }) })
  await run.result
  await expect.poll(() => jsonOf(dir, run.id)['state']).toBe('ended')
  const live = textOf(dir, run.id, 'transcript.jsonl')
  const log = textOf(dir, run.id, 'logs/tools.jsonl')
  writeFileSync(join(folderOf(dir, run.id), 'transcript.jsonl'), live.slice(0, 40))
  const about = { ...jsonOf(dir, run.id), state: 'running', end_reason: null, deliverables: [] }
  writeFileSync(join(folderOf(dir, run.id), 'run.json'), JSON.stringify(about))
  const report = await rebuildArchive({ store: runtime.store, dir, secrets: [secret] })
  expect(report).toMatchObject({ runs: [run.id], sessions: ['talk'] })
  expect(textOf(dir, run.id, 'transcript.jsonl')).toBe(live)
  expect(textOf(dir, run.id, 'logs/tools.jsonl')).toBe(log)
  expect(jsonOf(dir, run.id)).toMatchObject({ state: 'ended', end_reason: 'completed', deliverables: [] })
  expect(existsSync(join(folderOf(dir, run.id), 'tools.json'))).toBe(true)
})

test('prune takes the conversation and the folder of an old run, whole, and leaves one that waits for a person (EVID-4, EVID-7)', async () => {
  const month = 30 * 86_400_000
  let age = 2 * month
  const { dir, runtime } = await open({ now: () => Date.now() - age })
  const done = modelSaying([read, { text: 'The word is pruned-word.' }])
  const old = await runtime.run({ model: done.model, prompt: 'Go.' })
  await old.result
  age = 0
  const write: Said = { calls: [{ tool: 'code__write_file', input: { path: 'b.txt', content: 'b' } }] }
  const waiting = await runtime.run({ model: modelSaying([write]).model, prompt: 'Write.' })
  expect(await waiting.result).toMatchObject({ endReason: 'approval_pending' })
  await expect.poll(() => jsonOf(dir, waiting.id)['state']).toBe('ended')
  const past = new Date(Date.now() - 2 * month)
  for (const path of filesOf(folderOf(dir, old.id))) utimesSync(path, past, past)
  // What a prune left that was killed.
  mkdirSync(join(dir, 'runs', '.pruned-run_x'))
  const at = Date.now()
  const prune = (before = at - month) =>
    pruneEvidence({ store: runtime.store, before, at, actor: 'ada', archive: { dir } })
  expect(await prune()).toMatchObject({ conversations: 1, runs: 1 })
  expect(readdirSync(join(dir, 'runs'))).toEqual([waiting.id])
  expect(runtime.runs.find(old.id)).toMatchObject({ endReason: 'completed', turns: 2, prunedAt: at })
  expect(() => runtime.runs.transcript(old.id)).toThrow(/pruned/)
  await expect(runtime.run({ model: done.model, resume: old.id, prompt: 'More.' })).rejects.toMatchObject({
    code: 'run_pruned',
  })
  expect(JSON.stringify(runtime.store.documents({ tenant: 'local', kind: 'run' }))).not.toContain(
    'pruned-word',
  )
  expect(runtime.store.documents({ tenant: 'local', kind: 'node', group: old.id })).toEqual([])
  expect(await prune()).toMatchObject({ conversations: 0, runs: 0 })
  // One that waits for an answer stays, however old it is.
  expect(await prune(at + month)).toMatchObject({ conversations: 0 })
  const [asked] = runtime.approvals.list()
  await runtime.approvals.decide(asked?.id ?? '', { decision: 'allow_once', by: 'ada' })
  const last = modelSaying([{ text: 'Written.' }])
  expect(await (await runtime.run({ model: last.model, resume: waiting.id })).result).toMatchObject({
    endReason: 'completed',
  })
})
