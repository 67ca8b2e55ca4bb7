import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { Tree, TreeBounds } from '../../../contract/services/sandbox.ts'
import { isInside } from '../../../kit/match/is-inside.ts'
import { fileNotFound, outsideRoots, stalePreview } from '../file-failure.ts'
import type { Reach } from '../reach.ts'
import { refuseProtectedAt } from '../refuse-protected.ts'
import { findEntry, type Entry } from './entry.ts'
import { digestOf, surveyTree, toTree, walk, type TreeNode } from './survey.ts'
import { holdsRoot } from './tree-failure.ts'

/** What is at a path and all below it; undefined if nothing is there, not even its directory. */
export async function lookAtTree(
  reach: Reach,
  path: string,
  { purpose, ...bounds }: TreeBounds & { purpose: 'read' | 'write' },
): Promise<Tree | undefined> {
  using entry = findEntry(reach, path, purpose)
  if (entry === undefined) return undefined
  const top = await surveyTree(reach, entry, { path, bounds })
  if (top === undefined) return undefined
  refuseWithheld(reach, entry.real, purpose)
  if (purpose === 'write') requireMovable(reach, entry.real, { top, path })
  return toTree(entry.real, top)
}

/** The tree at an entry, where it is still the one of this digest. */
export async function knownTree(
  reach: Reach,
  entry: Entry,
  { path, expect, ...bounds }: TreeBounds & { path: string; expect: string },
): Promise<TreeNode> {
  const top = await surveyTree(reach, entry, { path, bounds })
  if (top === undefined) throw fileNotFound(path)
  refuseWithheld(reach, entry.real, 'read')
  if (digestOf(top) !== expect) throw stalePreview(path)
  return top
}

/** Fails if a root is in the tree, or something that no caller may write through a tool. */
export function requireMovable(
  reach: Reach,
  real: string,
  { top, path }: { top: TreeNode; path: string },
): void {
  requirePlaceable(reach, real, { top, path })
  const roots = new Set(reach.write.places().map(identityAt))
  for (const { stat } of walk(top))
    if (stat.isDirectory() && roots.has(`${stat.dev} ${stat.ino}`)) throw holdsRoot(path)
}

/** Fails if something in the tree would have a name at this place that no caller may write through a tool. */
export function requirePlaceable(
  reach: Reach,
  real: string,
  { top, path }: { top: TreeNode; path: string },
): void {
  for (const node of walk(top)) refuseProtectedAt(reach, join(real, node.path), join(path, node.path))
}

/** Fails if what no call reaches lies in the tree. */
function refuseWithheld(reach: Reach, real: string, purpose: 'read' | 'write'): void {
  const inside = reach.withheld.find((place) => isInside(place, real))
  if (inside !== undefined) throw outsideRoots(inside, purpose)
}

function identityAt(path: string): string | undefined {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false })
  return stat === undefined ? undefined : `${stat.dev} ${stat.ino}`
}
