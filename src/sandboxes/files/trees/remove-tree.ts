import { rmdirSync, unlinkSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { systemErrorName, toFileFailure } from '../file-failure.ts'
import { stopIfAborted, type Reach } from '../reach.ts'
import { entryIn, lookAt, type Entry } from './entry.ts'
import { mountOf } from './mount-of.ts'
import { holdSame, identityOf, walk, type TreeNode } from './survey.ts'
import { changedMeanwhile, crossesMount, partlyDone } from './tree-failure.ts'

/** How many entries go before other work has its turn. */
const atOnce = 64

interface Removal {
  readonly reach: Reach
  readonly path: string
  mount: string | undefined
  done: number
}

/**
 * Removes what was surveyed, from the bottom up, each thing in the directory that is held and only if it is still what it was. Stops at the
 * first fault: as it is where nothing is gone yet, else as `partly_done` that tells how far it came.
 */
export async function removeTree(
  reach: Reach,
  entry: Pick<Entry, 'directory' | 'name' | 'at'>,
  { top, path, did = 'Deleted' }: { top: TreeNode; path: string; did?: string },
): Promise<void> {
  const removal: Removal = { reach, path, mount: undefined, done: 0 }
  try {
    await removeNode(removal, entry, top)
  } catch (error) {
    if (removal.done === 0 && did === 'Deleted') throw toFileFailure(error, path)
    const all = [...walk(top)].length
    throw partlyDone(toFileFailure(error, path), { did, done: removal.done, all, rest: path })
  }
}

async function removeNode(
  removal: Removal,
  entry: Pick<Entry, 'directory' | 'name' | 'at'>,
  node: TreeNode,
): Promise<void> {
  const shown = node.path === '' ? removal.path : `${removal.path}/${node.path}`
  if (removal.done % atOnce === atOnce - 1) await setImmediate()
  stopIfAborted(removal.reach)
  try {
    if (node.stat.isDirectory()) await removeDirectory(removal, entry, { node, shown })
    else removeOne(entry, node, shown)
  } catch (error) {
    throw isChange(error) ? changedMeanwhile(shown) : toFileFailure(error, shown)
  }
  removal.done++
}

async function removeDirectory(
  removal: Removal,
  entry: Pick<Entry, 'directory' | 'name' | 'at'>,
  { node, shown }: { node: TreeNode; shown: string },
): Promise<void> {
  if (node.children.length > 0) {
    using directory = holdSame(entry, node.stat, shown)
    removal.mount ??= mountOf(directory)
    if (mountOf(directory) !== removal.mount) throw crossesMount(shown)
    for (const child of node.children) await removeNode(removal, entryIn(directory, child.name), child)
  }
  rmdirSync(entry.at)
}

function removeOne(entry: Pick<Entry, 'at'>, node: TreeNode, shown: string): void {
  const now = lookAt(entry)
  if (now === undefined || identityOf(now) !== identityOf(node.stat)) throw changedMeanwhile(shown)
  unlinkSync(entry.at)
}

/** Gone, replaced, or with something new in it. */
function isChange(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR', 'ENOTEMPTY', 'ELOOP', 'EISDIR'].includes(systemErrorName(error) ?? '')
}
