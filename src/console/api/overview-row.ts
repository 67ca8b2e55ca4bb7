import type { FromSchema } from '../../define/infer-input.ts'

const count = { type: 'integer' } as const

/** How many calls ended how. */
const counts = {
  calls: count,
  ok: count,
  denied: count,
  failed: { type: 'integer', description: 'And those whose outcome is unknown.' },
  aborted: count,
  open: { type: 'integer', description: 'Those that run, or wait for a person.' },
} as const

/** What runs of agents cost. */
const spend = {
  runs: count,
  tokens: count,
  cost: { type: 'number', description: 'In the currency of prices.json.' },
} as const

/** What happened within a time, in numbers. */
export const overview = {
  type: 'object',
  properties: {
    since: { type: 'integer', description: 'In milliseconds since the epoch, like `until` and `at`.' },
    until: { type: 'integer' },
    isWhole: {
      type: 'boolean',
      description: 'Whether all calls of that time are counted by now. If not, the next answer has more.',
    },
    counts: {
      type: 'object',
      properties: counts,
      required: ['calls', 'ok', 'denied', 'failed', 'aborted', 'open'],
    },
    times: {
      type: 'array',
      description: 'The same time in parts of one length.',
      items: {
        type: 'object',
        properties: {
          at: count,
          ...counts,
          waited: {
            type: 'integer',
            description: 'Questions that waited for a person then. Absent of what is more than a day ago.',
          },
          ...spend,
        },
        required: ['at', 'calls', 'ok', 'denied', 'failed', 'aborted', 'open', 'runs', 'tokens', 'cost'],
      },
    },
    tools: {
      type: 'array',
      description: 'The tools that were called, the most called first.',
      items: {
        type: 'object',
        properties: {
          tool: { type: 'string' },
          ...counts,
          p95Ms: {
            type: 'integer',
            description: 'So long took 95 of 100 of its calls at most, to two digits; absent if none ended.',
          },
        },
        required: ['tool', 'calls', 'ok', 'denied', 'failed', 'aborted', 'open'],
      },
    },
    approvals: {
      type: 'object',
      description: 'Questions to persons that were answered in that time, and those that wait now.',
      properties: {
        waiting: count,
        answered: count,
        medianMs: { type: 'integer', description: 'How long half of the answered ones waited at most.' },
        longestMs: { type: 'integer' },
      },
      required: ['waiting', 'answered'],
    },
    spend: {
      type: 'object',
      description: 'What the runs of agents that began in that time cost so far.',
      properties: {
        ...spend,
        isWhole: {
          type: 'boolean',
          description: 'Whether all of these runs are counted: of each tenant, the newest 500 are.',
        },
      },
      required: ['runs', 'tokens', 'cost', 'isWhole'],
    },
  },
  required: ['since', 'until', 'isWhole', 'counts', 'times', 'tools', 'approvals', 'spend'],
} as const

export type Overview = FromSchema<typeof overview>
