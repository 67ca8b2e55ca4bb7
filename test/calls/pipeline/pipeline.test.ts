import { existsSync, readdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { codeTools, createRuntime, defineTool, errorTable, type Plan, type RuntimeEvent } from 'handrail'
import type { BeginRecord, EndRecord } from 'handrail/evidence'
import { expect, test } from 'vitest'
import { makeTool } from '../../support/make-tool.ts'
import { makeFolder, openRuntime, personSaying } from '../../support/project.ts'

const add = defineTool({
  name: 'math.add',
  description: 'Adds two integers.',
  permission: 'readonly',
  input: {
    type: 'object',
    properties: { a: { type: 'integer' }, b: { type: 'integer' } },
    required: ['a', 'b'],
  },
  run: ({ a, b }) => a + b,
})

test('preflight tells every step, the profile, the budget and the obligations, and does nothing (CALL-1)', async () => {
  const project = makeFolder()
  const person = personSaying('allow_once')
  const runtime = await openRuntime({
    project,
    tools: [codeTools()],
    approve: person.approve,
    limits: { callsPerSession: 7 },
  })
  const session = runtime.session()
  const report = await session.preflight('code.write_file', { path: 'a.txt', content: 'a' })
  expect(report.effect).toBe('ask')
  expect(report.steps.map((step) => `${step.step} ${step.outcome}`)).toEqual([
    'find passed',
    'check-input passed',
    'authorise passed',
    'plan passed',
    'hook passed',
    'approve would_ask',
  ])
  expect(report.profileHash).toMatch(/^[\w-]{43}$/)
  expect(report.profile).toMatchObject({ writeRoots: [project], executables: [], hosts: [] })
  expect(report.budget).toMatchObject({ calls: { used: 0, limit: 7 }, timeoutMs: 30_000 })
  expect(report.obligations[0]).toBe('redact:secrets')
  expect(report.decision).toMatchObject({ effect: 'ask', layer: 'defaults', rule: 'write' })
  expect(report.preview?.body).toContain('+a')
  expect(person.asked).toEqual([])
  expect(readdirSync(project)).toEqual([])
  expect([...runtime.store.records({ kind: 'begin' })]).toEqual([])
})

test('neither a preflight nor a question nor its event tells a secret that a path, a hook or a failed plan has (OUT-4, CALL-1, PERM-4)', async () => {
  const secret = 'corr3ct-h0rse-battery'
  const person = personSaying('deny')
  const events: RuntimeEvent[] = []
  const tool = (name: string, plan: (project: string) => Plan) =>
    defineTool({
      name,
      description: 'Reads where its secret says.',
      permission: 'readonly',
      sideEffect: 'read',
      capabilities: { fs: { read: ['project'] } },
      input: { type: 'object', properties: {} },
      plan: (_, { project }) => plan(project),
      run: () => 'done',
    })
  const runtime = await openRuntime({
    secrets: { key: secret },
    sensitivePaths: ['**/private/**'],
    approve: person.approve,
    hooks: [{ name: 'noting', before: () => ({ decision: 'allow', notes: [`saw ${secret}`] }) }],
    onEvent: (event) => void events.push(event),
    tools: [
      tool('demo.fail', () => {
        throw new Error(`no room for ${secret}`)
      }),
      tool('demo.read', (project) => ({
        operations: [{ kind: 'fs.read', path: `${project}/private/${secret}` }],
        scope: `${project}/${secret}`,
      })),
    ],
  })
  const session = runtime.session()
  const told: unknown[] = [events, person.asked]
  for (const name of ['demo.fail', 'demo.read'])
    told.push(await session.preflight(name), await session.call(name))
  expect(person.asked).toHaveLength(1)
  expect(JSON.stringify(told)).toContain('no room for [redacted')
  expect(JSON.stringify(told)).not.toContain(secret)
})

test('preflight of a call that would be stopped says where and why (CALL-1)', async () => {
  const runtime = await openRuntime({ tools: [codeTools(), add] })
  const session = runtime.session()
  expect(await session.preflight('math.add', { a: 1 })).toMatchObject({
    effect: 'deny',
    error: { code: 'SCHEMA.VALIDATION_FAILED', reason: 'invalid_input' },
    steps: [{ outcome: 'passed' }, { outcome: 'stopped' }, { outcome: 'not_reached' }, {}, {}, {}],
  })
  expect(await session.preflight('code.read_file', { path: '../../etc/passwd' })).toMatchObject({
    effect: 'deny',
    error: { code: 'SANDBOX.CAPABILITY_BLOCKED', reason: 'path_outside_roots' },
  })
  expect(await session.preflight('math.add', { a: 1, b: 2 })).toMatchObject({ effect: 'allow' })
})

test('the provider id pairs call and result, or one is made (CALL-2)', async () => {
  const runtime = await openRuntime({ tools: [add] })
  const session = runtime.session()
  const given = await session.call('math.add', { a: 1, b: 2 }, { id: 'toolu_01', rawName: 'math__add' })
  expect(given).toMatchObject({
    toolCallId: 'toolu_01',
    metadata: { rawId: 'toolu_01', rawName: 'math__add' },
  })
  const made = await session.call('math.add', { a: 1, b: 2 })
  expect(made.toolCallId).toBe(made.callId)
  expect(made.callId).toMatch(/^call_[0-9a-z]{19}$/)
})

test('a call is started before it runs and ended with its result, and nothing stays pending (CALL-3)', async () => {
  const seen: string[] = []
  const project = makeFolder()
  const tool = defineTool({
    name: 'demo.look',
    description: 'Looks at its own evidence.',
    run: ({ callId }) => {
      seen.push(...[...runtime.store.records({ call: callId })].map((record) => record.kind))
      return 'looked'
    },
  })
  const runtime = await openRuntime({
    project,
    tools: [tool],
    approve: personSaying('allow_once').approve,
    store: { path: `${makeFolder()}/store.db` },
  })
  const events: RuntimeEvent[] = []
  const session = runtime.session()
  session.on((event) => events.push(event))
  const result = await session.call('demo.look')
  expect(seen).toEqual(['begin'])
  const [begin, end] = [...runtime.store.records({ call: result.callId })]
  expect(JSON.parse(begin?.text ?? '')).toMatchObject({ kind: 'begin', tool: 'demo.look' })
  expect(JSON.parse(end?.text ?? '')).toMatchObject({ kind: 'end', outcome: 'ok' })
  expect(JSON.parse(end?.body ?? '')).toEqual({
    data: result.data,
    metadata: { approval: { decision: 'allow_once' } },
  })
  expect(events.map((event) => event.type)).toEqual([
    'session_started',
    'permission_requested',
    'permission_decided',
    'tool_started',
    'tool_completed',
  ])
  expect(events.map((event) => event.sequence)).toEqual([1, 2, 3, 4, 5])
})

test('every error carries a code and reason of the table, who acts and what next (CALL-5)', async () => {
  const broken = defineTool({
    name: 'demo.broken',
    description: 'Breaks.',
    permission: 'readonly',
    run: () => Promise.reject(new TypeError('x is not a function')),
  })
  const runtime = await openRuntime({
    project: makeFolder({ 'a.txt': 'a' }),
    tools: [codeTools(), add, broken],
    policy: { rules: [{ effect: 'deny', tools: ['code.glob'] }] },
  })
  const session = runtime.session()
  const calls: [string, unknown][] = [
    ['nobody.knows', {}],
    ['math.add', { a: 'x', b: 1 }],
    ['code.read_file', { path: 'none.txt' }],
    ['code.read_file', { path: '/etc/passwd' }],
    ['code.write_file', { path: 'a.txt', content: '' }],
    ['code.write_file', { path: 'b.txt', content: '' }],
    ['code.glob', { pattern: '*' }],
    ['demo.broken', {}],
  ]
  const errors = await Promise.all(
    calls.map(async ([tool, input]) => (await session.call(tool, input)).error),
  )
  expect(errors.map((error) => `${error?.code} ${error?.reason}`)).toEqual([
    'POLICY.DENY_TOOL tool_not_available',
    'SCHEMA.VALIDATION_FAILED invalid_input',
    'TOOL.FAILED file_not_found',
    'SANDBOX.CAPABILITY_BLOCKED path_outside_roots',
    'TOOL.FAILED path_conflict',
    'POLICY.APPROVAL_DENIED no_callback',
    'POLICY.DENY_TOOL rule_denied',
    'TOOL.FAILED failed',
  ])
  for (const error of errors) {
    if (error === undefined) throw new Error('a call that should have failed did not')
    expect(error).toMatchObject({ actor: errorTable[error.code].actor, next: errorTable[error.code].next })
    expect(error.message).not.toMatch(/\n\s+at /)
  }
})

test('a tool that answers its abort ends at its limit, with what it has (CALL-6)', async () => {
  const slow = defineTool({
    name: 'demo.slow',
    description: 'Waits for its abort.',
    permission: 'readonly',
    limits: { timeoutMs: 50 },
    run: ({ signal }) =>
      new Promise<string>((resolve) => signal.addEventListener('abort', () => resolve('half of it'))),
  })
  const runtime = await openRuntime({ tools: [slow] })
  const result = await runtime.session().call('demo.slow')
  expect(result).toMatchObject({
    ok: false,
    error: { code: 'TOOL.TIMEOUT', reason: 'timed_out' },
    metadata: { partial: true },
  })
  expect(JSON.stringify(result.content)).toContain('half of it')
})

test('a tool that ignores its abort is answered for and reported as still running (CALL-6)', async () => {
  const deaf = defineTool({
    name: 'demo.deaf',
    description: 'Hears nothing.',
    permission: 'readonly',
    limits: { timeoutMs: 40 },
    run: () => sleep(600_000, 'late', { ref: false }),
  })
  const runtime = await openRuntime({ tools: [deaf], limits: { abortGraceMs: 40 } })
  const result = await runtime.session().call('demo.deaf')
  expect(result).toMatchObject({
    outcome: 'unknown',
    error: { code: 'TOOL.TIMEOUT', reason: 'still_running' },
  })
})

test('neither a tool nor a model can raise the limit of the runtime (CALL-6)', async () => {
  const greedy = defineTool({
    name: 'demo.greedy',
    description: 'Wants an hour.',
    permission: 'readonly',
    limits: { timeoutMs: 3_600_000 },
    run: ({ signal }) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('stopped')))),
  })
  const runtime = await openRuntime({ tools: [greedy, codeTools()], limits: { maxTimeoutMs: 60 } })
  const session = runtime.session()
  expect((await session.call('demo.greedy')).error).toMatchObject({ code: 'TOOL.TIMEOUT' })
  const asked = await session.call('code.run_command', { argv: ['true'], timeout_ms: 600_001 })
  expect(asked.error).toMatchObject({ code: 'SCHEMA.VALIDATION_FAILED' })
})

