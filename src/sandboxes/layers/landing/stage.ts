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

/**
 * A folder of this process for a root: what is new stands there until it is put in force, and then what was there before, each by the number of its
 * unit. It has no folders of its own: on some disks it takes milliseconds to remove one.
 */
export interface Stage extends Disposable {
  /** The folder that it lies in. */
  readonly above: PathHandle
  readonly name: string
  readonly self: PathHandle
  /** Holds the stage no more, but only the folder that it lies in. */
  readonly letGo: () => void
}

/** The name in a stage of what a unit puts in force. */
export function nameOfNew(number: number): string {
  return `new-${number}`
}

/** The name in a stage of what was there before. */
export function nameOfBefore(number: number): string {
  return `before-${number}`
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
    return { stage: holdStage(above, name), forget }
  } catch (error) {
    above[Symbol.dispose]()
    forget()
    throw error
  }
}

/**
 * Opens the folder in which the stage for a root lies. Other programs see the root, and commands of an ordinary user may enter all in it that this process
 * may. So it is the folder for temporary files, which no command sees, if that lies on the same mount: nothing can be moved from one mount to another.
 */
function openAbove(root: PathHandle): PathHandle {
  using temporary = new DisposableStack()
  const place = temporary.use(openPath(tmpdir()))
  if (mountOf(place) !== mountOf(root) || isInside(place.real, root.real)) return openPath(root.self)
  temporary.move()
  return place
}

/** Holds a stage that is there already. It takes over the handle of the folder that it lies in. */
export function holdStage(above: PathHandle, name: string): Stage {
  using open = new DisposableStack()
  open.use(above)
  const inner = open.use(new DisposableStack())
  const self = inner.use(holdIn(above, name))
  const held = open.move()
  return {
    above,
    name,
    self,
    letGo: () => inner.dispose(),
    [Symbol.dispose]: () => held.dispose(),
  }
}

/** Removes a stage and all that is in it. Nothing else may be done with it then. */
export async function clearStage({ above, name, letGo }: Stage): Promise<void> {
  // A folder that is held goes when it is closed, and this process would stand still for that.
  letGo()
  await clearAwayGently(entryIn(above, name))
}
