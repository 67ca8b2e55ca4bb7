import { dirname, join } from 'node:path'
import type { HeldBack } from '../../../contract/services/sandbox.ts'
import { messageOf } from '../../../kit/text/message-of.ts'
import type { Change } from '../change.ts'

/** The paths that did not land. */
export interface HeldPaths {
  /** Notes that changes did not land, and why. Tells each path once for the same reason. */
  add(failures: Iterable<readonly [Change, unknown]>): void
  /** Whether a path lies in a new folder that did not land: nothing in it does, without a word. */
  isBelow(path: string): boolean
  has(path: string): boolean
  /** Another program made something else of a path. */
  remove(path: string): void
  /** Forgets all, so that they are tried again. */
  clear(): void
  list(): readonly HeldBack[]
}

export function createHeldPaths(tell: (held: HeldBack) => void): HeldPaths {
  const held = new Map<string, string>()
  const folders = new Set<string>()
  const told = new Map<string, string>()
  const isBelow = (path: string): boolean => {
    for (let folder = dirname(path); folder !== dirname(folder); folder = dirname(folder))
      if (folders.has(folder)) return true
    return false
  }
  return {
    add(failures) {
      for (const [{ root, path: below, kind, had }, cause] of failures) {
        const [path, reason] = [join(root, below), messageOf(cause)]
        if (isBelow(path)) continue
        held.set(path, reason)
        if (kind === 'directory' && had === 'none') folders.add(path)
        if (told.get(path) !== reason) tell({ path, reason })
        told.set(path, reason)
      }
    },
    isBelow,
    has: (path) => held.has(path),
    remove: (path) => void held.delete(path),
    clear() {
      held.clear()
      folders.clear()
    },
    list: () => [...held].map(([path, reason]) => ({ path, reason })),
  }
}
