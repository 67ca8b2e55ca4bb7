import type { PathEffect } from '../base/effects.ts'

/**
 * Paths that one undo takes back at most. A call may move 2,000 files and folders, which are as many paths again, and several calls are
 * taken back at once.
 */
export const maxUndonePaths = 20_000

/** What one call made of files. */
export interface PastCall {
  readonly call: string
  readonly tool: string
  readonly session: string
  readonly actor: string
  /** Absolute path of the project root of the call. */
  readonly project: string
  /** Milliseconds since the epoch. */
  readonly at: number
  /** In the order in which they came into force. A call that was cut off may have noted one that never did. */
  readonly effects: readonly PathEffect[]
  /** Digests of what there was no room for: what became of these files cannot be taken back. */
  readonly unkept: readonly string[]
  /** The calls that it was to take back, and whether that is known to be done; absent for any call but an undo. */
  readonly undoes?: { readonly calls: readonly string[]; readonly done: boolean }
}

/** Which calls are looked for: by their ids, or all of this session that changed files and were not taken back. */
export type PastCallWish = { readonly calls: readonly string[] } | 'session'

/** What earlier calls of the same tenant made of files, and what was there before. */
export interface PastCalls {
  /** The newest first. Rejects with a `ToolFailure` if one of them is not known, or is not for this caller to take back. */
  find(wish: PastCallWish): Promise<readonly PastCall[]>
  /** Whether what had this digest is kept. */
  has(digest: string): Promise<boolean>
  /**
   * What a file of a found call held before, held against its digest at the end. Rejects with a `ToolFailure` if it is not kept, or not what it
   * was.
   */
  open(digest: string): AsyncIterable<Uint8Array>
  /** Says that this call takes back these, before it changes anything. Nothing is said by a plan. */
  takesBack(calls: readonly string[]): void
  /** Says that it has. */
  tookBack(): Promise<void>
}
