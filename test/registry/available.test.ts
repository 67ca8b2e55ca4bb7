import type { ManifestSpec, Session, SessionModel } from 'handrail'
import type { AvailableSpec, AvailableTool } from 'handrail/policy'
import { expect, test } from 'vitest'
import { makeTool } from '../support/make-tool.ts'
import { openRuntime } from '../support/project.ts'

const by = 'ops'

function toolIn(spec: AvailableSpec, name: string): AvailableTool | undefined {
  return spec.tools.find(({ tool }) => tool === name)
}

/** `effect`, and why where it is denied, of each tool. */
async function effectsOf(session: Session): Promise<Record<string, string>> {
  const { tools } = await session.available()
  return Object.fromEntries(
    tools.map(({ tool, effect, error }) => [
      tool,
      error === undefined ? effect : `${effect} ${error.code} ${error.reason}`,
    ]),
  )
}

test('says of every tool what manifest, policy, quota and state leave of it (REG-6)', async () => {
  const runtime = await openRuntime({
    tools: [
      makeTool('demo.read'),
      makeTool('demo.write', { permission: 'write' }),
      makeTool('demo.denied'),
      makeTool('demo.paused'),
      makeTool('demo.old'),
      makeTool('demo.costly'),
      makeTool('demo.left_out'),
    ],
    disallowedTools: ['demo.left_out'],
    policy: {
      rules: [{ effect: 'deny', tools: ['demo.denied'] }],
      budgets: [{ id: 'costly', unit: 'calls', limit: 1, tools: ['demo.costly'] }],
    },
  })
  await runtime.setToolState('demo.paused', 'paused', { by })
  await runtime.setToolState('demo.old', 'deprecated', { by, reason: 'Use demo.read.' })
  const session = runtime.session()
  await session.call('demo.costly')
  expect(await effectsOf(session)).toEqual({
    'demo.costly': 'deny QUOTA.BUDGET_EXCEEDED calls',
    'demo.denied': 'deny POLICY.DENY_TOOL rule_denied',
    'demo.left_out': 'deny POLICY.DENY_TOOL tool_not_available',
    'demo.old': 'allow',
    'demo.paused': 'deny POLICY.DENY_TOOL paused',
    'demo.read': 'allow',
    'demo.write': 'ask',
  })
  expect(toolIn(await session.available(), 'demo.old')?.state).toBe('deprecated')
})

test('says with which profile and limits a call would run, and under which policy (REG-6)', async () => {
  const runtime = await openRuntime({
    tools: [makeTool('demo.read', { version: '2.1.0', limits: { timeoutMs: 900_000, maxBytesIn: 10 } })],
    policy: { budgets: [{ id: 'all', unit: 'calls', limit: 9 }] },
  })
  const session = runtime.session()
  const spec = await session.available()
  const preflight = await session.preflight('demo.read')
  expect(spec).toMatchObject({
    policyDigest: runtime.policyDigest,
    policyVersion: 1,
    tools: [
      {
        tool: 'demo.read',
        version: '2.1.0',
        definition: runtime.registry.find('demo.read')?.digest,
        state: 'enabled',
        profileHash: preflight.profileHash,
        limits: { timeoutMs: 600_000, maxBytesIn: 10, maxBytesOut: 8_388_608, maxFiles: 8, maxDepth: 4 },
        budgets: [{ id: 'all', unit: 'calls', limit: 9, spent: 0 }],
      },
    ],
  })
  expect([...runtime.store.records({ kind: 'begin' })]).toEqual([])
})

test('every change is in what is said next, and in what happens next (REG-6)', async () => {
  const runtime = await openRuntime({ tools: [makeTool('demo.read')] })
  const session = runtime.session()
  const before = await session.available()
  await runtime.reload({ policy: { rules: [{ effect: 'deny', tools: ['demo.read'] }] } })
  const denied = await session.available()
  expect(denied.policyVersion).toBe(before.policyVersion + 1)
  expect(denied.policyDigest).not.toBe(before.policyDigest)
  expect(toolIn(denied, 'demo.read')?.error).toEqual((await session.call('demo.read')).error)
  await runtime.reload({ policy: {} })
  await runtime.setToolState('demo.read', 'paused', { by })
  const paused = await session.available()
  expect(paused.registryVersion).toBeGreaterThan(denied.registryVersion)
  expect(toolIn(paused, 'demo.read')?.error).toEqual((await session.call('demo.read')).error)
})

