import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { codeTools, defineTool, type RuntimeEvent } from 'handrail'
import { createMetrics } from 'handrail/telemetry'
import { expect, test } from 'vitest'
import { gatedTool } from '../support/gated-tool.ts'
import { makeTool } from '../support/make-tool.ts'
import { makeFolder, openRuntime } from '../support/project.ts'
import { parseExposition, samplesOf } from '../support/prometheus.ts'

test('success, an expected no and a fault have their own level, in events, archive and metrics alike (EVID-6)', async () => {
  const dir = makeFolder()
  const metrics = createMetrics()
  const deaf = gatedTool({ name: 't.deaf' })
  const listening = gatedTool({ name: 't.listening', onAbort: () => 'half' })
  const broken = defineTool({
    name: 't.broken',
    description: 'Breaks.',
    permission: 'readonly',
    run() {
      throw new Error('broke')
    },
  })
  const told: Record<string, string> = {}
  const take = ({ type, tool, level }: RuntimeEvent): void => {
    if (tool !== undefined && type !== 'tool_started') told[tool] = level
  }
  const runtime = await openRuntime({
    tools: [codeTools(), makeTool('t.well'), deaf.tool, listening.tool, broken],
    archive: { dir },
    limits: { abortGraceMs: 10 },
    observers: [metrics.observer],
    onEvent: take,
  })
  const session = runtime.session()
  const abort = async ({ tool, started }: typeof deaf) => {
    const running = session.call(tool.definition.name, { id: 'x' }, { id: 'aborted' })
    await started('x')
    session.abort('aborted')
    return running
  }
  const results = [
    await session.call('t.well'),
    await session.call('code.write_file', { path: 'a', content: '' }),
    await session.call('code.read_file', { path: 'missing' }),
    await session.call('code.list_dir', { wrong: 1 }),
    await session.call('t.broken'),
    await abort(listening),
    await abort(deaf),
  ]
  deaf.release('x')
  await runtime.close()

  const levels = {
    't.well': 'info',
    'code.write_file': 'failure',
    'code.read_file': 'failure',
    'code.list_dir': 'failure',
    't.broken': 'fault',
    't.listening': 'failure',
    't.deaf': 'fault',
  }
  expect(results.map(({ outcome }) => outcome)).toEqual([
    'ok',
    'denied',
    'failed',
    'failed',
    'failed',
    'aborted',
    'unknown',
  ])
  expect(told).toEqual(levels)

  const events = readFileSync(join(dir, 'runs', session.id, 'events.jsonl'), 'utf8')
    .trim()
    .split('\n')
  const kept: Record<string, string> = {}
  for (const line of events) {
    const { type, tool, level } = JSON.parse(line) as RuntimeEvent
    if (tool !== undefined && type !== 'tool_started') kept[tool] = level
  }
  expect(kept).toEqual(levels)

  expect(samplesOf(parseExposition(metrics.text()), 'tool_outcomes_total')).toEqual({
    '{level="info",outcome="ok"}': 1,
    '{level="failure",outcome="denied"}': 1,
    '{level="failure",outcome="failed"}': 2,
    '{level="fault",outcome="failed"}': 1,
    '{level="failure",outcome="aborted"}': 1,
    '{level="fault",outcome="unknown"}': 1,
  })
})
