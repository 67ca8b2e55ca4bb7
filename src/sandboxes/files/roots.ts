import { isInside } from '../../kit/match/is-inside.ts'
import { realpathSync } from 'node:fs'
import { isAbsolute, relative, resolve } from 'node:path'

/** The directories that a call may read, or may write. No directories: nothing. */
export interface Roots {
  /** Whether an absolute path is written as one inside a root. Says nothing about where links lead. */
  cover(path: string): boolean
  /** Whether a path with all links resolved lies inside a root. */
  contain(real: string): boolean
  /** A path with all links resolved as seen from the innermost root that holds it; undefined outside of all. */
  below(real: string): string | undefined
  /** Where all roots of the call are, links resolved. */
  places(): readonly string[]
}

/** Where roots really are, remembered by their path. */
export type RealRoots = Map<string, string | undefined>

/**
 * The roots at these paths; a path that is not absolute names nothing. `others` are all roots of the same call: a root that
 * lies inside another one by its path but outside by its links does not count, since a call that may write to the outer
 * one could lead it anywhere.
 */
export function createRoots(paths: readonly string[], others: readonly string[], known: RealRoots): Roots {
  const roots = paths.filter((path) => isAbsolute(path)).map((path) => resolve(path))
  const all = others.filter((path) => isAbsolute(path)).map((path) => resolve(path))
  const realOf = (root: string) => {
    if (known.get(root) === undefined) known.set(root, realPath(root))
    return known.get(root)
  }
  const trusted = (root: string, real: string) =>
    all.every((outer) => outer === root || !isInside(root, outer) || isInsideReal(real, realOf(outer)))
  const holds = (real: string) =>
    roots.some((root) => {
      const place = realOf(root)
      return place !== undefined && isInside(real, place) && trusted(root, place)
    })
  return {
    below(real) {
      const holding = roots.map((root) => realOf(root) ?? root).filter((root) => isInside(real, root))
      const inner = holding.toSorted((a, b) => b.length - a.length)[0]
      return inner === undefined ? undefined : relative(inner, real)
    },
    places: () => all.map((root) => realOf(root) ?? root),
    cover: (path) => roots.some((root) => isInside(path, root) || isInsideReal(path, realOf(root))),
    contain(real) {
      if (holds(real)) return true
      // A root may lead to another directory now than when it was looked up.
      const moved = all.filter((root) => realPath(root) !== known.get(root))
      for (const root of moved) known.delete(root)
      return moved.length > 0 && holds(real)
    },
  }
}

/** The same roots without what lies at these real paths. */
export function withoutPlaces(roots: Roots, places: readonly string[]): Roots {
  if (places.length === 0) return roots
  const isOut = (path: string) => places.some((place) => isInside(path, place))
  return {
    ...roots,
    cover: (path) => !isOut(path) && roots.cover(path),
    contain: (real) => !isOut(real) && roots.contain(real),
  }
}

function isInsideReal(path: string, directory: string | undefined): boolean {
  return directory !== undefined && isInside(path, directory)
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync.native(path)
  } catch {
    // Not there, or not to be entered: then nothing lies inside it.
    return undefined
  }
}
