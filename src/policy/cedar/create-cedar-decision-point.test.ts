import { beforeEach, expect, test, vi } from 'vitest'
import type { AuthorisationRequest } from '../../contract/decision-point.ts'
import { SetupError } from '../../contract/base/errors.ts'
import type { Operation } from '../../contract/tool/plan.ts'
import type { ToolDefinition } from '../../contract/tool/tool.ts'
import { operationAction, operationUrn } from '../../kit/match/urn.ts'
import { createCedarDecisionPoint, type CedarOptions } from './create-cedar-decision-point.ts'
import { handrailSchema } from './handrail-schema.ts'

beforeEach(() => {
  vi.doUnmock('@cedar-policy/cedar-wasm/nodejs')
})

const readFile = {
  name: 'code.files.read',
  version: '1.0.0',
  permission: 'readonly',
  sideEffect: 'read',
  safety: 'low',
  tags: ['code', 'search'],
  // What a question tells of a definition; nothing else counts here.
} as unknown as ToolDefinition

const invoke: AuthorisationRequest = {
  principal: { tenant: 'acme', actor: 'ada', role: 'main' },
  action: 'invoke',
  resource: 'handrail:tool:code.files.read',
  definition: readFile,
  mode: 'default',
  origin: 'llm',
  session: 'ses_1',
}

function reach(operation: Operation): AuthorisationRequest {
  return { ...invoke, action: operationAction(operation), resource: operationUrn(operation), operation }
}

async function ask(policies: string, request = invoke, more: Omit<CedarOptions, 'policies'> = {}) {
  const point = await createCedarDecisionPoint({ policies, ...more })
  return point.authorise(request)
}

async function effect(policies: string, request = invoke, more: Omit<CedarOptions, 'policies'> = {}) {
  return (await ask(policies, request, more)).effect
}

test('nothing permits: forbid; a policy that permits is named; one that forbids wins', async () => {
  expect(await ask('')).toMatchObject({ effect: 'forbid', decidedBy: 'no policy' })
  const permit = '@id("all") permit(principal, action, resource);'
  expect(await ask(permit)).toMatchObject({ effect: 'permit', decidedBy: 'all' })
  const forbid = '@id("not ada") forbid(principal == Handrail::Actor::"acme/ada", action, resource);'
  expect(await ask(permit + forbid)).toMatchObject({ effect: 'forbid', decidedBy: 'not ada' })
})

test('policies without an id go by their place, also where there are many', async () => {
  const policies = Array.from(
    { length: 12 },
    (_, index) => `permit(principal, action, resource) when { ${index} == 11 };`,
  ).join('\n')
  expect(await ask(policies)).toMatchObject({ effect: 'permit', decidedBy: 'policy11' })
})

test.each([
  ['principal == Handrail::Actor::"acme/ada"', 'permit'],
  ['principal == Handrail::Actor::"ada"', 'forbid'],
  ['principal in Handrail::Tenant::"acme"', 'permit'],
  ['principal in Handrail::Tenant::"acme-evil"', 'forbid'],
  ['principal in Handrail::Role::"main"', 'permit'],
  ['principal in Handrail::Role::"worker"', 'forbid'],
])('who asks: permit(%s) answers %s', async (scope, expected) => {
  expect(await effect(`permit(${scope}, action, resource);`)).toBe(expected)
})

test.each([
  ['action == Handrail::Action::"invoke"', 'resource == Handrail::Tool::"code.files.read"', 'permit'],
  ['action == Handrail::Action::"read"', 'resource', 'forbid'],
  ['action', 'resource in Handrail::ToolGroup::"code"', 'permit'],
  ['action', 'resource in Handrail::ToolGroup::"code.files"', 'permit'],
  ['action', 'resource in Handrail::ToolGroup::"cod"', 'forbid'],
  ['action', 'resource in Handrail::ToolGroup::"code.files.read"', 'forbid'],
])('which tool: permit(principal, %s, %s) answers %s', async (action, resource, expected) => {
  expect(await effect(`permit(principal, ${action}, ${resource});`)).toBe(expected)
})

test.each([
  [
    'resource.permission == "readonly" && resource.safety == "low" && resource.sideEffect == "read"',
    'permit',
  ],
  ['resource.tags.contains("code")', 'permit'],
  ['resource.tags.contains("cod")', 'forbid'],
  ['principal.tenant == "acme" && principal.name == "ada" && principal.role == "main"', 'permit'],
  ['context.mode == "default" && context.origin == "llm" && context.session == "ses_1"', 'permit'],
  ['context.tool.name == "code.files.read" && context.tool in Handrail::ToolGroup::"code"', 'permit'],
  ['context.mode == "bypass"', 'forbid'],
])('attributes and context: when { %s } answers %s', async (condition, expected) => {
  const policies = `permit(principal, action == Handrail::Action::"invoke", resource) when { ${condition} };`
  expect(await effect(policies)).toBe(expected)
  expect(await effect(policies, invoke, { schema: handrailSchema })).toBe(expected)
})

