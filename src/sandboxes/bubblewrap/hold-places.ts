import { relative, sep } from 'node:path'
import { isInside } from '../../kit/match/is-inside.ts'
import type { PathHandle } from '../files/path-handle.ts'
import { linuxPaths } from '../files/open-on-linux.ts'
import { noSandbox } from './sandbox-fault.ts'

/**
 * Places that other commands could put in another place, each held while a sandbox is made: what is laid over a place is then the very thing that
 * was looked at, whatever stands there by now. Dispose of it when the sandbox has been started.
 */
export interface HeldPlaces extends Disposable {
  /** Holds what is there. Fails with `SANDBOX.UNAVAILABLE` where by now a link stands there or on the way, or nothing. */
  hold(path: string): PathHandle
}

/** Holds places inside of these roots, none of which lies in another one. `seen` is where this process finds a root; default the root itself. */
export function createHeldPlaces(
  roots: readonly string[],
  seen: (root: string) => string = (root) => root,
): HeldPlaces {
  const held = new Map<string, PathHandle>()
  const enter = (path: string, open: () => PathHandle): PathHandle => {
    const known = held.get(path)
    if (known !== undefined) return known
    const entered = open()
    held.set(path, entered)
    return entered
  }
  return {
    hold(path) {
      const root = roots.find((each) => isInside(path, each))
      if (root === undefined) throw new Error(`"${path}" lies in none of the roots that are held.`)
      try {
        let at = root
        let place = enter(root, () => linuxPaths.openPath(seen(root)))
        for (const name of path === root ? [] : relative(root, path).split(sep)) {
          const above = place
          at = at.endsWith(sep) ? `${at}${name}` : `${at}${sep}${name}`
          place = enter(at, () => linuxPaths.openEntry(above, name))
          if (place.stat.isSymbolicLink()) throw swapped(at)
        }
        return place
      } catch (error) {
        throw isGone(error) ? swapped(path) : error
      }
    },
    [Symbol.dispose]() {
      for (const place of held.values()) place[Symbol.dispose]()
      held.clear()
    },
  }
}

function isGone(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')
}

function swapped(path: string) {
  return noSandbox(
    'no_backend',
    `something else stood at "${path}" as soon as it had been looked at. Call again when nothing moves it any more.`,
  )
}
