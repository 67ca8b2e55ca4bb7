import type { SessionCounts } from '../state/family.ts'
import type { KeptSession } from '../state/session-book.ts'
import { followRecordedCalls, type FollowedSession } from './follow-recorded-calls.ts'

/** Who has a session open. */
interface Openers {
  /** Whether it was never opened before. */
  readonly isNew: boolean
  /** Other processes that have it open. */
  readonly others: () => readonly unknown[]
  /** The same list for as long as nothing of the session changed. */
  readonly now: () => readonly unknown[]
}

/** What a session with an id of its own has done, in whatever process. The evidence is read only while another one has it open, and once after that. */
export function countKeptCalls(
  followed: Omit<FollowedSession, 'countsAll'>,
  { isNew, others, now }: Openers,
): Pick<KeptSession, 'counts' | 'catchUp'> {
  const counts: SessionCounts = { calls: 0, family: { made: 0, changes: 0 }, repeats: new Map() }
  let read: ReturnType<typeof followRecordedCalls> | undefined
  let seen: readonly unknown[] | undefined
  return {
    counts,
    catchUp({ find, countsAll }) {
      const isFirst = read === undefined
      read ??= followRecordedCalls({ ...followed, countsAll }, { counts, isNew })
      const latest = now()
      if (!isFirst && latest === seen && others().length === 0) return
      seen = latest
      read(find)
    },
  }
}
