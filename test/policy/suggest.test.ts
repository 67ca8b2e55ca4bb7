import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { codeTools, defineTool, type Operation, type Policy } from 'handrail'
import { foreseePolicy, suggestRules } from 'handrail/policy'
import type { Suggestions } from 'handrail/policy'
import { expect, test } from 'vitest'
import { openOffice } from '../support/approved.ts'
import { handrail, jsonOf, makePlace, type Place } from '../support/command-line.ts'
import { openRuntime } from '../support/project.ts'
import { openShop } from '../support/shop.ts'

const suggest = async (place: Place, ...argv: string[]) =>
  jsonOf<Suggestions>(await handrail(place, ['policy', 'suggest', '--json', ...argv]))

test('calls that people said yes to twice are answered by the rule that names just them, and it lets the next one through', async () => {
  const place = makePlace({}, { 'config.json': { shell: true } })
  const office = await openOffice(place, {}, (actor) => (actor === 'eve' ? 'deny' : 'allow_once'))
  for (const path of ['a.md', 'a.md', 'sub/b.md']) await office.write(path)
  await office.write('a.md', { actor: 'eve' })
  const { suggested, withoutRule } = await suggest(place)
  expect(withoutRule).toEqual([])
  expect(suggested).toMatchObject([
    {
      tenant: 'local',
      place: '/rules/0',
      rule: {
        effect: 'allow',
        tools: ['code.write_file'],
        roles: ['main'],
        resources: [`handrail:file:${place.project}/a.md`],
      },
      approved: [{ actor: 'bot' }, { actor: 'bot' }],
      approvers: ['ann'],
      others: [{ actor: 'eve', was: 'denied', by: 'a person' }],
      unjudged: 0,
    },
  ])
  const shown = await handrail(place, ['policy', 'suggest'])
  expect(shown.stdout).toContain('would have answered 2 calls, which ann said yes to')
  expect(shown.stdout).toContain('1 other call would have been let through unasked:')
  expect(shown.stdout).toContain('into /rules/0 of the policy, for every tenant')

  writeFileSync(join(place.home, 'policy.json'), JSON.stringify({ rules: [suggested[0]?.rule] }))
  const input = JSON.stringify({ path: 'a.md', content: 'y', overwrite: true })
  expect(await handrail(place, ['call', 'code.write_file', input])).toMatchObject({ code: 0 })
  const other = JSON.stringify({ path: 'c.md', content: 'y' })
  expect(await handrail(place, ['call', 'code.write_file', other])).toMatchObject({ code: 3 })
  expect((await suggest(place)).suggested).toEqual([])
})

test('files of one folder are listed as long as they are few, and more of them are its pattern', async () => {
  const place = makePlace()
  const office = await openOffice(place)
  for (const name of ['a', 'b']) await office.write(`docs/${name}.md`)
  const file = (path: string) => `handrail:file:${place.project}/${path}`
  const resources = async () => (await suggest(place)).suggested.map(({ rule }) => rule.resources)
  expect(await resources()).toEqual([[file('docs/a.md'), file('docs/b.md')]])
  for (const name of ['c', 'd', 'e', 'f', 'f']) await office.write(`docs/${name}.md`)
  expect(await resources()).toEqual([[file('docs/*')], [file('docs/f.md')]])
})

test('commands are named word by word, and only what differs between many stays open inside its word', async () => {
  const place = makePlace({}, { 'config.json': { shell: true } })
  const office = await openOffice(place)
  for (let count = 0; count < 2; count++) await office.command('touch', 'a b*.txt')
  const exact = await suggest(place)
  expect(exact.suggested.map(({ rule }) => rule)).toMatchObject([
    { commands: ['touch "a b\\*.txt"'], projects: [place.project], tools: ['code.run_command'] },
  ])
  for (const name of ['1', '2', '3', '4', '5', '6']) await office.command('mkdir', '-p', name)
  const open = (await suggest(place)).suggested.find(({ rule }) => rule.commands?.[0]?.startsWith('mkdir'))
  expect(open).toMatchObject({ rule: { commands: ['mkdir -p "*"'] }, approved: { length: 6 } })
  for (let count = 0; count < 2; count++) await office.shell('CI=1 touch x && touch y')
  const line = (await suggest(place)).suggested.find(({ tool }) => tool === 'code.run_shell')
  expect(line?.rule.commands).toEqual(['CI=1 touch x', 'touch y'])
  for (let count = 0; count < 2; count++) await office.shell('touch $(date +%s)')
  const { withoutRule } = await suggest(place)
  expect(withoutRule).toMatchObject([
    {
      tool: 'code.run_shell',
      calls: { length: 2 },
      reason: expect.stringContaining('known to the shell alone'),
    },
  ])
})

