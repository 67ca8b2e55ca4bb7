import { realpathSync } from 'node:fs'
import { isInside } from '../../kit/match/is-inside.ts'

/** The roots of a call as places of a sandbox: each once, the outer before the inner. */
export interface ProfilePlaces {
  readonly readOnly: readonly string[]
  readonly writable: readonly string[]
}

/** Places that are the sandbox's own, whatever the roots say. */
const own = ['/proc', '/dev']

/**
 * Where the roots really are, without those that are not there and those inside another one that may do as much. A root inside a
 * writable one is never laid by itself: a program that may write there could lead it anywhere.
 */
export function toProfilePlaces(readRoots: readonly string[], writeRoots: readonly string[]): ProfilePlaces {
  const reals = new Map([...readRoots, ...writeRoots].map((root) => [root, realPath(root)]))
  const placesOf = (roots: readonly string[]) =>
    roots.flatMap((root) => {
      const real = reals.get(root)
      return real === undefined || own.some((place) => isInside(real, place)) || isLedAway(root, reals)
        ? []
        : [real]
    })
  const writable = outermost(placesOf(writeRoots), [])
  return { writable, readOnly: outermost(placesOf(readRoots), writable) }
}

/** Whether it lies inside another root by its path, but outside by its links. */
function isLedAway(root: string, reals: ReadonlyMap<string, string | undefined>): boolean {
  const real = reals.get(root) ?? ''
  return [...reals].some(
    ([outer, place]) =>
      outer !== root && isInside(root, outer) && place !== undefined && !isInside(real, place),
  )
}

function realPath(root: string): string | undefined {
  try {
    return realpathSync.native(root)
  } catch {
    // Not there, or not to be entered: then there is nothing to lay.
    return undefined
  }
}

function outermost(places: readonly string[], covering: readonly string[]): string[] {
  const sorted = [...new Set(places)].toSorted((a, b) => a.length - b.length)
  const kept: string[] = []
  for (const place of sorted)
    if (![...covering, ...kept].some((outer) => isInside(place, outer))) kept.push(place)
  return kept
}
