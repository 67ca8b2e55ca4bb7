import { context, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics'
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { codeTools, createRuntime, defineTool, type RuntimeOptions } from 'handrail'
import type { CallObserver } from 'handrail/telemetry'
import { expect, onTestFinished, test } from 'vitest'
import { makeFolder, openRuntime, personSaying } from '../support/project.ts'

class PullReader extends MetricReader {
  protected override async onShutdown(): Promise<void> {}
  protected override async onForceFlush(): Promise<void> {}
}

/** A real SDK that keeps what it gets. */
function openSdk() {
  const exporter = new InMemorySpanExporter()
  const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] })
  const reader = new PullReader()
  const meters = new MeterProvider({ readers: [reader] })
  const tracer = provider.getTracer('test')
  return {
    tracer,
    telemetry: { tracer, meter: meters.getMeter('test') },
    spans: () => exporter.getFinishedSpans(),
    /** Values by metric, each with its labels as JSON. */
    async metrics() {
      const { resourceMetrics } = await reader.collect()
      const all = resourceMetrics.scopeMetrics.flatMap(({ metrics }) => metrics)
      return Object.fromEntries(
        all.map(({ descriptor, dataPoints }) => [
          descriptor.name,
          Object.fromEntries(
            dataPoints.map(({ attributes, value }) => [
              JSON.stringify(attributes),
              typeof value === 'number' ? value : (value as { count: number }).count,
            ]),
          ),
        ]),
      )
    },
  }
}

const secret = 'correct-horse-battery-staple'

test('every call is a span with the names of the GenAI conventions, and without its input or result (EVID-5)', async () => {
  const sdk = openSdk()
  const runtime = await openRuntime({
    project: makeFolder({ 'a.txt': `${secret}\n` }),
    tools: [codeTools()],
    telemetry: sdk.telemetry,
    approve: personSaying('deny').approve,
  })
  const session = runtime.session({ actor: 'ada' })
  await session.call('code.read_file', { path: 'a.txt' }, { id: 'toolu_1', origin: 'llm' })
  await session.call('code.write_file', { path: 'b.txt', content: secret }, { id: 'toolu_2' })
  await session.call(`no.${secret}`, {}, { id: 'toolu_3' })
  const [read, write, unknown] = sdk.spans()
  expect(read).toMatchObject({
    name: 'execute_tool code.read_file',
    kind: SpanKind.INTERNAL,
    status: { code: SpanStatusCode.UNSET },
    attributes: {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'code.read_file',
      'gen_ai.tool.call.id': 'toolu_1',
      'gen_ai.tool.type': 'function',
      'handrail.session': session.id,
      'handrail.tenant': 'local',
      'handrail.role': 'main',
      'handrail.origin': 'llm',
      'handrail.outcome': 'ok',
      'handrail.decision.effect': 'allow',
    },
  })
  expect(read?.events.map(({ name }) => name)).toEqual(['handrail.admit', 'handrail.run'])
  expect(write).toMatchObject({
    name: 'execute_tool code.write_file',
    status: { code: SpanStatusCode.ERROR, message: 'denied' },
    attributes: {
      'error.type': 'POLICY.APPROVAL_DENIED',
      'handrail.reason': 'denied',
      'handrail.outcome': 'denied',
      'handrail.decision.effect': 'ask',
    },
  })
  expect(write?.events.map(({ name }) => name)).toEqual(['handrail.approve'])
  expect(unknown).toMatchObject({
    name: 'execute_tool',
    attributes: { 'error.type': 'POLICY.DENY_TOOL', 'handrail.reason': 'tool_not_available' },
  })
  expect(JSON.stringify([read, write].map((span) => [span?.attributes, span?.events]))).not.toContain(secret)
})

test('metrics say what was called, denied, measured and spent (EVID-5, EVID-6)', async () => {
  const sdk = openSdk()
  const release = Promise.withResolvers<string>()
  const started = Promise.withResolvers<void>()
  const slow = defineTool({
    name: 't.slow',
    description: 'Runs until the test lets it end.',
    permission: 'readonly',
    run() {
      started.resolve()
      return release.promise
    },
  })
  const runtime = await openRuntime({
    tools: [slow, codeTools()],
    telemetry: sdk.telemetry,
    policy: { budgets: [{ id: 'b', unit: 'calls', limit: 10 }] },
  })
  const session = runtime.session()
  const running = session.call('t.slow')
  await started.promise
  expect((await sdk.metrics())['tool_running']).toEqual({ '{}': 1 })
  release.resolve('done')
  await running
  await session.call('code.write_file', { path: 'b.txt', content: '' })
  expect(await sdk.metrics()).toMatchObject({
    tool_running: { '{}': 0 },
    tool_invocations_total: {
      '{"tool":"t.slow","tenant":"local","origin":"api"}': 1,
      '{"tool":"code.write_file","tenant":"local","origin":"api"}': 1,
    },
    tool_outcomes_total: {
      '{"level":"info","outcome":"ok"}': 1,
      '{"level":"failure","outcome":"denied"}': 1,
    },
    tool_denied_total: { '{"tool":"code.write_file","code":"POLICY.APPROVAL_DENIED"}': 1 },
    tool_errors_total: { '{"code":"POLICY.APPROVAL_DENIED"}': 1 },
    tool_budget_calls: { '{}': 1 },
    tool_budget_spent: { '{"budget":"b"}': 1 },
    tool_latency_ms: { '{"stage":"run"}': 1, '{"stage":"total"}': 2, '{"stage":"record"}': 2 },
  })
})

