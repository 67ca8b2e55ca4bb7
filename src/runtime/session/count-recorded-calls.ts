import type { EndRecord } from '../../contract/evidence.ts'
import type { Store } from '../../contract/store.ts'
import { readRecord } from '../../kit/result/read-record.ts'

/** How many calls of a session, and of those below it, ran or may have run, by the evidence. */
export function countRecordedCalls(
  store: Store,
  { tenant, session, since }: { tenant: string; session: string; since: number },
): number {
  const begun = new Set<string>()
  for (const { kind, call, text, body } of store.records({ tenant })) {
    if (kind === 'begin') {
      const begin = readRecord(text, 'begin')
      const isOf =
        begin.session === session || begin.parents?.some((parent) => parent.session === session) === true
      if (isOf && begin.at >= since) begun.add(call)
    } else if (kind === 'end' && begun.has(call) && !mayHaveRun(readRecord(text, 'end'), body))
      begun.delete(call)
  }
  return begun.size
}

/** A call that was refused did not run, nor did one that got the result of an earlier one. */
function mayHaveRun({ outcome, code, reason }: EndRecord, body: string | null): boolean {
  if (body?.includes('"replayed":true') === true && isReplayed(body)) return false
  if (outcome === 'denied' || code === 'IDEMPOTENCY.CONFLICT') return false
  return reason !== 'invalid_input' && reason !== 'run_cancelled' && reason !== 'not_run_after_failed_write'
}

function isReplayed(body: string): boolean {
  const { metadata } = JSON.parse(body) as { metadata?: { replayed?: boolean } }
  return metadata?.replayed === true
}
