import { mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isInside } from '../../../kit/match/is-inside.ts'
import { openPath } from '../../files/open-path.ts'
import type { PathHandle } from '../../files/path-handle.ts'
import { clearAwayGently } from '../../files/trees/clear-away.ts'
import { entryIn } from '../../files/trees/entry.ts'
import { mountOf } from '../../files/trees/mount-of.ts'
import { noteUnfinished, unfinishedName } from '../../leftovers/unfinished-files.ts'
import { holdIn, type Folders } from './folders.ts'

/** A folder of this process for a root: what is new stands there until it is put in force, and then what was there before. */
export interface Stage extends Disposable {
  /** The folder that it lies in. */
  readonly above: PathHandle
  readonly name: string
  readonly self: PathHandle
  /** What is new, and what was there before: each under the number of its unit. */
  readonly news: PathHandle
  readonly befores: PathHandle
}

/** A root of a landing, with its stage. */
export interface HeldRoot {
  readonly folders: Folders
  readonly stage: Stage
}

/** By their numbers in the note of the landing; undefined for a root that is not there any more, or has no stage. */
export type HeldRoots = readonly (HeldRoot | undefined)[]

/** Makes a stage for a root. If this process is killed, the next one removes it. */
export function makeStage(root: PathHandle): { stage: Stage; forget: () => void } {
  const name = unfinishedName()
  const above = openAbove(root)
  const forget = noteUnfinished(join(above.real, name))
  try {
    mkdirSync(`${above.self}/${name}`, 0o700)
    using self = holdIn(above, name)
    mkdirSync(`${self.self}/new`, 0o700)
    mkdirSync(`${self.self}/before`, 0o700)
    return { stage: holdStage(above, name), forget }
  } catch (error) {
    above[Symbol.dispose]()
    forget()
    throw error
  }
}

/**
 * Opens the folder in which the stage for a root lies. Commands see the root, and those of an ordinary user may enter all that this process may. So it is
 * the folder for temporary files, which no command sees, if that lies on the same mount: nothing can be moved from one mount to another.
 */
function openAbove(root: PathHandle): PathHandle {
  if (process.geteuid?.() !== 0) {
    using temporary = new DisposableStack()
    const place = temporary.use(openPath(tmpdir()))
    if (mountOf(place) === mountOf(root) && !isInside(place.real, root.real)) {
      temporary.move()
      return place
    }
  }
  return openPath(root.self)
}

/** Holds a stage that is there already. It takes over the handle of the folder that it lies in. */
export function holdStage(above: PathHandle, name: string): Stage {
  using open = new DisposableStack()
  open.use(above)
  const self = open.use(holdIn(above, name))
  const [news, befores] = [open.use(holdIn(self, 'new')), open.use(holdIn(self, 'before'))]
  const held = open.move()
  return { above, name, self, news, befores, [Symbol.dispose]: () => held.dispose() }
}

/** Removes a stage and all that is in it. */
export async function clearStage({ above, name }: Pick<Stage, 'above' | 'name'>): Promise<void> {
  await clearAwayGently(entryIn(above, name))
}
