import { expect, test } from 'vitest'
import type { AuthorisationRequest } from '../../contract/decision-point.ts'
import type { Bounds, Grant } from '../../contract/policy.ts'
import type { Principal } from '../../contract/base/principal.ts'
import type { ToolDefinition } from '../../contract/tool/tool.ts'
import { createGrants } from './create-grants.ts'

const places = { home: '/home/ada', project: '/work/app', real: (path: string) => path }
const ada: Principal = { tenant: 'acme', actor: 'ada@example.com', role: 'main' }

function define(name: string, scopes: ToolDefinition['scopes'] = []): ToolDefinition {
  // Grants look at the name and the scopes of a definition only.
  return { name, scopes } as ToolDefinition
}

const readFile = define('code.read_file', [{ resource: 'handrail:file:*', action: 'read' }])

function ask(
  grants: readonly Grant[] | undefined,
  about: { principal?: Principal; definition?: ToolDefinition },
) {
  const { principal = ada, definition = readFile } = about
  const request: AuthorisationRequest = {
    principal,
    definition,
    action: 'invoke',
    resource: `handrail:tool:${definition.name}`,
    mode: 'default',
    origin: 'api',
    session: 's',
  }
  return createGrants(grants === undefined ? {} : { grants }, places).authorise(request)
}

test('without grants everybody may, with an empty list nobody', () => {
  expect(ask(undefined, {})).toMatchObject({ effect: 'permit', decidedBy: 'default' })
  expect(ask([], {})).toMatchObject({ effect: 'forbid', data: { reason: 'no_grant' } })
  expect(ask([{}], {})).toMatchObject({ effect: 'permit', decidedBy: 'grants/0' })
})

test.each<[Grant, boolean]>([
  [{ tenants: ['acme'] }, true],
  [{ tenants: ['acm*'] }, true],
  [{ tenants: ['other', 'acme'] }, true],
  [{ tenants: ['acme-evil'] }, false],
  [{ tenants: ['acm'] }, false],
  [{ tenants: [] }, false],
  [{ actors: ['*@example.com'] }, true],
  [{ actors: ['*@evilexample.com'] }, false],
  [{ actors: ['ada'] }, false],
  [{ actors: ['ADA@example.com'] }, false],
  [{ roles: ['main', 'sub'] }, true],
  [{ roles: ['worker'] }, false],
  [{ tools: ['code.*'] }, true],
  [{ tools: ['code.read'] }, false],
  [{ tools: ['mode.*'] }, false],
  [{ tools: [] }, false],
  [{ tenants: ['acme'], actors: ['ada*'], roles: ['main'], tools: ['code.read_file'] }, true],
  [{ tenants: ['acme'], actors: ['ada*'], roles: ['main'], tools: ['code.write_file'] }, false],
  [{ tenants: ['other'], actors: ['ada*'] }, false],
])('the grant %j gives the tool: %j', (grant, given) => {
  expect(ask([grant], {}).effect).toBe(given ? 'permit' : 'forbid')
})

test.each<[Grant['scopes'], boolean]>([
  [undefined, true],
  [[], false],
  [[{ resource: '*', actions: ['read'] }], true],
  [[{ resource: 'handrail:file:*', actions: ['write', 'read'] }], true],
  [[{ resource: 'handrail:file:*', actions: ['*'] }], true],
  [[{ resource: 'handrail:file:*', actions: ['write'] }], false],
  [[{ resource: 'handrail:file:*', actions: [] }], false],
  [[{ resource: 'handrail:file:/srv/*', actions: ['read'] }], false],
  [[{ resource: 'handrail:host:*', actions: ['read'] }], false],
])('the scopes %j cover what the tool requires: %j', (scopes, covered) => {
  const answer = ask([scopes === undefined ? {} : { scopes }], {})
  expect(answer.effect).toBe(covered ? 'permit' : 'forbid')
  if (!covered) expect(answer.data).toEqual({ reason: 'scope_missing', missing: ['read on handrail:file:*'] })
})

test('grants add up: one scope from each is enough, one that is missing is named alone', () => {
  const definition = define('code.edit_file', [
    { resource: 'handrail:file:*', action: 'read' },
    { resource: 'handrail:file:*', action: 'write' },
  ])
  const reads: Grant = { id: 'reads', scopes: [{ resource: 'handrail:file:*', actions: ['read'] }] }
  const writes: Grant = { id: 'writes', scopes: [{ resource: 'handrail:file:*', actions: ['write'] }] }
  expect(ask([reads, writes], { definition })).toMatchObject({ effect: 'permit', decidedBy: 'reads, writes' })
  expect(ask([reads], { definition }).data?.['missing']).toEqual(['write on handrail:file:*'])
  const forOthers = { ...writes, tenants: ['other'] }
  expect(ask([reads, forOthers], { definition })).toMatchObject({ effect: 'forbid', decidedBy: 'reads' })
})

