import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { codeTools, createRuntime } from 'handrail'
import { expect, test } from 'vitest'
import {
  call,
  handrail,
  jsonOf,
  makePlace,
  startHandrail,
  type Ended,
  type Place,
} from '../support/command-line.ts'
import { makeTool } from '../support/make-tool.ts'

/** Writes a file of a person's, beside their home folder. Returns its path. */
function put(place: Place, name: string, content: unknown): string {
  const path = join(place.user, name)
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}

const policyVerb = (place: Place, ...argv: string[]) => handrail(place, ['policy', ...argv])

const policy = {
  tenants: { acme: { rules: [{ id: 'acme-runs-nothing', effect: 'deny', tools: ['code.run_command'] }] } },
  rules: [
    {
      id: 'docs',
      effect: 'allow',
      tools: ['code.write_file'],
      resources: ['handrail:file:{project}/docs/**'],
    },
    { id: 'legal', effect: 'deny', resources: ['handrail:file:{project}/legal/**'], reason: 'by hand' },
    { id: 'tests', effect: 'allow', tools: ['code.run_command'], commands: ['npm test'] },
    { id: 'drafts', effect: 'ask', tools: ['code.read_file'], input: { path: 'draft*' } },
  ],
}
const write = (path: string) => ({ path, content: 'x' })

const holding = [
  {
    name: 'docs',
    tool: 'code.write_file',
    input: write('docs/a.md'),
    expect: { effect: 'allow', rule: 'docs' },
  },
  {
    tool: 'code.write_file',
    input: write('a.md'),
    expect: { effect: 'ask', layer: 'defaults', rule: 'write' },
  },
  {
    tool: 'code.write_file',
    input: write('a.md'),
    mode: 'accept-edits',
    expect: { effect: 'allow', layer: 'mode' },
  },
  { tool: 'code.write_file', input: write('a.md'), mode: 'plan', expect: { effect: 'deny', layer: 'set' } },
  { tool: 'code.write_file', input: write('/etc/a'), expect: { effect: 'deny', layer: 'bounds' } },
  { tool: 'code.read_file', input: { path: 'draft.md' }, expect: { effect: 'ask', rule: 'drafts' } },
  { tool: 'code.run_command', input: { argv: ['npm', 'test'] }, expect: { effect: 'allow', rule: 'tests' } },
  {
    principal: { tenant: 'acme', actor: 'ann' },
    tool: 'code.run_command',
    input: { argv: ['npm', 'test'] },
    expect: { effect: 'deny', layer: 'tenant', rule: 'acme-runs-nothing' },
  },
  {
    principal: { role: 'worker' },
    tool: 'code.write_file',
    input: write('docs/a.md'),
    expect: { effect: 'deny', layer: 'set' },
  },
  {
    tool: 'code.read_file',
    operations: [{ kind: 'fs.read', path: '{project}/legal/a.md' }],
    expect: { effect: 'deny', rule: 'legal' },
  },
  {
    tool: 'code.run_command',
    operations: [{ kind: 'process', executable: '/usr/bin/git' }],
    expect: { effect: 'ask', rule: 'dangerous' },
  },
  { tool: 'code.no_such', expect: { effect: 'deny', rule: 'tool_not_available' } },
  {
    principal: { tenant: 'zeta' },
    tool: 'code.read_file',
    expect: { effect: 'deny', rule: 'unknown_tenant' },
  },
]

test('cases that the policy decides as expected hold, and nothing is made or done by trying them (PERM-10)', async () => {
  const place = makePlace({}, { 'policy.json': policy })
  const cases = put(place, 'cases.json', { cases: holding })
  expect(await policyVerb(place, 'test', cases)).toMatchObject({
    code: 0,
    stdout: `${holding.length} cases: as expected.\n`,
    stderr: '',
  })
  expect(jsonOf(await policyVerb(place, 'test', cases, '--json'))).toEqual({
    cases: holding.length,
    failures: [],
  })
  expect(await handrail(place, ['evidence', 'list', '--json'])).toMatchObject({ stdout: '[]\n' })
})

