import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { codeTools, createRuntime, SetupError, type ManifestSpec, type Runtime } from 'handrail'
import { expect, onTestFinished, test } from 'vitest'
import { makeTool } from '../../support/make-tool.ts'
import { makeFolder, openRuntime, personSaying } from '../../support/project.ts'

const hour = 3_600_000

/** A runtime with nobody to ask, over a project with two folders. */
async function openAlone(now?: () => number) {
  const project = makeFolder({ 'docs/a.txt': 'a', 'src/b.txt': 'b' })
  const runtime = await openRuntime({ project, tools: [codeTools()], ...(now !== undefined && { now }) })
  const write = (path: string, consent?: string) =>
    runtime
      .session()
      .call('code.write_file', { path, content: 'x' }, consent === undefined ? {} : { consent })
  return { project, runtime, write }
}

function events(runtime: Runtime, tenant = 'local'): string[] {
  return [...runtime.store.records({ tenant })].map(({ text }) => String(JSON.parse(text).event))
}

test('a standing consent lets a call through that would have to ask, and the evidence names it (AUTH-3)', async () => {
  const { project, runtime, write } = await openAlone()
  expect((await write('docs/new.txt')).error?.reason).toBe('no_callback')
  const consent = await runtime.consents.give({ tool: 'code.write_file', givenBy: 'ann', validForMs: hour })
  const result = await write('docs/new.txt')
  expect(result.ok).toBe(true)
  const [begin] = runtime.store.records({ tenant: 'local', call: result.callId, kind: 'begin' })
  expect(JSON.parse(begin?.text ?? '')).toMatchObject({
    consent: consent.id,
    decision: { effect: 'allow', layer: 'consent' },
  })
  expect(existsSync(join(project, 'docs/new.txt'))).toBe(true)
  expect(events(runtime)).toContain('consent_given')
})

test('a consent reaches as far as its scope (AUTH-3)', async () => {
  const { project, runtime, write } = await openAlone()
  await runtime.consents.give({ tool: 'code.write_file', scope: join(project, 'docs'), givenBy: 'ann' })
  expect((await write('docs/c.txt')).ok).toBe(true)
  expect((await write('src/c.txt')).error?.reason).toBe('no_callback')
  expect((await runtime.session().call('code.run_command', { argv: ['true'] })).error?.reason).toBe(
    'no_callback',
  )
})

test('a consent is for its actor and its tenant alone (AUTH-3, AUTH-6)', async () => {
  const project = makeFolder()
  const runtime = await openRuntime({
    project,
    tools: [codeTools()],
    policy: { tenants: { acme: {}, zeta: {} } },
  })
  const consent = await runtime.consents.give({
    tenant: 'acme',
    actor: 'bob',
    tool: 'code.write_file',
    givenBy: 'ann',
  })
  const write = (tenant: string, actor: string, more: object = {}) =>
    runtime.session({ tenant, actor }).call('code.write_file', { path: 'n.txt', content: '' }, more)
  expect((await write('acme', 'eve')).error?.reason).toBe('no_callback')
  expect((await write('zeta', 'bob')).error?.reason).toBe('no_callback')
  expect((await write('zeta', 'bob', { consent: consent.id })).error).toMatchObject({
    code: 'AUTH.FORBIDDEN',
    reason: 'tenant_mismatch',
  })
  expect(existsSync(join(project, 'n.txt'))).toBe(false)
  expect((await write('acme', 'bob')).ok).toBe(true)
})

test('an expired, revoked or unknown consent that a call refers to is refused as such (AUTH-3)', async () => {
  let now = 1_800_000_000_000
  const { runtime, write } = await openAlone(() => now)
  const give = () => runtime.consents.give({ tool: 'code.write_file', givenBy: 'ann', validForMs: hour })
  const expired = await give()
  now += hour
  expect((await write('a.txt', expired.id)).error).toMatchObject({
    code: 'AUTH.CONSENT_REQUIRED',
    reason: 'consent_expired',
  })
  const revoked = await give()
  expect(await runtime.consents.revoke('local', revoked.id, 'ann')).toMatchObject({ revokedAt: now })
  expect((await write('a.txt', revoked.id)).error?.reason).toBe('consent_revoked')
  expect((await write('a.txt')).error?.reason).toBe('no_callback')
  expect((await write('a.txt', 'consent_nowhere')).error?.reason).toBe('consent_missing')
  const other = await runtime.consents.give({ tool: 'code.edit_file', givenBy: 'ann' })
  expect((await write('a.txt', other.id)).error?.reason).toBe('consent_missing')
  expect(events(runtime)).toContain('consent_revoked')
})

test('a clock that goes back makes no consent hold before it was given (AUTH-3)', async () => {
  let now = 1_800_000_000_000
  const { runtime, write } = await openAlone(() => now)
  await runtime.consents.give({ tool: 'code.write_file', givenBy: 'ann' })
  now -= 1
  expect((await write('a.txt')).error?.reason).toBe('no_callback')
  now += 1
  expect((await write('a.txt')).ok).toBe(true)
})