test('the calls that a session may make count for every tool of it (REG-6)', async () => {
  const runtime = await openRuntime({ tools: [makeTool('demo.read')], limits: { callsPerSession: 1 } })
  const session = runtime.session()
  expect(await effectsOf(session)).toEqual({ 'demo.read': 'allow' })
  await session.call('demo.read')
  expect(await effectsOf(session)).toEqual({ 'demo.read': 'deny QUOTA.BUDGET_EXCEEDED calls' })
  expect(await effectsOf(runtime.session())).toEqual({ 'demo.read': 'allow' })
})

test('what the policy grants to the one who asks counts (REG-6)', async () => {
  const runtime = await openRuntime({
    tools: [makeTool('demo.read'), makeTool('demo.other')],
    policy: { grants: [{ actors: ['ann'], tools: ['demo.*'] }, { tools: ['demo.other'] }] },
  })
  expect(await effectsOf(runtime.session({ actor: 'ann' }))).toEqual({
    'demo.other': 'allow',
    'demo.read': 'allow',
  })
  expect(await effectsOf(runtime.session({ actor: 'ben' }))).toEqual({
    'demo.other': 'allow',
    'demo.read': 'deny AUTH.FORBIDDEN no_grant',
  })
})

test('a session that names its model has the tools that work with it, and both lists say which that are (DEF-7)', async () => {
  const compatible = (name: string, compatibility: ManifestSpec['compatibility']) =>
    makeTool(name, compatibility === undefined ? {} : { compatibility })
  const runtime = await openRuntime({
    tools: [
      compatible('demo.any', undefined),
      compatible('demo.one', { providers: ['anthropic'] }),
      compatible('demo.some', { providers: ['open*', 'anthropic'], models: ['gpt-*'] }),
    ],
  })
  const namesOf = (model?: SessionModel) =>
    runtime
      .session(model === undefined ? {} : { model })
      .tools()
      .map(({ tool }) => tool)
  expect(namesOf()).toEqual(['demo.any', 'demo.one', 'demo.some'])
  expect(namesOf({ provider: 'anthropic' })).toEqual(['demo.any', 'demo.one', 'demo.some'])
  expect(namesOf({ provider: 'anthropic', name: 'claude' })).toEqual(['demo.any', 'demo.one'])
  expect(namesOf({ provider: 'openai', name: 'gpt-5' })).toEqual(['demo.any', 'demo.some'])
  const session = runtime.session({ model: { provider: 'openai' } })
  expect((await session.call('demo.one')).error).toMatchObject({
    code: 'POLICY.DENY_TOOL',
    reason: 'model_denied',
    message: expect.stringContaining('other providers or models') as string,
  })
  const child = runtime.session({ parent: session, model: { provider: 'anthropic' } })
  expect((await child.call('demo.one')).error?.reason).toBe('model_denied')
  const compatibility = { providers: ['anthropic'], models: [] }
  const [, shown] = (await session.available()).tools
  expect(shown).toMatchObject({ tool: 'demo.one', effect: 'deny', compatibility })
  expect(runtime.registry.discover({ keyword: 'one' })).toMatchObject([{ name: 'demo.one', compatibility }])
})

test('a model that is none is refused with what is wrong (DEF-7)', async () => {
  const runtime = await openRuntime()
  const refused = (model: unknown) => () => runtime.session({ model: model as SessionModel })
  for (const [model, pointer] of [
    ['claude', '/model'],
    [{ name: 'claude' }, '/model/provider'],
    [{ provider: 'a', name: '' }, '/model/name'],
    [{ provider: 'a', version: 1 }, '/model/version'],
  ] as const)
    expect(refused(model)).toThrow(
      expect.objectContaining({ issues: [expect.objectContaining({ pointer })] }),
    )
})