const write = reach({ kind: 'fs.write', path: '/work/docs/a.md' })
const look = reach({ kind: 'fs.read', path: '/work/docs', recursive: true })
const git = reach({ kind: 'process', executable: '/usr/bin/git', argv: ['git', 'push'], cwd: '/work' })
const get = reach({ kind: 'net', host: 'api.example.com', url: 'https://api.example.com/x' })
const address = reach({ kind: 'net', host: '10.0.0.1', url: 'http://10.0.0.1/' })
const queue = reach({ kind: 'other', resource: 'queue:mail' })

test.each<[AuthorisationRequest, string, 'permit' | 'forbid']>([
  [write, 'action == Handrail::Action::"write", resource in Handrail::Folder::"/work/docs"', 'permit'],
  [write, 'action, resource in Handrail::Folder::"/work"', 'permit'],
  [write, 'action, resource in Handrail::Folder::"/"', 'permit'],
  [write, 'action, resource in Handrail::Folder::"/work/doc"', 'forbid'],
  [write, 'action, resource in Handrail::Folder::"/work/docs-evil"', 'forbid'],
  [write, 'action, resource == Handrail::File::"/work/docs/a.md"', 'permit'],
  [write, 'action == Handrail::Action::"read", resource', 'forbid'],
  [look, 'action == Handrail::Action::"read", resource in Handrail::Folder::"/work/docs"', 'permit'],
  [git, 'action == Handrail::Action::"execute", resource == Handrail::Program::"/usr/bin/git"', 'permit'],
  [git, 'action, resource in Handrail::Folder::"/usr"', 'permit'],
  [get, 'action == Handrail::Action::"connect", resource == Handrail::Host::"api.example.com"', 'permit'],
  [get, 'action, resource in Handrail::Domain::"example.com"', 'permit'],
  [get, 'action, resource in Handrail::Domain::"xample.com"', 'forbid'],
  [get, 'action, resource in Handrail::Domain::"api"', 'forbid'],
  [address, 'action, resource in Handrail::Domain::"10.0.0.1"', 'permit'],
  [address, 'action, resource in Handrail::Domain::"1"', 'forbid'],
  [queue, 'action == Handrail::Action::"use", resource == Handrail::Resource::"queue:mail"', 'permit'],
])('what is reached: %# permit(principal, %s) answers %s', async (request, scope, expected) => {
  expect(await effect(`permit(principal, ${scope});`, request)).toBe(expected)
})

test.each<[AuthorisationRequest, string]>([
  [
    write,
    'resource is Handrail::File && resource.path == "/work/docs/a.md" && resource.name == "a.md" && !resource.recursive',
  ],
  [look, 'resource is Handrail::File && resource.recursive'],
  [
    git,
    'resource is Handrail::Program && resource.argv like "[\\"git\\",\\"push\\"*" && resource.cwd == "/work" && resource.name == "git"',
  ],
  [get, 'resource is Handrail::Host && resource.name == "api.example.com" && resource.url like "https://*"'],
  [queue, 'resource is Handrail::Resource && resource.urn like "queue:*"'],
])('attributes of what is reached, with and without the schema: %#', async (request, condition) => {
  const policies = `permit(principal, action, resource) when { ${condition} };`
  expect(await effect(policies, request)).toBe('permit')
  expect(await effect(policies, request, { schema: handrailSchema })).toBe('permit')
})

test('entities of the host count beside what the question tells, which is right where they differ', async () => {
  const uid = { type: 'Handrail::Actor', id: 'acme/ada' }
  const team = { type: 'Handrail::Group', id: 'editors' }
  const entities = [
    { uid, attrs: { tenant: 'other', name: 'ada', role: 'main' }, parents: [team] },
    { uid: team, parents: [{ type: 'Handrail::Group', id: 'staff' }] },
  ]
  const inGroup = (group: string) => `permit(principal in Handrail::Group::"${group}", action, resource);`
  for (const schema of [{}, { schema: handrailSchema }]) {
    expect(await effect(inGroup('editors'), invoke, { entities, ...schema })).toBe('permit')
    expect(await effect(inGroup('staff'), invoke, { entities, ...schema })).toBe('permit')
    expect(await effect(inGroup('others'), invoke, { entities, ...schema })).toBe('forbid')
    const tenant = (name: string) =>
      `permit(principal, action, resource) when { principal.tenant == "${name}" };`
    expect(await effect(tenant('acme'), invoke, { entities, ...schema })).toBe('permit')
    expect(await effect(tenant('other'), invoke, { entities, ...schema })).toBe('forbid')
  }
})

test('an attribute that is missing forbids, also where another policy permits', async () => {
  const policies = `permit(principal, action, resource);
    @id("careful") forbid(principal, action, resource) when { resource.secret };`
  const answer = await ask(policies)
  expect(answer).toMatchObject({ effect: 'forbid', data: { reason: 'decision_point_failed' } })
  expect(answer.reason).toContain('policy "careful"')
  expect(answer.reason).toContain('secret')
})

test('a question that the schema does not know forbids', async () => {
  const schema = `namespace Handrail { entity Actor; entity Tool; action invoke appliesTo { principal: [Actor], resource: [Tool] }; }`
  expect(await ask('permit(principal, action, resource);', invoke, { schema })).toMatchObject({
    effect: 'forbid',
    data: { reason: 'decision_point_failed' },
  })
})

