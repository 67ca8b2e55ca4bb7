import type { EndRecord } from '../../contract/evidence.ts'
import type { PendingApproval, RecordedAnswer } from '../../contract/pending-approval.ts'
import type { Runtime } from '../../contract/runtime.ts'
import { readRecord } from '../result/read-record.ts'
import { longestMs } from '../time/longest-ms.ts'

/** What became of a question that waits for a person. */
export interface ApprovalChange {
  /** `answered`: one of several people said yes. `withdrawn`: its call ended before an answer came. */
  readonly event: 'requested' | 'answered' | 'decided' | 'expired' | 'withdrawn'
  /** As it is after that. */
  readonly approval: PendingApproval
}

type Tracked = Pick<Runtime, 'approvals' | 'store'>

/** What a waiting call used at once, or why it was left, is in its records, which may be written later: soon, or after a while on a busy disk. */
const lookAgainMs = 100
const quickLooks = 10
const lookLaterMs = 1_000

/** Tells of each question of a store that waits, and of its end, in whatever process. Tells first of those that wait already. Returns what ends it. */
export function trackApprovals(runtime: Tracked, tell: (change: ApprovalChange) => void): () => void {
  const open = new Map<string, PendingApproval>()
  const timers = new Set<NodeJS.Timeout>()
  const later = (ms: number, act: () => void): void => {
    const timer = setTimeout(() => {
      timers.delete(timer)
      act()
    }, ms).unref()
    timers.add(timer)
  }
  const end = (last: PendingApproval, looks = 0): void => {
    const change = findEnd(runtime, last)
    if (change !== undefined) tell(change)
    else later(looks < quickLooks ? lookAgainMs : lookLaterMs, () => end(last, looks + 1))
  }
  const expire = (id: string): void => {
    const last = open.get(id)
    if (last === undefined) return
    const leftMs = last.expiresAt - Date.now()
    if (leftMs > 0) return later(Math.min(leftMs, longestMs), () => expire(id))
    open.delete(id)
    end(last)
  }
  const stop = runtime.approvals.watch((waiting) => {
    const ids = new Set(waiting.map(({ id }) => id))
    for (const [id, last] of open) {
      if (ids.has(id)) continue
      open.delete(id)
      end(last)
    }
    for (const approval of waiting) {
      const known = open.get(approval.id)
      open.set(approval.id, approval)
      if (known === undefined) {
        tell({ event: 'requested', approval })
        expire(approval.id)
      } else if (known.answers.length < approval.answers.length) tell({ event: 'answered', approval })
    }
  })
  return () => {
    stop()
    for (const timer of timers) clearTimeout(timer)
  }
}

/** How a question ended; undefined if that cannot be told yet. */
function findEnd(runtime: Tracked, last: PendingApproval): ApprovalChange | undefined {
  const approval = runtime.approvals.find(last.id)
  if (approval?.state === 'expired') return { event: 'expired', approval }
  if (approval !== undefined) return { event: 'decided', approval }
  const { answer, isExpired, hasEnded } = findInRecords(runtime, last)
  if (answer !== undefined) return { event: 'decided', approval: withAnswer(last, answer) }
  if (isExpired || last.expiresAt <= Date.now())
    return { event: 'expired', approval: { ...last, state: 'expired' } }
  return hasEnded ? { event: 'withdrawn', approval: last } : undefined
}

/** What the records of the call that asked say of the answer. */
function findInRecords(
  { store }: Tracked,
  { tenant, request: { callId } }: PendingApproval,
): { answer: RecordedAnswer | undefined; isExpired: boolean; hasEnded: boolean } {
  const of = (kind: 'begin' | 'end') => [...store.records({ tenant, call: callId, kind, limit: 1 })][0]
  const [begin, end] = [of('begin'), of('end')]
  const begun = begin && readRecord(begin.text, 'begin')
  const ended = end && readRecord(end.text, 'end')
  const found = [begun, ended].find((record) => record?.approval !== undefined)
  return {
    answer: found?.approval && toAnswer(found.approval, found.at),
    isExpired: ended?.reason === 'callback_timeout',
    hasEnded: end !== undefined,
  }
}

function toAnswer(
  { decision, by = '', reason }: NonNullable<EndRecord['approval']>,
  at: number,
): RecordedAnswer | undefined {
  const known = (['allow_once', 'allow_for_session', 'deny'] as const).find((each) => each === decision)
  return known && { decision: known, by, at, ...(reason !== undefined && { reason }) }
}

function withAnswer(last: PendingApproval, answer: RecordedAnswer): PendingApproval {
  const state = answer.decision === 'deny' ? 'denied' : 'used'
  return { ...last, state, answers: [...last.answers, answer] }
}
