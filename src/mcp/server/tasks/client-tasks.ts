import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import { createCallTask, type CallTask, type CallTaskOptions } from './call-task.ts'

/** At most so many are kept for one client, with what runs. */
const maxTasks = 100
/** No further call becomes a task while the results of a client are larger than this together. */
const maxKeptBytes = 64 * 1024 * 1024
const longestTtlMs = 3_600_000
const shortestTtlMs = 60_000

/** The tasks of one client. No other client can find them. */
export interface ClientTasks {
  /** How many run. */
  readonly running: number
  /** How many there are, with those that ended and may still be asked for. */
  readonly size: number
  /** Whether one more can be kept. */
  hasRoom(): boolean
  /** Makes a task of a call. `ttlMs` is what the client would like; it gets from a minute to an hour. */
  open(options: OpenTask): CallTask
  /** Throws a protocol error where there is none, or none any more. */
  find(id: string): CallTask
  all(): CallTask[]
  /** Resolves when none runs. */
  ended(): Promise<void>
  /** Forgets them all. What runs is not ended by this. */
  close(): void
}

/** A call that becomes a task. `ttlMs` is what the client would like. */
export interface OpenTask extends Omit<CallTaskOptions, 'ttlMs' | 'log'> {
  readonly ttlMs?: number | undefined
}

/** There are none yet. `log` takes what breaks while they are followed. */
export function createClientTasks(log: (line: string) => void): ClientTasks {
  const tasks = new Map<string, CallTask>()
  const leaving = new Map<string, NodeJS.Timeout>()
  let keptBytes = 0

  /** The time of a task runs from the end of its call on: no client loses a result for having waited for it. */
  const retain = (task: CallTask): void => {
    if (!tasks.has(task.id)) return
    const bytes = sizeOf(task)
    keptBytes += bytes
    const leave = (): void => {
      leaving.delete(task.id)
      if (tasks.delete(task.id)) keptBytes -= bytes
    }
    leaving.set(task.id, setTimeout(leave, task.ttlMs).unref())
  }
  const running = (): CallTask[] => [...tasks.values()].filter(({ outcome }) => outcome === undefined)

  return {
    get running() {
      return running().length
    },
    get size() {
      return tasks.size
    },
    hasRoom: () => tasks.size < maxTasks && keptBytes < maxKeptBytes,
    open(options) {
      const { ttlMs = longestTtlMs } = options
      const task = createCallTask({
        ...options,
        log,
        ttlMs: Math.round(Math.min(Math.max(ttlMs, shortestTtlMs), longestTtlMs)),
      })
      tasks.set(task.id, task)
      void task.ended.then(() => retain(task))
      return task
    },
    find(id) {
      const task = tasks.get(id)
      if (task !== undefined) return task
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        `There is no task "${id}". It was not made by this client, or its time is over.`,
        { reason: 'unknown_task' },
      )
    },
    all: () => [...tasks.values()],
    async ended() {
      await Promise.all(running().map((task) => task.ended))
    },
    close() {
      for (const timer of leaving.values()) clearTimeout(timer)
      leaving.clear()
      tasks.clear()
      keptBytes = 0
    },
  }
}

/** Why a call cannot become a task. */
export function noRoom(): ProtocolError {
  return new ProtocolError(
    ProtocolErrorCode.InvalidRequest,
    `No further task can be kept for this client: ${maxTasks} are kept at most, with results of ${maxKeptBytes / 1_048_576} MiB together. Call the tool without a task, or try again when earlier ones are over.`,
    { reason: 'too_many_tasks' },
  )
}

function sizeOf({ outcome }: CallTask): number {
  return outcome !== undefined && 'result' in outcome ? Buffer.byteLength(JSON.stringify(outcome.result)) : 0
}
