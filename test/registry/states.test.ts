import { SetupError, type Runtime, type RuntimeEvent } from 'handrail'
import type { NoteRecord } from 'handrail/evidence'
import { expect, test } from 'vitest'
import { makeSource, makeTool } from '../support/make-tool.ts'
import { makeFolder, openRuntime, personSaying } from '../support/project.ts'

type State = 'enabled' | 'paused' | 'deprecated'

const by = 'ops'

/** Why a call of this tool does not run; undefined if it does. */
async function refusal(runtime: Runtime, tool: string, tenant = 'local'): Promise<string | undefined> {
  const session = runtime.session({ tenant })
  const result = await session.call(tool)
  await session.close()
  return result.error && `${result.error.code} ${result.error.reason}`
}

function notesOf(runtime: Runtime): NoteRecord[] {
  return [...runtime.store.records({ kind: 'note' })].map(({ text }) => JSON.parse(text) as NoteRecord)
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  const thrown: unknown = await work.then(
    () => 'nothing was thrown',
    (error: unknown) => error,
  )
  return thrown instanceof SetupError ? thrown.code : String(thrown)
}

test('a paused tool is denied from the next call on, in sessions that are open too (REG-2)', async () => {
  const runtime = await openRuntime({ tools: [makeTool('demo.one'), makeTool('demo.two')] })
  const session = runtime.session()
  expect((await session.call('demo.one')).ok).toBe(true)
  await runtime.setToolState('demo.one', 'paused', { by, reason: 'broken upstream' })
  expect(runtime.registry.stateOf('demo.one')).toBe('paused')
  const denied = await session.call('demo.one')
  expect(denied).toMatchObject({
    outcome: 'denied',
    error: { code: 'POLICY.DENY_TOOL', reason: 'paused', next: 'try_another' },
  })
  expect(session.tools().map(({ tool }) => tool)).toEqual(['demo.two'])
  expect((await session.call('demo.two')).ok).toBe(true)
  await runtime.setToolState('demo.one', 'enabled', { by })
  expect((await session.call('demo.one')).ok).toBe(true)
  expect(session.tools().map(({ tool }) => tool)).toEqual(['demo.one', 'demo.two'])
})

test('a tool that is registered and not enabled cannot be called; enabling it opens it (REG-2)', async () => {
  const runtime = await openRuntime()
  await runtime.register([makeTool('demo.new')], { state: 'registered' })
  const session = runtime.session()
  expect(runtime.registry.stateOf('demo.new')).toBe('registered')
  const denied = await session.call('demo.new')
  expect(denied.error).toMatchObject({ reason: 'tool_not_available' })
  expect(denied.error?.message).toContain('not enabled yet')
  expect(session.tools()).toEqual([])
  await runtime.setToolState('demo.new', 'enabled', { by })
  expect((await session.call('demo.new')).ok).toBe(true)
})

test('a deprecated tool is callable, and model and caller are told what to use instead (REG-2)', async () => {
  const runtime = await openRuntime({ tools: [makeTool('demo.old')] })
  const session = runtime.session()
  await runtime.setToolState('demo.old', 'deprecated', { by, reason: 'Use demo.new.' })
  expect(session.tools()[0]?.description).toBe('Says "demo.old".\nDeprecated: Use demo.new.')
  const result = await session.call('demo.old')
  expect(result).toMatchObject({ ok: true, metadata: { deprecated: 'Use demo.new.' } })
})

test('a deprecated tool that was removed for good is denied with its advice (REG-2)', async () => {
  const runtime = await openRuntime({ tools: [makeTool('demo.old')] })
  const session = runtime.session()
  await runtime.setToolState('demo.old', 'deprecated', { by, reason: 'Use demo.new.' })
  await runtime.setToolState('demo.old', 'deprecated', { by, reason: 'Use demo.new.', removed: true })
  const { error } = await session.call('demo.old')
  expect(error).toMatchObject({ code: 'POLICY.DENY_TOOL', reason: 'deprecated' })
  expect(error?.message).toContain('Use demo.new.')
  expect(session.tools()).toEqual([])
})

