import type { FromSchema } from '../../define/infer-input.ts'

/** The chain of a tenant. */
export const chainRow = {
  type: 'object',
  properties: {
    tenant: { type: 'string', description: 'Empty for what concerns all tenants.' },
    records: { type: 'integer' },
    hash: {
      type: 'string',
      description: 'Of its last record: a person who keeps it can tell later that none before was changed.',
    },
  },
  required: ['tenant', 'records', 'hash'],
} as const

export type ChainRow = FromSchema<typeof chainRow>

/** A note in a list. */
export const noteRow = {
  type: 'object',
  properties: {
    tenant: { type: 'string' },
    sequence: { type: 'integer', description: 'Where it stands in the chain of its tenant.' },
    at: { type: 'integer', description: 'In milliseconds since the epoch.' },
    event: { type: 'string' },
    message: { type: 'string' },
    actor: { type: 'string', description: 'Who did it. Absent if no actor did.' },
    tool: { type: 'string' },
    call: { type: 'string' },
  },
  required: ['tenant', 'sequence', 'at', 'event', 'message'],
} as const

export type NoteRow = FromSchema<typeof noteRow>

/** What a verification found. */
export const verification = {
  type: 'object',
  properties: {
    ok: { type: 'boolean' },
    records: { type: 'integer' },
    calls: { type: 'integer' },
    withoutResult: { type: 'integer', description: 'Calls whose result was pruned.' },
    signed: {
      type: 'object',
      properties: {
        records: { type: 'integer' },
        pending: { type: 'integer' },
        keys: { type: 'array', items: { type: 'string' } },
      },
      required: ['records', 'pending', 'keys'],
    },
    issue: {
      type: 'object',
      description: 'The first thing that is wrong. Absent if nothing is.',
      properties: {
        tenant: { type: 'string' },
        sequence: { type: 'integer' },
        call: { type: 'string' },
        problem: { type: 'string' },
        message: { type: 'string' },
      },
      required: ['tenant', 'sequence', 'call', 'problem', 'message'],
    },
  },
  required: ['ok', 'records', 'calls'],
} as const

export type Verified = FromSchema<typeof verification>
