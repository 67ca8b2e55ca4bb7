import type { ClientServer } from '../client-server.ts'

/** A session that may have to make room for another. */
export interface Spare {
  /** Key of the caller whose session it is. */
  readonly caller: string
  readonly clientServer: ClientServer | undefined
  readonly seenAt: number
  /** Whether a request waits for its answer, or a task runs. Such a session makes room for none. */
  readonly isAtWork: boolean
}

/**
 * The session that makes room for one more of `caller`; undefined when none does. It is one of the caller that has the most, and another
 * caller's only if that one has more than `caller`: a caller that opens many sessions ends its own ones. First come sessions whose client
 * has nothing to come back for, neither a call that did not end nor a task or job; of these the longest idle.
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

/** Whether the client of a session has something to come back for, which ends with it. */
export function isAwaited({ clientServer }: Pick<Spare, 'clientServer'>): boolean {
  if (clientServer === undefined) return false
  const { client, tasks } = clientServer
  return client.running > 0 || client.jobs > 0 || (tasks?.size ?? 0) > 0
}

/** What the log says where such a session was ended for another one. */
export const madeRoom =
  'mcp: no session without unfinished work could end, so the longest idle one with some made room for a new one. Its calls, jobs and tasks ended with it. Raise "maxSessions", or have clients end their sessions.'
