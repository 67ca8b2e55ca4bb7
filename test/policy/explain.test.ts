import {
  codeTools,
  type Mode,
  type Policy,
  type ProjectConfiguration,
  type Runtime,
  type RuntimeOptions,
} from 'handrail'
import type { BeginRecord } from 'handrail/evidence'
import type { TenantPolicy } from 'handrail/policy'
import { expect, test } from 'vitest'
import { makeTool } from '../support/make-tool.ts'
import { makeFolder, openRuntime, personSaying } from '../support/project.ts'

function beginOf(runtime: Runtime, call: string): BeginRecord {
  const [record] = runtime.store.records({ call, kind: 'begin' })
  return JSON.parse(record?.text ?? '{}') as BeginRecord
}

interface Case {
  title: string
  policy?: Policy
  projectConfiguration?: ProjectConfiguration
  mode?: Mode
  tool: string
  input?: unknown
  decided: { effect: 'allow' | 'ask' | 'deny'; layer: string; rule: string }
}

const write = { path: 'docs/a.md', content: 'x' }

const cases: readonly Case[] = [
  {
    title: 'a read-only tool',
    tool: 'code.read_file',
    input: { path: 'a.txt' },
    decided: { effect: 'allow', layer: 'defaults', rule: 'readonly' },
  },
  {
    title: 'a write',
    tool: 'code.write_file',
    input: write,
    decided: { effect: 'ask', layer: 'defaults', rule: 'write' },
  },
  {
    title: 'a sensitive read',
    tool: 'code.read_file',
    input: { path: '.env' },
    decided: { effect: 'ask', layer: 'defaults', rule: 'sensitive-path' },
  },
  {
    title: 'a command',
    tool: 'code.run_command',
    input: { argv: ['ls'] },
    decided: { effect: 'ask', layer: 'defaults', rule: 'dangerous' },
  },
  {
    title: 'a rule with a name',
    policy: {
      rules: [
        {
          id: 'docs',
          effect: 'allow',
          resources: ['handrail:file:{project}/docs/**'],
          reason: 'docs are free',
        },
      ],
    },
    tool: 'code.write_file',
    input: write,
    decided: { effect: 'allow', layer: 'policy', rule: 'docs' },
  },
  {
    title: 'a rule without a name, by its place',
    policy: {
      rules: [
        { effect: 'ask', tools: ['x.y'] },
        { effect: 'deny', tools: ['code.write_file'] },
      ],
    },
    tool: 'code.write_file',
    input: write,
    decided: { effect: 'deny', layer: 'policy', rule: 'policy/rules/1' },
  },
  {
    title: 'a scoped deny',
    policy: { rules: [{ id: 'no-docs', effect: 'deny', resources: ['handrail:file:{project}/docs/**'] }] },
    tool: 'code.write_file',
    input: write,
    decided: { effect: 'deny', layer: 'policy', rule: 'no-docs' },
  },
  {
    title: 'a rule of the project',
    projectConfiguration: { rules: [{ id: 'careful', effect: 'ask', tools: ['code.read_file'] }] },
    tool: 'code.read_file',
    input: { path: 'a.txt' },
    decided: { effect: 'ask', layer: 'project', rule: 'careful' },
  },
  {
    title: 'accept-edits',
    mode: 'accept-edits',
    tool: 'code.write_file',
    input: write,
    decided: { effect: 'allow', layer: 'mode', rule: 'accept-edits' },
  },
  {
    title: 'bypass',
    policy: { allowBypass: true },
    mode: 'bypass',
    tool: 'mail.send',
    decided: { effect: 'allow', layer: 'mode', rule: 'bypass' },
  },
]

test.each(cases)('$title: preflight says before what the evidence says after (PERM-10)', async (given) => {
  const person = personSaying('allow_once')
  const runtime = await openRuntime({
    project: makeFolder({ 'a.txt': 'a', '.env': 'X=1' }),
    tools: [codeTools(), makeTool('mail.send', { permission: 'write' })],
    approve: person.approve,
    ...(given.policy !== undefined && { policy: given.policy }),
    ...(given.projectConfiguration !== undefined && { projectConfiguration: given.projectConfiguration }),
  })
  const session = runtime.session(given.mode === undefined ? {} : { mode: given.mode })
  const before = await session.preflight(given.tool, given.input)
  expect(before.decision).toMatchObject(given.decided)
  expect(before.decision?.reason).not.toBe('')
  const result = await session.call(given.tool, given.input)
  expect(beginOf(runtime, result.callId).decision).toEqual(given.decided)
  expect(beginOf(runtime, result.callId).policy).toBe(runtime.policyDigest)
  if (given.decided.effect === 'deny')
    expect(result.error?.data).toEqual({ layer: given.decided.layer, rule: given.decided.rule })
  if (given.decided.effect === 'ask') expect(person.asked[0]?.because).toMatchObject(given.decided)
})

