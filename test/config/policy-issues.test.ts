import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SetupError, createRuntime, type Policy } from 'handrail'
import { expect, test } from 'vitest'
import { handrail, makePlace, packageRoot } from '../support/command-line.ts'
import { makeFolder, openRuntime } from '../support/project.ts'

/** The issues of a policy, as `code pointer`, the pointer from the policy on. */
async function issuesOf(policy: object): Promise<string[]> {
  const options = { project: makeFolder(), home: makeFolder(), policy: policy as Policy }
  const thrown: unknown = await createRuntime(options).then(
    (runtime) => runtime.close(),
    (error: unknown) => error,
  )
  if (thrown === undefined) return []
  if (!(thrown instanceof SetupError)) throw thrown
  for (const { pointer } of thrown.issues) expect(thrown.message).toContain(pointer)
  return thrown.issues.map((issue) => `${issue.code} ${issue.pointer.replace(/^\/policy/, '')}`)
}

async function messageOf(policy: object): Promise<string> {
  const options = { project: makeFolder(), home: makeFolder(), policy: policy as Policy }
  return createRuntime(options).then(
    () => '',
    (error: Error) => error.message,
  )
}

const policy: Policy = {
  mode: 'plan',
  rules: [{ id: 'docs', effect: 'allow', tools: ['code.*'], resources: ['handrail:file:~/docs/**'] }],
  grants: [
    {
      id: 'team',
      tenants: ['acme', 'local'],
      actors: ['ada@example.com', 'bot-*'],
      roles: ['main'],
      tools: ['code.*'],
      scopes: [{ resource: 'handrail:file:*', actions: ['read'] }],
      capabilities: {
        read: ['{project}', '~/docs', '/srv/data'],
        write: [],
        hosts: ['*.example.com', '[::1]'],
        executables: ['git', '/usr/bin/node'],
      },
    },
    {},
  ],
  tenants: {
    acme: {
      project: '~',
      readRoots: ['/'],
      allowedTools: ['code.*'],
      disallowedTools: ['code.run_command'],
      rules: [{ effect: 'ask', tools: ['code.*'] }],
      settings: { 'code.search': { limit: 5 } },
    },
    empty: { allowedTools: [] },
  },
  budgets: [
    { id: 'day', unit: 'calls', limit: 100, windowMs: 86_400_000, each: ['tenant', 'actor'], kind: 'rate' },
    { id: 'all', unit: 'cost', limit: 5, each: [], tenants: ['acme'], actors: ['*'], tools: ['code.*'] },
  ],
  obligations: [
    { id: 'names', action: 'redact', tools: ['code.*'], pointers: ['/people/*/name', '/a~1b'] },
    { id: 'cards', action: 'mask', patterns: ['\\d{16}'], classifications: ['pii'], onFailure: 'degrade' },
    { id: 'mark', action: 'watermark', tenants: ['acme'], tags: ['code'], text: 'for {actor}' },
  ],
}

test('a policy may speak of grants, tenants, budgets and obligations (AUTH-1)', async () => {
  expect(await issuesOf(policy)).toEqual([])
  expect(await issuesOf({ grants: [], budgets: [], obligations: [], tenants: {} })).toEqual([])
})

test.each([
  { grant: [] },
  { grants: [{ tool: ['x.y'] }] },
  { grants: [{ capabilities: { reed: [] } }] },
  { grants: [{ scopes: [{ resource: 'x', action: 'read', actions: ['read'] }] }] },
  { tenants: { acme: { rule: [] } } },
  { tenants: { acme: { rules: [{ effect: 'deny', tool: ['x.y'] }] } } },
  { budgets: [{ id: 'a', unit: 'calls', limit: 1, window: 5 }] },
  { obligations: [{ id: 'a', action: 'redact', pointers: ['/a'], onError: 'deny' }] },
])('an unknown key is refused where it stands: %j', async (given) => {
  expect((await issuesOf(given)).map((issue) => issue.split(' ')[0])).toEqual(['unknown_field'])
})

