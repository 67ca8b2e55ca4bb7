import type { FromSchema } from '../../define/infer-input.ts'

/** An MCP server whose tools are imported. */
export const serverRow = {
  type: 'object',
  properties: {
    server: { type: 'string', description: 'As mcp.json names it.' },
    source: { type: 'string' },
    state: {
      type: 'string',
      description:
        'idle, connecting, open, failed or closed; shared of one that this server reached for another tenant first.',
    },
    tools: { type: 'array', items: { type: 'string' }, description: 'Canonical names.' },
    held: {
      type: 'array',
      items: { type: 'string' },
      description: 'Tools whose definition changed and waits for approval.',
    },
    leftOut: {
      type: 'array',
      items: {
        type: 'object',
        properties: { tool: { type: 'string' }, message: { type: 'string' } },
        required: ['tool', 'message'],
      },
    },
    tenant: {
      type: 'string',
      description: 'For whom this was found out, and who a login would be for. Absent if it is shared.',
    },
    wantsLogin: { type: 'boolean', description: 'Whether it failed as no person is logged in there.' },
    revision: { type: 'string', description: 'Of the protocol, while it is open.' },
    fault: { type: 'string', description: 'Why it failed last. Absent if it did not.' },
    remedy: { type: 'string', description: 'What to do about that, or what could be better.' },
    log: { type: 'string', description: 'The last of what it said beside the protocol; secrets redacted.' },
  },
  required: ['server', 'source', 'state', 'tools', 'held', 'leftOut', 'wantsLogin'],
} as const

export type ServerRow = FromSchema<typeof serverRow>

/** An entry of the file of servers that cannot be used. */
export const faultyEntry = {
  type: 'object',
  properties: {
    server: { type: 'string', description: 'Empty for the file itself.' },
    messages: { type: 'array', items: { type: 'string' } },
  },
  required: ['server', 'messages'],
} as const

export type FaultyEntry = FromSchema<typeof faultyEntry>