test('a tool that requires no scope needs none', () => {
  expect(ask([{ scopes: [] }], { definition: define('demo.now') }).effect).toBe('permit')
})

const base: Bounds = {
  capabilities: {
    fs: { read: ['/docs', '/work/app'], write: ['/work/app'] },
    net: { hosts: ['*'] },
    proc: { executables: ['*'] },
    browser: true,
    tmp: false,
    secrets: ['*'],
  },
  limits: { timeoutMs: 1, maxBytesIn: 2, maxBytesOut: 3 },
}

function reach(...capabilities: readonly Grant['capabilities'][]) {
  const grants = capabilities.map((each): Grant => (each === undefined ? {} : { capabilities: each }))
  const { fs, net, proc } = createGrants({ grants }, places).bounds(ada, readFile, base).capabilities
  return { read: fs.read, write: fs.write, hosts: net.hosts, executables: proc.executables }
}

const everything = { read: ['/docs', '/work/app'], write: ['/work/app'], hosts: ['*'], executables: ['*'] }

test('grants narrow the bounds, and never widen them', () => {
  expect(reach(undefined)).toEqual(everything)
  expect(reach({})).toEqual(everything)
  expect(reach({ read: [] })).toEqual({ ...everything, read: [], write: [] })
  expect(reach({ write: [] })).toEqual({ ...everything, write: [] })
  expect(reach({ read: ['{project}/src'] })).toMatchObject({
    read: ['/work/app/src'],
    write: ['/work/app/src'],
  })
  expect(reach({ read: ['/docs'], write: ['/work/app/out'] })).toMatchObject({
    read: ['/docs'],
    write: ['/work/app/out'],
  })
  expect(reach({ read: ['/'], write: ['/'] })).toEqual(everything)
  expect(reach({ read: ['/work/app-evil', '/work/ap', '~/docs'] })).toMatchObject({ read: [], write: [] })
  expect(reach({ hosts: ['API.example.com'], executables: [] })).toEqual({
    ...everything,
    hosts: ['api.example.com'],
    executables: [],
  })
})

test('of each kind, the grants of one call give the union', () => {
  expect(reach({ hosts: ['a.example.com'], executables: ['git'] }, { hosts: ['b.example.com'] })).toEqual({
    ...everything,
    hosts: ['a.example.com', 'b.example.com'],
  })
  expect(reach({ hosts: [] }, undefined)).toEqual(everything)
})

test('a grant that does not match bounds nothing and gives nothing', () => {
  const grants = [{ capabilities: { hosts: ['a.example.com'] } }, { tools: ['web.*'] }]
  expect(createGrants({ grants }, places).bounds(ada, readFile, base).capabilities.net.hosts).toEqual([
    'a.example.com',
  ])
})

test('nobody gets anything from an empty list', () => {
  const { fs, net, proc } = createGrants({ grants: [] }, places).bounds(ada, readFile, base).capabilities
  expect([fs, net, proc]).toEqual([{ read: [], write: [] }, { hosts: [] }, { executables: [] }])
})

test('folders of a grant count as what they really are', () => {
  const real = (path: string) => (path === '/link' ? '/docs' : path)
  const grants = [{ capabilities: { read: ['/link'] } }]
  expect(
    createGrants({ grants }, { ...places, real }).bounds(ada, readFile, base).capabilities.fs.read,
  ).toEqual(['/docs'])
})

test('the same grants and bounds give the same object, whoever asks', () => {
  const grants = createGrants({ grants: [{ capabilities: { hosts: [] } }, { tenants: ['other'] }] }, places)
  const bounds = grants.bounds(ada, readFile, base)
  expect(grants.bounds(ada, readFile, base)).toBe(bounds)
  expect(grants.bounds({ ...ada, actor: 'bob' }, define('code.glob'), base)).toBe(bounds)
  expect(grants.bounds({ ...ada, tenant: 'other' }, readFile, base)).not.toBe(bounds)
  expect(createGrants({}, places).bounds(ada, readFile, base)).toBe(base)
})

test('everything that decides is in the digest', () => {
  const digestOf = (grants: readonly Grant[] | undefined, at = places) =>
    createGrants(grants === undefined ? {} : { grants }, at).digest
  const digests = [
    digestOf(undefined),
    digestOf([]),
    digestOf([{}]),
    digestOf([{ tenants: ['a'] }]),
    digestOf([{ capabilities: { read: ['~'] } }]),
    digestOf([{ capabilities: { read: ['~'] } }], { ...places, home: '/other' }),
  ]
  expect(new Set(digests).size).toBe(digests.length)
  expect(digestOf([{ tenants: ['a'] }])).toBe(digests[3])
})

test('what a call reaches is left to its profile', () => {
  const grants = createGrants({ grants: [] }, places)
  const request = {
    principal: ada,
    definition: readFile,
    mode: 'default',
    origin: 'api',
    session: 's',
  } as const
  expect(grants.authorise({ ...request, action: 'read', resource: 'handrail:file:/a' }).effect).toBe('permit')
})
