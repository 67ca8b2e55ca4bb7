import type { ManifestSpec, Runtime, Tool, ToolSource } from 'handrail'
import { expect, test } from 'vitest'
import { makeSource, makeTool } from '../../support/make-tool.ts'
import { openRuntime, personSaying } from '../../support/project.ts'

/** `desk.do`, which changes something and answers who it is. */
function desk(who: string, more: Partial<ManifestSpec> = {}): Tool {
  return { ...makeTool('desk.do', { permission: 'write', ...more }), run: () => who }
}

const minor = { version: '1.1.0' }
const words = { version: '1.0.1', description: 'Says it in other words.' }
const graver = { version: '2.0.0', sideEffect: 'process', safety: 'high', tags: ['dangerous'] } as const

/** A source of the operator or of a server, which has a later tool of the same name. */
const from =
  (kind: ToolSource['kind'], id: string, more: Partial<ToolSource> = {}) =>
  (tool: Tool) => ({
    ...makeSource(kind, id, [tool]),
    ...more,
  })
const declared = from('declarative', 'files', { byOperator: true })
const server = (place: string) => from('mcp', 'mcp.a', { place })

type Change = (runtime: Runtime) => Promise<void>
const update =
  (source: ToolSource | Tool): Change =>
  (runtime) =>
    runtime.register([source], { update: true })
const replaceBy =
  (source: ToolSource): Change =>
  (runtime) =>
    runtime.register([source], { duplicates: 'replace' })

const changes: [of: string, before: ToolSource | Tool, change: Change][] = [
  ['the source', desk('before'), replaceBy(server('one')(desk('after')))],
  ['a MAJOR version that does more', desk('before'), update(desk('after', graver))],
  ['a MINOR version', desk('before'), update(desk('after', minor))],
  ['a PATCH of words', desk('before'), update(desk('after', words))],
  ['a declared tool', declared(desk('before')), update(declared(desk('after', words)))],
  ['the place of a server', server('one')(desk('before')), update(server('two')(desk('after')))],
]

test.each(changes)('a change of %s ends a yes for the session (PERM-4)', async (_, before, change) => {
  const { approve, asked } = personSaying('allow_for_session')
  const runtime = await openRuntime({ tools: [before], approve, onError: () => {} })
  const session = runtime.session()
  await session.call('desk.do')
  expect((await session.call('desk.do')).data).toBe('before')
  expect(asked).toHaveLength(1)
  await change(runtime)
  expect((await session.call('desk.do')).data).toBe('before')
  expect(asked).toHaveLength(1)
  expect(session.approvals()).toHaveLength(1)
  session.refresh()
  expect(session.approvals()).toEqual([])
  expect((await session.call('desk.do')).data).toBe('after')
  expect(asked).toHaveLength(2)
})

test.each(changes)('a change of %s ends a standing consent (AUTH-3)', async (_, before, change) => {
  const runtime = await openRuntime({ tools: [before], onError: () => {} })
  const { id } = await runtime.consents.give({ tool: 'desk.do', givenBy: 'ann' })
  expect((await runtime.session().call('desk.do')).data).toBe('before')
  await change(runtime)
  const session = runtime.session()
  expect((await session.call('desk.do')).error).toMatchObject({ reason: 'no_callback' })
  expect((await session.call('desk.do', {}, { consent: id })).error).toMatchObject({
    code: 'AUTH.CONSENT_REQUIRED',
    reason: 'consent_missing',
    message: expect.stringContaining('another definition') as string,
  })
  await runtime.consents.give({ tool: 'desk.do', givenBy: 'ann' })
  expect((await session.call('desk.do')).data).toBe('after')
})

