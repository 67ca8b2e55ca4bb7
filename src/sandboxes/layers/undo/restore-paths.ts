import type { PathEffect } from '../../../contract/base/effects.ts'
import type { Files } from '../../../contract/base/sandbox.ts'
import { outsideRoots, stalePreview, toFileFailure } from '../../files/file-failure.ts'
import { requireWriting, type Reach } from '../../files/reach.ts'
import { refuseProtectedAt } from '../../files/refuse-protected.ts'
import { resolveEntry } from '../../files/trees/entry.ts'
import { holdsRoot } from '../../files/trees/tree-failure.ts'
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
  const places = effects.map(({ path }) => placeOf(reach, path))
  await using contents = await stageContents(reach, effects, open)
  const items = effects.map((effect, index): LandingItem => {
    const { root, below } = places[index] ?? placeOf(reach, effect.path)
    return { root, path: below, to: toTarget(effect, contents), expect: { state: effect.before } }
  })
  const way = { owner: undefined, history: reach.history, signals: reach.signals() }
  await reach.track(land(items, way))
}

/** Where a path lies in the innermost root that the call may write. Fails if its folder is a link by now, or if no call may write there. */
function placeOf(reach: Reach, path: string): { root: string; below: string } {
  const real = resolve(reach, path)
  if (real !== path) throw stalePreview(path)
  if (!reach.write.contain(real)) throw outsideRoots(path, 'write')
  refuseProtectedAt(reach, real, path)
  const below = reach.write.below(real)
  if (below === undefined || below === '') throw holdsRoot(path)
  return { root: real.slice(0, -below.length - 1), below }
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
