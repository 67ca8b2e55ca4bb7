import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { codeTools, defineTool } from 'handrail'
import { expect, test } from 'vitest'
import { makeFolder, openRuntime } from '../support/project.ts'

function readLines(path: string): Record<string, unknown>[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
}

test('a run leaves its folder: tools, errors, events, workspace, deliverables, archive (EVID-4)', async () => {
  const dir = makeFolder()
  const runtime = await openRuntime({
    project: makeFolder({ 'a.txt': 'a' }),
    tools: [codeTools()],
    archive: { dir },
  })
  const session = runtime.session()
  await session.call('code.read_file', { path: 'a.txt' })
  await session.call('code.write_file', { path: 'b.txt', content: 'b' })
  await runtime.close()

  const run = join(dir, 'runs', session.id)
  expect(readdirSync(run).sort()).toEqual(
    expect.arrayContaining(['archive', 'deliverables', 'events.jsonl', 'logs', 'run.json', 'workspace']),
  )
  const tools = readLines(join(run, 'logs', 'tools.jsonl'))
  expect(tools).toMatchObject([
    { tool_name: 'code.read_file', status: 'completed', error: null },
    {
      tool_name: 'code.write_file',
      status: 'blocked',
      error: { code: 'POLICY.APPROVAL_DENIED', reason: 'no_callback' },
    },
  ])
  expect(typeof tools[0]?.['duration_ms']).toBe('number')
  expect(readLines(join(run, 'logs', 'errors.jsonl'))).toMatchObject([{ tool_name: 'code.write_file' }])
  const events = readLines(join(run, 'events.jsonl'))
  expect(events.map((event) => event['type'])).toEqual([
    'session_started',
    'tool_started',
    'tool_completed',
    'tool_denied',
    'session_ended',
  ])
  expect(events.map((event) => event['sequence'])).toEqual([1, 2, 3, 4, 5])
})

test('a fault, an expected failure and a success have their own level (EVID-6)', async () => {
  const levels: Record<string, string> = {}
  const make = (name: string, run: () => string) =>
    defineTool({ name, description: 'Ends in its own way.', permission: 'readonly', run })
  const runtime = await openRuntime({
    tools: [
      codeTools(),
      make('end.well', () => 'fine'),
      make('end.broken', () => {
        throw new Error('broke')
      }),
    ],
    onEvent: (event) => {
      if (event.session !== '' && event.tool !== undefined && event.type !== 'tool_started')
        levels[event.tool] = event.level
    },
  })
  const session = runtime.session()
  await session.call('end.well')
  await session.call('end.broken')
  await session.call('code.read_file', { path: 'missing.txt' })
  await session.call('code.write_file', { path: 'x', content: '' })
  expect(levels).toEqual({
    'end.well': 'info',
    'end.broken': 'fault',
    'code.read_file': 'failure',
    'code.write_file': 'failure',
  })
})

test('every call leaves a begin and an end, also when it is denied, unknown or malformed (EVID-1)', async () => {
  const runtime = await openRuntime({ tools: [codeTools()] })
  const session = runtime.session()
  const results = await Promise.all([
    session.call('code.list_dir', {}),
    session.call('code.write_file', { path: 'a', content: '' }),
    session.call('no.such', {}),
    session.call('code.list_dir', { pth: 'x' }),
    session.call('code.list_dir', '{'),
  ])
  expect(results.map((result) => result.ok)).toEqual([true, false, false, false, false])
  for (const { callId } of results) {
    expect([...runtime.store.records({ call: callId })].map((record) => record.kind)).toEqual([
      'begin',
      'end',
    ])
  }
})