test('a tool that comes back as it was has its consent again, and one with the same words of another source has none (AUTH-3)', async () => {
  const runtime = await openRuntime({ tools: [desk('mine')] })
  await runtime.consents.give({ tool: 'desk.do', givenBy: 'ann' })
  await runtime.remove(['desk.do'])
  await runtime.register([makeSource('code', 'other', [desk('theirs')])])
  expect((await runtime.session().call('desk.do')).error).toMatchObject({ reason: 'no_callback' })
  await runtime.remove(['desk.do'])
  await runtime.register([desk('mine')])
  expect((await runtime.session().call('desk.do')).data).toBe('mine')
})

test('a tool that has to be enabled is enabled as it was then, and for its source alone (REG-2)', async () => {
  const runtime = await openRuntime({ policy: { rules: [{ effect: 'allow', tools: ['desk.*'] }] } })
  const enable = () => runtime.setToolState('desk.do', 'enabled', { by: 'ann' })
  const answer = async () => {
    const { data, error } = await runtime.session().call('desk.do')
    return data ?? error?.reason
  }
  await runtime.register([desk('mine')], { state: 'registered' })
  await enable()
  expect(await answer()).toBe('mine')
  await runtime.register([desk('mine, changed', minor)], { state: 'registered', update: true })
  expect(await answer()).toBe('tool_not_available')
  await enable()
  expect(await answer()).toBe('mine, changed')
  await runtime.remove(['desk.do'])
  await runtime.register([makeSource('code', 'other', [desk('theirs', minor)])], { state: 'registered' })
  expect(await answer()).toBe('tool_not_available')
})

test('what was said of a tool for its source stays through its versions, and what forbids a name forbids it to all (REG-2)', async () => {
  const runtime = await openRuntime({
    tools: [desk('mine')],
    policy: { rules: [{ effect: 'allow', tools: ['desk.*'] }] },
  })
  await runtime.setToolState('desk.do', 'deprecated', { by: 'ann', reason: 'Use desk.make.' })
  await runtime.register([desk('mine', words)], { update: true })
  expect(runtime.registry.stateOf('desk.do')).toBe('deprecated')
  await runtime.remove(['desk.do'])
  const other = makeSource('code', 'other', [desk('theirs')])
  await runtime.register([other])
  expect(runtime.registry.stateOf('desk.do')).toBe('enabled')
  await runtime.setToolState('desk.do', 'paused', { by: 'ann' })
  await runtime.remove(['desk.do'])
  await runtime.register([desk('mine', graver)])
  expect(runtime.registry.stateOf('desk.do')).toBe('paused')
})

test("a serial tool of one tenant does not hold up another tenant's own tool of that name (SCHED-5, AUTH-6)", async () => {
  const held = Promise.withResolvers<void>()
  const slow = makeTool('own.tool', { concurrency: 'serial' })
  const runtime = await openRuntime({ policy: { tenants: { acme: {}, zeta: {} } } })
  await runtime.register([{ ...slow, run: () => held.promise }], { tenants: ['acme'] })
  await runtime.register([{ ...slow, run: () => 'zeta' }], { tenants: ['zeta'] })
  const first = runtime.session({ tenant: 'acme' }).call('own.tool')
  expect((await runtime.session({ tenant: 'zeta' }).call('own.tool')).data).toBe('zeta')
  held.resolve()
  expect((await first).ok).toBe(true)
})

test('a serial tool stays so while its next version comes (SCHED-5)', async () => {
  const held = Promise.withResolvers<void>()
  const done: string[] = []
  const version = (of: string, run: () => unknown) => ({
    ...makeTool('own.tool', { version: of, concurrency: 'serial' }),
    run,
  })
  const early = version('1.0.0', async () => {
    await held.promise
    done.push('early')
  })
  const runtime = await openRuntime({ tools: [early] })
  const first = runtime.session().call('own.tool')
  await runtime.register([version('1.0.1', () => void done.push('late'))], { update: true })
  const second = runtime.session().call('own.tool')
  held.resolve()
  await Promise.all([first, second])
  expect(done).toEqual(['early', 'late'])
})