test('cases that come out otherwise are shown with what was expected, what was found and why (PERM-10)', async () => {
  const place = makePlace({}, { 'policy.json': policy })
  const cases = put(place, 'cases.json', {
    cases: [
      ...holding,
      { name: 'law is free', tool: 'code.write_file', input: write('legal/a'), expect: { effect: 'allow' } },
      { tool: 'code.write_file', input: write('docs/a'), expect: { effect: 'allow', rule: 'other' } },
      { tool: 'code.write_file', input: write('docs/a'), expect: { effect: 'allow', layer: 'tenant' } },
      { tool: 'code.read_file', mode: 'bypass', input: { path: 'a' }, expect: { effect: 'allow' } },
      { tool: 'code.read_file', input: { path: 1 }, expect: { effect: 'deny' } },
    ],
  })
  const { code, stdout, stderr } = await policyVerb(place, 'test', cases)
  expect([code, stderr]).toEqual([1, ''])
  expect(stdout).toContain('✗ law is free\n  expected  allow\n  found     deny by policy/legal\n')
  expect(stdout).toContain('    decided by policy/legal: deny – by hand\n')
  expect(stdout).toContain('      without policy/legal: ask, by defaults/write')
  expect(stdout).toContain('expected  allow by */other\n  found     allow by policy/docs\n')
  expect(stdout).toContain('expected  allow by tenant/*\n')
  expect(stdout).toContain('found     deny by mode/bypass\n    because The mode "bypass" must be allowed')
  expect(stdout).toContain('found     nothing is decided: The input does not fit "code.read_file"')
  expect(stdout).toMatch(/\n18 cases: 5 not as expected\.\n$/)
  const { cases: count, failures } = jsonOf<{
    cases: number
    failures: { name: string; decision: object }[]
  }>(await policyVerb(place, 'test', cases, '--json'))
  expect(count).toBe(18)
  expect(failures.map(({ name }) => name)).toEqual([
    'law is free',
    '/cases/14 (code.write_file)',
    '/cases/15 (code.write_file)',
    '/cases/16 (code.read_file)',
    '/cases/17 (code.read_file)',
  ])
  expect(failures[0]?.decision).toMatchObject({
    decided: true,
    effect: 'deny',
    layer: 'policy',
    rule: 'legal',
  })
})

test('cases can be tried on a policy that is not in force (PERM-10)', async () => {
  const place = makePlace()
  const candidate = put(place, 'candidate.json', policy)
  const cases = put(place, 'cases.json', { cases: holding })
  expect(await policyVerb(place, 'test', cases, '--policy', candidate)).toMatchObject({ code: 0 })
  expect((await policyVerb(place, 'test', cases)).code).toBe(1)
})

test('the project of a case is that of its tenant (PERM-10, AUTH-6)', async () => {
  const tenants = { acme: { project: '~/acme' } }
  const rules = [{ id: 'docs', effect: 'deny', resources: ['handrail:file:{project}/docs/**'] }]
  const place = makePlace({}, { 'policy.json': { tenants, rules } })
  mkdirSync(join(place.user, 'acme', 'docs'), { recursive: true })
  const cases = ['acme', 'local'].map((tenant) => ({
    principal: { tenant },
    tool: 'code.read_file',
    operations: [{ kind: 'fs.read', path: '{project}/docs/a.md' }],
    expect: { effect: 'deny', layer: 'policy', rule: 'docs' },
  }))
  const tried = await policyVerb(place, 'test', put(place, 'cases.json', { cases }))
  expect(tried).toMatchObject({ code: 0, stdout: '2 cases: as expected.\n' })
})

test.each<[string, unknown, readonly string[]]>([
  [
    'unknown keys',
    { cases: [{ tol: 'x', expect: { effect: 'yes', layr: 'x' } }], kases: [] },
    ['/kases', '/cases/0/tol', '/cases/0/tool', '/cases/0/expect/effect', '/cases/0/expect/layr'],
  ],
  [
    'a layer that is none',
    { cases: [{ tool: 'code.glob', expect: { effect: 'deny', layer: 'polcy' } }] },
    ['/cases/0/expect/layer'],
  ],
  ['no cases', { cases: [] }, ['/cases']],
  ['nothing at all', '', ['']],
  ['unknown tools', { cases: [{ tool: 'code.raed_file', expect: { effect: 'deny' } }] }, ['/cases/0/tool']],
  [
    'unknown tenants',
    { cases: [{ principal: { tenant: 'acm' }, tool: 'code.read_file', expect: { effect: 'deny' } }] },
    ['/cases/0/principal/tenant'],
  ],
  [
    'operations that say too little, beside an input',
    { cases: [{ tool: 'code.glob', input: {}, operations: [{ kind: 'net' }], expect: { effect: 'deny' } }] },
    ['/cases/0/operations/0', '/cases/0/operations'],
  ],
])('a file of cases with %s is refused with every issue at once (PERM-10)', async (_, content, pointers) => {
  const place = makePlace({}, { 'policy.json': policy })
  const path = put(place, 'cases.json', content)
  const { code, stdout, stderr } = await policyVerb(place, 'test', path)
  expect([code, stdout]).toEqual([2, ''])
  const named = stderr.split('\n').filter((line) => line.startsWith(`  ${path}#`))
  expect(named).toHaveLength(pointers.length)
  for (const pointer of pointers)
    expect(named).toContainEqual(expect.stringContaining(`  ${path}#${pointer}: `))
  if (pointers[0] === '/cases/0/tool') expect(stderr).toContain('did you mean "code.read_file"?')
})

