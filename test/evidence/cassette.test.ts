import { readdirSync } from 'node:fs'
import {
  codeTools,
  createRuntime,
  defineTool,
  type CallRequest,
  type RuntimeOptions,
  type Session,
  type ToolResult,
} from 'handrail'
import { createCassette, type CassetteOptions } from 'handrail/testing'
import { expect, onTestFinished, test } from 'vitest'
import { makeFolder, openRuntime } from '../support/project.ts'
import { makePay, openStore, recordRun, wreck, type RecordedRun } from './recorded-run.ts'

/** A cassette of a run, and a session over it in an empty project. */
async function insert(
  run: Pick<RecordedRun, 'path' | 'session' | 'options'>,
  options: RuntimeOptions = {},
  more: Partial<CassetteOptions> = {},
) {
  const recorded = await openStore(run)
  onTestFinished(() => recorded.close())
  const cassette = createCassette({ store: recorded.store, session: run.session, ...more })
  const project = makeFolder()
  const runtime = await openRuntime({
    project,
    tools: cassette.tools(run.options.tools ?? []),
    approve: async () => ({ decision: 'allow_once' }),
    ...options,
  })
  return { cassette, project, session: runtime.session() }
}

/** What a model or a program sees of a result. */
const seen = ({ tool, ok, outcome, content, data, summary, artifacts, error }: ToolResult) => ({
  tool,
  ok,
  outcome,
  content,
  data,
  summary,
  artifacts,
  error: error && { ...error, issues: undefined },
})

async function callAll(session: Session, calls: readonly CallRequest[]): Promise<ToolResult[]> {
  const results: ToolResult[] = []
  for (const { tool, input, ...options } of calls) results.push(await session.call(tool, input, options))
  return results
}

test('a recorded run answers the calls of another one as it was answered, without the world (EVID-3)', async () => {
  const run = await recordRun()
  wreck(run.project)
  const { cassette, project, session } = await insert(run)
  const write = (path: string, content: string) => ({ path, content, overwrite: true })
  const results = await callAll(session, [
    { tool: 'code.run_command', input: { argv: ['cat', 'a.txt'] } },
    { tool: 'code.read_file', input: { path: 'a.txt' } },
    { tool: 'code.write_file', input: write('a.txt', 'changed\n') },
    { tool: 'code.write_file', input: write('legal/b.md', 'x') },
    { tool: 'code.write_file', input: write('no.txt', 'x') },
    { tool: 'code.write_file', input: { path: 'a.txt', content: 'there already' } },
    { tool: 'code.read_file', input: { path: 'missing.txt' } },
    { tool: 'shop.pay', input: { amount: 5 }, idempotencyKey: 'k1' },
    { tool: 'shop.pay', input: { amount: 5 }, idempotencyKey: 'k1' },
  ])
  const recorded = [11, 0, 3, 6, 7, 8, 10, 12, 13].map((index) => run.results[index])
  expect(results.map(seen)).toEqual(recorded.map((result) => result && seen(result)))
  expect(readdirSync(project)).toEqual([])
  expect(cassette.left()).toEqual([
    { tool: 'code.read_file', input: { max_lines: 900, path: 'big.txt', start_line: 1 } },
    expect.objectContaining({ tool: 'code.search' }),
    { tool: 'code.write_file', input: { create_dirs: true, ...write('notes/1.md', 'first\n') } },
    { tool: 'code.write_file', input: { create_dirs: true, ...write('notes/2.md', 'second\n') } },
    { tool: 'code.write_file', input: { create_dirs: true, ...write('../outside.txt', 'x') } },
    { tool: 'shop.pay', input: { amount: 6 } },
  ])
})

test('the same input is answered in recorded order, and then not any more (EVID-3)', async () => {
  let count = 0
  const next = defineTool({
    name: 'demo.next',
    description: 'Counts.',
    permission: 'readonly',
    input: { type: 'object', properties: { of: { type: 'string' } }, required: ['of'] },
    run: ({ of }) => (++count === 3 ? Promise.reject(new Error('tired')) : `${of} ${count}`),
  })
  const recorded = await createRuntime({ project: makeFolder(), home: makeFolder(), tools: [next] })
  onTestFinished(() => recorded.close())
  const first = recorded.session()
  const calls = ['a', 'b', 'a', 'a'].map((of) => ({ tool: 'demo.next', input: { of } }))
  const was = await callAll(first, calls)
  const cassette = createCassette({ store: recorded.store, session: first.id })
  const runtime = await openRuntime({ tools: cassette.tools([next]) })
  const again = await callAll(
    runtime.session(),
    [calls[0], calls[2], calls[1], calls[3], calls[0]].flatMap((call) => call ?? []),
  )
  expect(again.slice(0, 4).map(seen)).toEqual(
    [was[0], was[2], was[1], was[3]].map((result) => result && seen(result)),
  )
  expect(again[4]?.error).toMatchObject({
    code: 'TOOL.FAILED',
    reason: 'not_recorded',
    message: expect.stringContaining(
      '"demo.next" was recorded 3 times with {"of":"a"}, and is called once more.',
    ) as string,
  })
  expect([count, cassette.left()]).toEqual([4, []])
})

