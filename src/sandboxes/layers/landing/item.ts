import type { PathState } from '../../../contract/base/effects.ts'

/** One thing to put in force. */
export interface LandingItem {
  /** Absolute, links resolved. Nothing outside of it is touched. */
  readonly root: string
  /** Relative to the root, without `.` and `..`. */
  readonly path: string
  readonly to: Target
  readonly expect: Expectation
}

/** What is to be at the path. Set-id and sticky bits of a mode never land. */
export type Target =
  | { readonly kind: 'none' }
  | {
      readonly kind: 'directory'
      readonly mode: number
      readonly times?: Times
      readonly owner?: Owner
    }
  | {
      readonly kind: 'link'
      readonly target: string
      readonly owner?: Owner
    }
  | {
      readonly kind: 'file'
      readonly mode: number
      /** A regular file that no process writes any more. It stays. */
      readonly from: string
      /** Whether the file gets the times of `from`; otherwise that of now. */
      readonly keepTimes: boolean
    }

/** Whom something belongs to. */
export interface Owner {
  readonly uid: number
  readonly gid: number
}

export interface Times {
  readonly atimeMs: number
  readonly mtimeMs: number
}

/**
 * What must be at the path until it is replaced. With `unchangedSince`, a removed folder stands for all that is in it. With `state`, a
 * removed folder must be empty once the other items are removed.
 */
export type Expectation =
  | {
      readonly had: PathState['kind']
      /** By `ctime`, in nanoseconds. */
      readonly unchangedSince: bigint
    }
  | { readonly state: PathState }

/** The kind of what must be there. */
export function kindBefore({ expect }: LandingItem): PathState['kind'] {
  return 'state' in expect ? expect.state.kind : expect.had
}
