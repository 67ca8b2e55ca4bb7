import type { Bag } from '../../kit/bag.ts'

/** Tells running calls that they are aborted, or that their session ends. Cheaper than an abort signal for each call. */
export interface Endings {
  readonly closed: boolean
  /** Calls that were aborted and have not ended yet, by id, with what the person said to it. */
  readonly aborted: Map<string, string | undefined>
  /** Told the id of the call that is aborted; undefined means all of the session. */
  readonly listeners: Bag<(call: string | undefined) => void>
}
