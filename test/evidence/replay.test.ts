import { existsSync } from 'node:fs'
import { join } from 'node:path'
import {
  codeTools,
  createRuntime,
  defineTool,
  toolOutput,
  type Policy,
  type Runtime,
  type RuntimeOptions,
  type Session,
  type SessionOptions,
  type Tool,
  type ToolSource,
} from 'handrail'
import { replayRun, type Difference, type Replay } from 'handrail/replay'
import { describe, expect, onTestFinished, test } from 'vitest'
import { makeFolder } from '../support/project.ts'
import {
  fingerprint,
  makePay,
  openStore,
  policy,
  recordRun,
  tamper,
  wreck,
  type RecordedRun,
} from './recorded-run.ts'

/** Replays a run over its store file, with these options in the place of those it was recorded with. */
async function replay(
  run: Pick<RecordedRun, 'path' | 'session' | 'options'>,
  changed: RuntimeOptions = {},
): Promise<Replay> {
  const runtime = await openStore(run)
  onTestFinished(() => runtime.close())
  return replayRun({
    store: runtime.store,
    session: run.session,
    runtime: { ...run.options, ...changed },
  })
}

/** The same definitions, with nothing behind them. */
function deadTools(tools: RuntimeOptions['tools'] = []): ToolSource[] {
  const dead = (tool: Tool): Tool => ({
    ...tool,
    plan: () => {
      throw new Error('planned')
    },
    run: () => {
      throw new Error('ran')
    },
  })
  return tools.map((given, index) =>
    'list' in given
      ? { ...given, kind: 'code', list: () => given.list().map(dead) }
      : { id: `dead.${index}`, kind: 'code', list: () => [dead(given)] },
  )
}

const fail = () => {
  throw new Error('the world was asked')
}

describe('a run of files, people and keys', () => {
  test('goes again as it went, though its files are gone, and touches nothing (EVID-3)', async () => {
    const run = await recordRun({ hooks: [{ name: 'world', before: () => ({ decision: 'allow' }) }] })
    expect(run.results.map(({ outcome, error }) => error?.reason ?? outcome)).toEqual([
      'ok',
      'ok',
      'ok',
      'ok',
      'ok',
      'ok',
      'rule_denied',
      'denied',
      'path_conflict',
      'write_outside_allowed_roots',
      'file_not_found',
      'ok',
      'ok',
      'ok',
      'same_key_other_input',
      'tool_not_available',
      'invalid_input',
    ])
    wreck(run.project)
    const untouched = fingerprint(run.project)
    const elsewhere = join(makeFolder(), 'kept')
    const again = await replay(run, {
      tools: deadTools(run.options.tools),
      approve: fail,
      hooks: [{ name: 'world', before: fail }],
      archive: { dir: elsewhere },
      artifacts: { dir: elsewhere },
      store: { path: join(elsewhere, 'store.db') },
      onEvent: fail,
      onError: ({ cause }) => {
        throw cause
      },
    })
    expect(again).toMatchObject({ session: run.session, calls: 17, replayed: 16, divergence: undefined })
    expect(again.skipped).toEqual([
      {
        call: run.id(16),
        tool: 'code.read_file',
        reason: 'its input or its key did not fit the tool, and what does not fit is not kept',
      },
    ])
    expect(again.policies.recorded).toEqual([again.policies.now])
    expect([fingerprint(run.project), existsSync(elsewhere)]).toEqual([untouched, false])
  })

  test('its store is only read (EVID-3)', async () => {
    const run = await recordRun()
    const runtime = await openStore(run)
    onTestFinished(() => runtime.close())
    const records = () => [...runtime.store.records({})]
    const before = records()
    await replayRun({ store: runtime.store, session: run.session, runtime: run.options })
    expect(records()).toEqual(before)
    expect(before.length).toBeGreaterThan(30)
  })

  test('a run that is not there has no calls (EVID-3)', async () => {
    const run = await recordRun()
    const none = { calls: 0, replayed: 0, skipped: [], divergence: undefined }
    expect(await replay({ ...run, session: 'ses_none' })).toMatchObject(none)
    const runtime = await openStore(run)
    onTestFinished(() => runtime.close())
    const { store } = runtime
    const asked = { store, session: run.session, runtime: run.options }
    expect(await replayRun({ ...asked, tenant: 'acme' })).toMatchObject(none)
    expect(await replayRun({ ...asked, tenant: 'local' })).toMatchObject({ calls: 17 })
  })
})