test('tools that reach nothing are held to what they were told, and a rule is never made of three different things that recur once', async () => {
  const place = makePlace()
  const { runtime, tools } = await openShop(place.store, {
    approve: async () => ({ decision: 'allow_for_session', by: 'ann' }),
  })
  const refund = (order: string) => runtime.session({ actor: 'bot' }).call('shop.refund', { order })
  const now = () => suggestRules({ store: runtime.store, runtime: { project: place.project, tools } })
  for (const order of ['1', '1', '2']) await refund(order)
  expect((await now()).suggested).toMatchObject([
    { rule: { input: { order: '1' } }, approved: { length: 2 } },
  ])
  for (const order of ['3', 'a*']) await refund(order)
  const { suggested, withoutRule } = await now()
  expect(suggested.map(({ rule }) => rule.input)).toEqual([{ order: '*' }, { order: '1' }])
  expect(withoutRule).toEqual([])
  await refund('a*')
  expect((await now()).withoutRule).toMatchObject([
    { calls: { length: 2 }, reason: expect.stringContaining('no pattern names the value of "order"') },
  ])
})

test('what a rule would not answer is said and not suggested: sensitive paths, asks and denies of the policy, several people', async () => {
  const place = makePlace()
  const office = await openOffice(place)
  for (const path of ['.env', 'legal/a', 'law/b', 'ok'])
    for (let count = 0; count < 2; count++) await office.write(path)
  const file = (path: string) => `handrail:file:${place.project}/${path}`
  const rules = [
    { id: 'legal', effect: 'ask', resources: [file('legal/**')] },
    { id: 'law', effect: 'deny', resources: [file('law/**')] },
  ]
  writeFileSync(join(place.home, 'policy.json'), JSON.stringify({ rules }))
  const { suggested, withoutRule } = await suggest(place)
  expect(suggested.map(({ rule }) => rule.resources)).toEqual([[file('ok')]])
  expect(withoutRule.map(({ reason }) => reason).sort()).toEqual([
    expect.stringContaining('defaults/sensitive-path would still ask'),
    expect.stringContaining('policy/law would deny'),
    expect.stringContaining('policy/legal would still ask'),
  ])
  const approvers = [{ tools: ['code.*'], needed: 2, approvers: ['ann', 'bob'] }]
  writeFileSync(join(place.home, 'policy.json'), JSON.stringify({ approvers }))
  const several = await suggest(place)
  expect(several.suggested).toEqual([])
  expect(several.withoutRule).toMatchObject([
    { calls: { length: 8 }, reason: expect.stringContaining('2 people') },
  ])
})

test('a secret stands in no rule: where a rule would need it, none is suggested and it is said why', async () => {
  const secret = 'ghp_abcdefghijklmnopqrstuvwxyz0123456789'
  const place = makePlace()
  const office = await openOffice(place)
  for (let count = 0; count < 2; count++) {
    await office.command('touch', secret)
    await office.write('a.md', { content: secret })
  }
  const told = await handrail(place, ['policy', 'suggest', '--json'])
  const { suggested, withoutRule } = jsonOf<Suggestions>(told)
  expect(suggested.map(({ tool }) => tool)).toEqual(['code.write_file'])
  expect(withoutRule).toMatchObject([
    { tool: 'code.run_command', calls: { length: 2 }, reason: expect.stringContaining('name a secret') },
  ])
  expect(told.stdout).not.toContain('ghp_')
  expect(told.stdout).not.toContain('[redacted]')
})

test('approvals of one tenant make no rule for another, and a rule goes to its tenant alone', async () => {
  const policy = { tenants: { acme: {}, zeta: {} } }
  const place = makePlace({}, { 'policy.json': policy })
  const office = await openOffice(place, { policy }, (actor) => (actor === 'eve' ? 'deny' : 'allow_once'))
  for (const tenant of ['acme', 'zeta']) await office.write('a.md', { tenant })
  expect((await suggest(place)).suggested).toEqual([])
  await office.write('a.md', { tenant: 'acme' })
  await office.write('a.md', { tenant: 'zeta', actor: 'eve' })
  const { suggested } = await suggest(place)
  expect(suggested).toMatchObject([{ tenant: 'acme', place: '/tenants/acme/rules/0', others: [] }])
  expect(await suggest(place, '--tenant', 'zeta')).toMatchObject({ suggested: [] })
})