/** Brings a fresh tool to a state. */
async function bringTo(runtime: Runtime, state: State | 'registered'): Promise<void> {
  await runtime.register([makeTool('demo.tool')], { state: 'registered' })
  if (state === 'registered') return
  await runtime.setToolState('demo.tool', 'enabled', { by })
  if (state !== 'enabled') await runtime.setToolState('demo.tool', state, { by })
}

test.each<[State | 'registered', State, 'goes' | 'refused']>([
  ['registered', 'enabled', 'goes'],
  ['registered', 'paused', 'refused'],
  ['registered', 'deprecated', 'goes'],
  ['enabled', 'enabled', 'refused'],
  ['enabled', 'paused', 'goes'],
  ['enabled', 'deprecated', 'goes'],
  ['paused', 'enabled', 'goes'],
  ['paused', 'paused', 'refused'],
  ['paused', 'deprecated', 'goes'],
  ['deprecated', 'enabled', 'goes'],
  ['deprecated', 'paused', 'refused'],
  ['deprecated', 'deprecated', 'goes'],
])('from %s to %s: %s (REG-2)', async (from, to, outcome) => {
  const runtime = await openRuntime()
  await bringTo(runtime, from)
  const code = await codeOf(runtime.setToolState('demo.tool', to, { by }))
  expect(code).toBe(outcome === 'goes' ? 'nothing was thrown' : 'invalid_transition')
  expect(runtime.registry.stateOf('demo.tool')).toBe(outcome === 'goes' ? to : from)
})

test('every change of state leaves a note with who, what and why; a refused one leaves none (REG-2, EVID-8)', async () => {
  const events: RuntimeEvent[] = []
  const runtime = await openRuntime({ onEvent: (event) => events.push(event) })
  await runtime.register([makeTool('demo.tool', { version: '1.2.0' })], { state: 'registered', by: 'deploy' })
  await runtime.setToolState('demo.tool', 'enabled', { by: 'ann' })
  await runtime.setToolState('demo.tool', 'paused', { by: 'ben', tenant: 'acme', reason: 'audit' })
  await codeOf(runtime.setToolState('demo.tool', 'paused', { by: 'ben', tenant: 'acme' }))
  await runtime.setToolState('demo.tool', 'deprecated', { by: 'cal', reason: 'Use demo.new.' })
  await runtime.remove(['demo.tool'], { by: 'deploy' })
  const digest = expect.stringMatching(/^[\w-]{43}$/) as string
  const about = { kind: 'note', session: '', tool: 'demo.tool' }
  const wanted = [
    {
      ...about,
      event: 'tool_registered',
      tenant: '',
      actor: 'deploy',
      data: { version: '1.2.0', digest, source: 'code' },
    },
    {
      ...about,
      event: 'tool_enabled',
      tenant: '',
      actor: 'ann',
      data: { from: 'registered', to: 'enabled' },
    },
    {
      ...about,
      event: 'tool_deprecated',
      tenant: '',
      actor: 'cal',
      data: { from: 'enabled', to: 'deprecated', reason: 'Use demo.new.' },
    },
    { ...about, event: 'tool_removed', tenant: '', actor: 'deploy' },
    {
      ...about,
      event: 'tool_paused',
      tenant: 'acme',
      actor: 'ben',
      data: { from: 'enabled', to: 'paused', reason: 'audit' },
    },
  ]
  expect(notesOf(runtime)).toMatchObject(wanted)
  expect(events.map(({ type, tenant, actor }) => [type, tenant, actor])).toEqual([
    ['tool_registered', '', 'deploy'],
    ['tool_enabled', '', 'ann'],
    ['tool_paused', 'acme', 'ben'],
    ['tool_deprecated', '', 'cal'],
    ['tool_removed', '', 'deploy'],
  ])
})

