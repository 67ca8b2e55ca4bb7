import { mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { RuntimeEvent } from '../../contract/events.ts'
import type { Outcome, ToolResult } from '../../contract/base/result.ts'
import type { ErrorCode } from '../../contract/base/errors.ts'
import { callError } from '../../kit/result/call-error.ts'
import { sampleBegin, sampleEnd, sampleInput } from '../../testing/store-checks/sample-records.ts'
import { createRunArchive } from './create-run-archive.ts'

async function tempDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'handrail-archive-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  return directory
}

function archiveIn(dir: string): { archive: ReturnType<typeof createRunArchive>; errors: unknown[] } {
  const errors: unknown[] = []
  return { archive: createRunArchive({ dir, onError: (error) => errors.push(error) }), errors }
}

async function lines(...path: string[]): Promise<unknown[]> {
  const text = await readFile(join(...path), 'utf8')
  return text
    .trimEnd()
    .split('\n')
    .map((line): unknown => JSON.parse(line))
}

function resultOf(callId: string, outcome: Outcome = 'ok', error?: [ErrorCode, string]): ToolResult {
  return {
    callId,
    toolCallId: `provider_${callId}`,
    tool: 'code.read_file',
    ok: outcome === 'ok',
    outcome,
    content: [],
    summary: `${outcome} it is`,
    artifacts: [{ digest: 'sha256:abc', bytes: 3, mimeType: 'text/plain' }],
    ...(error && { error: callError(error[0], error[1], { message: 'it went wrong' }) }),
    metadata: { session: 'session_1', durationMs: 12 },
  }
}

function eventOf(type: RuntimeEvent['type'], sequence: number, session = 'session_1'): RuntimeEvent {
  const about = { tenant: 'local', session, actor: 'user', role: 'main' as const }
  return { type, sequence, level: 'info', at: 1_763_667_600_000, summary: type, ...about }
}

test('keeps a run in readable files (EVID-4)', async () => {
  const dir = await tempDirectory()
  const { archive, errors } = archiveIn(dir)
  const begin = sampleBegin('a')
  archive.event(eventOf('tool_started', 1))
  archive.ended(begin, sampleEnd('a').record, resultOf('a'))
  archive.event(eventOf('tool_completed', 2))
  await archive.close()
  const run = join(dir, 'runs', 'session_1')
  expect((await readdir(run)).sort()).toEqual(
    ['archive', 'artifacts.jsonl', 'deliverables', 'events.jsonl', 'logs', 'run.json', 'workspace'].sort(),
  )
  expect(await lines(run, 'logs', 'tools.jsonl')).toEqual([
    {
      call_id: 'a',
      tool_call_id: 'provider_a',
      tool_name: 'code.read_file',
      action: 'read_file',
      started_at: '2025-11-20T19:40:00.000Z',
      completed_at: '2025-11-20T19:40:00.012Z',
      duration_ms: 12,
      status: 'completed',
      args_summary: sampleInput,
      result_summary: 'ok it is',
      artifacts: ['sha256:abc'],
      error: null,
    },
  ])
  expect(await lines(run, 'events.jsonl')).toMatchObject([
    { sequence: 1, type: 'tool_started' },
    { sequence: 2, type: 'tool_completed' },
  ])
  expect(JSON.parse(await readFile(join(run, 'run.json'), 'utf8'))).toEqual({
    run_id: 'session_1',
    tenant: 'local',
    actor: 'user',
    role: 'main',
    started_at: '2025-11-20T19:40:00.000Z',
    ended_at: null,
  })
  expect(errors).toEqual([])
})

const ends: readonly [Outcome, [ErrorCode, string] | undefined, string, string | undefined][] = [
  ['ok', undefined, 'completed', undefined],
  ['denied', ['POLICY.DENY_TOOL', 'rule_denied'], 'blocked', 'failure'],
  ['failed', ['TOOL.FAILED', 'file_not_found'], 'failed', 'failure'],
  ['failed', ['TOOL.FAILED', 'failed'], 'failed', 'fault'],
  ['failed', ['PROVIDER.UNAVAILABLE', 'upstream_down'], 'failed', 'fault'],
  ['failed', ['UNKNOWN.INTERNAL', 'internal'], 'failed', 'fault'],
  ['aborted', ['TOOL.ABORTED', 'aborted_by_user'], 'failed', 'failure'],
  ['unknown', ['IDEMPOTENCY.OUTCOME_UNKNOWN', 'interrupted'], 'started', 'fault'],
]

for (const [outcome, error, status, level] of ends)
  test(`logs ${outcome}${error ? ` (${error[1]})` : ''} as ${status}, level ${level ?? 'info'} (EVID-6)`, async () => {
    const dir = await tempDirectory()
    const { archive } = archiveIn(dir)
    archive.ended(sampleBegin('a'), sampleEnd('a', { outcome }).record, resultOf('a', outcome, error))
    await archive.close()
    const logs = join(dir, 'runs', 'session_1', 'logs')
    expect(await lines(logs, 'tools.jsonl')).toMatchObject([{ status }])
    if (level === undefined) expect(await readdir(logs)).toEqual(['tools.jsonl'])
    else
      expect(await lines(logs, 'errors.jsonl')).toMatchObject([
        { level, status, error: { reason: error?.[1] } },
      ])
  })

test('makes nothing before there is something to write', async () => {
  const dir = join(await tempDirectory(), 'later')
  await archiveIn(dir).archive.close()
  await expect(readdir(dir)).rejects.toMatchObject({ code: 'ENOENT' })
})

