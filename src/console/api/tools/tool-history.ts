import type { Store } from '../../../contract/store.ts'
import { findCalls } from '../../../evidence/find-calls.ts'
import { findNotes } from '../../../evidence/find-notes.ts'

/** So many calls of a tool are counted at most, and so many notes looked through: the newest. */
export const looked = { calls: 500, notes: 500 } as const

export const usage = {
  type: 'object',
  description: `Of the last ${looked.calls} calls of the tool.`,
  properties: {
    calls: { type: 'integer' },
    ok: { type: 'integer' },
    failed: { type: 'integer' },
    denied: { type: 'integer' },
    p95Ms: {
      type: 'number',
      description: 'How long 95 of 100 calls took at most. Absent if none has ended.',
    },
  },
  required: ['calls', 'ok', 'failed', 'denied'],
} as const

export const history = {
  type: 'array',
  description: `What became of its definition and state, the newest first, in the last ${looked.notes} notes.`,
  items: {
    type: 'object',
    properties: {
      at: { type: 'integer' },
      event: { type: 'string' },
      message: { type: 'string' },
      actor: { type: 'string' },
    },
    required: ['at', 'event', 'message'],
  },
} as const

/** How a tool was used. */
export function countUsage(store: Store, tenant: string, tool: string) {
  const calls = findCalls(store, { tenants: [tenant], tool, limit: looked.calls })
  const of = (...outcomes: readonly string[]): number =>
    calls.filter(({ outcome }) => outcomes.includes(outcome)).length
  const times = calls
    .flatMap((call) => (call.outcome === 'running' ? [] : [call.durationMs]))
    .toSorted((one, other) => one - other)
  const p95Ms = times[Math.ceil(times.length * 0.95) - 1]
  return {
    calls: calls.length,
    ok: of('ok'),
    failed: of('failed', 'unknown'),
    denied: of('denied'),
    ...(p95Ms !== undefined && { p95Ms }),
  }
}

/** What happened to a tool, the newest first. */
export function findHistory(store: Store, tenants: readonly string[], tool: string) {
  return findNotes(store, { tenants, limit: looked.notes })
    .filter((note) => note.tool === tool)
    .map(({ at, event, message, actor }) => ({
      at,
      event,
      message,
      ...(actor !== undefined && actor !== '' && { actor }),
    }))
}
