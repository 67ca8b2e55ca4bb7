import { codeTools, defineTool } from 'handrail'
import type { AuthorisationRequest, DecisionPoint, Grant } from 'handrail/policy'
import { expect, test } from 'vitest'
import { makeTool } from '../../support/make-tool.ts'
import { makeFolder, openRuntime, personSaying } from '../../support/project.ts'

const pay = makeTool('shop.pay', { scopes: [{ resource: 'shop:orders', action: 'write' }] })
const look = makeTool('shop.look')

function openShop(grants: readonly Grant[] | undefined, decisionPoints: readonly DecisionPoint[] = []) {
  return openRuntime({
    tools: [pay, look],
    policy: grants === undefined ? {} : { grants },
    decisionPoints,
    onError: () => {},
  })
}

test('without grants everybody whom the host lets in may; with an empty list nobody may (AUTH-1, PERM-1)', async () => {
  expect((await (await openShop(undefined)).session().call('shop.look')).ok).toBe(true)
  expect((await (await openShop([])).session().call('shop.look')).error).toMatchObject({
    code: 'AUTH.FORBIDDEN',
    reason: 'no_grant',
    actor: 'operator',
  })
})

test('a grant is for its tenants, actors, roles and tools (AUTH-1)', async () => {
  const runtime = await openShop([
    { id: 'desk', tenants: ['acme*'], actors: ['ann'], roles: ['main'], tools: ['shop.l*'] },
  ])
  const reason = async (options: object, tool = 'shop.look') =>
    (await runtime.session(options).call(tool)).error?.reason
  const ann = { tenant: 'acme-eu', actor: 'ann' }
  expect(await reason(ann)).toBeUndefined()
  expect(await reason(ann, 'shop.pay')).toBe('no_grant')
  expect(await reason({ ...ann, actor: 'anna' })).toBe('no_grant')
  expect(await reason({ ...ann, tenant: 'zacme' })).toBe('no_grant')
  expect(await reason({ ...ann, role: 'orchestrator' })).toBe('no_grant')
})

test('scopes that a tool requires must be granted (AUTH-1, DEF-3)', async () => {
  const scopes = [{ resource: 'shop:*', actions: ['read'] }]
  const narrow = await openShop([{ scopes }])
  const { error } = await narrow.session().call('shop.pay')
  expect(error).toMatchObject({ code: 'AUTH.FORBIDDEN', reason: 'scope_missing' })
  expect(error?.message).toContain('write on shop:orders')
  const wide = await openShop([{ scopes: [{ resource: 'shop:*', actions: ['read', 'write'] }] }])
  expect((await wide.session().call('shop.pay')).ok).toBe(true)
})

test('what a call reaches is grant ∩ manifest ∩ policy: each alone can take it away (AUTH-2)', async () => {
  const project = makeFolder({ 'docs/a.txt': 'a', 'docs-evil/a.txt': 'e', 'src/b.txt': 'b' })
  const open = (grant: Grant) => openRuntime({ project, tools: [codeTools()], policy: { grants: [grant] } })
  const read = async (grant: Grant, path: string) =>
    (await (await open(grant)).session().call('code.read_file', { path })).error?.reason
  const docs = { capabilities: { read: [`${project}/docs`] } }
  expect(await read(docs, 'docs/a.txt')).toBeUndefined()
  expect(await read(docs, 'src/b.txt')).toBe('path_outside_roots')
  expect(await read(docs, 'docs-evil/a.txt')).toBe('path_outside_roots')
  expect(await read({ capabilities: { read: ['/'] } }, '/etc/passwd')).toBe('path_outside_roots')
  expect(await read({ capabilities: { read: [] } }, 'docs/a.txt')).toBe('path_outside_roots')
})

test('the evidence of a forbidden call names the layer and the grant (AUTH-1, PERM-10)', async () => {
  const runtime = await openShop([])
  const { callId } = await runtime.session().call('shop.look')
  const [begin] = runtime.store.records({ tenant: 'local', call: callId, kind: 'begin' })
  expect(JSON.parse(begin?.text ?? '')).toMatchObject({ decision: { effect: 'deny', layer: 'grants' } })
})