test('a call belongs to the trace that its caller names, else to the span that is active; what its tool does belongs to it (EVID-5)', async () => {
  const sdk = openSdk()
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  onTestFinished(() => context.disable())
  const inner = defineTool({
    name: 't.inner',
    description: 'Starts a span of its own.',
    permission: 'readonly',
    async run() {
      await Promise.resolve()
      sdk.tracer.startSpan('own').end()
      return 'done'
    },
  })
  const runtime = await openRuntime({ tools: [inner], telemetry: sdk.telemetry })
  const session = runtime.session()
  const outer = sdk.tracer.startSpan('outer')
  await context.with(trace.setSpan(context.active(), outer), () => session.call('t.inner'))
  const traceId = '0af7651916cd43dd8448eb211c80319c'
  await session.call('t.inner', {}, { trace: `00-${traceId}-b7ad6b7169203331-01` })
  const [ownFirst, first, ownSecond, second] = sdk.spans()
  expect(first?.parentSpanContext?.spanId).toBe(outer.spanContext().spanId)
  expect(ownFirst?.parentSpanContext?.spanId).toBe(first?.spanContext().spanId)
  expect(second?.spanContext().traceId).toBe(traceId)
  expect(second?.parentSpanContext?.spanId).toBe('b7ad6b7169203331')
  expect(ownSecond?.parentSpanContext?.spanId).toBe(second?.spanContext().spanId)
})

test('however a call ends, it began and ends once: skipped, refused and aborted ones too (EVID-5)', async () => {
  const began: string[] = []
  const ended: string[] = []
  const observer: CallObserver = {
    began: (call) => void began.push(call.id),
    enters() {},
    within: (_call, run) => run(),
    ended: (call, { outcome }) => void ended.push(`${call.id} ${outcome}`),
  }
  const runtime = await openRuntime({ tools: [codeTools()], observers: [observer] })
  const session = runtime.session()
  const { results } = await session.turn([
    { tool: 'code.write_file', input: { path: 'a', content: '' } },
    { tool: 'code.list_dir' },
  ])
  const all = [...results, await session.call('code.list_dir', {}, { signal: AbortSignal.abort() })]
  await session.close()
  all.push(await session.call('code.list_dir'))
  expect(all.map(({ outcome }) => outcome)).toEqual(['denied', 'aborted', 'aborted', 'aborted'])
  expect(began).toEqual(all.map(({ callId }) => callId))
  expect(ended).toEqual(all.map(({ callId, outcome }) => `${callId} ${outcome}`))
})

test('an observer that throws is logged and changes nothing (EVID-5)', async () => {
  const issues: unknown[] = []
  const broken = (): never => {
    throw new Error('observer broke')
  }
  const runtime = await openRuntime({
    tools: [codeTools()],
    observers: [{ began: broken, enters: broken, within: broken, ended: broken }],
    onError: ({ cause }) => issues.push(cause),
  })
  expect((await runtime.session().call('code.list_dir')).ok).toBe(true)
  expect(issues.length).toBeGreaterThanOrEqual(4)
  expect(new Set(issues.map(String))).toEqual(new Set(['Error: observer broke']))
})

test.each<[string, unknown, string]>([
  ['a word', 'on', '/telemetry'],
  ['an unknown field', { traces: {} }, '/telemetry/traces'],
  ['a tracer that is none', { tracer: {} }, '/telemetry/tracer'],
  ['a meter that lacks a function', { meter: { createCounter() {} } }, '/telemetry/meter'],
])('%s for telemetry is refused with its place', async (_, telemetry, pointer) => {
  const options = { telemetry: telemetry as NonNullable<RuntimeOptions['telemetry']> }
  await expect(createRuntime({ project: makeFolder(), ...options })).rejects.toMatchObject({
    code: 'invalid_options',
    issues: [{ pointer }],
  })
})
