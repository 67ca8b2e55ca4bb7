import { createMetrics } from 'handrail/telemetry'
import { expect, test } from 'vitest'
import { makeTool } from '../support/make-tool.ts'
import { openRuntime } from '../support/project.ts'
import { parseExposition, samplesOf } from '../support/prometheus.ts'

test('no caller makes series without end: tools, tenants and names that no tool has (EVID-5)', async () => {
  const metrics = createMetrics()
  const tools = Array.from({ length: 205 }, (_, index) => makeTool(`t.tool${index}`))
  const runtime = await openRuntime({ tools, observers: [metrics.observer] })
  const session = runtime.session()
  for (const tool of tools) await session.call(tool.definition.name)
  for (let index = 0; index < 50; index++) await session.call(`t.made_up_${index}`)
  for (let index = 0; index < 120; index++)
    await runtime.session({ tenant: `tenant${index}` }).call('t.tool0')
  const series = samplesOf(parseExposition(metrics.text()), 'tool_invocations_total')
  expect(series['{tool="t.tool199",tenant="local",origin="api"}']).toBe(1)
  expect(series['{tool="other",tenant="local",origin="api"}']).toBe(5)
  expect(series['{tool="unknown",tenant="local",origin="api"}']).toBe(50)
  // One of the hundred is "local".
  expect(series['{tool="t.tool0",tenant="tenant98",origin="api"}']).toBe(1)
  expect(series['{tool="t.tool0",tenant="other",origin="api"}']).toBe(21)
  expect(Object.keys(series)).toHaveLength(200 + 2 + 99 + 1)
})

test('whatever stands in the id of a budget, it stays one label (EVID-5)', async () => {
  const metrics = createMetrics()
  const id = 'a "day"\\n\nof calls'
  const runtime = await openRuntime({
    tools: [makeTool('t.well')],
    observers: [metrics.observer],
    policy: { budgets: [{ id, unit: 'calls', limit: 5 }] },
  })
  await runtime.session().call('t.well')
  const spent = samplesOf(parseExposition(metrics.text()), 'tool_budget_spent')
  expect(spent).toEqual({ '{budget="a \\"day\\"\\\\n\\nof calls"}': 1 })
})

test('one observer serves two runtimes (EVID-5)', async () => {
  const metrics = createMetrics()
  for (const tenant of ['a', 'b']) {
    const runtime = await openRuntime({ tools: [makeTool('t.well')], observers: [metrics.observer] })
    await runtime.session({ tenant }).call('t.well')
  }
  const families = parseExposition(metrics.text())
  expect(samplesOf(families, 'tool_budget_calls')).toEqual({ '': 2 })
  expect(samplesOf(families, 'tool_budget_spent')).toEqual({})
})
