import { readlinkSync, type BigIntStats } from 'node:fs'
import { opendir } from 'node:fs/promises'
import type { Tree, TreeBounds } from '../../../contract/services/sandbox.ts'
import { digest } from '../../../kit/json/digest.ts'
import { systemErrorName, toFileFailure, wrongKind } from '../file-failure.ts'
import type { PathHandle } from '../path-handle.ts'
import { stopIfAborted, type Reach } from '../reach.ts'
import { entryIn, openHandle, lookAt, type Entry } from './entry.ts'
import { mountOf } from './mount-of.ts'
import { changedMeanwhile, crossesMount, tooDeep, tooManyFiles } from './tree-failure.ts'

/** An entry as it was when it was looked at, with all below it. */
export interface TreeNode {
  readonly name: string
  /** Relative to the top with `/`; empty for the top itself. */
  readonly path: string
  readonly stat: BigIntStats
  /** Where a link leads, as it is written in it. */
  readonly link: string | undefined
  readonly children: readonly TreeNode[]
}

type Place = Pick<Entry, 'directory' | 'name' | 'at'>

interface Survey {
  readonly reach: Reach
  readonly bounds: TreeBounds
  readonly path: string
  mount: string | undefined
  entries: number
}

/**
 * What is at an entry and all below it, children in name order. Links are noted, not followed. Undefined if nothing is there. Fails
 * for devices, pipes and sockets, for what may not be read, for another file system that is mounted below, and over the bounds: a
 * tree is known as a whole, or not at all.
 */
export async function surveyTree(
  reach: Reach,
  entry: Place,
  about: { path: string; bounds: TreeBounds },
): Promise<TreeNode | undefined> {
  const stat = lookAt(entry)
  if (stat === undefined) return undefined
  const survey: Survey = { reach, ...about, mount: undefined, entries: 0 }
  return surveyNode(survey, entry, { stat, path: '' })
}

async function surveyNode(
  survey: Survey,
  entry: Place,
  { stat, path }: Pick<TreeNode, 'stat' | 'path'>,
): Promise<TreeNode> {
  const shown = path === '' ? survey.path : `${survey.path}/${path}`
  if (++survey.entries > survey.bounds.maxEntries) throw tooManyFiles(survey.path, survey.bounds.maxEntries)
  const node = { name: entry.name, path, stat, link: undefined, children: [] }
  try {
    if (stat.isFile()) return node
    if (stat.isSymbolicLink()) return { ...node, link: readlinkSync(entry.at) }
    if (!stat.isDirectory()) throw wrongKind(shown, 'other', 'file')
    if (path !== '' && path.split('/').length >= survey.bounds.maxDepth)
      throw tooDeep(survey.path, survey.bounds.maxDepth)
    using directory = holdSame(entry, stat, shown)
    survey.mount ??= mountOf(directory)
    if (mountOf(directory) !== survey.mount) throw crossesMount(shown)
    return { ...node, children: await surveyChildren(survey, directory, path) }
  } catch (error) {
    throw isGone(error) ? changedMeanwhile(shown) : toFileFailure(error, shown)
  }
}

async function surveyChildren(survey: Survey, directory: PathHandle, prefix: string): Promise<TreeNode[]> {
  stopIfAborted(survey.reach)
  const names: string[] = []
  for await (const { name } of await opendir(directory.self, { bufferSize: 1024 }))
    if (names.push(name) > survey.bounds.maxEntries) throw tooManyFiles(survey.path, survey.bounds.maxEntries)
  const children: TreeNode[] = []
  for (const name of names.sort()) {
    const entry = entryIn(directory, name)
    const path = prefix === '' ? name : `${prefix}/${name}`
    const stat = lookAt(entry)
    if (stat === undefined) throw changedMeanwhile(`${survey.path}/${path}`)
    children.push(await surveyNode(survey, entry, { stat, path }))
  }
  return children
}

/** Holds a directory, where it is still the one that was looked at. */
export function holdSame(
  entry: Pick<Entry, 'directory' | 'name'>,
  stat: BigIntStats,
  shown: string,
): PathHandle {
  const held = openHandle(entry)
  if (held.stat.isDirectory() && isSame(held.stat, stat)) return held
  held[Symbol.dispose]()
  throw changedMeanwhile(shown)
}

function isSame(now: PathHandle['stat'], then: BigIntStats): boolean {
  return BigInt(now.dev) === then.dev && BigInt(now.ino) === then.ino
}

/**
 * What tells an entry from every other one, and from itself after a change: the kernel sets `ctime` itself, so that a writer who puts size
 * and `mtime` back is seen too.
 */
export function identityOf({ dev, ino, mode, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, mode, size, mtimeNs, ctimeNs].join(' ')
}

/** A tree as the port tells of it. */
export function toTree(real: string, top: TreeNode): Tree {
  const nodes = [...walk(top)]
  const files = nodes.filter(({ stat }) => stat.isFile())
  return {
    path: real,
    entries: nodes.map(({ path, stat }) => ({ path, kind: kindOf(stat), size: Number(stat.size) })),
    files: files.length,
    bytes: files.reduce((sum, { stat }) => sum + Number(stat.size), 0),
    digest: digestOf(top),
  }
}

/** The digest of a whole tree: every name, what it is, and where links lead. */
export function digestOf(top: TreeNode): string {
  const lines = [...walk(top)].map(({ path, stat, link }) => [path, identityOf(stat), link ?? null])
  return digest(JSON.stringify(lines))
}

/** The entry and all below it, parents first. */
export function* walk(node: TreeNode): Generator<TreeNode> {
  yield node
  for (const child of node.children) yield* walk(child)
}

function kindOf(stat: BigIntStats): 'file' | 'directory' | 'link' {
  return stat.isFile() ? 'file' : stat.isDirectory() ? 'directory' : 'link'
}

function isGone(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR', 'ELOOP', 'EINVAL'].includes(systemErrorName(error) ?? '')
}