describe('the first divergence', () => {
  /** The call and everything that differs in it. */
  const divergence = async (
    run: RecordedRun,
    changed: RuntimeOptions,
  ): Promise<[number, ...Difference[]]> => {
    const found = (await replay(run, changed)).divergence
    const index = run.results.findIndex(({ callId }) => callId === found?.call)
    return [index, ...(found?.differences ?? [])]
  }

  test('another policy: the decision with its layer and rule, and what comes of it (EVID-3, PERM-10)', async () => {
    const run = await recordRun()
    const rules: Policy['rules'] = [
      ...(policy.rules ?? []),
      { id: 'notes', effect: 'deny', resources: ['handrail:file:{project}/notes/2*'] },
    ]
    expect(await divergence(run, { policy: { rules } })).toEqual([
      5,
      { what: 'decision', recorded: 'allow by session-approval/session', now: 'deny by policy/notes' },
      { what: 'outcome', recorded: 'ok', now: 'denied POLICY.DENY_TOOL (rule_denied)' },
    ])
    const lax: Policy['rules'] = [{ id: 'all', effect: 'allow', tools: ['code.write_file'] }]
    expect(await divergence(run, { policy: { rules: lax } })).toMatchObject([
      3,
      { what: 'decision', recorded: 'ask by defaults/write', now: 'allow by policy/all' },
    ])
  })

  test('a denial that would be none: the call would run (EVID-3)', async () => {
    const run = await recordRun()
    const rules: Policy['rules'] = [
      { id: 'own', effect: 'allow', tools: ['code.*'], resources: ['handrail:file:{project}/legal/**'] },
      { id: 'pay', effect: 'allow', tools: ['shop.pay'] },
    ]
    expect(await divergence(run, { policy: { rules } })).toEqual([
      6,
      { what: 'decision', recorded: 'deny by policy/legal', now: 'allow by policy/own' },
      { what: 'outcome', recorded: 'denied POLICY.DENY_TOOL (rule_denied)', now: 'would run' },
    ])
  })

  test('a policy that says the same in other words is not a divergence, and is told (EVID-3)', async () => {
    const run = await recordRun()
    const rules = [...(policy.rules ?? []), { id: 'other', effect: 'deny', tools: ['no.such'] } as const]
    const again = await replay(run, { policy: { rules } })
    expect([again.replayed, again.divergence]).toEqual([16, undefined])
    expect(again.policies.now).not.toBe(again.policies.recorded[0])
  })

  test('another definition: both versions, and an input that does not fit any more (EVID-3)', async () => {
    const run = await recordRun()
    const words = await divergence(run, {
      tools: [codeTools(), makePay({ version: '1.0.1', description: 'Pays.' })],
    })
    expect(words).toEqual([
      12,
      {
        what: 'definition',
        recorded: expect.stringMatching(/^1\.0\.0 [\w-]{43}$/) as string,
        now: expect.stringMatching(/^1\.0\.1 [\w-]{43}$/) as string,
      },
    ])
    const stricter = defineTool({
      name: 'shop.pay',
      description: 'Pays an amount.',
      permission: 'write',
      sideEffect: 'none',
      idempotency: 'keyed',
      keyFrom: 'call',
      input: {
        type: 'object',
        properties: { amount: { type: 'integer', maximum: 4 } },
        required: ['amount'],
      },
      output: { type: 'object', properties: { receipt: { type: 'string' } }, required: ['receipt'] },
      run: fail,
    })
    const [, definition, input] = await divergence(run, { tools: [codeTools(), stricter] })
    expect([definition?.what, input?.what]).toEqual(['definition', 'input'])
    expect(input?.now).toMatch(/^does not fit: .*\/amount/)
  })

  test('an output schema that the recorded result does not fit any more (EVID-3)', async () => {
    const run = await recordRun()
    const output = {
      type: 'object',
      properties: { receipt: { type: 'string' } },
      required: ['receipt'],
    } as const
    const pay = makePay()
    const tools = [codeTools(), { ...pay, definition: { ...pay.definition, outputSchema: output } }]
    expect(await divergence(run, { tools })).toMatchObject([
      12,
      { what: 'definition' },
      { what: 'outcome', recorded: 'ok', now: 'failed SCHEMA.VALIDATION_FAILED (invalid_output)' },
    ])
  })

  test('another profile: what the calls may touch (EVID-3)', async () => {
    const run = await recordRun()
    expect(await divergence(run, { writeRoots: [makeFolder()] })).toMatchObject([0, { what: 'profile' }])
  })

  test('a secret that would be redacted now: another result (EVID-3)', async () => {
    const run = await recordRun()
    const [index, difference] = await divergence(run, { secrets: { word: 'export const answer' } })
    expect([index, difference?.what]).toEqual([2, 'result'])
    expect(difference?.now).toMatch(/^[\w-]{43}, other (data, )?content/)
  })

  test.each([
    ['input', '"max_lines":200', '"max_lines":100'],
    ['operations', '/a.txt"}]', '/b.txt"}]'],
    ['result', 'three', 'four'],
  ])('a changed body: the %s is not what its record says (EVID-3, EVID-7)', async (part, from, to) => {
    const run = await recordRun()
    tamper(run.path, 'UPDATE records SET body = replace(body, ?, ?) WHERE call = ?', from, to, run.id(0))
    expect(await divergence(run, {})).toMatchObject([0, { what: part }])
  })

  test('a tool that is there now and was not then (EVID-3)', async () => {
    const run = await recordRun()
    const found = defineTool({ name: 'code.wrte_file', description: 'Writes.', run: fail })
    expect(await divergence(run, { tools: [...(run.options.tools ?? []), found] })).toMatchObject([
      15,
      { what: 'definition', recorded: 'no such tool' },
    ])
  })
})