test('progress is told while the tool runs (CALL-7)', async () => {
  const counting = defineTool({
    name: 'demo.count',
    description: 'Counts.',
    permission: 'readonly',
    run(context) {
      context.progress({ message: 'one of two', done: 1, total: 2 })
      return 'counted'
    },
  })
  const runtime = await openRuntime({ tools: [counting] })
  const session = runtime.session()
  const events: RuntimeEvent[] = []
  session.on((event) => events.push(event))
  const result = await session.call('demo.count')
  expect(events.map((event) => event.type)).toEqual([
    'session_started',
    'tool_started',
    'tool_progress',
    'tool_completed',
  ])
  expect(events[2]).toMatchObject({ call: result.callId, summary: 'one of two', data: { done: 1, total: 2 } })
})

test.each(['llm', 'api', 'system'] as const)(
  'a call of origin %s goes through the same pipeline (CALL-8)',
  async (origin) => {
    const runtime = await openRuntime({ tools: [add, codeTools()] })
    const session = runtime.session()
    const fine = await session.call('math.add', { a: 1, b: 2 }, { origin })
    expect(fine.data).toBe(3)
    expect(
      (await session.call('code.write_file', { path: 'x', content: '' }, { origin })).error?.reason,
    ).toBe('no_callback')
    const begin = [...runtime.store.records({ call: fine.callId })][0]
    expect((JSON.parse(begin?.text ?? '') as BeginRecord).origin).toBe(origin)
  },
)

