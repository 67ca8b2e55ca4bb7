import { readRecord } from '../kit/result/read-record.ts'
import type { BeginRecord, EndRecord } from '../contract/evidence.ts'
import type { ToolResult } from '../contract/base/result.ts'
import type { BudgetSettlement, Store } from '../contract/store.ts'
import { callError } from '../kit/result/call-error.ts'
import { digest } from '../kit/json/digest.ts'
import { encodeResult } from '../kit/result/encode-result.ts'
import { plainSummary } from '../kit/result/plain-summary.ts'
import type { RunArchive } from './archive/create-run-archive.ts'

interface Recovery {
  store: Store
  archive?: RunArchive
  now: () => number
}

/**
 * Ends every call that a dead process left open: outcome `unknown`, `IDEMPOTENCY.OUTCOME_UNKNOWN / interrupted`. Returns their
 * number. A call that another process ends at the same time is that one's.
 */
export async function closeOrphans({ store, archive, now }: Recovery): Promise<number> {
  const orphans = store.orphans().map(({ tenant, call }) => readBegin(store, tenant, call))
  if (orphans.length === 0) return 0
  const outcomes = await Promise.allSettled(
    orphans.map(async (begin) => {
      const result = toResult(begin.record)
      const body = encodeResult(result)
      const end = toEnd(begin.record, body, now())
      const settle = settlementOf(begin.record)
      await store.append([{ record: end, body }], settle && { settle: [settle] })
      archive?.ended(begin, end, result)
    }),
  )
  const stillOpen = new Set(store.orphans().map(({ call }) => call))
  for (const [index, outcome] of outcomes.entries())
    if (outcome.status === 'rejected' && stillOpen.has(orphans[index]?.record.call ?? ''))
      throw outcome.reason
  return outcomes.filter((outcome) => outcome.status === 'fulfilled').length
}

function readBegin(store: Store, tenant: string, call: string): { record: BeginRecord; body: string | null } {
  for (const { text, body } of store.records({ tenant, call, kind: 'begin' }))
    // The store returns the text that was made from a begin record.
    return { record: readRecord(text, 'begin'), body }
  throw new Error(
    `The store says that the call "${call}" is open and has no begin of it; verify the evidence.`,
  )
}

function toResult(begin: BeginRecord): ToolResult {
  const message =
    `The process that ran "${begin.tool}" died before the call ended: its effect may or may not have happened. ` +
    `Check by hand, and say what you found with "handrail evidence resolve ${begin.call}"; it is not run again.`
  const error = callError('IDEMPOTENCY.OUTCOME_UNKNOWN', 'interrupted', { message })
  return {
    callId: begin.call,
    toolCallId: begin.toolCallId ?? begin.call,
    tool: begin.tool,
    ok: false,
    outcome: 'unknown',
    content: [{ type: 'text', text: `IDEMPOTENCY.OUTCOME_UNKNOWN (interrupted): ${message}` }],
    summary: plainSummary(begin.tool, error),
    artifacts: [],
    error,
    metadata: { session: begin.session, durationMs: 0 },
  }
}

/** What it spent is not known any more, so it pays for what it could have spent at most. */
function settlementOf({ call, reserved }: BeginRecord): BudgetSettlement | undefined {
  return reserved && { call, spent: reserved }
}

function spentBy({ reserved = [] }: BeginRecord): { spent: EndRecord['spent'] } | undefined {
  if (reserved.length === 0) return undefined
  return { spent: Object.fromEntries(reserved.map(({ budget, units }) => [budget, units])) }
}

/** How long the call ran and what it took in is not known any more. */
function toEnd(begin: BeginRecord, body: string, at: number): EndRecord {
  return {
    kind: 'end',
    tenant: begin.tenant,
    session: begin.session,
    call: begin.call,
    tool: begin.tool,
    at,
    outcome: 'unknown',
    code: 'IDEMPOTENCY.OUTCOME_UNKNOWN',
    reason: 'interrupted',
    result: digest(body),
    bytesIn: 0,
    bytesOut: Buffer.byteLength(body),
    durationMs: 0,
    ...spentBy(begin),
  }
}
