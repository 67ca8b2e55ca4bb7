import type { FromSchema } from '../../define/infer-input.ts'

/** Which calls are meant. */
export const scopeFields = {
  tools: { type: 'string', minLength: 1, description: 'A name of tools; "*" stands for any letters.' },
  server: { type: 'string', minLength: 1, description: 'As mcp.json names it.' },
  tenant: { type: 'string', minLength: 1 },
  actor: { type: 'string', minLength: 1, description: 'The caller, with the agents that they started.' },
} as const

/** Calls that do not run until a person resumes them. */
export const pauseRow = {
  type: 'object',
  properties: {
    id: { type: 'string' },
    ...scopeFields,
    by: { type: 'string' },
    at: { type: 'number', description: 'Milliseconds since the epoch.' },
    why: { type: 'string' },
  },
  required: ['id', 'by', 'at'],
} as const

export type PauseRow = FromSchema<typeof pauseRow>

/** A call that runs, in any process on the store. */
export const runningRow = {
  type: 'object',
  properties: {
    tenant: { type: 'string' },
    session: { type: 'string' },
    call: { type: 'string' },
    tool: { type: 'string' },
    actor: { type: 'string' },
    at: { type: 'number', description: 'When it began, in milliseconds since the epoch.' },
    here: { type: 'boolean', description: 'Whether this server runs it, or another process on the store.' },
  },
  required: ['tenant', 'session', 'call', 'tool', 'actor', 'at', 'here'],
} as const

/** What became of calls that were told to end. */
export const abortedRow = {
  type: 'object',
  properties: {
    calls: { type: 'array', items: { type: 'string' }, description: 'Those that were told to end.' },
    running: {
      type: 'array',
      items: { type: 'string' },
      description: 'Those of other processes that had not ended after ten seconds.',
    },
  },
  required: ['calls', 'running'],
} as const

export type AbortedRow = FromSchema<typeof abortedRow>
