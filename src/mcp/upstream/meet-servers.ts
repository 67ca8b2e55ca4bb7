import { withinMs } from '../../kit/time/within-ms.ts'
import type { Upstream, UpstreamState } from './base/upstream.ts'

/** Connects to servers, a few at once. */
export interface Meetings {
  /** Puts a server at the end of the queue. */
  add(waiting: WaitingServer): void
  /** Takes a server out of the queue. */
  remove(upstream: Upstream): void
  /** Empties the queue. */
  clear(): void
  /** Begins with those that wait. */
  start(): void
  /** Connects to a server at once, whatever waits. Never rejects. */
  meet(waiting: WaitingServer): Promise<void>
  /** Resolves when none waits and none is being connected to; at once if that is so. */
  ended(): Promise<void>
}

/** A server that is connected to when it is its turn. */
export interface WaitingServer {
  readonly upstream: Upstream
  /** Called with what is known of it after the try. */
  readonly onKnown?: ((state: UpstreamState) => void) | undefined
}

/** Servers that are met for the first time at once. */
const meetAtOnce = 8
/** A server that takes longer does not delay those behind it. */
const patienceMs = 3_000

export function createMeetings(): Meetings {
  const meeting = new Set<Promise<void>>()
  const queue: WaitingServer[] = []
  let busy = 0

  const meet = async ({ upstream, onKnown }: WaitingServer): Promise<void> => {
    // The connection that was tried reports why the server does not answer.
    await upstream.refresh().catch(() => {})
    if (onKnown === undefined) return
    await upstream.examine()
    onKnown(upstream.describe())
  }
  const start = (): void => {
    while (busy < meetAtOnce) {
      const waiting = queue.shift()
      if (waiting === undefined) return
      busy++
      let isBusy = true
      const goOn = (): void => {
        if (!isBusy) return
        isBusy = false
        busy--
        start()
      }
      // The next one begins as this one ends, so that never none is met while some wait.
      const work: Promise<void> = meet(waiting).finally(() => {
        goOn()
        meeting.delete(work)
      })
      meeting.add(work)
      void withinMs(work, patienceMs).then(goOn)
    }
  }
  return {
    add: (waiting) => void queue.push(waiting),
    remove(upstream) {
      const at = queue.findIndex((each) => each.upstream === upstream)
      if (at >= 0) queue.splice(at, 1)
    },
    clear: () => void (queue.length = 0),
    start,
    meet,
    async ended() {
      while (meeting.size > 0) await Promise.all(meeting)
    },
  }
}