test('a change says who makes it, of a tool that there is, to a state that can be asked for (REG-2)', async () => {
  const runtime = await openRuntime({ tools: [makeTool('demo.tool')] })
  const change = (name: string, state: string, about: object) =>
    codeOf(runtime.setToolState(name, state as State, about as { by: string }))
  expect(await change('demo.tol', 'paused', { by })).toBe('unknown_tool')
  expect(await change('demo.tool', 'paused', {})).toBe('invalid_options')
  expect(await change('demo.tool', 'registered', { by })).toBe('invalid_options')
  expect(await change('demo.tool', 'gone', { by })).toBe('invalid_options')
  expect(await change('demo.tool', 'paused', { by, forever: true })).toBe('invalid_options')
  expect(await change('demo.tool', 'paused', { by, removed: true })).toBe('invalid_options')
  expect(await refusal(runtime, 'demo.tool')).toBeUndefined()
})

test('states outlive the process (REG-2)', async () => {
  const store = { path: `${makeFolder()}/store.db` }
  const first = await openRuntime({ tools: [makeTool('demo.a'), makeTool('demo.b')], store })
  await first.setToolState('demo.a', 'paused', { by })
  await first.setToolState('demo.b', 'paused', { by, tenant: 'acme' })
  await first.close()
  const second = await openRuntime({ tools: [makeTool('demo.a'), makeTool('demo.b')], store })
  expect(await refusal(second, 'demo.a')).toBe('POLICY.DENY_TOOL paused')
  expect(await refusal(second, 'demo.b')).toBeUndefined()
  expect(await refusal(second, 'demo.b', 'acme')).toBe('POLICY.DENY_TOOL paused')
})

test('what another runtime on the same store pauses is paused here with the next call (REG-2)', async () => {
  const store = { path: `${makeFolder()}/store.db` }
  const events: RuntimeEvent[] = []
  const here = await openRuntime({
    tools: [makeTool('demo.tool')],
    store,
    onEvent: (event) => events.push(event),
  })
  const there = await openRuntime({ store })
  const session = here.session()
  expect((await session.call('demo.tool')).ok).toBe(true)
  await there.setToolState('demo.tool', 'paused', { by: 'somebody else' })
  expect((await session.call('demo.tool')).error?.reason).toBe('paused')
  expect(events.filter(({ type }) => type === 'tool_paused')).toMatchObject([
    { tool: 'demo.tool', actor: 'somebody else' },
  ])
})

test('a tool that is paused while a person is asked does not run after the yes (REG-2, PERM-6)', async () => {
  let ran = false
  const tool = { ...makeTool('demo.write', { permission: 'write' }), run: () => (ran = true) }
  const person = personSaying('allow_once')
  const runtime: Runtime = await openRuntime({
    tools: [tool],
    approve: async (request) => {
      await runtime.setToolState('demo.write', 'paused', { by })
      return person.approve(request)
    },
  })
  const result = await runtime.session().call('demo.write')
  expect(result.error).toMatchObject({ code: 'POLICY.APPROVAL_DENIED', reason: 'approval_stale' })
  expect(ran).toBe(false)
})

test('tools of a source that comes back are as they were left (REG-2)', async () => {
  const runtime = await openRuntime({ tools: [makeSource('code', 'shop', [makeTool('shop.pay')])] })
  await runtime.setToolState('shop.pay', 'paused', { by })
  await runtime.remove(['shop.pay'])
  expect(runtime.registry.stateOf('shop.pay')).toBeUndefined()
  await runtime.register([makeSource('code', 'shop', [makeTool('shop.pay')])])
  expect(await refusal(runtime, 'shop.pay')).toBe('POLICY.DENY_TOOL paused')
})

test('a change that cannot be made says where the tool stands, also for tenants alone (REG-2, REG-3)', async () => {
  const runtime = await openRuntime({ tools: [makeTool('demo.tool')] })
  await runtime.setToolState('demo.tool', 'paused', { by, tenant: 'acme' })
  await expect(runtime.setToolState('demo.tool', 'enabled', { by })).rejects.toMatchObject({
    code: 'invalid_transition',
    message:
      '"demo.tool" is already enabled for all tenants; from there it can be paused or deprecated. Something else was said for "acme": name the tenant to change it there.',
  })
  await runtime.setToolState('demo.tool', 'deprecated', { by, reason: 'Use demo.new.', removed: true })
  expect((await runtime.session().call('demo.tool')).error?.message).toBe(
    '"demo.tool" cannot be used: it is deprecated and was taken out of use. Use demo.new. Go on without it.',
  )
})
