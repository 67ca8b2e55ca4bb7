import type { Runtime, ToolResult } from 'handrail'
import { expect, test } from 'vitest'
import { makeTool } from '../support/make-tool.ts'
import { openRuntime } from '../support/project.ts'

const by = 'ops'

/** `acme` has a tool of its own, `beta` another one, and all have `demo.common`. */
async function openTwo(): Promise<Runtime> {
  const runtime = await openRuntime({ tools: [makeTool('demo.common')] })
  await runtime.register([makeTool('acme.secret_plan')], { tenants: ['acme'] })
  await runtime.register([makeTool('beta.ledger')], { tenants: ['beta'] })
  return runtime
}

const namesOf = (runtime: Runtime, tenant: string) =>
  runtime
    .session({ tenant })
    .tools()
    .map(({ tool }) => tool)

test('a tenant sees, finds and calls only its own tools and those of all (REG-3)', async () => {
  const runtime = await openTwo()
  expect(namesOf(runtime, 'acme')).toEqual(['acme.secret_plan', 'demo.common'])
  expect(namesOf(runtime, 'beta')).toEqual(['beta.ledger', 'demo.common'])
  expect(namesOf(runtime, 'local')).toEqual(['demo.common'])
  const found = (tenant: string) => runtime.registry.discover({ tenant }).map(({ name }) => name)
  expect(found('acme')).toEqual(['acme.secret_plan', 'demo.common'])
  expect(found('beta')).toEqual(['beta.ledger', 'demo.common'])
  expect((await runtime.session({ tenant: 'acme' }).call('acme.secret_plan')).ok).toBe(true)
  expect(runtime.registry.stateOf('acme.secret_plan', 'acme')).toBe('enabled')
  expect(runtime.registry.stateOf('acme.secret_plan', 'beta')).toBeUndefined()
})

test('nothing tells a tenant of the tools of another: not names, not what is near, not what is paused (REG-3, REG-8)', async () => {
  const runtime = await openTwo()
  await runtime.setToolState('acme.secret_plan', 'paused', { by, tenant: 'acme' })
  const session = runtime.session({ tenant: 'beta' })
  /** What is said of a name, without the name. */
  const said = ({ error, content, data }: ToolResult, name: string) =>
    JSON.stringify({ error, content, data }).replaceAll(name, '…')
  const hidden = said(await session.call('acme.secret_plan'), 'acme.secret_plan')
  const unknown = said(await session.call('acme.secret_plot'), 'acme.secret_plot')
  expect(hidden).toBe(unknown)
  expect(hidden).toContain('tool_not_available')
  const near = await session.call('acme.secret_pla')
  expect(JSON.stringify(near)).not.toContain('secret_plan')
  const report = await session.preflight('acme.secret_plan')
  expect(report.error).toMatchObject({ reason: 'tool_not_available', data: { because: 'unknown' } })
  const available = await session.available()
  expect(available.tools.map(({ tool }) => tool)).toEqual(['beta.ledger', 'demo.common'])
})

test('a tool can be paused for one tenant alone (REG-3)', async () => {
  const runtime = await openRuntime({ tools: [makeTool('demo.common')] })
  await runtime.setToolState('demo.common', 'paused', { by, tenant: 'acme' })
  expect(namesOf(runtime, 'acme')).toEqual([])
  expect(namesOf(runtime, 'beta')).toEqual(['demo.common'])
  expect((await runtime.session({ tenant: 'acme' }).call('demo.common')).error?.reason).toBe('paused')
  expect((await runtime.session({ tenant: 'beta' }).call('demo.common')).ok).toBe(true)
})

test('a tool can be enabled for one tenant alone (REG-3)', async () => {
  const runtime = await openRuntime()
  await runtime.register([makeTool('demo.beta_test')], { state: 'registered' })
  await runtime.setToolState('demo.beta_test', 'enabled', { by, tenant: 'acme' })
  expect(namesOf(runtime, 'acme')).toEqual(['demo.beta_test'])
  expect(namesOf(runtime, 'beta')).toEqual([])
})

