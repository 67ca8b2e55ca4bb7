import type { JsonSchema } from '../../contract/base/schema.ts'

/** Longer tasks belong in a file that the agent reads. */
const maxTaskLength = 100_000
const maxTimeoutMs = 3_600_000

/** Fields of the tools that start agents. */
export const agentFields = {
  task: {
    type: 'string',
    minLength: 1,
    maxLength: maxTaskLength,
    description:
      'What the agent is to do, with all that it needs to know: it sees nothing else of this conversation.',
  },
  allowedTools: {
    type: 'array',
    items: { type: 'string', minLength: 1, maxLength: 200 },
    minItems: 1,
    maxItems: 500,
    description:
      'The tools that it may use, by name or pattern; it has none that you do not have. Default: those of its kind.',
  },
  pool: { type: 'string', minLength: 1, maxLength: 128 },
  timeoutMs: {
    type: 'integer',
    minimum: 1_000,
    maximum: maxTimeoutMs,
    description: 'Milliseconds until it is ended. Default: an hour.',
  },
} as const satisfies { readonly [field: string]: JsonSchema }

/** What the tools that start agents have in common. */
export const startsAgents = {
  tags: ['agent'] as string[],
  // What its agents do are calls of their own, each decided by itself: to start one changes nothing.
  permission: 'readonly',
  sideEffect: 'none',
  scopes: [{ resource: 'handrail:agent:*', action: 'start' }],
  annotations: { readOnlyHint: false, openWorldHint: true },
  limits: { timeoutMs: maxTimeoutMs + 60_000, concurrency: 1_000 },
} as const
