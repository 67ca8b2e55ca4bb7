import type { TurnPlace } from '../state/turn-place.ts'
import type { Operation } from '../../contract/tool/plan.ts'
import type { ToolResult } from '../../contract/base/result.ts'
import { doMeet, toReach, type Reach } from './reach.ts'

/** What may overlap: reads with reads, agent-starting calls with each other, a write with nothing but reads before it. */
export type CallClass = 'read' | 'agent' | 'write'

/** The reads of a turn that have been started and have not ended. Reads never wait for each other. */
export interface OpenReads {
  /** Starts a read. */
  follow(start: (place: TurnPlace) => Promise<ToolResult>): Promise<ToolResult>
  /** For the write that comes after them. */
  readonly behind: TurnPlace
  /**
   * Resolves when a call of this class may start: a write when each read runs its tool, or ended before, and an agent-starting call when
   * all have ended.
   */
  before(kind: CallClass): Promise<unknown> | undefined
}

/** None yet. */
export function createOpenReads(): OpenReads {
  const open = new Set<OpenRead>()
  return {
    follow(start) {
      const read = new OpenRead()
      open.add(read)
      const result = start(read)
      const end = (): void => {
        open.delete(read)
        read.end()
      }
      result.then(end, end)
      return result
    },
    behind: {
      untilFree(operations) {
        const reach = toReach(operations, 'write')
        const before = [...open].filter((read) => doMeet(read.reach, reach))
        return before.length === 0 ? undefined : Promise.all(before.map((read) => read.ended))
      },
      starts() {},
    },
    before(kind) {
      if (kind === 'read') return undefined
      return Promise.all([...open].map((read) => (kind === 'write' ? read.started : read.ended)))
    },
  }
}

class OpenRead implements TurnPlace {
  readonly #started = Promise.withResolvers<void>()
  readonly #ended = Promise.withResolvers<void>()
  /** What it touches is known when it starts. */
  reach: Reach

  get started() {
    return this.#started.promise
  }
  get ended() {
    return this.#ended.promise
  }
  untilFree(): undefined {
    return undefined
  }
  starts(operations: readonly Operation[]): void {
    this.reach = toReach(operations, 'readonly')
    this.#started.resolve()
  }
  end(): void {
    this.#started.resolve()
    this.#ended.resolve()
  }
}
