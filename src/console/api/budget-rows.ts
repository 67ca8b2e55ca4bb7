import type { FromSchema } from '../../define/infer-input.ts'

/** A standing consent in a list. */
export const consentRow = {
  type: 'object',
  properties: {
    id: { type: 'string' },
    tenant: { type: 'string' },
    actor: { type: 'string', description: 'For whom; "*" for every actor of the tenant.' },
    tool: { type: 'string' },
    scope: { type: 'string' },
    givenAt: { type: 'integer', description: 'In milliseconds since the epoch, as every time here.' },
    expiresAt: { type: 'integer' },
    givenBy: { type: 'string' },
    reason: { type: 'string' },
    revokedAt: { type: 'integer' },
    state: {
      type: 'string',
      description: 'holds, revoked, expired, later, or outdated: given to another definition of the tool.',
    },
  },
  required: ['id', 'tenant', 'actor', 'tool', 'scope', 'givenAt', 'expiresAt', 'givenBy', 'state'],
} as const

export type ConsentRow = FromSchema<typeof consentRow>

/** A budget as it stands for an actor, and tools that it stands so for. */
export const budgetRow = {
  type: 'object',
  properties: {
    id: { type: 'string' },
    unit: { type: 'string' },
    limit: { type: 'number' },
    spent: { type: 'number' },
    reserved: { type: 'number', description: 'Held for calls that run, or come next.' },
    left: { type: 'number' },
    endsAt: { type: 'number', description: 'When its window ends. Absent for a budget in total.' },
    tools: {
      type: 'array',
      items: { type: 'string' },
      description:
        'Whose calls it counts, and stands so for. One that counts each tool apart is listed more than once.',
    },
  },
  required: ['id', 'unit', 'limit', 'spent', 'reserved', 'left', 'tools'],
} as const

export type BudgetRow = FromSchema<typeof budgetRow>