test('what is paused for all is paused for each, whatever was said for one (REG-3)', async () => {
  const runtime = await openRuntime({ tools: [makeTool('demo.common')] })
  await runtime.setToolState('demo.common', 'paused', { by, tenant: 'acme' })
  await runtime.setToolState('demo.common', 'enabled', { by, tenant: 'acme' })
  await runtime.setToolState('demo.common', 'paused', { by })
  expect(namesOf(runtime, 'acme')).toEqual([])
  await expect(runtime.setToolState('demo.common', 'enabled', { by, tenant: 'acme' })).rejects.toMatchObject({
    code: 'invalid_transition',
    message: expect.stringContaining('all tenants'),
  })
  await runtime.setToolState('demo.common', 'enabled', { by })
  expect(namesOf(runtime, 'acme')).toEqual(['demo.common'])
})

test('tenants can have tools of one name, each its own (REG-3)', async () => {
  const runtime = await openRuntime()
  const tool = (answer: string) => ({ ...makeTool('crm.find'), run: () => answer })
  await runtime.register([tool('acme')], { tenants: ['acme'] })
  await runtime.register([tool('beta and gamma')], { tenants: ['beta', 'gamma'] })
  const answers = await Promise.all(
    ['acme', 'beta', 'gamma', 'local'].map(
      async (tenant) => (await runtime.session({ tenant }).call('crm.find')).data,
    ),
  )
  expect(answers).toEqual(['acme', 'beta and gamma', 'beta and gamma', undefined])
  await expect(runtime.register([tool('all')])).rejects.toMatchObject({ code: 'duplicate_tool' })
  await expect(runtime.register([tool('acme again')], { tenants: ['acme'] })).rejects.toMatchObject({
    code: 'duplicate_tool',
  })
  await runtime.remove(['crm.find'], { tenants: ['gamma'] })
  expect(namesOf(runtime, 'gamma')).toEqual([])
  expect(namesOf(runtime, 'beta')).toEqual(['crm.find'])
})

test('a tenant cannot take the name of a tool of all unasked (REG-3, NAME-3)', async () => {
  const runtime = await openRuntime({ tools: [makeTool('demo.common')] })
  await expect(runtime.register([makeTool('demo.common')], { tenants: ['acme'] })).rejects.toMatchObject({
    code: 'duplicate_tool',
  })
})

test('a tenant that the policy does not name gets no tools and no states (REG-3)', async () => {
  const runtime = await openRuntime({ tools: [makeTool('demo.common')], policy: { tenants: { acme: {} } } })
  const unknown = { code: 'unknown_tenant' }
  await expect(runtime.register([makeTool('demo.new')], { tenants: ['acne'] })).rejects.toMatchObject(unknown)
  await expect(runtime.setToolState('demo.common', 'paused', { by, tenant: 'acne' })).rejects.toMatchObject(
    unknown,
  )
  await expect(
    runtime.approveDefinition('demo.common', { digest: 'x', by, tenant: 'acne' }),
  ).rejects.toMatchObject(unknown)
  await expect(runtime.register([makeTool('demo.new')], { tenants: [] })).rejects.toMatchObject({
    code: 'invalid_options',
    issues: [{ pointer: '/tenants' }],
  })
})

test.each(['', ' ', 'a b', '../acme', '-x', 'ä', 'x'.repeat(129)])(
  '%j is not an id of a tenant, whatever is asked for; nothing is changed for all instead (REG-3, AUTH-6)',
  async (tenant) => {
    const runtime = await openRuntime({ tools: [makeTool('demo.common')] })
    const unknown = {
      code: 'unknown_tenant',
      message: expect.stringContaining('is not an id of a tenant') as string,
    }
    await expect(runtime.setToolState('demo.common', 'paused', { by, tenant })).rejects.toMatchObject(unknown)
    await expect(runtime.approveDefinition('demo.common', { digest: 'x', by, tenant })).rejects.toMatchObject(
      unknown,
    )
    await expect(runtime.remove(['demo.common'], { tenants: [tenant] })).rejects.toThrow()
    await expect(runtime.register([makeTool('demo.new')], { tenants: [tenant] })).rejects.toThrow()
    await expect(runtime.consents.give({ tool: 'demo.common', givenBy: by, tenant })).rejects.toMatchObject({
      issues: [{ pointer: '/tenant', code: 'unknown_tenant' }],
    })
    expect(() => runtime.session({ tenant })).toThrow()
    expect(namesOf(runtime, 'local')).toEqual(['demo.common'])
  },
)