async function issuesOf(options: CedarOptions): Promise<string[]> {
  const thrown: unknown = await createCedarDecisionPoint(options).catch((error: unknown) => error)
  if (!(thrown instanceof SetupError)) throw new Error('This was taken.')
  expect(thrown.code).toBe('invalid_options')
  return thrown.issues.map((issue) => `${issue.pointer} ${issue.message}`)
}

test('policies that cannot be read are refused, with their line', async () => {
  const [issue] = await issuesOf({ policies: 'permit(principal, action, resource);\n\npermit("é", action;' })
  expect(issue).toMatch(/^\/policies line 3: /)
})

test('policies that the schema refutes are refused by name', async () => {
  const policies = '@id("typo") permit(principal, action, resource) when { resource.permision == "write" };'
  const [issue] = await issuesOf({ policies, schema: handrailSchema })
  expect(issue).toContain('policy "typo"')
  expect(issue).toContain('permision')
})

test('two policies of one id, templates, and a schema or entities that cannot be read are refused', async () => {
  const permit = 'permit(principal, action, resource);'
  expect(await issuesOf({ policies: `@id("a") ${permit} @id("a") ${permit}` })).toEqual([
    expect.stringContaining('Two policies have the id "a"'),
  ])
  expect(await issuesOf({ policies: 'permit(principal == ?principal, action, resource);' })).toEqual([
    expect.stringContaining('A template decides nothing'),
  ])
  expect(await issuesOf({ policies: permit, schema: 'entity;' })).toEqual([
    expect.stringMatching(/^\/schema line 1: /),
  ])
  const half = { type: 'Handrail::Group', id: 'a' }
  expect(await issuesOf({ policies: permit, entities: [{ uid: half, attrs: { size: 1.5 } }] })).toEqual([
    expect.stringMatching(/^\/entities /),
  ])
})

test('an id like a member of every object is an id', async () => {
  expect(await ask('@id("__proto__") permit(principal, action, resource);')).toMatchObject({
    effect: 'permit',
    decidedBy: '__proto__',
  })
})

test('everything that decides is in the digest', async () => {
  const permit = 'permit(principal, action, resource);'
  const digestOf = async (options: CedarOptions) => (await createCedarDecisionPoint(options)).digest
  const entities = [{ uid: { type: 'Handrail::Group', id: 'a' } }]
  const digests = [
    await digestOf({ policies: permit }),
    await digestOf({ policies: `${permit} ` }),
    await digestOf({ policies: permit, schema: handrailSchema }),
    await digestOf({ policies: permit, entities }),
  ]
  expect(new Set(digests).size).toBe(4)
  expect(await digestOf({ policies: permit })).toBe(digests[0])
})

test('points of different policies stand beside each other', async () => {
  const permitting = await createCedarDecisionPoint({ policies: 'permit(principal, action, resource);' })
  const forbidding = await createCedarDecisionPoint({ policies: 'forbid(principal, action, resource);' })
  expect(await permitting.authorise(invoke)).toMatchObject({ effect: 'permit' })
  expect(await forbidding.authorise(invoke)).toMatchObject({ effect: 'forbid' })
})

/** The engine with one function replaced, as if it had broken after the point was made. */
async function makeBroken(isAuthorized: () => unknown) {
  vi.doMock('@cedar-policy/cedar-wasm/nodejs', async (load) => ({
    ...(await load<object>()),
    statefulIsAuthorized: isAuthorized,
  }))
  vi.resetModules()
  const fresh = await import('./create-cedar-decision-point.ts')
  return fresh.createCedarDecisionPoint({ policies: 'permit(principal, action, resource);' })
}

test.each<[string, () => unknown]>([
  [
    'throws',
    () => {
      throw new Error('unreachable')
    },
  ],
  ['answers nothing', () => undefined],
  ['answers something else', () => ({ type: 'perhaps' })],
  [
    'answers with another decision',
    () => ({ type: 'success', response: { decision: 'maybe', diagnostics: { reason: [], errors: [] } } }),
  ],
  ['answers without diagnostics', () => ({ type: 'success', response: { decision: 'allow' } })],
  [
    'permits by no policy',
    () => ({ type: 'success', response: { decision: 'allow', diagnostics: { reason: [], errors: [] } } }),
  ],
])('an engine that %s forbids', async (_, isAuthorized) => {
  const point = await makeBroken(isAuthorized)
  expect(await point.authorise(invoke)).toMatchObject({
    effect: 'forbid',
    data: { reason: 'decision_point_failed' },
  })
})

test('without the package it says what to install', async () => {
  vi.doMock('@cedar-policy/cedar-wasm/nodejs', () => {
    throw new Error("Cannot find package '@cedar-policy/cedar-wasm'")
  })
  vi.resetModules()
  const fresh = await import('./create-cedar-decision-point.ts')
  await expect(fresh.createCedarDecisionPoint({ policies: '' })).rejects.toMatchObject({
    code: 'peer_missing',
    message: expect.stringContaining('npm install @cedar-policy/cedar-wasm') as unknown,
  })
})