test('a defect inside is told to the log, never to the caller (CALL-9)', async () => {
  const issues: unknown[] = []
  const { store } = await openRuntime()
  let broken = false
  // A method that is asked before the tool runs, and that no step guards.
  const defective = new Proxy(store, {
    get(target, field) {
      if (broken && field === 'readOnly') throw new Error('/srv/secret/path.ts broke')
      if (field === 'close') return async () => {}
      const value: unknown = Reflect.get(target, field)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  const runtime = await openRuntime({
    tools: [makeTool('demo.odd')],
    store: defective,
    onError: (issue) => issues.push(issue.cause),
  })
  broken = true
  const result = await runtime.session().call('demo.odd', {})
  expect(result.error).toMatchObject({
    code: 'UNKNOWN.INTERNAL',
    message: expect.stringContaining('did not run'),
  })
  expect(JSON.stringify(result)).not.toContain('/srv/secret')
  expect(String(issues[0])).toContain('/srv/secret/path.ts broke')
  await runtime.close()
})

test('an input larger than the tool takes is refused with both sizes (CALL-5, DEF-5)', async () => {
  const small = defineTool({
    name: 'demo.small',
    description: 'Takes little.',
    permission: 'readonly',
    limits: { maxBytesIn: 100 },
    input: { type: 'object', properties: { text: { type: 'string' } } },
    run: () => 'ok',
  })
  const runtime = await openRuntime({ tools: [small] })
  const result = await runtime.session().call('demo.small', { text: 'x'.repeat(200) })
  expect(result.error).toMatchObject({ code: 'SCHEMA.VALIDATION_FAILED', reason: 'input_too_large' })
  expect(result.error?.message).toMatch(/211.*100/)
})

test('a session that calls too often is told to stop (CALL-5)', async () => {
  const runtime = await openRuntime({ tools: [add], limits: { callsPerSession: 3, repeatsPerSession: 2 } })
  const session = runtime.session()
  const outcomes = []
  for (const b of [1, 1, 1, 2, 3])
    outcomes.push((await session.call('math.add', { a: 1, b })).error?.reason ?? 'ok')
  expect(outcomes).toEqual(['ok', 'ok', 'repeats', 'ok', 'calls'])
})

test('keyed calls happen once: the same key gives the kept result, another input is a conflict', async () => {
  let runs = 0
  const pay = defineTool({
    name: 'shop.pay',
    description: 'Pays.',
    idempotency: 'optional',
    input: { type: 'object', properties: { amount: { type: 'integer' } }, required: ['amount'] },
    async run({ amount }) {
      runs++
      await sleep(20)
      return { paid: amount, run: runs }
    },
  })
  const runtime = await openRuntime({ tools: [pay], approve: personSaying('allow_once').approve })
  const session = runtime.session()
  const same = await Promise.all(
    [1, 2, 3].map(() => session.call('shop.pay', { amount: 5 }, { idempotencyKey: 'order-1' })),
  )
  expect(same.map((result) => result.data)).toEqual([
    { paid: 5, run: 1 },
    { paid: 5, run: 1 },
    { paid: 5, run: 1 },
  ])
  const later = await runtime.session().call('shop.pay', { amount: 5 }, { idempotencyKey: 'order-1' })
  expect(later).toMatchObject({ data: { run: 1 }, metadata: { replayed: true } })
  expect((await session.call('shop.pay', { amount: 6 }, { idempotencyKey: 'order-1' })).error?.code).toBe(
    'IDEMPOTENCY.CONFLICT',
  )
  expect((await session.call('shop.pay', { amount: 5 }, { idempotencyKey: 'order-2' })).data).toEqual({
    paid: 5,
    run: 2,
  })
  expect(runs).toBe(2)
})

test('a store that cannot write stops the call before its effect', async () => {
  const project = makeFolder()
  const runtime = await createRuntime({
    project,
    tools: [codeTools()],
    approve: personSaying('allow_once').approve,
    store: { path: `${makeFolder()}/store.db` },
    onError: () => {},
  })
  await runtime.store.close()
  const result = await runtime.session().call('code.write_file', { path: 'a.txt', content: 'a' })
  expect(result.error).toMatchObject({ code: 'PROVIDER.UNAVAILABLE', reason: 'store_failed' })
  expect(existsSync(`${project}/a.txt`)).toBe(false)
  await runtime.close()
})

test('the evidence of a call names tenant, actor, role, decision, digests and sizes (EVID-2)', async () => {
  const runtime = await openRuntime({ tools: [add] })
  const result = await runtime
    .session({ tenant: 'acme', actor: 'ada', role: 'main' })
    .call('math.add', { a: 1, b: 2 })
  const [first, second] = [...runtime.store.records({ tenant: 'acme', call: result.callId })]
  const begin = JSON.parse(first?.text ?? '') as BeginRecord
  const end = JSON.parse(second?.text ?? '') as EndRecord
  expect(begin).toMatchObject({
    tenant: 'acme',
    actor: 'ada',
    role: 'main',
    origin: 'api',
    tool: 'math.add',
    policy: runtime.policyDigest,
    decision: { effect: 'allow', layer: 'defaults', rule: 'readonly' },
  })
  for (const digest of [begin.input, begin.profile, end.result]) expect(digest).toMatch(/^[\w-]{43}$/)
  expect(begin.definition).toMatch(/^1\.0\.0 [\w-]{43}$/)
  expect(end).toMatchObject({ outcome: 'ok', bytesIn: 13 })
  expect(first?.text).not.toContain('"a":1')
})

test('a tool may take progress, artifact and secret out of its context', async () => {
  const tool = defineTool({
    name: 'demo.apart',
    description: 'Takes its context apart.',
    permission: 'readonly',
    sideEffect: 'read',
    capabilities: { secrets: ['KEY'] },
    async run({ progress, artifact, secret }) {
      progress({ message: 'here' })
      const kept = await artifact('text', { mimeType: 'text/plain' })
      return { bytes: kept.bytes, length: secret('KEY').length }
    },
  })
  const runtime = await openRuntime({ tools: [tool], secrets: { KEY: 'abcdefgh' } })
  expect((await runtime.session().call('demo.apart')).data).toEqual({ bytes: 4, length: 8 })
})

test('a tool that names no limit gets the configured default (CALL-6)', async () => {
  const waits = defineTool({
    name: 'demo.waits',
    description: 'Waits for its abort.',
    permission: 'readonly',
    run: ({ signal }) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('stopped')))),
  })
  const runtime = await openRuntime({ tools: [waits], limits: { defaultTimeoutMs: 40 } })
  expect((await runtime.session().call('demo.waits')).error).toMatchObject({
    code: 'TOOL.TIMEOUT',
    reason: 'timed_out',
  })
})

test('a keyed call is not planned again: what it changed does not get in the way of its own result', async () => {
  const project = makeFolder()
  const runtime = await openRuntime({
    project,
    tools: [codeTools()],
    approve: personSaying('allow_once').approve,
  })
  const write = () =>
    runtime.session().call('code.write_file', { path: 'a.txt', content: 'a' }, { idempotencyKey: 'write-a' })
  expect(await write()).toMatchObject({ ok: true })
  expect(await write()).toMatchObject({ ok: true, metadata: { replayed: true } })
  expect(
    (await runtime.session().call('code.write_file', { path: 'a.txt', content: 'a' })).error?.reason,
  ).toBe('path_conflict')
})
