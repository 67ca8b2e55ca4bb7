import { expect, test } from 'vitest'
import type { Bounds, DecisionFacts, Policy, PolicyEngine, Rule, TenantPolicy } from '../contract/policy.ts'
import type { ToolDefinition } from '../contract/tool/tool.ts'
import { createPolicyEngine } from './create-policy-engine.ts'

const bounds: Bounds = {
  capabilities: {
    fs: { read: ['/work'], write: ['/work'] },
    net: { hosts: ['*'] },
    proc: { executables: ['*'] },
    browser: false,
    tmp: false,
    secrets: [],
  },
  limits: { timeoutMs: 1_000, maxBytesIn: 1_000, maxBytesOut: 1_000 },
}

function engine(
  policy: Policy,
  more: { tenant?: TenantPolicy; projectRules?: readonly Rule[] } = {},
): PolicyEngine {
  return createPolicyEngine({
    digest: '',
    policy,
    tenant: more.tenant,
    projectRules: more.projectRules ?? [],
    sensitivePaths: [],
    bounds,
    defaultTimeoutMs: 1_000,
    home: '/home/ada',
    project: '/work',
    tmp: '/tmp',
  })
}

const writeFile = {
  name: 'code.write_file',
  tags: ['code'],
  permission: 'write',
  sideEffect: 'filesystem',
  safety: 'medium',
  consent: { required: true },
  // What a decision looks at; nothing else of a definition counts here.
} as unknown as ToolDefinition

const facts: DecisionFacts = {
  definition: writeFile,
  principal: { tenant: 'acme', actor: 'ada', role: 'main' },
  mode: 'default',
  operations: [{ kind: 'fs.write', path: '/work/.env' }],
  granted: undefined,
}

const said = (verdicts: readonly { layer: string; rule: string; effect: string }[]) =>
  verdicts.map(({ layer, rule, effect }) => `${layer}/${rule} ${effect}`)

test('an explanation lists what every layer says, the deciding one first and each once', () => {
  const policy: Policy = {
    allowBypass: true,
    rules: [
      { id: 'careful', effect: 'ask', tools: ['code.write_file'] },
      { id: 'edits', effect: 'allow', tools: ['code.*'], sensitive: true },
    ],
  }
  const projectRules: Rule[] = [{ id: 'never', effect: 'deny', resources: ['handrail:file:**/.env'] }]
  const tenant: TenantPolicy = { rules: [{ effect: 'ask', tags: ['code'] }] }
  const { verdicts } = engine(policy, { projectRules, tenant }).explain(facts)
  expect(said(verdicts)).toEqual([
    'project/never deny',
    'policy/careful ask',
    'policy/edits allow',
    'tenant/tenant/rules/0 ask',
    'defaults/sensitive-path ask',
    'defaults/write ask',
  ])
})

test('an answered question is listed with its answer', () => {
  const operations = [{ kind: 'fs.write', path: '/work/a.txt' }] as const
  const accepting = engine({}).explain({ ...facts, operations, mode: 'accept-edits' })
  expect(said(accepting.verdicts)).toEqual(['mode/accept-edits allow', 'defaults/write ask'])
  const granted = engine({}).explain({ ...facts, operations, granted: 'consent' })
  expect(said(granted.verdicts)).toEqual(['consent/standing-consent allow', 'defaults/write ask'])
  const read = {
    ...writeFile,
    permission: 'readonly',
    sideEffect: 'read',
    consent: { required: false },
  } as const
  const reading = engine({}).explain({ ...facts, definition: read as ToolDefinition, operations })
  expect(said(reading.verdicts)).toEqual(['defaults/readonly allow'])
  expect(reading.alternatives).toEqual([])
})

test('alternatives name what would decide, one after the other, until another effect comes out', () => {
  const rules: Rule[] = [
    { id: 'one', effect: 'deny', tools: ['code.write_file'] },
    { id: 'two', effect: 'deny', tools: ['code.*'] },
    { id: 'three', effect: 'allow', sensitive: true },
  ]
  expect(engine({ rules }).explain(facts).alternatives).toEqual([
    {
      without: { layer: 'policy', rule: 'one' },
      effect: 'deny',
      layer: 'policy',
      rule: 'two',
      reason: 'rule "two" says deny',
    },
    {
      without: { layer: 'policy', rule: 'two' },
      effect: 'allow',
      layer: 'policy',
      rule: 'three',
      reason: 'rule "three" says allow',
    },
  ])
})

const steps = (policy: Policy, more: Partial<DecisionFacts>) =>
  engine(policy)
    .explain({ ...facts, ...more })
    .alternatives.map(
      ({ without, layer, rule, effect }) => `${without.layer}/${without.rule} → ${layer}/${rule} ${effect}`,
    )

test('questions, modes, a yes and a denied network can be thought away too', () => {
  const operations = [{ kind: 'fs.write', path: '/work/a.txt' }] as const
  expect(steps({}, {})).toEqual([
    'defaults/sensitive-path → defaults/write ask',
    'defaults/write → defaults/nothing-asks allow',
  ])
  expect(steps({}, { mode: 'plan', operations })).toEqual(['mode/plan → defaults/write ask'])
  expect(steps({ allowBypass: true }, { mode: 'bypass', operations })).toEqual([
    'mode/bypass → defaults/write ask',
  ])
  expect(steps({}, { granted: 'session-approval', operations })).toEqual([
    'session-approval/session → defaults/write ask',
  ])
  expect(steps({}, { granted: 'consent', operations })).toEqual([
    'consent/standing-consent → defaults/write ask',
  ])
  const get = {
    ...writeFile,
    permission: 'readonly',
    sideEffect: 'network',
    consent: { required: false },
  } as const
  expect(steps({ network: { default: 'deny' } }, { definition: get as unknown as ToolDefinition })).toEqual([
    'policy/network → defaults/sensitive-path ask',
  ])
})

test('a rule named "network" is not the policy on the network', () => {
  const rules: Rule[] = [{ id: 'network', effect: 'deny', tools: ['code.*'] }]
  expect(steps({ rules }, {})).toEqual(['policy/network → defaults/sensitive-path ask'])
})

test('the rules of another tenant decide nothing', () => {
  const own: TenantPolicy = { rules: [{ id: 'own', effect: 'deny', tools: ['code.write_file'] }] }
  const policy: Policy = { tenants: { acme: own, other: {} } }
  expect(engine(policy, { tenant: own }).decide(facts)).toMatchObject({
    effect: 'deny',
    layer: 'tenant',
    rule: 'own',
  })
  expect(engine(policy, { tenant: {} }).decide(facts)).toMatchObject({ effect: 'ask' })
})
