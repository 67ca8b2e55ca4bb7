import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { codeTools, createRuntime } from 'handrail'
import { rebuildArchive, type BeginRecord, type EndRecord } from 'handrail/evidence'
import { expect, onTestFinished, test } from 'vitest'
import { makeFolder } from '../support/project.ts'
import { openStore, recordRun, type RecordedRun } from './recorded-run.ts'

/** Every log of every run below a folder, by its path. */
function readLogs(dir: string): Record<string, string> {
  const runs = join(dir, 'runs')
  const names = readdirSync(runs, { recursive: true, encoding: 'utf8' })
  return Object.fromEntries(
    names
      .filter((name) => /logs\/\w+\.jsonl$/.test(name))
      .toSorted()
      .map((name) => [name, readFileSync(join(runs, name), 'utf8')]),
  )
}

async function rebuild(run: Pick<RecordedRun, 'path'>, dir: string, session?: string) {
  const { store } = await openHeld(run)
  return rebuildArchive({ store, dir, ...(session !== undefined && { session }) })
}

async function openHeld(run: Pick<RecordedRun, 'path'>) {
  const runtime = await openStore(run)
  onTestFinished(() => runtime.close())
  return runtime
}

test('the logs of a run are written from the store as they were written live: every outcome, secrets, large results (EVID-4)', async () => {
  const dir = makeFolder()
  const run = await recordRun({ archive: { dir }, secrets: { word: 'three' } })
  const live = readLogs(dir)
  expect(Object.keys(live)).toEqual([`${run.session}/logs/errors.jsonl`, `${run.session}/logs/tools.jsonl`])
  const elsewhere = makeFolder()
  const report = await rebuild(run, elsewhere)
  expect(report).toEqual({ sessions: [run.session], calls: run.results.length, pruned: 0, runs: [] })
  expect(readLogs(elsewhere)).toEqual(live)
  const folder = join(elsewhere, 'runs', run.session)
  expect(readdirSync(folder).toSorted()).toEqual(['archive', 'deliverables', 'logs', 'run.json', 'workspace'])
  expect(JSON.parse(readFileSync(join(folder, 'run.json'), 'utf8'))).toMatchObject({
    run_id: run.session,
    tenant: 'local',
    actor: 'ada',
  })
})

test('a rebuild puts right what was changed or lost, and leaves alone what no store has (EVID-4)', async () => {
  const dir = makeFolder()
  const run = await recordRun({ archive: { dir } })
  const live = readLogs(dir)
  const folder = join(dir, 'runs', run.session)
  const events = readFileSync(join(folder, 'events.jsonl'), 'utf8')
  rmSync(join(folder, 'logs', 'tools.jsonl'))
  expect(await rebuild(run, dir, run.session)).toMatchObject({ calls: run.results.length })
  expect([readLogs(dir), readFileSync(join(folder, 'events.jsonl'), 'utf8')]).toEqual([live, events])
  expect(await rebuild(run, dir, 'ses_none')).toEqual({ sessions: [], calls: 0, pruned: 0, runs: [] })
  expect(readdirSync(dir)).toEqual(['runs'])
})

test('what was pruned is said, and its lines stay (EVID-4)', async () => {
  const run = await recordRun()
  const dir = makeFolder()
  const { store } = await openHeld(run)
  store.prune({ at: Date.now() + 1 })
  const report = await rebuildArchive({ store, dir })
  // The two calls that share a key are kept for it.
  expect(report.calls).toBe(run.results.length)
  expect(report.pruned).toBeGreaterThan(10)
  const lines = (readLogs(dir)[`${run.session}/logs/tools.jsonl`] ?? '').trimEnd().split('\n')
  expect(lines).toHaveLength(run.results.length)
})

test('the envelope says who, for whom, why, by which policy, with what input, at what cost, and what came of it (EVID-2)', async () => {
  const store = { path: join(makeFolder(), 'store.db') }
  const runtime = await createRuntime({
    project: makeFolder({ 'a.txt': 'a' }),
    tools: [codeTools()],
    store,
    policy: { budgets: [{ id: 'all', unit: 'calls', limit: 10 }] },
  })
  onTestFinished(() => runtime.close())
  const trace = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
  const session = runtime.session({ tenant: 'acme', actor: 'ada', role: 'sub' })
  const { callId } = await session.call('code.read_file', { path: 'a.txt' }, { trace, id: 'toolu_1' })
  const [begin, end] = [...runtime.store.records({ call: callId })].map(
    ({ text }) => JSON.parse(text) as BeginRecord | EndRecord,
  )
  const digest = expect.stringMatching(/^[\w-]{43}$/) as string
  expect(begin).toMatchObject({
    kind: 'begin',
    tenant: 'acme',
    session: session.id,
    toolCallId: 'toolu_1',
    actor: 'ada',
    role: 'sub',
    tool: 'code.read_file',
    definition: expect.stringMatching(/^\d+\.\d+\.\d+ [\w-]{43}$/) as string,
    input: digest,
    policy: digest,
    profile: digest,
    decision: { effect: 'allow', layer: 'defaults', rule: 'readonly' },
    trace,
  })
  expect(end).toMatchObject({ kind: 'end', outcome: 'ok', result: digest, spent: { all: 1 } })
  const missing = await session.call('code.read_file', { path: 'none.txt' })
  const [, failed] = [...runtime.store.records({ call: missing.callId })].map(
    ({ text }) => JSON.parse(text) as EndRecord,
  )
  expect(failed).toMatchObject({ outcome: 'failed', code: 'TOOL.FAILED', reason: 'file_not_found' })
})