/** Records the calls of one session of a runtime with these options, and gives what a replay of it needs. */
async function record(
  options: RuntimeOptions,
  act: (session: Session, runtime: Runtime) => Promise<void>,
  opened: SessionOptions = {},
) {
  const path = join(makeFolder(), 'store.db')
  const full = { project: makeFolder(), home: makeFolder(), onError: () => {}, ...options, store: { path } }
  const runtime = await createRuntime(full)
  const session = runtime.session(opened)
  await act(session, runtime)
  await runtime.close()
  return { path, session: session.id, options: full }
}

const readonly = { description: 'Does something.', permission: 'readonly' } as const

describe('calls that end in other ways', () => {
  test('throw, give what does not fit, give very much, fail beside content, run out of time or are aborted (EVID-3)', async () => {
    const aborting = new AbortController()
    const tools = [
      defineTool({ ...readonly, name: 'odd.throws', run: () => Promise.reject(new Error('broken')) }),
      defineTool({ ...readonly, name: 'odd.misfit', output: { type: 'string' }, run: () => 7 }),
      defineTool({ ...readonly, name: 'odd.bigint', run: () => 10n as never }),
      defineTool({ ...readonly, name: 'odd.much', run: () => 'x'.repeat(100_000) }),
      defineTool({
        ...readonly,
        name: 'odd.partly',
        run: () =>
          toolOutput({
            content: 'half of it',
            data: { half: true },
            error: { reason: 'half', message: 'only half', data: { left: 1 } },
            metadata: { unit: 'half' },
          }),
      }),
      defineTool({
        ...readonly,
        name: 'odd.slow',
        limits: { timeoutMs: 20 },
        run: ({ signal }) =>
          new Promise((resolve) => signal.addEventListener('abort', () => resolve('so far'), { once: true })),
      }),
      defineTool({
        ...readonly,
        name: 'odd.aborted',
        run: ({ signal }) => {
          setTimeout(() => aborting.abort())
          return new Promise((_, reject) =>
            signal.addEventListener('abort', () => reject(new Error('stopped')), { once: true }),
          )
        },
      }),
    ]
    const run = await record({ tools }, async (session) => {
      for (const { definition } of tools)
        await session.call(
          definition.name,
          {},
          { signal: definition.name === 'odd.aborted' ? aborting.signal : AbortSignal.any([]) },
        )
    })
    expect(await replay(run, { tools: deadTools(tools) })).toMatchObject({
      calls: tools.length,
      replayed: tools.length,
      skipped: [],
      divergence: undefined,
    })
  })

  test('a person who is not there, does not answer, fails or aborts, and an approval that went stale (EVID-3)', async () => {
    let look = 0
    const tool = defineTool({
      name: 'odd.write',
      description: 'Writes.',
      input: { type: 'object', properties: { how: { type: 'string' } }, required: ['how'] },
      plan: ({ how }) => ({
        operations: [],
        preview: { kind: 'text', title: how, body: `${how === 'stale' ? ++look : 0}` },
      }),
      run: () => 'written',
    })
    const hows = ['fails', 'nonsense', 'late', 'stale', 'aborts', 'session', 'session'] as const
    const aborting = new AbortController()
    const answered = await record(
      {
        tools: [tool],
        limits: { approvalTimeoutMs: 30 },
        async approve({ preview }, signal) {
          if (preview.title === 'fails') throw new Error('no line')
          if (preview.title === 'nonsense') return { decision: 'maybe' } as never
          if (preview.title === 'aborts') aborting.abort()
          if (preview.title === 'aborts' || preview.title === 'late')
            await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
          return { decision: 'allow_for_session', reason: 'fine' }
        },
      },
      async (session) => {
        for (const how of hows)
          await session.call(
            'odd.write',
            { how },
            { signal: how === 'aborts' ? aborting.signal : new AbortController().signal },
          )
      },
    )
    expect(await replay(answered)).toMatchObject({ calls: 7, replayed: 7, divergence: undefined })

    const alone = await record({ tools: [tool] }, async (session) => {
      await session.call('odd.write', { how: 'alone' })
    })
    expect(await replay(alone, { approve: fail })).toMatchObject({ replayed: 1, divergence: undefined })
  })

  test('a hook that denied or failed; hooks of now are not told (EVID-3)', async () => {
    const tool = defineTool({
      ...readonly,
      name: 'odd.look',
      input: { type: 'object', properties: { how: { type: 'string' } } },
      run: () => 'seen',
    })
    const hooks: RuntimeOptions['hooks'] = [
      {
        name: 'guard',
        before({ input }) {
          if (input['how'] === 'fails') throw new Error('broken')
          return input['how'] === 'denies' ? { decision: 'deny', reason: 'no' } : { decision: 'allow' }
        },
      },
    ]
    const run = await record({ tools: [tool], hooks }, async (session) => {
      for (const how of ['fails', 'denies', 'passes']) await session.call('odd.look', { how })
    })
    expect(await replay(run, { hooks: [{ name: 'world', before: fail }] })).toMatchObject({
      replayed: 3,
      divergence: undefined,
    })
  })

  test.each([
    ['at any time', {}],
    ['all in one millisecond', { now: () => 1_800_000_000_000 }],
  ])('consents as they stood then, those named by the call too: %s (EVID-3)', async (_when, options) => {
    const tool = defineTool({
      name: 'odd.write',
      description: 'Writes.',
      plan: () => ({ operations: [], scope: 'the desk' }),
      input: { type: 'object', properties: {} },
      run: () => 'written',
    })
    const run = await record({ tools: [tool], ...options }, async (session, runtime) => {
      await session.call('odd.write')
      const { id } = await runtime.consents.give({ tool: 'odd.write', scope: 'the desk', givenBy: 'ada' })
      await session.call('odd.write')
      await session.call('odd.write', {}, { consent: id })
      await runtime.consents.revoke('local', id, 'ada')
      await session.call('odd.write', {}, { consent: id })
      await session.call('odd.write', {}, { consent: 'consent_none' })
    })
    const again = await replay(run)
    expect(again).toMatchObject({ calls: 5, replayed: 5, divergence: undefined })
  })

  test('what the policy hides of inputs and results, and the watermark it adds (EVID-3)', async () => {
    const person = {
      type: 'object',
      properties: { name: { type: 'string' }, phone: { type: 'string' } },
    } as const
    const tool = defineTool({
      ...readonly,
      name: 'odd.look',
      input: { type: 'object', properties: { phone: { type: 'string' } } },
      output: person,
      run: ({ phone = '' }) => ({ name: 'Ada', phone }),
    })
    const obligations: Policy['obligations'] = [
      { id: 'phones', action: 'mask', pointers: ['/phone'], patterns: ['[0-9]{6,12}'] },
      { id: 'mark', action: 'watermark', text: 'seen by {actor} in {call} at {at}' },
    ]
    const run = await record({ tools: [tool], policy: { obligations } }, async (session) => {
      await session.call('odd.look', { phone: '0123456789' })
    })
    expect(await replay(run)).toMatchObject({ replayed: 1, divergence: undefined })
    const names = [...obligations, { id: 'names', action: 'redact', pointers: ['/name'] } as const]
    expect((await replay(run, { policy: { obligations: names } })).divergence?.differences).toMatchObject([
      { what: 'result', now: expect.stringMatching(/other data, content$/) as string },
    ])
  })

  test('the same call too often (EVID-3)', async () => {
    const tool = defineTool({ ...readonly, name: 'odd.look', run: () => 'seen' })
    const limits = { repeatsPerSession: 2 }
    const run = await record({ tools: [tool], limits }, async (session) => {
      for (let i = 0; i < 3; i++) await session.call('odd.look')
    })
    expect(await replay(run)).toMatchObject({ replayed: 3, divergence: undefined })
    expect((await replay(run, { limits: { repeatsPerSession: 1 } })).divergence?.differences).toMatchObject([
      { what: 'decision', now: 'none' },
      { what: 'outcome', recorded: 'ok', now: 'denied QUOTA.BUDGET_EXCEEDED (repeats)' },
    ])
    expect((await replay(run, { limits: {} })).divergence?.differences).toMatchObject([
      { what: 'decision', recorded: 'none' },
      { what: 'outcome', now: 'would run' },
    ])
  })

  test('a tool that was paused then, and one that is paused now (EVID-3, REG-2)', async () => {
    const tools = ['odd.one', 'odd.two'].map((name) => defineTool({ ...readonly, name, run: () => 'seen' }))
    const run = await record({ tools }, async (session, runtime) => {
      await runtime.setToolState('odd.two', 'paused', { by: 'ada' })
      await session.call('odd.one')
      await session.call('odd.two')
    })
    expect(await replay(run)).toMatchObject({ replayed: 2, divergence: undefined })
    const now = await createRuntime({ ...run.options, tools })
    await now.setToolState('odd.two', 'enabled', { by: 'ada' })
    expect((await replay(run)).divergence).toMatchObject({
      tool: 'odd.two',
      differences: [{ what: 'outcome', recorded: 'denied POLICY.DENY_TOOL (paused)', now: 'would run' }],
    })
    await now.setToolState('odd.one', 'paused', { by: 'ada' })
    await now.close()
    expect((await replay(run)).divergence).toMatchObject({
      tool: 'odd.one',
      differences: [{ what: 'outcome', recorded: 'ok', now: 'denied POLICY.DENY_TOOL (paused)' }],
    })
  })

  test('a mode or a tenant that the policy does not know any more (EVID-3)', async () => {
    const tool = defineTool({ ...readonly, name: 'odd.look', run: () => 'seen' })
    const look = async (session: Session) => void (await session.call('odd.look'))
    const options = { tools: [tool], policy: { allowBypass: true, tenants: { acme: {} } } }
    const run = await record(options, look, { mode: 'bypass', tenant: 'acme', actor: 'ada', role: 'sub' })
    expect(await replay(run)).toMatchObject({ replayed: 1, divergence: undefined })
    const recorded = 'ada of acme as sub in mode bypass'
    expect((await replay(run, { policy: { tenants: { acme: {} } } })).divergence).toMatchObject({
      tool: 'odd.look',
      differences: [{ what: 'session', recorded, now: expect.stringContaining('allowBypass') as string }],
    })
    expect((await replay(run, { policy: { allowBypass: true, tenants: {} } })).divergence).toMatchObject({
      differences: [{ what: 'session', recorded, now: expect.stringContaining('"acme"') as string }],
    })
  })
})