test('a policy is checked: what it has, what could never count here, and every issue (PERM-8, PERM-10)', async () => {
  const place = makePlace({}, { 'policy.json': policy })
  expect(await policyVerb(place, 'check')).toMatchObject({
    code: 0,
    stdout: '4 rules, 1 tenant: no issue.\n',
    stderr: '',
  })
  const idle = put(place, 'idle.json', {
    rules: [
      { id: 'no-writes', effect: 'deny', tools: ['code.write_file'] },
      { effect: 'deny', tools: ['mail.*'] },
      { effect: 'deny', tools: ['code.read_file'], argv: ['npm', '**'] },
      { effect: 'deny', tools: ['code.read_file'], commands: ['npm test'] },
      { effect: 'deny', tools: ['code.read_file'], input: { pth: '*', path: 'a*' } },
      { effect: 'deny', tools: ['code.*'], resources: ['handrail:host:example.com'] },
      { effect: 'allow', tools: ['code.run_command'] },
      { effect: 'allow', tools: ['code.write_file'], resources: ['handrail:file:{project}/docs/**'] },
      { effect: 'ask', tags: ['nothing-has-it'] },
      { effect: 'deny', tools: ['code.edit_file'], modes: ['plan'] },
      // Of one of its tools another rule says less.
      {
        effect: 'allow',
        tools: ['code.write_file', 'code.edit_file'],
        resources: ['handrail:file:{project}/**'],
      },
    ],
    tenants: { acme: { rules: [{ effect: 'ask', tools: ['code.write_file'], roles: ['main'] }] } },
    grants: [{ tools: ['db.*'] }, { tools: ['code.*'] }],
    budgets: [{ id: 'b', unit: 'calls', limit: 1, tools: ['mail.*'] }],
    obligations: [{ id: 'o', action: 'redact', patterns: ['x'], tags: ['nothing-has-it'] }],
  })
  const checked = await policyVerb(place, 'check', idle, '--json')
  expect(checked.code).toBe(0)
  const report = jsonOf<{ rules: number; notes: { pointer: string; message: string }[] }>(checked)
  expect(report).toMatchObject({ rules: 11, grants: 2, tenants: 1, budgets: 1, obligations: 1 })
  expect(report.notes.map(({ pointer, message }) => `${pointer} ${message}`)).toEqual([
    '/rules/1 matches no tool that is here',
    '/rules/2/argv matches no tool that starts a program',
    '/rules/3/commands matches no tool that starts a program',
    '/rules/4/input/pth is not a field of the tools of this rule',
    '/rules/5/resources/0 is nothing that the tools of this rule could reach',
    expect.stringMatching(/^\/rules\/6 lets nothing through: its tools are dangerous/),
    '/rules/7 never counts: rule "no-writes" says deny of every call that it matches',
    '/rules/8 matches no tool that is here',
    '/tenants/acme/rules/0 never counts: rule "no-writes" says deny of every call that it matches',
    '/grants/0 matches no tool that is here',
    '/budgets/0 matches no tool that is here',
    '/obligations/0 matches no tool that is here',
  ])
  const page = await policyVerb(place, 'check', idle)
  expect(page.stdout).toMatch(/^note: \/rules\/1 matches no tool that is here\n/)
  expect(page.stdout).toMatch(/\n11 rules, 2 grants, 1 tenant, 1 budget, 1 obligation: no issue\.\n$/)
})