test('a call that was not recorded says so, with the nearest inputs, and fails only itself (EVID-3)', async () => {
  const run = await recordRun()
  const other = defineTool({
    name: 'demo.other',
    description: 'Another one.',
    permission: 'readonly',
    run: () => 1,
  })
  const recorded = await openStore(run)
  onTestFinished(() => recorded.close())
  const cassette = createCassette({ store: recorded.store, session: run.session })
  const runtime = await openRuntime({ tools: cassette.tools([codeTools(), makePay(), other]) })
  const [near, none, good] = await callAll(runtime.session(), [
    { tool: 'code.read_file', input: { path: 'b.txt' } },
    { tool: 'demo.other' },
    { tool: 'code.read_file', input: { path: 'a.txt' } },
  ])
  expect(near?.error).toMatchObject({ code: 'TOOL.FAILED', reason: 'not_recorded' })
  expect(near?.error?.message).toMatch(
    /^"code\.read_file" was not recorded with \{"max_lines":200,"path":"b\.txt","start_line":1\}; nearest is \{"max_lines":200,"path":"a\.txt","start_line":1\} and /,
  )
  expect(near?.error?.data).toMatchObject({
    tool: 'code.read_file',
    nearest: expect.arrayContaining(['{"max_lines":200,"path":"a.txt","start_line":1}']) as string[],
  })
  expect(none?.error?.message).toMatch(
    /"demo\.other" was not called in the recorded run; it called code\.read_file, /,
  )
  expect(good?.ok).toBe(true)
})

test('secrets match as they were redacted (EVID-3)', async () => {
  const login = defineTool({
    name: 'demo.login',
    description: 'Logs in.',
    permission: 'readonly',
    input: { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] },
    run: ({ word }) => `in with ${word}`,
  })
  const options = {
    project: makeFolder(),
    home: makeFolder(),
    tools: [login],
    secrets: { word: 'open sesame' },
  }
  const recorded = await createRuntime(options)
  onTestFinished(() => recorded.close())
  const first = recorded.session()
  await first.call('demo.login', { word: 'open sesame' })
  const play = async (more: Partial<CassetteOptions>) => {
    const cassette = createCassette({ store: recorded.store, session: first.id, ...more })
    const runtime = await openRuntime({ tools: cassette.tools([login]) })
    return runtime.session().call('demo.login', { word: 'open sesame' })
  }
  expect((await play({ secrets: ['open sesame'] })).data).toBe('in with [redacted]')
  expect((await play({})).error?.reason).toBe('not_recorded')
})

test('a pruned result is not made up (EVID-3)', async () => {
  const run = await recordRun()
  const recorded = await openStore(run)
  recorded.store.prune({ at: Date.now() + 1 })
  await recorded.close()
  const { session } = await insert(run)
  const result = await session.call('code.read_file', { path: 'a.txt' })
  expect(result.error).toMatchObject({ reason: 'not_recorded', data: { call: run.id(0) } })
  expect(result.error?.message).toContain('were pruned')
})

test('what runs on a cassette is checked, decided and recorded as always (EVID-1, EVID-3)', async () => {
  const run = await recordRun()
  const policy = { rules: [{ id: 'no', effect: 'deny', tools: ['code.search'] } as const] }
  const { session, cassette } = await insert(run, { policy })
  const [denied, invalid] = await callAll(session, [
    { tool: 'code.search', input: { query: 'answer' } },
    { tool: 'code.read_file', input: { path: 7 } },
  ])
  expect([denied?.error?.reason, invalid?.error?.reason]).toEqual(['rule_denied', 'invalid_input'])
  expect(cassette.left().map(({ tool }) => tool)).toContain('code.search')
})
