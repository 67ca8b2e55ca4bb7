import type { FromSchema } from '../../define/infer-input.ts'
import type { SuggestedRule } from '../../compose/foresight/suggested-rule.ts'
import { toJsonObject } from '../base/to-json-object.ts'

const call = {
  tenant: { type: 'string' },
  call: { type: 'string' },
  tool: { type: 'string' },
  actor: { type: 'string' },
  at: { type: 'integer', description: 'In milliseconds since the epoch.' },
} as const
const callFields = ['tenant', 'call', 'tool', 'actor', 'at'] as const

const namedCall = { type: 'object', properties: call, required: callFields } as const

const letThrough = {
  type: 'object',
  properties: {
    ...call,
    was: { type: 'string', description: 'denied, asked or allowed.' },
    by: { type: 'string', description: 'The layer and rule, or the person.' },
  },
  required: [...callFields, 'was', 'by'],
} as const

/** A rule that would have answered calls in the place of people. */
export const suggestionRow = {
  type: 'object',
  properties: {
    tenant: { type: 'string' },
    tool: { type: 'string' },
    rule: { type: 'object', description: 'As it would stand in the policy.' },
    place: {
      type: 'string',
      description: 'The JSON pointer of its place. Below /rules it is for all tenants.',
    },
    approved: { type: 'array', items: namedCall },
    approvers: { type: 'array', items: { type: 'string' } },
    others: { type: 'array', items: letThrough, description: 'What else it would have let through unasked.' },
    unjudged: { type: 'integer', description: 'Calls of the tool of which nothing can be said.' },
  },
  required: ['tenant', 'tool', 'rule', 'place', 'approved', 'approvers', 'others', 'unjudged'],
} as const

export type SuggestionRow = FromSchema<typeof suggestionRow>

export const withoutRuleRow = {
  type: 'object',
  properties: {
    tenant: { type: 'string' },
    tool: { type: 'string' },
    calls: { type: 'array', items: namedCall },
    reason: { type: 'string' },
  },
  required: ['tenant', 'tool', 'calls', 'reason'],
} as const

export type WithoutRuleRow = FromSchema<typeof withoutRuleRow>

export function toSuggestionRow({
  rule,
  approved,
  approvers,
  others,
  ...rest
}: SuggestedRule): SuggestionRow {
  return {
    ...rest,
    rule: toJsonObject(rule),
    approved: [...approved],
    approvers: [...approvers],
    others: [...others],
  }
}

export const ruleRow = {
  type: 'object',
  properties: {
    pointer: { type: 'string' },
    layer: { type: 'string', description: 'policy, tenant or project.' },
    tenant: { type: 'string' },
    id: { type: 'string', description: 'As the evidence names it.' },
    rule: { type: 'object' },
    hits: { type: 'integer', description: 'Calls that it decided in the last seven days.' },
    lastAt: { type: 'integer' },
    note: { type: 'string', description: 'Why it never counts, if it does not.' },
  },
  required: ['pointer', 'layer', 'id', 'rule', 'hits'],
} as const

export type RuleRow = FromSchema<typeof ruleRow>

export const faultRow = {
  type: 'object',
  properties: {
    pointer: { type: 'string' },
    line: { type: 'integer', description: 'From 1 on.' },
    message: { type: 'string' },
  },
  required: ['pointer', 'line', 'message'],
} as const

export type FaultRow = FromSchema<typeof faultRow>

const decided = {
  type: 'object',
  properties: {
    effect: { type: 'string' },
    layer: { type: 'string' },
    rule: { type: 'string' },
    reason: { type: 'string' },
  },
  required: ['effect', 'layer', 'rule'],
} as const

/** What would come of a policy. */
export const foresightRow = {
  type: 'object',
  properties: {
    faults: { type: 'array', items: faultRow, description: 'With any of them nothing else is said.' },
    notes: {
      type: 'array',
      items: faultRow,
      description: 'What could never count, or is probably misspelt.',
    },
    judged: { type: 'integer' },
    different: {
      type: 'array',
      description:
        'Calls that would be decided in another way than by the policy in force, the oldest first.',
      items: {
        type: 'object',
        properties: { ...call, was: decided, now: decided, would: decided },
        required: [...callFields, 'was', 'now', 'would'],
      },
    },
    unjudged: {
      type: 'array',
      items: {
        type: 'object',
        properties: { reason: { type: 'string' }, calls: { type: 'integer' } },
        required: ['reason', 'calls'],
      },
    },
    isCut: { type: 'boolean', description: 'Whether only the newest calls were looked at.' },
    cases: { type: 'integer', description: 'How many cases of policy-cases.json were tried.' },
    failures: {
      type: 'array',
      items: {
        type: 'object',
        properties: { name: { type: 'string' }, expected: { type: 'string' }, found: { type: 'string' } },
        required: ['name', 'expected', 'found'],
      },
    },
  },
  required: ['faults', 'notes', 'judged', 'different', 'unjudged', 'isCut', 'cases', 'failures'],
} as const

export type ForesightRow = FromSchema<typeof foresightRow>

export const versionRow = {
  type: 'object',
  properties: {
    version: { type: 'integer' },
    digest: { type: 'string' },
    at: { type: 'integer' },
    by: { type: 'string', description: 'Absent if a person or a program wrote it into the file.' },
    reason: { type: 'string' },
    added: { type: 'integer', description: 'Lines, against the version before.' },
    removed: { type: 'integer' },
  },
  required: ['version', 'digest', 'at', 'added', 'removed'],
} as const

export type VersionRow = FromSchema<typeof versionRow>

/** What `/api/policy` says. */
export const policyPage = {
  type: 'object',
  properties: {
    version: { type: 'integer', description: 'Of the policy in force, counted by this process.' },
    file: { type: 'string', description: 'What is edited. Absent if a program gives the policy.' },
    text: { type: 'string', description: 'What the file says. Absent for who may not change it.' },
    digest: { type: 'string', description: 'Of that text.' },
    readOnly: { type: 'string', description: 'Why it cannot be changed here. Absent if it can.' },
    faults: {
      type: 'array',
      items: faultRow,
      description: 'Why the file cannot be used: the version before it is in force.',
    },
    rules: { type: 'array', items: ruleRow },
    mode: { type: 'string' },
  },
  required: ['version', 'faults', 'rules', 'mode'],
} as const

export type PolicyPage = FromSchema<typeof policyPage>