test.each<[string, object]>([
  ['', {}],
  [', whatever servers there are', { 'mcp.json': { mcpServers: { it: { command: 'true' } } } }],
])('a misspelt tool is told once where its policy is checked%s (PERM-10)', async (_, own) => {
  const rules = [{ effect: 'ask' }, { effect: 'deny', tools: ['code.reed_file'] }]
  const { code, stdout, stderr } = await policyVerb(
    makePlace({}, { 'policy.json': { rules }, ...own }),
    'check',
  )
  expect([code, stderr]).toEqual([0, ''])
  expect(stdout).toBe(
    `note: /rules/1/tools/0 There is no tool "code.reed_file" here, so that this matches nothing. Did you mean "code.read_file"?
2 rules: no issue.
`,
  )
})

test('issues of form and of sense, folders that are not there and misspelt tools are told in one run, each once (PERM-8, PERM-10)', async () => {
  const rules = [
    { effect: 'deny', toolz: ['a.b'], tools: ['code.reed_file', 'Read'] },
    { effect: 'dney' },
    { effect: 'allow', tools: ['code.glob'] },
    { effect: 'deny', tools: ['code.glob'] },
    { effect: 'ask', tools: ['code.serch', 'code.*'] },
  ]
  const tenants = { acme: { project: '/no/such/folder', rulez: [] }, beta: 5, 'no id': {} }
  const faulty = { rulez: [], rules, tenants, grants: [{ tenants: ['beta'] }, { tenants: ['zeta'] }] }
  const pointers = [
    '/rulez',
    '/rules/0/toolz',
    '/rules/0/tools/0',
    '/rules/0/tools/1',
    '/rules/1/effect',
    '/rules/3',
    '/rules/4/tools/0',
    '/tenants/acme/project',
    '/tenants/acme/rulez',
    '/tenants/beta',
    '/tenants/no id',
    '/grants/1/tenants/0',
  ]
  const told = ({ code, stdout, stderr }: Ended, path: string) => {
    expect([code, stdout]).toEqual([2, ''])
    const lines = stderr.trimEnd().split('\n').slice(1)
    const found = lines.map((line) => line.replace(`  ${path}#`, '').replace(/: .*/, ''))
    expect(found.toSorted()).toEqual(pointers.toSorted())
  }
  const place = makePlace({}, { 'policy.json': faulty })
  const path = put(place, 'new.json', faulty)
  told(await policyVerb(place, 'check', path), path)
  told(await policyVerb(place, 'check'), join(place.home, 'policy.json'))
})

test.each<[string, unknown, readonly string[]]>([
  ['unknown keys', { rulez: [] }, ['#/rulez']],
  [
    'rules that contradict each other',
    {
      rules: [
        { effect: 'allow', tools: ['code.*'] },
        { effect: 'deny', tools: ['code.*'] },
      ],
    },
    ['#/rules/1'],
  ],
  [
    'rules that could never match',
    {
      rules: [
        { effect: 'deny', tools: ['Read'] },
        { effect: 'deny', resources: ['handrail:file:docs'] },
      ],
    },
    ['#/rules/0/tools/0', '#/rules/1/resources/0'],
  ],
  [
    'a folder that is not there',
    { tenants: { acme: { project: '/no/such/folder' } } },
    ['/tenants/acme/project'],
  ],
  ['no JSON', '{', ['#']],
])('a policy with %s is refused with every issue at once (PERM-8)', async (_, content, pointers) => {
  const place = makePlace()
  const { code, stdout, stderr } = await policyVerb(place, 'check', put(place, 'new.json', content))
  expect([code, stdout]).toEqual([2, ''])
  for (const pointer of pointers) expect(stderr).toContain(`${pointer}: `)
  expect(stderr.trimEnd().split('\n')).toHaveLength(1 + pointers.length)
})

/** Calls of two tenants under a policy of which only the second one of the test knows better. */
async function makeCalls(place: Place): Promise<void> {
  await call(place, 'code.write_file --approve once', { ...write('docs/a.md'), overwrite: true })
  await call(place, 'code.write_file --approve deny', write('legal/a.md'))
  await call(place, 'code.read_file --tenant acme --actor ann', { path: 'draft.md' })
  await call(place, 'code.read_file', { path: 'a.txt' })
  await call(place, 'code.no_such', {})
}