test('a yes for the session is explained as the grant that it is (PERM-10)', async () => {
  const runtime = await openRuntime({
    tools: [codeTools()],
    approve: personSaying('allow_for_session').approve,
  })
  const session = runtime.session()
  const first = await session.call('code.write_file', { path: 'a.txt', content: '1' })
  const second = await session.call('code.write_file', { path: 'b.txt', content: '2' })
  expect(beginOf(runtime, first.callId)).toMatchObject({
    decision: { effect: 'ask', layer: 'defaults', rule: 'write' },
    approval: { decision: 'allow_for_session' },
  })
  expect(beginOf(runtime, second.callId).decision).toEqual({
    effect: 'allow',
    layer: 'session-approval',
    rule: 'session',
  })
})

test('a decision lists everything that matched, the deciding rule first (PERM-10)', async () => {
  const runtime = await openRuntime({
    tools: [makeTool('demo.write', { permission: 'write' })],
    policy: {
      rules: [
        { id: 'same', effect: 'allow', reason: 'it is harmless' },
        { id: 'b', effect: 'ask', tools: ['demo.*'] },
        { id: 'c', effect: 'deny', tools: ['demo.write'], reason: 'not on Fridays' },
      ],
    },
    projectConfiguration: { rules: [{ id: 'same', effect: 'ask' }] },
  })
  const report = await runtime.session().preflight('demo.write')
  expect(report.decision).toMatchObject({
    effect: 'deny',
    layer: 'policy',
    rule: 'c',
    reason: 'not on Fridays',
  })
  expect(
    report.decision?.verdicts.map((verdict) => `${verdict.layer} ${verdict.rule} ${verdict.effect}`),
  ).toEqual(['policy c deny', 'policy b ask', 'policy same allow', 'project same ask', 'defaults write ask'])
  expect(
    report.alternatives?.map(
      ({ without, ...other }) => `${without.rule} ${other.layer} ${other.rule} ${other.effect}`,
    ),
  ).toEqual(['c policy b ask'])
})

test('an explanation says what stands behind a refusal by the grants (PERM-10, AUTH-1)', async () => {
  const runtime = await openRuntime({
    tools: [makeTool('demo.read')],
    policy: { grants: [{ id: 'desk', actors: ['ann'] }] },
  })
  const refused = await runtime.session().preflight('demo.read')
  expect(refused.alternatives).toMatchObject([
    { without: { layer: 'grants', rule: 'no grant' }, effect: 'allow', layer: 'defaults', rule: 'readonly' },
  ])
  const permitted = await runtime.session({ actor: 'ann' }).preflight('demo.read')
  expect(permitted.decision).toMatchObject({
    layer: 'defaults',
    verdicts: [{ rule: 'readonly' }, { layer: 'grants', rule: 'desk', effect: 'allow' }],
  })
})

test('explaining has no effect: nobody is asked, nothing is written, no evidence is left (PERM-10)', async () => {
  const person = personSaying('allow_once')
  const runtime = await openRuntime({ tools: [codeTools()], approve: person.approve })
  await runtime.session().preflight('code.write_file', write)
  expect(person.asked).toEqual([])
  expect([...runtime.store.records({ kind: 'begin' })]).toEqual([])
})

test('an explanation hides what the policy obliges to hide, in what stands in the file now too (PERM-10)', async () => {
  const obligations = [{ id: 'mail', action: 'redact' as const, patterns: ['\\w+@example\\.com'] }]
  const project = makeFolder({ 'a.md': 'ann@example.com\n' })
  const runtime = await openRuntime({ project, tools: [codeTools()], policy: { obligations } })
  const input = { path: 'a.md', content: 'bob@example.com\n', overwrite: true }
  const session = runtime.session({ approve: personSaying('allow_once').approve })
  await session.call('code.read_file', { path: 'a.md' })
  const { preview, ...report } = await session.preflight('code.write_file', input)
  expect(preview?.body).toContain('+')
  expect(JSON.stringify([preview, report])).not.toMatch(/ann@|bob@/)
})

