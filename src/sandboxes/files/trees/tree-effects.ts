import { closeSync, fstatSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { EffectHistory, PathEffect, PathState } from '../../../contract/base/effects.ts'
import { readPieces, stateOfFile } from '../../history/file-content.ts'
import { toFileFailure } from '../file-failure.ts'
import { openForReading } from '../read-file.ts'
import { stopIfAborted, type Reach } from '../reach.ts'
import { isAlias } from '../refuse-alias.ts'
import { entryIn, findEntry, lookAt, openHandle, type Entry } from './entry.ts'
import { holdSame, identityOf, type TreeNode } from './survey.ts'
import { changedMeanwhile } from './tree-failure.ts'

type Place = Pick<Entry, 'directory' | 'name' | 'at'>

/** A larger file is not read for its digest, and stands under one that no content has: what became of it cannot be taken back. */
const maxHashed = 1024 ** 3
const unhashed = 'sha256:'

const none: PathState = { kind: 'none' }

/** What is at each path of a tree, relative to its top, each folder before what is in it. */
export type TreeStates = readonly { readonly path: string; readonly state: PathState }[]

interface Look {
  readonly reach: Reach
  readonly path: string
  /** Keeps what the files hold; undefined if that stays elsewhere. */
  readonly keep: EffectHistory['keep'] | undefined
  readonly states: { path: string; state: PathState }[]
}

/** The states of a surveyed tree, through the folders that are held, none of them followed elsewhere. Fails with `stale_preview` for what is another one now. */
export async function statesOfTree(
  reach: Reach,
  entry: Place,
  { top, path, keep }: { top: TreeNode; path: string; keep?: EffectHistory['keep'] },
): Promise<TreeStates> {
  const look: Look = { reach, path, keep, states: [] }
  await lookAtNode(look, entry, top)
  return look.states
}

async function lookAtNode(look: Look, entry: Place, node: TreeNode): Promise<void> {
  const { path, stat, link } = node
  stopIfAborted(look.reach)
  const mode = Number(stat.mode) & 0o777
  if (link !== undefined) look.states.push({ path, state: { kind: 'link', target: link } })
  else if (stat.isFile()) look.states.push({ path, state: await lookAtFile(look, entry, node) })
  else {
    look.states.push({ path, state: { kind: 'directory', mode } })
    if (node.children.length === 0) return
    using directory = holdSame(entry, stat, shownOf(look, node))
    for (const child of node.children) await lookAtNode(look, entryIn(directory, child.name), child)
  }
}

async function lookAtFile(look: Look, entry: Place, node: TreeNode): Promise<PathState> {
  const shown = shownOf(look, node)
  using held = openHandle(entry)
  const descriptor = openForReading(held, shown)
  try {
    if (identityOf(fstatSync(descriptor, { bigint: true })) !== identityOf(node.stat))
      throw changedMeanwhile(shown)
    if (held.stat.size > maxHashed)
      return { kind: 'file', mode: held.stat.mode & 0o777, bytes: held.stat.size, digest: unhashed }
    const state = await stateOfFile(descriptor, held.stat.mode, () => stopIfAborted(look.reach))
    // Another name of a file that is not to be seen must not come back as a file of its own.
    if (look.keep !== undefined && !(await isAlias(look.reach, held)))
      await look.keep({ ...state, open: () => readPieces(descriptor) })
    return state
  } finally {
    closeSync(descriptor)
  }
}

function shownOf({ path }: Look, node: TreeNode): string {
  return node.path === '' ? path : `${path}/${node.path}`
}

/** What is at one entry, which is about to be replaced, kept. */
export function keepEntry(reach: Reach, entry: Place, path: string): Promise<PathState> {
  return stateOfEntry(reach, entry, { path, keep: reach.history?.keep.bind(reach.history) })
}

/** What is at one entry; of a folder not what is in it. */
async function stateOfEntry(
  reach: Reach,
  entry: Place,
  { path, keep }: { path: string; keep?: EffectHistory['keep'] | undefined },
): Promise<PathState> {
  const stat = lookAt(entry)
  if (stat === undefined) return none
  if (!stat.isFile() && !stat.isDirectory() && !stat.isSymbolicLink()) return { kind: 'special' }
  const link = stat.isSymbolicLink() ? readlinkSync(entry.at) : undefined
  const top: TreeNode = { name: entry.name, path: '', stat, link, children: [] }
  const [state] = await statesOfTree(reach, entry, { top, path, ...(keep !== undefined && { keep }) })
  return state?.state ?? none
}

/** What is at a path that the call may write, a link itself and not what it leads to. Of a folder not what is in it. */
export async function lookAtState(reach: Reach, path: string): Promise<PathState> {
  // What a killed process left is as it should be first.
  await reach.swept
  try {
    using entry = findEntry(reach, path, 'write')
    return entry === undefined ? none : await stateOfEntry(reach, entry, { path })
  } catch (error) {
    throw toFileFailure(error, path)
  }
}

/** What becomes of a place at which a tree appears. */
export function appearing(real: string, states: TreeStates, replaced: PathState = none): PathEffect[] {
  return states.map(({ path, state }) => ({
    path: join(real, path),
    before: path === '' ? replaced : none,
    after: state,
  }))
}

/** What becomes of a place from which a tree goes. */
export function vanishing(real: string, states: TreeStates): PathEffect[] {
  return states.map(({ path, state }) => ({ path: join(real, path), before: state, after: none }))
}
