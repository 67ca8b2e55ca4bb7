import type { ListedCall } from '../../evidence/find-calls.ts'
import type { FromSchema } from '../../define/infer-input.ts'

/** A call in a list. */
export const callRow = {
  type: 'object',
  properties: {
    tenant: { type: 'string' },
    session: { type: 'string' },
    call: { type: 'string' },
    tool: { type: 'string' },
    actor: { type: 'string' },
    role: { type: 'string' },
    at: { type: 'integer', description: 'When it began, in milliseconds since the epoch.' },
    sequence: { type: 'integer', description: 'Where its begin stands in the chain of its tenant.' },
    outcome: { type: 'string', description: 'ok, failed, denied, aborted, unknown, waiting or running.' },
    durationMs: { type: 'integer' },
    code: { type: 'string' },
    reason: { type: 'string' },
  },
  required: ['tenant', 'session', 'call', 'tool', 'actor', 'role', 'at', 'sequence', 'outcome'],
} as const

export type CallRow = FromSchema<typeof callRow>

export function toRow(listed: ListedCall): CallRow {
  const { tenant, session, call, tool, actor, role, begun, outcome } = listed
  return {
    tenant,
    session,
    call,
    tool,
    actor,
    role,
    at: begun.at,
    sequence: begun.sequence,
    outcome,
    ...(listed.outcome !== 'running' && {
      durationMs: listed.durationMs,
      ...(listed.code !== undefined && { code: listed.code }),
      ...(listed.reason !== undefined && { reason: listed.reason }),
    }),
  }
}
