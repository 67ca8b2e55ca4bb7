import { dirname } from 'node:path'
import { kindBefore, type LandingItem } from './item.ts'

/** One place that changes in one step. */
export interface Unit {
  /** A file or link replaces one by renaming; all else is removed first. */
  readonly step: 'remove' | 'create' | 'replace'
  readonly item: LandingItem
  /** What is in a new folder. Each folder before what is in it. */
  readonly below: LandingItem[]
}

/** The steps of a landing, in their order. */
export interface Plan {
  readonly units: readonly Unit[]
  /** Folders that stay and get another mode, when all else is done. */
  readonly modes: readonly LandingItem[]
}

/** Removals come first, the deepest before the others. What is in a new folder comes with the folder. */
export function planLanding(items: readonly LandingItem[]): Plan {
  const sorted = items.toSorted((one, other) => compare(keyOf(one), keyOf(other)))
  const removals = sorted.filter((item) => kindBefore(item) !== 'none' && !isReplaced(item) && !isKept(item))
  const units: Unit[] = removals.toReversed().map((item) => ({ step: 'remove', item, below: [] }))
  const made = new Map<string, Unit>()
  for (const item of sorted) {
    if (item.to.kind === 'none' || isKept(item)) continue
    const above = made.get(placeKey(item.root, dirname(item.path)))
    const unit = above ?? { step: isReplaced(item) ? 'replace' : 'create', item, below: [] }
    if (above === undefined) units.push(unit)
    else above.below.push(item)
    if (item.to.kind === 'directory') made.set(keyOf(item), unit)
  }
  return { units, modes: sorted.filter(isKept) }
}

/** What tells a place from every other one. A folder's comes just before what is in the folder. */
export function keyOf({ root, path }: Pick<LandingItem, 'root' | 'path'>): string {
  return placeKey(root, path)
}

function placeKey(root: string, path: string): string {
  return `${root}\0${path.replaceAll('/', '\0')}`
}

function isReplaced(item: LandingItem): boolean {
  const before = kindBefore(item)
  return before !== 'none' && before !== 'directory' && (item.to.kind === 'file' || item.to.kind === 'link')
}

function isKept(item: LandingItem): boolean {
  return kindBefore(item) === 'directory' && item.to.kind === 'directory'
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0
}
