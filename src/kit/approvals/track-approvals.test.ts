import { expect, onTestFinished, test, vi } from 'vitest'
import type { PendingApproval } from '../../contract/pending-approval.ts'
import type { Runtime } from '../../contract/runtime.ts'
import { trackApprovals } from './track-approvals.ts'

/** A question that waits in another process, until it is taken away; and what the records of its call say by then. */
function trackOne() {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const approval = {
    id: 'apr_1',
    tenant: 'local',
    request: { callId: 'call_1' },
    answers: [],
    expiresAt: Date.now() + 3_600_000,
  } as unknown as PendingApproval
  let listener: (waiting: readonly PendingApproval[]) => void = () => {}
  let end: object | undefined
  const told: string[] = []
  const runtime = {
    approvals: {
      watch(tell: typeof listener) {
        listener = tell
        return () => {}
      },
      find: () => undefined,
    },
    store: {
      *records({ kind }: { kind: string }) {
        if (kind === 'end' && end !== undefined) yield { text: JSON.stringify(end) }
      },
    },
  } as unknown as Pick<Runtime, 'approvals' | 'store'>
  onTestFinished(
    trackApprovals(runtime, ({ event, approval: { state } }) =>
      told.push(state === undefined ? event : `${event}: ${state}`),
    ),
  )
  listener([approval])
  listener([])
  return {
    told,
    pass: (ms: number) => void vi.advanceTimersByTime(ms),
    record: (more: object) => (end = { kind: 'end', call: 'call_1', at: Date.now(), ...more }),
  }
}

test('an answer whose record is written late is told as that answer', () => {
  const { told, pass, record } = trackOne()
  pass(30_000)
  expect(told).toEqual(['requested'])
  record({ approval: { decision: 'deny', by: 'ann' } })
  pass(5_000)
  expect(told).toEqual(['requested', 'decided: denied'])
})

test('a question whose call ended without an answer was withdrawn', () => {
  const { told, pass, record } = trackOne()
  pass(5_000)
  record({})
  pass(5_000)
  expect(told).toEqual(['requested', 'withdrawn'])
})
