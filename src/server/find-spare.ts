import type { Front } from './front.ts'

/** A session that may have to make room for another. */
export interface Spare {
  /** Key of the caller whose session it is. */
  readonly caller: string
  readonly front: Front | undefined
  readonly seenAt: number
  /** Whether a request waits for its answer, or a task runs. Such a session makes room for none. */
  readonly isAtWork: boolean
}

/**
 * The session that makes room for one more of `caller`; undefined when none does. It is one of the caller that has the most, and another
 * caller's only if that one has more than `caller`: a caller that opens many sessions ends its own ones. First come sessions whose client
 * has nothing to come back for, neither a call that did not end nor a task; of these the longest idle.
 */
export function findSpare<Session extends Spare>(
  sessions: readonly Session[],
  caller: string,
): Session | undefined {
  const counts = new Map<string, number>()
  for (const { caller: of } of sessions) counts.set(of, (counts.get(of) ?? 0) + 1)
  const countOf = ({ caller: of }: Spare): number => (counts.get(of) ?? 0) + Number(of === caller)
  const own = (counts.get(caller) ?? 0) + 1
  const [spare] = sessions
    .filter((each) => !each.isAtWork && countOf(each) >= own)
    .toSorted((a, b) => countOf(b) - countOf(a) || byNeed(a, b))
  return spare
}

function byNeed(a: Spare, b: Spare): number {
  return Number(isAwaited(a)) - Number(isAwaited(b)) || a.seenAt - b.seenAt
}

function isAwaited({ front }: Spare): boolean {
  return front !== undefined && (front.client.running > 0 || (front.tasks?.size ?? 0) > 0)
}