interface Report {
  judged: number
  different: {
    call: string
    session: string
    tenant: string
    actor: string
    tool: string
    before: object
    now: object
  }[]
  unjudged: { reason: string; calls: string[] }[]
}
const shadow = async (place: Place, ...more: string[]) =>
  jsonOf<Report & Record<string, unknown>>(
    await policyVerb(place, 'shadow', join(place.user, 'second.json'), '--json', ...more),
  )

const files = { 'a.txt': 'a', 'draft.md': 'd' }

test('a second policy is held against every recorded call of every tenant, and what it decides otherwise is listed (PERM-10)', async () => {
  const place = makePlace(files)
  await makeCalls(place)
  const second = put(place, 'second.json', policy)
  const before = readFileSync(place.store)
  const report = await shadow(place)
  expect(report).toMatchObject({
    judged: 4,
    different: [
      {
        tenant: 'local',
        tool: 'code.write_file',
        before: { effect: 'ask' },
        now: { effect: 'allow', rule: 'docs' },
      },
      {
        tenant: 'local',
        tool: 'code.write_file',
        before: { effect: 'ask' },
        now: { effect: 'deny', rule: 'legal' },
      },
      {
        tenant: 'acme',
        actor: 'ann',
        tool: 'code.read_file',
        before: { effect: 'allow', layer: 'defaults', rule: 'readonly' },
        now: { effect: 'ask', layer: 'policy', rule: 'drafts' },
      },
    ],
    unjudged: [{ reason: 'it ended before anything was decided', calls: [expect.stringMatching(/^call_/)] }],
    redefined: 0,
  })
  const page = await policyVerb(place, 'shadow', second)
  expect([page.code, page.stderr]).toEqual([0, ''])
  expect(page.stdout).toMatch(
    /^2.*Z {2}call_\w+ {2}code\.write_file {2}by "user" of tenant "local"\n {2}was {2}ask by defaults\/write\n {2}now {2}allow by policy\/docs – rule "docs" says allow\n/,
  )
  expect(page.stdout).toMatch(
    /\n4 calls judged, 3 decided in another way\.\n1 call not judged: it ended before anything was decided\.\n$/,
  )
  expect(readFileSync(place.store).equals(before)).toBe(true)

  const [first] = report.different
  expect(await shadow(place, '--session', first?.session ?? '')).toMatchObject({
    judged: 1,
    different: [first],
  })
  expect(await shadow(place, '--session', first?.session.slice(-8) ?? '')).toMatchObject({
    judged: 1,
    different: [first],
  })
  expect(await shadow(place, '--tenant', 'acme')).toMatchObject({
    judged: 1,
    different: [{ tenant: 'acme' }],
  })
  expect(await shadow(place, '--since', '1h')).toMatchObject({ judged: 4 })
  expect(await shadow(place, '--since', '1ms')).toMatchObject({ judged: 0, different: [], unjudged: [] })
})

test('the policy in force decides nothing in another way than it did (PERM-10)', async () => {
  const place = makePlace(files, { 'policy.json': policy })
  await makeCalls(place)
  put(place, 'second.json', policy)
  expect(await shadow(place)).toMatchObject({ judged: 4, different: [] })
})

test('calls whose bodies were pruned are counted and not guessed at (PERM-10, EVID-7)', async () => {
  const place = makePlace(files)
  await makeCalls(place)
  await handrail(place, ['evidence', 'prune', '--older-than', '1ms'])
  put(place, 'second.json', policy)
  const report = await shadow(place)
  expect(report).toMatchObject({ judged: 0, different: [] })
  expect(report.unjudged.map(({ reason, calls }) => [reason, calls.length])).toEqual([
    ['its plan was pruned', 4],
    ['it ended before anything was decided', 1],
  ])
})

