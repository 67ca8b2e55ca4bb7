import { codeTools, defineTool, SetupError, type Policy, type RuntimeEvent } from 'handrail'
import { expect, test } from 'vitest'
import { makeTool } from '../../support/make-tool.ts'
import { makeFolder, openRuntime } from '../../support/project.ts'

const denyAll: Policy = { rules: [{ id: 'stop', effect: 'deny', tools: ['demo.*'] }] }

test('a new policy holds for the next call of a running session (AUTH-5, REG-6)', async () => {
  const runtime = await openRuntime({ tools: [makeTool('demo.say')] })
  const session = runtime.session()
  expect((await session.call('demo.say')).ok).toBe(true)
  const before = { digest: runtime.policyDigest, version: runtime.policyVersion }
  await runtime.reload({ policy: denyAll })
  expect((await session.call('demo.say')).error).toMatchObject({ data: { rule: 'stop' } })
  expect(runtime.policyDigest).not.toBe(before.digest)
  expect(runtime.policyVersion).toBe(before.version + 1)
  await runtime.reload({ policy: {} })
  expect((await session.call('demo.say')).ok).toBe(true)
})

test('a call keeps the policy it started with to its end (AUTH-5)', async () => {
  const reached = Promise.withResolvers<void>()
  const go = Promise.withResolvers<void>()
  const slow = defineTool({
    name: 'demo.slow',
    description: 'Waits, then gives much.',
    permission: 'readonly',
    input: { type: 'object' },
    async run() {
      reached.resolve()
      await go.promise
      return 'x'.repeat(10_000)
    },
  })
  const runtime = await openRuntime({ tools: [slow] })
  const session = runtime.session()
  const running = session.call('demo.slow')
  await reached.promise
  const old = runtime.policyDigest
  await runtime.reload({ policy: denyAll, limits: { maxBytesOut: 100 } })
  go.resolve()
  const result = await running
  expect(result.ok).toBe(true)
  const [begin] = runtime.store.records({ tenant: 'local', call: result.callId, kind: 'begin' })
  expect(JSON.parse(begin?.text ?? '').policy).toBe(old)
  expect((await session.call('demo.slow')).error?.reason).toBe('rule_denied')
})

test('a policy that changes while a person is asked makes their yes stale (AUTH-5, PERM-3)', async () => {
  const runtime = await openRuntime({
    tools: [codeTools()],
    project: makeFolder(),
    approve: async () => {
      await runtime.reload({ policy: { rules: [{ effect: 'deny', tools: ['code.write_file'] }] } })
      return { decision: 'allow_once' }
    },
  })
  const { error } = await runtime.session().call('code.write_file', { path: 'a.txt', content: '' })
  expect(error).toMatchObject({ code: 'POLICY.APPROVAL_DENIED', reason: 'approval_stale' })
})

test('a faulty new policy leaves the old one in force and says so (AUTH-5)', async () => {
  const events: RuntimeEvent[] = []
  const runtime = await openRuntime({
    tools: [makeTool('demo.say')],
    policy: denyAll,
    onEvent: (event) => events.push(event),
  })
  const session = runtime.session()
  const faulty = { rules: [{ effect: 'allow', tool: 'demo.*' }], modes: 'plan' } as unknown as Policy
  const refused = await runtime.reload({ policy: faulty }).catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(SetupError)
  expect((refused as SetupError).issues.length).toBeGreaterThanOrEqual(2)
  expect((await session.call('demo.say')).error?.reason).toBe('rule_denied')
  expect(runtime.policyVersion).toBe(1)
  expect(events.find(({ type }) => type === 'policy_refused')).toMatchObject({ level: 'failure' })
  const notes = [...runtime.store.records({ tenant: 'local', kind: 'note' })].map(({ text }) =>
    JSON.parse(text),
  )
  expect(notes).toMatchObject([{ event: 'policy_refused', data: { version: 1 } }])
})

test('tool lists and limits change with the next call too (AUTH-5)', async () => {
  const runtime = await openRuntime({ tools: [makeTool('demo.say'), makeTool('demo.sing')] })
  const session = runtime.session()
  const names = () => session.tools().map(({ name }) => name)
  expect(names()).toEqual(['demo.say', 'demo.sing'])
  await runtime.reload({ disallowedTools: ['demo.sing'], limits: { repeatsPerSession: 1 } })
  expect(names()).toEqual(['demo.say'])
  expect((await session.call('demo.sing')).error?.reason).toBe('tool_not_available')
  expect((await session.call('demo.say')).ok).toBe(true)
  expect((await session.call('demo.say')).error?.reason).toBe('repeats')
})

test('a reload notes the digest before and after, in the records of each tenant that it concerns (AUTH-5, EVID-2)', async () => {
  const runtime = await openRuntime({ policy: { tenants: { acme: {}, zeta: {} } } })
  const digestOf = async (tenant: string) => (await runtime.session({ tenant }).available()).policyDigest
  const before = {
    local: await digestOf('local'),
    acme: await digestOf('acme'),
    zeta: await digestOf('zeta'),
  }
  await runtime.reload({ disallowedTools: ['demo.say'] })
  await runtime.reload({ policy: { tenants: { acme: { allowedTools: [] }, zeta: {} } } })
  const notesOf = (tenant: string) =>
    [...runtime.store.records({ tenant, kind: 'note' })].map(({ text }) => JSON.parse(text).data)
  const [first, second] = notesOf('acme')
  expect(first).toMatchObject({ before: before.acme, version: 2 })
  expect(first.policy).not.toBe(before.acme)
  expect(second).toEqual({ before: first.policy, policy: await digestOf('acme'), version: 3 })
  expect(second.policy).not.toBe(first.policy)
  expect(notesOf('zeta')).toMatchObject([{ before: before.zeta, version: 2 }])
  expect(notesOf('local')).toMatchObject([{ before: before.local, version: 2 }, { version: 3 }])
})

test('a tenant that a new policy leaves out may do nothing more (AUTH-5, AUTH-6)', async () => {
  const runtime = await openRuntime({
    tools: [makeTool('demo.say')],
    policy: { tenants: { acme: {} } },
  })
  const session = runtime.session({ tenant: 'acme' })
  expect((await session.call('demo.say')).ok).toBe(true)
  await runtime.reload({ policy: { tenants: {} } })
  expect((await session.call('demo.say')).outcome).toBe('denied')
  expect(() => runtime.session({ tenant: 'acme' })).toThrow('"acme"')
})