test('a yes for the session counts once, calls that it let through count as such, and a pruned or older tool makes no rule', async () => {
  const place = makePlace()
  const office = await openOffice(place, {}, () => 'allow_for_session')
  const session = office.as()
  const write = () => session.call('code.write_file', { path: 'a.md', content: 'x', overwrite: true })
  for (let count = 0; count < 3; count++) await write()
  expect((await suggest(place)).suggested).toEqual([])
  await office.write('a.md')
  const { suggested } = await suggest(place)
  expect(suggested).toMatchObject([{ approved: { length: 2 } }])
  expect(suggested[0]?.others.map(({ was, by }) => `${was} by ${by}`)).toEqual([
    'allowed by session-approval/session',
    'allowed by session-approval/session',
  ])
  const { runtime } = office
  const other = codeTools()
    .list()
    .map((tool) => ({
      ...tool,
      definition: { ...tool.definition, version: '2.0.0' },
    }))
  const changed = await suggestRules({
    store: runtime.store,
    runtime: { project: place.project, tools: other },
  })
  expect(changed).toMatchObject({
    suggested: [],
    withoutRule: [{ reason: expect.stringContaining('another one by now') }],
  })
  runtime.store.prune({ tenant: 'local', at: Date.now() + 1 })
  expect((await suggest(place)).withoutRule).toMatchObject([{ reason: expect.stringContaining('pruned') }])
})

test('a command that was tried and whose changes a person let land has a rule too', async () => {
  const place = makePlace({}, { 'config.json': { shell: true } })
  const office = await openOffice(place)
  for (let count = 0; count < 2; count++) await office.shell('sort -o out.txt /etc/hostname')
  expect((await suggest(place)).suggested).toMatchObject([
    { rule: { commands: ['sort -o out.txt /etc/hostname'] } },
  ])
})

test('a rule speaks of the roles of the session and of those above it, and lets no other role through', async () => {
  const place = makePlace()
  const { runtime, tools } = await openShop(place.store, {
    approve: async () => ({ decision: 'allow_once', by: 'ann' }),
    allowedTools: ['shop.*'],
  })
  const parent = runtime.session({ actor: 'bot' })
  const child = runtime.session({ parent, role: 'orchestrator' })
  const fork = runtime.session({ parent, role: 'fork', allowedTools: ['shop.refund'] })
  for (const session of [child, child, fork, fork]) await session.call('shop.refund', { order: '1' })
  const { suggested, withoutRule } = await suggestRules({
    store: runtime.store,
    runtime: { project: place.project, tools, allowedTools: ['shop.*'] },
  })
  expect(suggested).toMatchObject([
    { rule: { roles: ['main', 'orchestrator'], input: { order: '1' } }, others: [] },
  ])
  expect(withoutRule).toMatchObject([
    { calls: { length: 2 }, reason: expect.stringContaining('by its role') },
  ])
})

test('a rule that the policy would not take is not suggested, and calls that a standing consent let through are told', async () => {
  const place = makePlace()
  const { runtime, tools } = await openShop(place.store, {
    approve: async () => ({ decision: 'allow_once', by: 'ann' }),
  })
  const refund = () => runtime.session({ actor: 'bot' }).call('shop.refund', { order: '1' })
  for (let count = 0; count < 2; count++) await refund()
  await runtime.consents.give({ tool: 'shop.refund', givenBy: 'ann' })
  await refund()
  const options = { project: place.project, tools }
  const { suggested } = await suggestRules({ store: runtime.store, runtime: options })
  expect(suggested).toMatchObject([
    { approved: { length: 2 }, others: [{ was: 'allowed', by: 'consent/standing-consent' }] },
  ])
  const opposite = { ...suggested[0]?.rule, id: 'never', effect: 'ask' as const }
  const refused = await suggestRules({
    store: runtime.store,
    runtime: { ...options, policy: { rules: [opposite] } },
  })
  expect(refused).toMatchObject({
    suggested: [],
    withoutRule: [{ reason: expect.stringMatching(/would not take it|would still ask/) }],
  })
})

