import type { PathEffect } from '../../../contract/base/effects.ts'
import type { Files } from '../../../contract/services/sandbox.ts'
import { outsideRoots, stalePreview, toFileFailure } from '../../files/file-failure.ts'
import { requireWriting, type Reach } from '../../files/reach.ts'
import { refuseProtectedAt } from '../../files/refuse-protected.ts'
import { resolveEntry } from '../../files/trees/entry.ts'
import { holdsRoot } from '../../files/trees/tree-failure.ts'
import { foldersAbove } from '../../../kit/match/folders-above.ts'
import type { LandingItem, Target } from '../landing/item.ts'
import { land } from '../landing/land.ts'
import { stageContents, type StagedContents } from './stage-contents.ts'

/** Puts paths from one state into another, all of them or none. */
export async function restorePaths(
  reach: Reach,
  effects: readonly PathEffect[],
  open: Parameters<Files['restore']>[1],
): Promise<void> {
  requireWriting(reach, 'put files back')
  // What a killed process was landing is taken back first.
  await reach.swept
  const replaced = new Set(effects.filter(becomesFolder).map(({ path }) => path))
  const places = effects.map(({ path }) => placeOf(reach, path, replaced))
  await using contents = await stageContents(reach, effects, open)
  const items = effects.map((effect, index): LandingItem => {
    const { root, below } = places[index] ?? placeOf(reach, effect.path, replaced)
    return { root, path: below, to: toTarget(effect, contents), expect: { state: effect.before } }
  })
  const way = { owner: undefined, history: reach.history, signals: reach.signals() }
  await reach.track(land(items, way))
}

/** What is at the path now has nothing below it, though a link may lead to what has. */
function becomesFolder({ before, after }: PathEffect): boolean {
  return before.kind === 'link' && after.kind === 'directory'
}

/**
 * Where a path lies in the innermost root that the call may write. Fails if its folder is a link by now that is not replaced by a folder, or if no call
 * may write there.
 */
function placeOf(reach: Reach, path: string, replaced: ReadonlySet<string>): { root: string; below: string } {
  // Nothing is looked up below a link that goes: the path lies where it is named as soon as the link is gone.
  const named = foldersAbove(path).findLast((folder) => replaced.has(folder)) ?? path
  if (resolve(reach, named) !== named) throw stalePreview(path)
  if (!reach.write.contain(path)) throw outsideRoots(path, 'write')
  refuseProtectedAt(reach, path, path)
  const below = reach.write.below(path)
  if (below === undefined || below === '') throw holdsRoot(path)
  return { root: path.slice(0, -below.length - 1), below }
}

function resolve(reach: Reach, path: string): string {
  try {
    return resolveEntry(reach, path, 'write')
  } catch (error) {
    throw toFileFailure(error, path)
  }
}

function toTarget({ after, path }: PathEffect, contents: StagedContents): Target {
  if (after.kind === 'special') throw stalePreview(path)
  if (after.kind !== 'file') return after
  return { kind: 'file', mode: after.mode, from: contents.pathOf(after.digest), keepTimes: false }
}