/** A decision point that answers with this, and what it was asked. */
function pointSaying(answer: (request: AuthorisationRequest) => unknown) {
  const asked: AuthorisationRequest[] = []
  const point = {
    id: 'test',
    digest: 'sha256:test',
    authorise(request: AuthorisationRequest) {
      asked.push(request)
      return answer(request)
    },
  } as DecisionPoint
  return { asked, point }
}

const permit = { effect: 'permit', decidedBy: 'p1', reason: 'fine' }

test('a decision point is asked for the tool and for each thing that the call would reach (AUTH-1)', async () => {
  const { asked, point } = pointSaying(() => permit)
  const project = makeFolder({ 'a.txt': 'a' })
  const runtime = await openRuntime({ project, tools: [codeTools()], decisionPoints: [point] })
  expect((await runtime.session({ actor: 'ann' }).call('code.read_file', { path: 'a.txt' })).ok).toBe(true)
  expect(asked.map(({ action, resource }) => `${action} ${resource}`)).toEqual([
    'invoke handrail:tool:code.read_file',
    `read handrail:file:${project}/a.txt`,
  ])
  expect(asked[0]?.principal).toMatchObject({ tenant: 'local', actor: 'ann', role: 'main' })
})

test.each([
  ['forbids', () => ({ effect: 'forbid', decidedBy: 'p2', reason: 'closed' }), 'decision_point_denied'],
  [
    'throws',
    () => {
      throw new Error('engine broke')
    },
    'decision_point_failed',
  ],
  ['rejects', () => Promise.reject(new Error('no network')), 'decision_point_failed'],
  ['answers nothing', () => undefined, 'decision_point_failed'],
  ['answers true', () => true, 'decision_point_failed'],
  ['answers an unknown word', () => ({ ...permit, effect: 'allow' }), 'decision_point_failed'],
  ['answers nothing later', () => Promise.resolve(null), 'decision_point_failed'],
])('a decision point that %s denies the call (AUTH-1)', async (_what, answer, reason) => {
  const { point } = pointSaying(answer)
  const runtime = await openShop(undefined, [point])
  const { error, outcome } = await runtime.session().call('shop.look')
  expect(outcome).toBe('denied')
  expect(error).toMatchObject({ code: 'AUTH.FORBIDDEN', reason })
})

test('one decision point cannot permit what another forbids, and none what a rule denies (AUTH-1)', async () => {
  const yes = pointSaying(() => permit).point
  const no = pointSaying(() => ({ effect: 'forbid', decidedBy: 'n', reason: 'no' })).point
  expect((await (await openShop(undefined, [yes, no])).session().call('shop.look')).outcome).toBe('denied')
  expect((await (await openShop([], [yes])).session().call('shop.look')).error?.reason).toBe('no_grant')
  const ruled = await openRuntime({
    tools: [look],
    decisionPoints: [yes],
    policy: { rules: [{ effect: 'deny', tools: ['shop.*'] }] },
  })
  expect((await ruled.session().call('shop.look')).error?.reason).toBe('rule_denied')
})

test('a denied call never asks a person nor reaches the tool (AUTH-1, CALL-1)', async () => {
  let ran = 0
  const write = defineTool({
    name: 'shop.write',
    description: 'Writes.',
    permission: 'write',
    sideEffect: 'none',
    safety: 'medium',
    input: { type: 'object' },
    run: () => ++ran,
  })
  const person = personSaying('allow_once')
  const runtime = await openRuntime({ tools: [write], policy: { grants: [] }, approve: person.approve })
  expect((await runtime.session().call('shop.write')).error?.reason).toBe('no_grant')
  const seen = await runtime.session().preflight('shop.write')
  expect(seen).toMatchObject({ effect: 'deny', error: { reason: 'no_grant' } })
  expect([ran, person.asked.length]).toEqual([0, 0])
})