test('a program foresees another policy: what differs from the one in force, and what the same calls were decided as', async () => {
  const place = makePlace()
  const office = await openOffice(place)
  await office.write('a.md')
  await office.as().call('code.read_file', { path: 'a.md' })
  const runtime = {
    project: place.project,
    tools: [codeTools()],
    policy: { rules: [{ id: 'yes', effect: 'allow' as const, tools: ['code.write_file'] }] },
  }
  const { store } = office.runtime
  const denies = {
    rules: [{ id: 'no', effect: 'deny' as const, tools: ['code.write_file', 'code.wirte_file'] }],
  }
  const found = await foreseePolicy({
    store,
    runtime,
    policy: denies,
    cases: [{ tool: 'code.write_file', input: { path: 'a', content: '' }, expect: { effect: 'allow' } }],
  })
  expect(found).toMatchObject({
    judged: 2,
    different: [
      {
        tool: 'code.write_file',
        was: { effect: 'ask', rule: 'write' },
        now: { effect: 'allow', rule: 'yes' },
        would: { effect: 'deny', rule: 'no' },
      },
    ],
    notes: [{ pointer: '/rules/0/tools/1' }],
    cases: 1,
    failures: [{ expected: 'allow', found: 'deny by policy/no' }],
  })
  expect(await foreseePolicy({ store, runtime, policy: runtime.policy })).toMatchObject({ different: [] })
  expect((await foreseePolicy({ store, runtime, policy: denies, tenants: ['acme'] })).judged).toBe(0)
})

const bank: Operation = { kind: 'net', host: 'bank.example', url: 'https://bank.example/pay' }
const program = { kind: 'process', executable: '/usr/bin/env', argv: ['env', 'pay'] } as const
const toBank = { capabilities: { net: { hosts: ['bank.example'] } } }
const runs = { sideEffect: 'process', capabilities: { proc: { executables: ['env'] } } } as const

test.each<[string, (cwd: string) => readonly Operation[], { manifest: object; reached: object }]>([
  ['that reaches nothing', () => [], { manifest: toBank, reached: {} }],
  [
    'of a server elsewhere',
    () => [bank],
    { manifest: toBank, reached: { resources: ['handrail:host:bank.example'] } },
  ],
  [
    'of a server elsewhere, which gets a file too',
    (cwd) => [bank, { kind: 'fs.read', path: join(cwd, 'bill.pdf') }],
    {
      manifest: { capabilities: { ...toBank.capabilities, fs: { read: ['project'] } } },
      reached: {
        resources: [expect.stringMatching(/^handrail:file:.*\/bill\.pdf$/), 'handrail:host:bank.example'],
      },
    },
  ],
  [
    'that only reads a file',
    (cwd) => [{ kind: 'fs.read', path: join(cwd, 'bill.pdf') }],
    {
      manifest: { capabilities: { fs: { read: ['project'] } } },
      reached: { resources: [expect.stringMatching(/\/bill\.pdf$/)] },
    },
  ],
  [
    'that hands it to a program',
    (cwd) => [{ ...program, cwd }],
    { manifest: runs, reached: { commands: ['env pay'] } },
  ],
])(
  'a rule that is made of approved calls of a tool %s lets none through that is given something else',
  async (_what, reach, { manifest, reached }) => {
    const place = makePlace()
    const pay = defineTool({
      name: 'bank.pay',
      description: 'Pays.',
      permission: 'write',
      input: { type: 'object', properties: { to: { type: 'string' }, more: { type: 'boolean' } } },
      plan: () => ({ operations: reach(place.project) }),
      ...manifest,
      run: () => 'paid',
    })
    const options = { project: place.project, tools: [pay] }
    const approve = async () => ({ decision: 'allow_once' as const, by: 'ann' })
    const runtime = await openRuntime({ ...options, approve })
    for (const input of [{ to: 'bob' }, { to: 'bob' }]) await runtime.session().call('bank.pay', input)
    const { suggested } = await suggestRules({ store: runtime.store, runtime: options })
    const rules = suggested.map(({ rule }) => rule)
    expect(rules).toMatchObject([{ ...reached, input: { to: 'bob' }, inputOnly: true }])
    const effects = async (policy: Policy, ...inputs: object[]) => {
      const session = (await openRuntime({ ...options, approve, policy })).session()
      return Promise.all(inputs.map(async (input) => (await session.preflight('bank.pay', input)).effect))
    }
    expect(await effects({ rules }, { to: 'bob' }, { to: 'eve' }, { to: 'bob', more: true }, {})).toEqual([
      'allow',
      'ask',
      'ask',
      'ask',
    ])
    await runtime.session().call('bank.pay', {})
    await runtime.session().call('bank.pay', {})
    const all = await suggestRules({ store: runtime.store, runtime: options })
    const empty = all.suggested.map(({ rule }) => rule).filter(({ input }) => input === undefined)
    expect(await effects({ rules: empty }, {}, { to: 'bob' })).toEqual(['allow', 'ask'])
  },
)