describe('what cannot be replayed is said with its reason', () => {
  test('an input that does not fit without what is hidden of it, a result that was withheld (EVID-3)', async () => {
    const amount = {
      type: 'object',
      properties: { amount: { type: 'integer' } },
      required: ['amount'],
    } as const
    const tools = [
      defineTool({ ...readonly, name: 'odd.take', input: amount, run: () => 'taken' }),
      defineTool({ ...readonly, name: 'odd.give', output: amount, run: () => ({ amount: 5 }) }),
    ]
    const obligations: Policy['obligations'] = [
      { id: 'amounts', action: 'redact', pointers: ['/amount'], patterns: ['123456'], onFailure: 'degrade' },
    ]
    const run = await record({ tools, policy: { obligations } }, async (session) => {
      await session.call('odd.take', { amount: 123_456 })
      await session.call('odd.give')
    })
    const again = await replay(run)
    expect([again.replayed, again.divergence]).toEqual([0, undefined])
    expect(again.skipped.map(({ reason }) => reason)).toEqual([
      'its input does not fit the tool without what is hidden of it in the evidence',
      'its result does not fit the tool without what was withheld of it',
    ])
  })

  test('a tool that is gone, an unknown outcome, pruned bodies, a budget, calls that leaned on those (EVID-3)', async () => {
    const plain = { description: 'Does something.', sideEffect: 'none' } as const
    const tools = [
      defineTool({ ...readonly, name: 'odd.gone', run: () => 'seen' }),
      defineTool({
        ...plain,
        name: 'odd.stuck',
        limits: { timeoutMs: 10 },
        run: () => new Promise(() => {}),
      }),
      defineTool({ ...readonly, name: 'odd.dear', tags: ['dear'], run: () => 'seen' }),
    ]
    const options: RuntimeOptions = {
      tools,
      limits: { abortGraceMs: 5 },
      approve: async () => ({ decision: 'allow_for_session' }),
      policy: { budgets: [{ id: 'few', unit: 'calls', limit: 1, tools: ['odd.dear'] }] },
    }
    const run = await record(options, async (session) => {
      await session.call('odd.gone')
      await session.call('odd.stuck')
      await session.call('odd.stuck')
      await session.call('odd.dear')
      await session.call('odd.dear')
      await session.turn([{ tool: 'odd.missing' }], { signal: AbortSignal.abort() })
    })
    const reasons = (again: Replay) => [again.divergence, ...again.skipped.map(({ reason }) => reason)]
    const left = tools.filter(({ definition }) => definition.name !== 'odd.gone')
    expect(reasons(await replay(run, { tools: left }))).toEqual([
      undefined,
      'there is no tool "odd.gone" any more',
      'its outcome is not known (still_running)',
      'its outcome is not known (still_running)',
      expect.stringMatching(/^it was refused for what was left of a budget or a rate \(calls\)/) as string,
      'it never got to a tool (run_cancelled)',
    ])

    const runtime = await openStore(run)
    runtime.store.prune({ at: Date.now() + 1 })
    await runtime.close()
    expect(reasons(await replay(run)).slice(1)).toContain('its body was pruned')
    const redefined = defineTool({ ...readonly, name: 'odd.gone', title: 'Other', run: () => 'seen' })
    const [, ...others] = tools
    expect((await replay(run, { tools: [redefined, ...others] })).divergence?.differences).toMatchObject([
      { what: 'definition' },
    ])
  })

  test('a tool that its session left out, by a list or for its model (EVID-3, DEF-7)', async () => {
    const tools = [
      defineTool({ ...readonly, name: 'odd.listed', run: () => 1 }),
      defineTool({ ...readonly, name: 'odd.bound', compatibility: { providers: ['other'] }, run: () => 1 }),
    ]
    const run = await record(
      { tools },
      async (session) => {
        for (const { definition } of tools) await session.call(definition.name)
      },
      { model: { provider: 'anthropic' }, disallowedTools: ['odd.listed'] },
    )
    const again = await replay(run)
    expect([again.replayed, again.divergence]).toEqual([0, undefined])
    expect(again.skipped.map(({ tool, reason }) => [tool, reason])).toEqual(
      tools.map(({ definition: { name } }) => [
        name,
        'its tool was not in the set of its session, and what a session leaves out is not in the evidence',
      ]),
    )
  })

  test('a call with the key of another run, and one that leaned on a yes whose call is not replayed (EVID-3)', async () => {
    const write = defineTool({
      name: 'odd.write',
      description: 'Writes.',
      plan: () => ({ operations: [], scope: 'the desk' }),
      limits: { timeoutMs: 10 },
      input: { type: 'object', properties: { stuck: { type: 'boolean' } }, required: ['stuck'] },
      run: ({ stuck }) => (stuck ? new Promise<string>(() => {}) : 'written'),
    })
    const options: RuntimeOptions = {
      tools: [write, makePay()],
      policy,
      limits: { abortGraceMs: 5 },
      approve: async () => ({ decision: 'allow_for_session' }),
    }
    const run = await record(options, async (session, runtime) => {
      await runtime.session().call('shop.pay', { amount: 1 }, { idempotencyKey: 'k' })
      await session.call('shop.pay', { amount: 1 }, { idempotencyKey: 'k' })
      await session.call('odd.write', { stuck: true })
      await session.call('odd.write', { stuck: false })
    })
    const again = await replay(run)
    expect([again.replayed, again.divergence]).toEqual([0, undefined])
    expect(again.skipped.map(({ reason }) => reason)).toEqual([
      'it was answered for an earlier call with the same key, which is not part of this replay',
      'its outcome is not known (still_running)',
      expect.stringMatching(
        /^it leaned on the yes for the session that was given to the call call_\w+, which/,
      ) as string,
    ])
  })
})