const folder = import.meta.dirname

/** Values of each option that decide otherwise than its default; none if the option decides nothing, or what it brings is recorded by itself. */
const deciding: { [Name in keyof Required<RuntimeOptions>]: readonly NonNullable<RuntimeOptions[Name]>[] } = {
  policy: [
    { rules: [{ effect: 'deny', tools: ['a.b'] }] },
    { mode: 'plan' },
    { network: { hosts: ['a.example.com'] } },
    { grants: [] },
    { budgets: [{ id: 'day', unit: 'calls', limit: 5, each: [] }] },
    { obligations: [{ id: 'mark', action: 'watermark', text: 'secret' }] },
    { tenants: { local: { disallowedTools: ['a.b'] } } },
  ],
  projectConfiguration: [
    { rules: [{ effect: 'deny', tools: ['a.b'] }] },
    { disallowedTools: ['a.c'] },
    { sensitivePaths: ['own'] },
    { limits: { callsPerSession: 4 } },
  ],
  hooks: [
    [{ name: 'guard', before: () => ({ decision: 'deny' }) }],
    [{ name: 'log', after: () => {} }],
    [{ on: 'PreToolUse', command: ['false'] }],
  ],
  decisionPoints: [
    [{ id: 'own', digest: '1', authorise: () => ({ effect: 'forbid', reason: '' }) as never }],
  ],
  limits: [{ maxTimeoutMs: 1_000 }, { callsPerSession: 3 }, { repeatsPerSession: 3 }],
  sandbox: ['host'],
  network: [{ privateHosts: ['127.0.0.1'] }, { hosts: [] }],
  allowedTools: [['a.b']],
  disallowedTools: [['a.d']],
  deferredTools: [],
  sensitivePaths: [['private']],
  readRoots: [[folder]],
  writeRoots: [[folder]],
  tmp: [true],
  env: [['HOME', 'HANDRAIL_TEST']],
  instructionFiles: [['HOW.md']],
  overlapCalls: [true],
  project: [folder],
  home: [folder],
  approve: [],
  archive: [],
  callbacks: [],
  artifacts: [],
  undo: [],
  duplicates: [],
  feeds: [],
  lookup: [],
  memory: [],
  now: [],
  observers: [],
  agents: [],
  onEvent: [],
  onError: [],
  elicit: [],
  secrets: [],
  signing: [],
  store: [],
  services: [],
  telemetry: [],
  tools: [],
}

test('every option that decides counts in the digest of the policy, and the same options have the same (PERM-10, EVID-2)', async () => {
  process.env['HANDRAIL_TEST'] = '1'
  const places = { project: makeFolder(), home: makeFolder() }
  const digest = async (options: object) => (await openRuntime({ ...places, ...options })).policyDigest
  const plain = await digest({})
  expect(await digest({ policy: {}, disallowedTools: [], hooks: [], sandbox: undefined })).toBe(plain)
  expect(await digest({ tools: [codeTools()], onError: () => {}, secrets: { a: 'b' } })).toBe(plain)
  const found = new Map([[plain, 'none']])
  for (const [name, values] of Object.entries(deciding))
    for (const value of values) {
      const own = await digest({ [name]: value })
      expect([name, value, found.get(own)]).toEqual([name, value, undefined])
      found.set(own, name)
    }
})

test('what the policy says of another tenant counts in no digest but that one (PERM-10)', async () => {
  const places = { project: makeFolder(), home: makeFolder() }
  const digestsOf = async (tenants: Record<string, TenantPolicy>) => {
    const runtime = await openRuntime({ ...places, policy: { tenants } })
    const of = async (tenant: string) => (await runtime.session({ tenant }).available()).policyDigest
    return { acme: await of('acme'), zeta: await of('zeta') }
  }
  const before = await digestsOf({ acme: {}, zeta: {} })
  const after = await digestsOf({ acme: { allowedTools: [] }, zeta: {} })
  expect([after.acme === before.acme, after.zeta === before.zeta]).toEqual([false, true])
})