test('keeps the order of many lines over several writes', async () => {
  const dir = await tempDirectory()
  const { archive } = archiveIn(dir)
  for (let sequence = 1; sequence <= 300; sequence++) {
    archive.event(eventOf('tool_progress', sequence))
    if (sequence % 100 === 0) void archive.flush()
  }
  await archive.close()
  const events = await lines(dir, 'runs', 'session_1', 'events.jsonl')
  expect(events).toHaveLength(300)
  expect(events[299]).toMatchObject({ sequence: 300 })
})

test('never leaves its folder, whatever a session is called', async () => {
  const dir = await tempDirectory()
  const { archive, errors } = archiveIn(dir)
  for (const session of ['../../escape', '..', '', '.hidden', 'a/b', 'x'.repeat(300)])
    archive.event(eventOf('tool_started', 1, session))
  await archive.close()
  expect(errors).toEqual([])
  expect(await readdir(dir)).toEqual(['runs'])
  const names = await readdir(join(dir, 'runs'))
  expect(names).toHaveLength(6)
  for (const name of names) expect(name).toMatch(/^run_[0-9a-f]{64}$/)
})

test('says in run.json when a session ended, and keeps the start that an earlier process wrote', async () => {
  const dir = await tempDirectory()
  const first = archiveIn(dir)
  first.archive.event(eventOf('tool_started', 1))
  await first.archive.flush()
  first.archive.event({ ...eventOf('session_ended', 2), at: 1_763_667_660_000 })
  await first.archive.close()
  const second = archiveIn(dir)
  second.archive.ended(sampleBegin('a', { actor: 'later' }), sampleEnd('a').record, resultOf('a'))
  await second.archive.close()
  const run = JSON.parse(await readFile(join(dir, 'runs', 'session_1', 'run.json'), 'utf8'))
  expect(run).toMatchObject({ actor: 'user', ended_at: '2025-11-20T19:41:00.000Z' })
  expect(second.errors).toEqual([])
})

test('says of a session that is opened again that it goes on, and when it ended at last', async () => {
  const dir = await tempDirectory()
  const about = async (): Promise<unknown> =>
    JSON.parse(await readFile(join(dir, 'runs', 'session_1', 'run.json'), 'utf8'))
  const at = (minutes: number): number => 1_763_667_600_000 + minutes * 60_000
  const first = archiveIn(dir)
  first.archive.event(eventOf('session_started', 1))
  const delivered = { status: 'complete', deliverables: [] }
  first.archive.event({ ...eventOf('session_ended', 2), at: at(1), data: delivered })
  // Before its end is written, and after.
  first.archive.event({ ...eventOf('session_started', 3), at: at(2) })
  await first.archive.flush()
  expect(await about()).toMatchObject({ started_at: '2025-11-20T19:40:00.000Z', ended_at: null })
  expect(await about()).not.toHaveProperty('status')
  first.archive.event({ ...eventOf('session_ended', 4), at: at(3) })
  await first.archive.close()
  expect(await about()).toMatchObject({ ended_at: '2025-11-20T19:43:00.000Z' })

  const second = archiveIn(dir)
  second.archive.event({ ...eventOf('session_started', 1), at: at(4), actor: 'later' })
  await second.archive.flush()
  expect(await about()).toMatchObject({ actor: 'user', ended_at: null })
  second.archive.event({ ...eventOf('session_ended', 2), at: at(5) })
  await second.archive.close()
  expect(await about()).toMatchObject({
    actor: 'user',
    started_at: '2025-11-20T19:40:00.000Z',
    ended_at: '2025-11-20T19:45:00.000Z',
  })
  expect([...first.errors, ...second.errors]).toEqual([])
})

test('does not write a run again for what was written with it already', async () => {
  const dir = await tempDirectory()
  const { archive } = archiveIn(dir)
  archive.event(eventOf('tool_started', 1, 'first'))
  archive.event(eventOf('tool_started', 1, 'second'))
  const writing = archive.flush()
  // Far enough that the first is being written.
  await Promise.resolve().then(() => undefined)
  archive.event(eventOf('session_ended', 2, 'second'))
  await writing
  const file = join(dir, 'runs', 'second', 'run.json')
  expect(await readFile(file, 'utf8')).toContain('"ended_at": "2025')
  await utimes(file, 1, 1)
  await archive.flush()
  expect((await stat(file)).mtimeMs).toBe(1_000)
})

test('shortens a long input without cutting a letter in two', async () => {
  const dir = await tempDirectory()
  const { archive } = archiveIn(dir)
  const begin = { ...sampleBegin('a'), body: `${'x'.repeat(198)}😀${'y'.repeat(50)}` }
  archive.ended(begin, sampleEnd('a').record, resultOf('a'))
  await archive.close()
  const [record] = await lines(dir, 'runs', 'session_1', 'logs', 'tools.jsonl')
  expect(record).toMatchObject({ args_summary: `${'x'.repeat(198)}…` })
})

test('reports what it cannot write and goes on', async () => {
  const dir = await tempDirectory()
  await writeFile(join(dir, 'runs'), 'a file where the folder should be')
  const { archive, errors } = archiveIn(dir)
  archive.event(eventOf('tool_started', 1))
  await archive.flush()
  expect(errors).toHaveLength(1)
  await rm(join(dir, 'runs'))
  archive.event(eventOf('tool_completed', 2))
  await archive.close()
  expect(errors).toHaveLength(1)
  expect(await lines(dir, 'runs', 'session_1', 'events.jsonl')).toMatchObject([{ sequence: 2 }])
})