test.each<[string, object, string[]]>([
  ['a rule with an empty list', { tools: [] }, ['/tools']],
  [
    'empty lists of all kinds',
    { tags: [], roles: [], modes: [], resources: [], argv: [] },
    ['/tags', '/roles', '/modes', '/resources', '/argv'],
  ],
  ['a group without its tools', { tools: ['demo'] }, ['/tools/0']],
  ['a regular expression', { tools: ['code.read_file', 'code\\.(read|write)'] }, ['/tools/1']],
  ['a name with an empty part', { tools: ['code..read'] }, ['/tools/0']],
  ['a role there is not', { roles: ['boss'] }, ['/roles/0']],
  ['a mode that no session can have', { modes: ['bypass'] }, ['/modes']],
  ['a host with a port', { resources: ['handrail:host:example.com:443'] }, ['/resources/0']],
  ['a URL for a host', { resources: ['handrail:host:https://example.com/'] }, ['/resources/0']],
  ['a host with an empty part', { resources: ['handrail:host:api..com'] }, ['/resources/0']],
  ['a program without its path', { resources: ['handrail:exec:git'] }, ['/resources/0']],
  ['a program in the home', { resources: ['handrail:exec:~/bin/git'] }, ['/resources/0']],
  ['a tool URN of a group', { resources: ['handrail:tool:code'] }, ['/resources/0']],
  ['a relative program', { argv: ['./build.sh', '**'] }, ['/argv/0']],
  ['a program without a name', { argv: ['', 'x'] }, ['/argv/0']],
  ['sensitive where nothing is allowed', { effect: 'ask', sensitive: true }, ['/sensitive']],
  [
    'a command and files, all of which an allow must cover',
    { effect: 'allow', argv: ['git'], resources: ['handrail:file:{project}/**'] },
    ['/resources'],
  ],
])('a rule that could never count is refused: %s (PERM-8)', async (_, rule, pointers) => {
  const places = (await issuesOf({ rules: [{ effect: 'deny', ...rule }] })).map(
    (issue) => issue.split(' ')[1],
  )
  expect(places).toEqual(pointers.map((pointer) => `/rules/0${pointer}`))
})

test.each<[string, object]>([
  ['a mode among others', { effect: 'deny', modes: ['bypass', 'plan'] }],
  ['any program with a name like it', { effect: 'deny', resources: ['handrail:exec:*git*'] }],
  [
    'a command that meets files',
    { effect: 'deny', argv: ['git'], resources: ['handrail:file:{project}/**'] },
  ],
  [
    'a command and its program',
    { effect: 'allow', argv: ['git'], resources: ['handrail:exec:/usr/bin/git'] },
  ],
  ['sensitive with allow', { effect: 'allow', tools: ['code.read_file'], sensitive: true }],
])('what may count is taken: %s (PERM-8)', async (_, rule) => {
  expect(await issuesOf({ rules: [rule] })).toEqual([])
})

test('a rule for mode bypass alone is taken where sessions may have it (PERM-9)', async () => {
  const rules = [{ effect: 'deny', modes: ['bypass'] }]
  expect(await issuesOf({ rules, allowBypass: true })).toEqual([])
  expect(await issuesOf({ mode: 'bypass', allowBypass: true })).toEqual([])
  expect(await issuesOf({ mode: 'bypass' })).toEqual(['contradiction /mode'])
})

test('one id for two rules, grants, budgets or obligations is refused', async () => {
  const budget = { id: 'a', unit: 'calls', limit: 1 }
  const obligation = { id: 'a', action: 'redact' }
  expect(
    await issuesOf({
      rules: [
        { id: 'a', effect: 'deny', tools: ['a.b'] },
        { id: 'a', effect: 'deny', tools: ['c.d'] },
      ],
      grants: [{ id: 'a' }, { id: 'a' }],
      budgets: [budget, { ...budget, unit: 'cost' }],
      obligations: [
        { ...obligation, pointers: ['/a'] },
        { ...obligation, pointers: ['/b'] },
      ],
      tenants: {
        acme: {
          rules: [
            { id: 'a', effect: 'ask' },
            { id: 'a', effect: 'ask', tools: ['e.f'] },
          ],
        },
      },
    }),
  ).toEqual([
    'duplicate_id /rules/1',
    'duplicate_id /tenants/acme/rules/1',
    'duplicate_id /grants/1',
    'duplicate_id /budgets/1',
    'duplicate_id /obligations/1',
  ])
})