test('a consent outlives the process and is revoked from another one (AUTH-3)', async () => {
  const store = { path: join(makeFolder(), 'store.db') }
  const options = { project: makeFolder(), home: makeFolder(), tools: [codeTools()], store }
  const first = await createRuntime(options)
  const { id } = await first.consents.give({ tool: 'code.write_file', givenBy: 'ann' })
  await first.close()
  const second = await createRuntime(options)
  onTestFinished(() => second.close())
  const third = await createRuntime(options)
  onTestFinished(() => third.close())
  const session = second.session()
  expect((await session.call('code.write_file', { path: 'a.txt', content: '' })).ok).toBe(true)
  await third.consents.revoke('local', id, 'ann')
  expect((await session.call('code.write_file', { path: 'b.txt', content: '' })).error?.reason).toBe(
    'no_callback',
  )
})

test('no consent lets through what a rule denies or a sensitive path (AUTH-3, PERM-1)', async () => {
  const runtime = await openRuntime({
    tools: [codeTools()],
    policy: {
      rules: [{ effect: 'deny', tools: ['code.write_file'], resources: ['handrail:file:{project}/src/**'] }],
    },
  })
  await runtime.consents.give({ tool: 'code.write_file', givenBy: 'ann' })
  const write = (path: string) => runtime.session().call('code.write_file', { path, content: '' })
  expect((await write('src/a.txt')).error?.reason).toBe('rule_denied')
  expect((await write('.env')).error?.reason).toBe('no_callback')
  expect((await write('ok.txt')).ok).toBe(true)
})

test('an approval is recorded as the consent that it is (AUTH-3)', async () => {
  const person = personSaying('allow_for_session')
  const runtime = await openRuntime({ tools: [codeTools()], approve: person.approve })
  const session = runtime.session()
  const first = await session.call('code.write_file', { path: 'a.txt', content: '1' })
  const second = await session.call('code.write_file', { path: 'b.txt', content: '2' })
  expect(person.asked).toHaveLength(1)
  const [begun] = runtime.store.records({ tenant: 'local', call: first.callId, kind: 'begin' })
  const [begin] = runtime.store.records({ tenant: 'local', call: second.callId, kind: 'begin' })
  expect(JSON.parse(begun?.text ?? '').approval).toMatchObject({ decision: 'allow_for_session' })
  expect(JSON.parse(begin?.text ?? '')).toMatchObject({
    consent: first.callId,
    decision: { layer: 'session-approval', rule: 'session' },
  })
})

test('a consent that cannot be given says everything that is wrong (AUTH-3)', async () => {
  const runtime = await openRuntime({
    tools: [makeTool('demo.once', { permission: 'write', consent: { required: true, scope: 'once' } })],
    policy: { tenants: { acme: {} } },
  })
  const request = { tool: 'demo.other', tenant: 'zeta', validForMs: 0, givenBy: '', until: 3 }
  const refused = await runtime.consents.give(request).catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(SetupError)
  const pointers = (refused as SetupError).issues.map((issue) => issue.pointer).sort()
  expect(pointers).toEqual(['/givenBy', '/tenant', '/tool', '/until', '/validForMs'])
  await expect(runtime.consents.give({ tool: 'demo.once', givenBy: 'ann' })).rejects.toThrow(
    'every single call',
  )
})

test('what a later version says of consents counts for what was given to it (AUTH-3, DEF-3)', async () => {
  let now = 1_800_000_000_000
  const pay = (version: string, consent: Partial<NonNullable<ManifestSpec['consent']>>) =>
    makeTool('shop.pay', { version, permission: 'write', consent: { required: true, ...consent } })
  const runtime = await openRuntime({ tools: [pay('1.0.0', {})], now: () => now })
  const give = () => runtime.consents.give({ tool: 'shop.pay', givenBy: 'ann', validForMs: hour })
  const call = async (options = {}) => (await runtime.session().call('shop.pay', {}, options)).error
  await give()
  expect(await call()).toBeUndefined()
  await runtime.register([pay('1.0.1', { validForMs: 60_000 })], { update: true })
  expect(await call()).toMatchObject({ reason: 'no_callback' })
  const { id } = await give()
  expect(await call()).toBeUndefined()
  now += 60_000
  expect(await call()).toMatchObject({ reason: 'no_callback' })
  expect(await call({ consent: id })).toMatchObject({
    code: 'AUTH.CONSENT_REQUIRED',
    reason: 'consent_expired',
    message: expect.stringContaining('until 2027-01-15T08:01:00.000Z') as string,
  })
  await runtime.register([pay('1.0.2', { scope: 'once' })], { update: true })
  now -= 60_000
  expect(await call()).toMatchObject({ reason: 'no_callback' })
  expect((await call({ consent: id }))?.message).toContain('wants a yes for every single call')
})
