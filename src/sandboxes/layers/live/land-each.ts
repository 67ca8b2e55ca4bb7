import { join } from 'node:path'
import type { Change } from '../change.ts'
import type { HeldPaths } from './held-paths.ts'

/** Lets changes land together or, if that fails, each by itself: one that cannot land is held back, and keeps no other from it. */
export async function landEach(
  changes: readonly Change[],
  land: (changes: readonly Change[]) => Promise<void>,
  held: HeldPaths,
): Promise<void> {
  const [change] = changes
  if (change === undefined) return
  try {
    await land(changes)
  } catch (error) {
    if (changes.length === 1) return held.add([[change, error]])
    for (const each of changes)
      if (!held.isBelow(join(each.root, each.path))) await landEach([each], land, held)
  }
}