test('an id that is the default of another is refused', async () => {
  const rules = [
    { id: 'policy/rules/1', effect: 'deny', tools: ['a.b'] },
    { effect: 'deny', tools: ['c.d'] },
  ]
  expect(await issuesOf({ rules })).toEqual(['duplicate_id /rules/1'])
})

const all = { roles: ['main', 'orchestrator', 'sub', 'fork', 'worker'] }

test.each<[string, object, object]>([
  ['nothing at all', {}, {}],
  ['the same tools in another order', { tools: ['a.b', 'c.d'] }, { tools: ['c.d', 'a.b', 'a.b'] }],
  ['every tool, said and unsaid', { tools: ['*'] }, {}],
  ['every role, said and unsaid', all, {}],
  ['the same resources', { resources: ['handrail:file:/a'] }, { resources: ['handrail:file:/a'] }],
  ['the same command', { argv: ['git', '**'] }, { argv: ['git', '**'] }],
])('two rules that contradict each other are refused, and both are named: %s', async (_, one, other) => {
  for (const [first, second] of [
    ['allow', 'deny'],
    ['deny', 'allow'],
    ['ask', 'allow'],
    ['ask', 'deny'],
  ]) {
    const rules = [
      { id: 'one', effect: first, ...one },
      { id: 'other', effect: second, ...other },
    ]
    expect(await issuesOf({ rules })).toEqual(['contradiction /rules/1'])
    expect(await messageOf({ rules })).toContain(`"other" says ${second} where "one" says ${first}`)
    expect(await issuesOf({ tenants: { acme: { rules } } })).toEqual(['contradiction /tenants/acme/rules/1'])
  }
})

test.each<[string, object, object]>([
  ['one is narrower', {}, { tools: ['a.b'] }],
  ['other roles', { roles: ['main'] }, { roles: ['worker'] }],
  ['the arguments in another order', { argv: ['git', 'a', 'b'] }, { argv: ['git', 'b', 'a'] }],
  ['tools here, tags there', { tools: ['a.b'] }, { tags: ['a.b'] }],
])('rules that differ in what they match contradict nothing: %s', async (_, one, other) => {
  expect(
    await issuesOf({
      rules: [
        { effect: 'allow', ...one },
        { effect: 'deny', ...other },
      ],
    }),
  ).toEqual([])
})

test('two rules that say the same twice are only long', async () => {
  expect(await issuesOf({ rules: [{ effect: 'deny' }, { effect: 'deny', tools: ['*'] }] })).toEqual([])
})

test("a tenant's rule may be stricter than the one for all, never looser (AUTH-6)", async () => {
  const tenants = (effect: string) => ({ acme: { rules: [{ effect, tools: ['a.*'] }] } })
  const rules = (effect: string) => [{ id: 'general', effect, tools: ['a.*'] }]
  expect(await issuesOf({ rules: rules('allow'), tenants: tenants('deny') })).toEqual([])
  expect(await issuesOf({ rules: rules('ask'), tenants: tenants('deny') })).toEqual([])
  expect(await issuesOf({ rules: rules('deny'), tenants: tenants('deny') })).toEqual([])
  const contradiction = ['contradiction /tenants/acme/rules/0']
  expect(await issuesOf({ rules: rules('deny'), tenants: tenants('allow') })).toEqual(contradiction)
  expect(await issuesOf({ rules: rules('ask'), tenants: tenants('allow') })).toEqual(contradiction)
  expect(await messageOf({ rules: rules('deny'), tenants: tenants('ask') })).toContain(
    'rule "general" says deny',
  )
})

