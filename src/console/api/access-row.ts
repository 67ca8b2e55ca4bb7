import type { FromSchema } from '../../define/infer-input.ts'

const text = { type: 'string' } as const
const texts = { type: 'array', items: text } as const
const time = { type: 'integer', description: 'In milliseconds since the epoch.' } as const

const caller = {
  type: 'object',
  properties: {
    id: text,
    actor: text,
    tenant: text,
    approver: { type: 'boolean', description: 'Whether it may answer approvals.' },
    expiresAt: { ...time, description: 'Absent if never.' },
    state: { type: 'string', description: 'holds or expired.' },
  },
  required: ['id', 'actor', 'tenant', 'approver', 'state'],
} as const

const visit = {
  type: 'object',
  properties: {
    visit: text,
    actor: text,
    name: text,
    roles: {
      type: 'array',
      items: {
        type: 'object',
        properties: { tenant: { type: 'string', description: '"*" is every one.' }, role: text },
        required: ['tenant', 'role'],
      },
    },
    since: time,
    until: time,
    isOwn: { type: 'boolean', description: 'Whether it is the one that asks.' },
    mayEnd: { type: 'boolean', description: 'Whether you may end it.' },
  },
  required: ['visit', 'actor', 'name', 'roles', 'since', 'until', 'isOwn', 'mayEnd'],
} as const

/** Who may connect, get in and decide. */
export const access = {
  type: 'object',
  properties: {
    tenants: texts,
    isOpen: {
      type: 'boolean',
      description: 'Whether every program on the machine may call tools without a token.',
    },
    callers: { type: 'array', items: caller, description: 'Tokens given out by hand, without the tokens.' },
    oauth: {
      type: 'object',
      description:
        'The authorization server whose tokens are taken. Absent if none, or if it is of other tenants.',
      properties: { issuer: text, resource: text, tenant: text, tenantClaim: text, approverScopes: texts },
      required: ['issuer', 'resource'],
    },
    login: {
      type: 'object',
      description: 'Where persons log in to the console. Absent if nowhere.',
      properties: {
        issuer: text,
        url: text,
        rules: {
          type: 'array',
          items: {
            type: 'object',
            properties: { claim: text, value: text, role: text, tenants: texts },
            required: ['claim', 'value', 'role', 'tenants'],
          },
        },
      },
      required: ['issuer', 'url', 'rules'],
    },
    deciders: {
      type: 'array',
      description: 'Who has to say yes, by the policy.',
      items: {
        type: 'object',
        properties: {
          tenants: { ...texts, description: 'Patterns. Absent: all.' },
          tools: { ...texts, description: 'Patterns. Absent: all.' },
          approvers: { ...texts, description: 'Patterns of actors. Absent: all.' },
          needed: { type: 'integer' },
        },
        required: ['needed'],
      },
    },
    webhooks: {
      type: 'array',
      description: 'Who is told of approvals. Of its URL only the host: the rest may be its secret.',
      items: {
        type: 'object',
        properties: {
          host: text,
          tenants: { ...texts, description: 'Patterns. Absent: all.' },
          events: texts,
        },
        required: ['host', 'events'],
      },
    },
    visits: { type: 'array', items: visit, description: 'The newest first.' },
  },
  required: ['tenants', 'isOpen', 'callers', 'deciders', 'webhooks', 'visits'],
} as const

export type Access = FromSchema<typeof access>
