import { codeTools } from 'handrail'
import type { BeginRecord } from 'handrail/evidence'
import { createCedarDecisionPoint, handrailSchema } from 'handrail/cedar'
import { expect, test } from 'vitest'
import { makeTool } from '../../support/make-tool.ts'
import { makeFolder, openRuntime, personSaying } from '../../support/project.ts'

/** A shop where Cedar decides by these policies; `{project}` is the project folder. */
async function open(policies: string) {
  const project = makeFolder({ 'docs/a.txt': 'a', 'docs-evil/a.txt': 'e' })
  const cedar = await createCedarDecisionPoint({
    policies: policies.replaceAll('{project}', project),
    schema: handrailSchema,
  })
  return openRuntime({
    project,
    tools: [codeTools(), makeTool('shop.look')],
    decisionPoints: [cedar],
    approve: personSaying('allow_once').approve,
    policy: { rules: [{ effect: 'allow', tools: ['code.write_file'] }] },
  })
}

const invoke = `@id("tools") permit(principal in Handrail::Tenant::"acme", action == Handrail::Action::"invoke", resource);`
const docs = `@id("docs") permit(principal, action in [Handrail::Action::"read", Handrail::Action::"write"], resource in Handrail::Folder::"{project}/docs");`

test('Cedar decides who may invoke what (AUTH-1)', async () => {
  const runtime = await open(invoke)
  expect((await runtime.session({ tenant: 'acme' }).call('shop.look')).ok).toBe(true)
  expect((await runtime.session({ tenant: 'acme-evil' }).call('shop.look')).error).toMatchObject({
    code: 'AUTH.FORBIDDEN',
    reason: 'decision_point_denied',
    data: { decisionPoint: 'cedar', decidedBy: 'no policy' },
  })
})

test('Cedar decides what a call may reach, at the borders of folders (AUTH-1, AUTH-2)', async () => {
  const session = (await open(invoke + docs)).session({ tenant: 'acme' })
  const read = async (path: string) => (await session.call('code.read_file', { path })).error?.reason
  expect(await read('docs/a.txt')).toBeUndefined()
  expect(await read('docs-evil/a.txt')).toBe('decision_point_denied')
  expect(await read('docs/../docs-evil/a.txt')).toBe('decision_point_denied')
  const write = (path: string) => session.call('code.write_file', { path, content: 'x' })
  expect((await write('docs/b.txt')).ok).toBe(true)
  expect((await write('b.txt')).error?.reason).toBe('decision_point_denied')
})

test('an allow rule, a mode and a yes of the person lift nothing that Cedar forbids (AUTH-1, PERM-1)', async () => {
  const never = '@id("never") forbid(principal, action == Handrail::Action::"write", resource);'
  const runtime = await open(invoke + docs + never)
  const session = runtime.session({ tenant: 'acme', mode: 'accept-edits' })
  const result = await session.call('code.write_file', { path: 'docs/b.txt', content: 'x' })
  expect(result.error).toMatchObject({ code: 'AUTH.FORBIDDEN', data: { decidedBy: 'never' } })
  const [begin] = runtime.store.records({ call: result.callId, kind: 'begin' })
  expect((JSON.parse(begin?.text ?? '{}') as BeginRecord).decision).toEqual({
    effect: 'deny',
    layer: 'decision-point',
    rule: 'never',
  })
})

test('what Cedar permits is still asked, denied and bounded by everything else (AUTH-1, PERM-1)', async () => {
  const everything = 'permit(principal, action, resource);'
  const session = (await open(everything)).session({ mode: 'plan' })
  expect((await session.call('code.write_file', { path: 'b', content: 'x' })).error?.reason).toBe(
    'mode_denied',
  )
  expect((await session.call('code.read_file', { path: '/etc/passwd' })).error?.reason).toBe(
    'path_outside_roots',
  )
})

test('another policy of Cedar is another policy digest (AUTH-1, EVID-2)', async () => {
  const project = makeFolder()
  const digestOf = async (policies: string) => {
    const decisionPoints = [await createCedarDecisionPoint({ policies })]
    return (await openRuntime({ project, home: project, decisionPoints })).policyDigest
  }
  expect(await digestOf(invoke)).not.toBe(await digestOf(`${invoke}\n`))
  expect(await digestOf(invoke)).toBe(await digestOf(invoke))
})