test.each<[string, object, string]>([
  ['an id that no session can have', { 'ac/me': {} }, 'invalid_id /tenants/ac~1me'],
  ['a relative project', { acme: { project: 'work' } }, 'invalid_root /tenants/acme/project'],
  ['a relative root', { acme: { readRoots: ['/a', 'b'] } }, 'invalid_root /tenants/acme/readRoots/1'],
  ['another relative root', { acme: { writeRoots: ['b'] } }, 'invalid_root /tenants/acme/writeRoots/0'],
  [
    'a tool that cannot be',
    { acme: { allowedTools: ['code'] } },
    'never_matches /tenants/acme/allowedTools/0',
  ],
  [
    'settings for a pattern',
    { acme: { settings: { 'code.*': {} } } },
    'never_matches /tenants/acme/settings/code.*',
  ],
  [
    'settings that are no object',
    { acme: { settings: { 'a.b': 1 } } },
    'wrong_type /tenants/acme/settings/a.b',
  ],
  [
    'a tool let through and taken away',
    { acme: { allowedTools: ['a.b', 'c.*'], disallowedTools: ['c.*'] } },
    'contradiction /tenants/acme/disallowedTools/0',
  ],
])('a tenant with %s is refused (AUTH-6)', async (_, tenants, issue) => {
  expect(await issuesOf({ tenants })).toEqual([issue])
})

test.each<[string, object, string]>([
  ['an empty list of tools', { tools: [] }, '/tools'],
  ['a tool that cannot be', { tools: ['code'] }, '/tools/0'],
  ['an actor that cannot be', { actors: ['ada lovelace'] }, '/actors/0'],
  ['a tenant that cannot be', { tenants: ['-x'] }, '/tenants/0'],
  ['a tenant that the policy does not name', { tenants: ['a*', 'beta'] }, '/tenants/1'],
  ['a relative folder', { capabilities: { read: ['src'] } }, '/capabilities/read/0'],
  ['a pattern for a folder', { capabilities: { write: ['/srv/**'] } }, '/capabilities/write/0'],
  ['a folder that leads upwards', { capabilities: { read: ['{project}/../other'] } }, '/capabilities/read/0'],
  ['a host with a path', { capabilities: { hosts: ['example.com/a'] } }, '/capabilities/hosts/0'],
  ['a relative program', { capabilities: { executables: ['bin/x'] } }, '/capabilities/executables/0'],
  ['a scope without actions', { scopes: [{ resource: '*', actions: [] }] }, '/scopes/0/actions'],
])('a grant with %s is refused (AUTH-1, AUTH-2)', async (_, grant, pointer) => {
  const issues = await issuesOf({ tenants: { acme: {} }, grants: [grant] })
  expect(issues.map((issue) => issue.split(' ')[1])).toEqual([`/grants/0${pointer}`])
})

test('a tenant that the policy does not name is not an issue where it names none', async () => {
  expect(await issuesOf({ grants: [{ tenants: ['beta'] }] })).toEqual([])
})

test.each<[string, object, string]>([
  ['a limit of nothing', { limit: 0 }, '/limit'],
  ['a limit below nothing', { limit: -1 }, '/limit'],
  ['half a unit', { limit: 0.5 }, '/limit'],
  ['no window at all', { windowMs: 0 }, '/windowMs'],
  ['a unit there is not', { unit: 'words' }, '/unit'],
  ['no id', { id: '' }, '/id'],
  ['one dimension twice', { each: ['tool', 'tool'] }, '/each/1'],
  ['a rate without a window', { kind: 'rate' }, '/kind'],
  ['a tool that cannot be', { tools: ['code'] }, '/tools/0'],
])('a budget with %s is refused (AUTH-4)', async (_, more, pointer) => {
  const issues = await issuesOf({ budgets: [{ id: 'a', unit: 'calls', limit: 1, ...more }] })
  expect(issues.map((issue) => issue.split(' ')[1])).toEqual([`/budgets/0${pointer}`])
})

