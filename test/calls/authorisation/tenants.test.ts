import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { codeTools, defineTool, SetupError } from 'handrail'
import { expect, test } from 'vitest'
import { makeTool } from '../../support/make-tool.ts'
import { makeFolder, openRuntime, personSaying } from '../../support/project.ts'

test('a tenant works in its own project and reaches no other (AUTH-6)', async () => {
  const [own, acme, zeta] = [
    makeFolder({ 'who.txt': 'local' }),
    makeFolder({ 'who.txt': 'acme' }),
    makeFolder({ 'who.txt': 'zeta' }),
  ]
  const runtime = await openRuntime({
    project: own,
    tools: [codeTools()],
    approve: personSaying('allow_once').approve,
    policy: { tenants: { acme: { project: acme }, zeta: { project: zeta } } },
  })
  const read = async (tenant: string, path: string) =>
    runtime.session({ tenant }).call('code.read_file', { path })
  for (const tenant of ['local', 'acme', 'zeta'])
    expect(JSON.stringify((await read(tenant, 'who.txt')).content)).toContain(tenant)
  for (const path of [join(zeta, 'who.txt'), join(own, 'who.txt')])
    expect((await read('acme', path)).error).toMatchObject({
      code: 'SANDBOX.CAPABILITY_BLOCKED',
      reason: 'path_outside_roots',
    })
  const written = await runtime
    .session({ tenant: 'acme' })
    .call('code.write_file', { path: 'n.txt', content: 'a' })
  expect(written.ok).toBe(true)
  expect(readFileSync(join(acme, 'n.txt'), 'utf8')).toBe('a')
  expect(existsSync(join(own, 'n.txt'))).toBe(false)
})

test('a tenant has the tools of its own lists only, in its listing and in the pipeline (REG-3, AUTH-6)', async () => {
  const runtime = await openRuntime({
    tools: [makeTool('shop.read'), makeTool('shop.pay'), makeTool('desk.note')],
    policy: {
      tenants: {
        acme: { allowedTools: ['shop.*'], disallowedTools: ['shop.pay'] },
        none: { allowedTools: [] },
      },
    },
  })
  const names = (tenant: string) =>
    runtime
      .session({ tenant })
      .tools()
      .map(({ name }) => name)
  expect(names('acme')).toEqual(['shop.read'])
  expect(names('none')).toEqual([])
  expect(names('local')).toEqual(['desk.note', 'shop.pay', 'shop.read'])
  const { error } = await runtime.session({ tenant: 'acme' }).call('shop.pay')
  expect(error).toMatchObject({ code: 'POLICY.DENY_TOOL', reason: 'tool_not_available' })
  const unknown = await runtime.session({ tenant: 'acme' }).call('desk.notes')
  expect(JSON.stringify(unknown.error)).not.toContain('desk.note"')
})

test('a tenant that the policy does not name is none (AUTH-6)', async () => {
  const runtime = await openRuntime({ policy: { tenants: { acme: {} } } })
  expect(() => runtime.session({ tenant: 'acne' })).toThrow(SetupError)
  expect(() => runtime.session({ tenant: 'acne' })).toThrow('"acne"')
  expect(runtime.session({ tenant: 'acme' }).principal.tenant).toBe('acme')
})

test('what one tenant does stands in its own chain of evidence (AUTH-6, EVID-1)', async () => {
  const runtime = await openRuntime({
    tools: [makeTool('demo.say')],
    policy: { tenants: { acme: {}, zeta: {} } },
  })
  const acme = await runtime.session({ tenant: 'acme' }).call('demo.say')
  const zeta = await runtime.session({ tenant: 'zeta' }).call('demo.say')
  const calls = (tenant: string) =>
    [...runtime.store.records({ tenant, kind: 'end' })].map(({ call }) => call)
  expect(calls('acme')).toEqual([acme.callId])
  expect(calls('zeta')).toEqual([zeta.callId])
  expect(runtime.store.head('acme')?.sequence).toBe(2)
})

test('a key of one tenant means nothing in another (AUTH-6, CALL-4)', async () => {
  let runs = 0
  const pay = defineTool({
    name: 'shop.pay',
    description: 'Pays.',
    permission: 'readonly',
    idempotency: 'keyed',
    keyFrom: 'call',
    input: { type: 'object' },
    run: () => ++runs,
  })
  const runtime = await openRuntime({ tools: [pay], policy: { tenants: { acme: {}, zeta: {} } } })
  const call = (tenant: string) => runtime.session({ tenant }).call('shop.pay', {}, { idempotencyKey: 'one' })
  expect((await call('acme')).data).toBe(1)
  expect((await call('zeta')).data).toBe(2)
  expect((await call('acme')).data).toBe(1)
})

test('a tool finds the settings of its tenant (REG-3)', async () => {
  const show = defineTool({
    name: 'demo.show',
    description: 'Shows its settings.',
    permission: 'readonly',
    input: { type: 'object' },
    run: (_input, { settings }) => settings,
  })
  const runtime = await openRuntime({
    tools: [show],
    policy: { tenants: { acme: { settings: { 'demo.show': { region: 'eu' } } } } },
  })
  expect((await runtime.session({ tenant: 'acme' }).call('demo.show')).data).toEqual({ region: 'eu' })
  expect((await runtime.session().call('demo.show')).data).toEqual({})
})

test('a tenant rule holds for its tenant alone (PERM-1, AUTH-6)', async () => {
  const runtime = await openRuntime({
    tools: [makeTool('demo.say')],
    policy: {
      tenants: { acme: { rules: [{ id: 'quiet', effect: 'deny', tools: ['demo.*'] }] }, zeta: {} },
    },
  })
  expect((await runtime.session({ tenant: 'acme' }).call('demo.say')).error).toMatchObject({
    reason: 'rule_denied',
    data: { layer: 'tenant', rule: 'quiet' },
  })
  expect((await runtime.session({ tenant: 'zeta' }).call('demo.say')).ok).toBe(true)
})