test('calls of other tools, of children, and of what a second policy leaves out of a tenant (PERM-10, POOL-3)', async () => {
  const place = makePlace(files)
  const runtime = await createRuntime({
    project: place.project,
    home: place.user,
    tools: [codeTools(), makeTool('mail.read')],
    store: { path: place.store },
    policy: { tenants: { acme: {}, beta: {} } },
  })
  await runtime.session({ tenant: 'acme' }).call('mail.read')
  const parent = runtime.session({ role: 'orchestrator' })
  await runtime.session({ parent, role: 'worker' }).call('code.read_file', { path: 'a.txt' })
  await runtime.session({ tenant: 'acme' }).call('code.read_file', { path: 'a.txt' })
  await runtime.session({ tenant: 'beta' }).call('code.read_file', { path: 'a.txt' })
  await runtime.close()
  // Another definition than the one that there is now.
  const earlier = await createRuntime({
    project: place.project,
    home: place.user,
    tools: [makeTool('code.glob')],
    store: { path: place.store },
  })
  await earlier.session().call('code.glob')
  await earlier.close()
  put(place, 'second.json', {
    tenants: { acme: { allowedTools: ['code.glob'] } },
    rules: [{ id: 'led', effect: 'ask', tools: ['code.read_file'], roles: ['orchestrator'] }],
  })
  const report = await shadow(place)
  expect(report).toMatchObject({
    judged: 4,
    redefined: 1,
    unjudged: [{ reason: 'its tool "mail.read" is not here' }],
  })
  expect(report.different.map(({ tenant, now }) => ({ tenant, ...now }))).toMatchObject([
    { tenant: 'local', effect: 'ask', layer: 'policy', rule: 'led' },
    { tenant: 'acme', effect: 'deny', layer: 'set', rule: 'tool_not_available' },
    { tenant: 'beta', effect: 'deny', layer: 'tenant', rule: 'unknown_tenant' },
  ])
})

test('a yes for the session and a standing consent stand where the second policy asks too (PERM-10, PERM-4)', async () => {
  const place = makePlace(files)
  const runtime = await createRuntime({
    project: place.project,
    home: place.user,
    tools: [codeTools()],
    store: { path: place.store },
    approve: async () => ({ decision: 'allow_for_session' }),
  })
  const session = runtime.session()
  await session.call('code.write_file', write('docs/1'))
  await session.call('code.write_file', write('docs/2'))
  await runtime.close()
  put(place, 'second.json', {})
  expect(await shadow(place)).toMatchObject({ judged: 2, different: [] })
  put(place, 'second.json', { rules: [{ id: 'shut', effect: 'deny', tools: ['code.write_file'] }] })
  expect((await shadow(place)).different).toMatchObject([
    { before: { effect: 'ask' } },
    { before: { effect: 'allow', layer: 'session-approval' }, now: { rule: 'shut' } },
  ])
})

test('a shadow follows the calls of other processes until it is stopped (PERM-10)', async () => {
  const place = makePlace(files)
  await call(place, 'code.read_file', { path: 'draft.md' })
  const running = startHandrail(place, ['policy', 'shadow', put(place, 'second.json', policy), '--follow'])
  await running.saw('ask by policy/drafts')
  await call(place, 'code.read_file', { path: 'a.txt' })
  await call(place, 'code.write_file --approve deny', write('legal/a.md'))
  await running.saw('deny by policy/legal')
  running.child.kill('SIGINT')
  const { code, stdout } = await running.ended
  expect(code).toBe(0)
  expect(stdout).toMatch(/\n3 calls judged, 2 decided in another way\.\n$/)
})

test('what cannot be judged or tried is refused with what to do (PERM-10)', async () => {
  const place = makePlace(files)
  const second = put(place, 'second.json', policy)
  const none = await policyVerb(place, 'shadow', second)
  expect(none).toMatchObject({ code: 0, stdout: '0 calls judged, 0 decided in another way.\n' })
  expect(none.stderr).toContain('there is no store at')
  await call(place, 'code.read_file', { path: 'a.txt' })
  const lost = await policyVerb(place, 'shadow', second, '--session', 'ses_none')
  expect([lost.code, lost.stdout, lost.stderr]).toEqual([1, '', expect.stringContaining('"ses_none"')])
  const refused = [
    [[], 'Say what to do'],
    [['chek'], 'Did you mean "check"?'],
    [['test'], 'Name a file'],
    [['shadow'], 'Name a policy'],
    [['check', '--since', '1d'], '"policy check" takes no --since'],
    [['test', second, '--follow'], '"policy test" takes no --follow'],
    [['shadow', second, '--since', 'soon'], '--since is "soon"'],
    [['shadow', join(place.user, 'none.json')], 'There is no such file'],
  ] as const
  for (const [argv, message] of refused) {
    const { code, stdout, stderr } = await policyVerb(place, ...argv)
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(message)])
  }
})
