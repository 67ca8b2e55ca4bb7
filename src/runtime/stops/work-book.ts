import type { Principal } from '../../contract/base/principal.ts'
import type { AbortScope } from '../../contract/base/stop.ts'
import { meetsScope, type Stoppable } from './meets-scope.ts'

/** Something that runs: a call, or the work of an agent, which has neither tool nor source. */
export interface RunningWork extends Omit<Stoppable, 'tenant' | 'actor'> {
  /** Undefined for agents and jobs. */
  readonly call: string | undefined
  /** When it began, in milliseconds since the epoch. */
  readonly at: number
  stop(reason: string | undefined): void
}

/** A session with work under way, or a run. */
export interface Worker {
  readonly principal: Principal
  /** Its session. */
  readonly session: string
  /** The sessions above it. */
  readonly above: readonly string[]
  running(): readonly RunningWork[]
}

/** A call that was told to end. */
export interface StoppedCall {
  readonly tenant: string
  readonly session: string
  readonly call: string
}

/** What runs in this process. */
export interface WorkBook {
  /** Takes one in that has work now, until it has none. Cheap, and the same one may come often. */
  add(worker: Worker): void
  /** Ends what a scope means and began by then. Returns the calls among it. */
  stop(scope: AbortScope, about: { reason: string | undefined; until: number }): readonly StoppedCall[]
  close(): void
}

/** How often other processes are heard, while something runs. */
const pollMs = 100

/** While anything runs, `look` is called again and again. */
export function createWorkBook(look: (() => void) | undefined): WorkBook {
  const workers = new Set<Worker>()
  let timer: NodeJS.Timeout | undefined
  const rest = (): void => {
    clearInterval(timer)
    timer = undefined
  }
  const poll = (): void => {
    look?.()
    for (const worker of workers) if (worker.running().length === 0) workers.delete(worker)
    if (workers.size === 0) rest()
  }
  return {
    add(worker) {
      workers.add(worker)
      timer ??= setInterval(poll, pollMs).unref()
    },
    stop(scope, { reason, until }) {
      const { call, session } = scope
      const stopped: StoppedCall[] = []
      for (const worker of workers) {
        const { principal, session: own, above } = worker
        const { tenant, actor } = principal
        if (session !== undefined && session !== own && !above.includes(session)) continue
        for (const work of worker.running()) {
          if (work.at > until || !meetsScope(scope, { ...work, tenant, actor })) continue
          if (call !== undefined && call !== work.call) continue
          work.stop(reason)
          if (work.call !== undefined) stopped.push({ tenant, session: own, call: work.call })
        }
      }
      return stopped
    },
    close() {
      workers.clear()
      rest()
    },
  }
}
