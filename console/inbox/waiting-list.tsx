import type { PendingApproval } from '../api.ts'
import { Countdown } from '../parts/countdown.tsx'
import { isAlike, type Group } from './group-waiting.ts'
import type { Shown } from './use-shown.ts'

/** What waits, by session. Those that have alike ones can be selected. */
export function WaitingList({ groups, shown }: { groups: readonly Group[]; shown: Shown }) {
  return (
    <div>
      {groups.map(({ session, approvals }) => (
        <section key={session} class="group" aria-label={`Session ${session}`}>
          <h2 class="group-head">
            {approvals[0]?.request.principal.actor}{' '}
            <small>
              session …{session.slice(-6)} · {approvals.length === 1 ? '1 waits' : `${approvals.length} wait`}
            </small>
          </h2>
          <ol class="list">
            {approvals.map((approval) => (
              <Row
                key={approval.id}
                approval={approval}
                alikes={countAlikes(approval, approvals)}
                shown={shown}
              />
            ))}
          </ol>
        </section>
      ))}
    </div>
  )
}

function countAlikes(approval: PendingApproval, approvals: readonly PendingApproval[]): number {
  return approvals.filter((each) => isAlike(approval, each)).length
}

interface RowProps {
  readonly approval: PendingApproval
  /** How many are alike, with itself. */
  readonly alikes: number
  readonly shown: Shown
}

function Row({ approval, alikes, shown }: RowProps) {
  const { request } = approval
  return (
    <li class="row">
      {alikes > 1 && (
        <input
          type="checkbox"
          aria-label={`Select ${request.tool}: ${request.inputSummary}`}
          checked={shown.selected.some(({ id }) => id === approval.id)}
          onChange={() => shown.toggle(approval)}
        />
      )}
      <button
        type="button"
        aria-current={approval.id === shown.current?.id}
        onClick={() => shown.show(approval)}
      >
        <strong>{request.tool}</strong>
        <small class="one-line">{request.inputSummary}</small>
        <small>
          ends in <Countdown until={approval.expiresAt} />
        </small>
      </button>
    </li>
  )
}