test.each<[string, object, string]>([
  ['nothing to redact', { action: 'redact' }, 'nothing_to_do /obligations/0'],
  ['nothing to mask', { action: 'mask', tools: ['a.b'] }, 'nothing_to_do /obligations/0'],
  ['nothing to write', { action: 'watermark' }, 'nothing_to_do /obligations/0'],
  [
    'a text that nobody adds',
    { action: 'mask', pointers: ['/a'], text: 'x' },
    'without_effect /obligations/0/text',
  ],
  [
    'a mark for a part',
    { action: 'watermark', text: 'x', pointers: ['/a'] },
    'without_effect /obligations/0/pointers',
  ],
  ['no pointer', { action: 'redact', pointers: ['/a', 'b'] }, 'invalid_pointer /obligations/0/pointers/1'],
  ['a wrong escape', { action: 'redact', pointers: ['/a~2'] }, 'invalid_pointer /obligations/0/pointers/0'],
  [
    'a pattern with no end',
    { action: 'redact', patterns: ['(a'] },
    'invalid_pattern /obligations/0/patterns/0',
  ],
  [
    'a pattern of another language',
    { action: 'redact', patterns: ['(?<=a)b'] },
    'invalid_pattern /obligations/0/patterns/0',
  ],
  ['an unknown action', { action: 'hide', pointers: ['/a'] }, 'unknown_value /obligations/0/action'],
])('an obligation with %s is refused', async (_, obligation, issue) => {
  const [found, ...more] = await issuesOf({ obligations: [{ id: 'a', ...obligation }] })
  expect([found?.split(' ')[1], more]).toEqual([issue.split(' ')[1], []])
  if (!issue.startsWith('unknown_value')) expect(found).toBe(issue)
})

test('two obligations that do different things to the same values are refused', async () => {
  const obligation = { tools: ['a.b'], pointers: ['/a', '/b'] }
  const clashing = [
    { id: 'one', action: 'redact', ...obligation },
    { id: 'two', action: 'mask', ...obligation, pointers: ['/b', '/a'] },
  ]
  expect(await issuesOf({ obligations: clashing })).toEqual(['contradiction /obligations/1'])
  const degrading = [clashing[0], { ...clashing[0], id: 'two', onFailure: 'degrade' }]
  expect(await issuesOf({ obligations: degrading })).toEqual(['contradiction /obligations/1'])
  const marks = ['a', 'b'].map((id) => ({ id, action: 'watermark', text: id }))
  expect(await issuesOf({ obligations: [...marks, clashing[0]] })).toEqual([])
})

test('patterns of the configuration and of a project that could never match are refused too', async () => {
  const options = {
    allowedTools: ['code'],
    disallowedTools: ['code/read_file'],
    projectConfiguration: { disallowedTools: ['x'], rules: [{ effect: 'deny', tools: ['y'] }] },
    hooks: [{ on: 'PreToolUse', command: ['true'], tools: ['z'] }],
  } as const
  await expect(openRuntime(options)).rejects.toMatchObject({
    issues: [
      { pointer: '/allowedTools/0' },
      { pointer: '/disallowedTools/0' },
      { pointer: '/projectConfiguration/disallowedTools/0' },
      { pointer: '/projectConfiguration/rules/0/tools/0' },
      { pointer: '/hooks/0/tools/0' },
    ],
  })
})

test('the command line names file and pointer of every issue, and the published schema knows the fields', async () => {
  const place = makePlace(
    {},
    { 'policy.json': { ...policy, grants: [{ tool: [] }], budgets: [{ id: 'a' }] } },
  )
  const { code, stderr } = await handrail(place, ['tools'])
  expect(code).toBe(2)
  for (const pointer of ['/grants/0/tool', '/budgets/0/unit', '/budgets/0/limit'])
    expect(stderr).toContain(`${join(place.home, 'policy.json')}#${pointer}`)
  const published = JSON.parse(readFileSync(join(packageRoot, 'schemas', 'policy.json'), 'utf8')) as {
    properties: object
  }
  expect(Object.keys(published.properties)).toEqual(expect.arrayContaining(Object.keys(policy)))
})
