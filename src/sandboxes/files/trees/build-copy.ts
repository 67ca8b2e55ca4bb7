import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsync as fsyncCallback,
  futimesSync,
  lchownSync,
  mkdirSync,
  openSync,
  read as readCallback,
  symlinkSync,
  write as writeCallback,
  type BigIntStats,
} from 'node:fs'
import { promisify } from 'node:util'
import { systemErrorName } from '../file-failure.ts'
import type { PathHandle } from '../path-handle.ts'
import { openEntry } from '../open-path.ts'
import { openForReading } from '../read-file.ts'
import { stopIfAborted, type Reach } from '../reach.ts'
import { refuseAlias } from '../refuse-alias.ts'
import { syncDirectory } from '../sync-directory.ts'
import { entryIn, openHandle, lookAt, type Entry } from './entry.ts'
import { holdSame, identityOf, type TreeNode } from './survey.ts'
import { changedMeanwhile } from './tree-failure.ts'

const fsync = promisify(fsyncCallback)
const read = promisify(readCallback)
const write = promisify(writeCallback)
const pieceBytes = 256 * 1024

/** How a copy is made. */
export interface CopyWay {
  readonly reach: Reach
  /** What is copied, for messages. */
  readonly path: string
  /**
   * `new` things get the owner of their folder and the time of now; what is `moved` keeps both where the system lets it, and is on the
   * disk before the copy counts as made.
   */
  readonly as: 'new' | 'moved'
  /** Of new things; undefined if that is this process's user anyway. */
  readonly owner: Owner | undefined
}

interface Owner {
  readonly uid: number
  readonly gid: number
}

type Source = Pick<Entry, 'directory' | 'name' | 'at'>

/**
 * Copies what was surveyed, under a name that is free in a directory. Fails with `stale_preview` where anything is not what it was any
 * more; what was copied until then is left for the caller to remove.
 */
export async function buildCopy(way: CopyWay, from: Source, { node, into, name }: Copied): Promise<void> {
  stopIfAborted(way.reach)
  const shown = node.path === '' ? way.path : `${way.path}/${node.path}`
  const at = `${into.self}/${name}`
  if (node.link !== undefined) copyLink(way, node, at)
  else if (node.stat.isFile()) await copyFile(way, from, { node, at, shown })
  else await copyDirectory(way, from, { node, into, name, shown })
}

interface Copied {
  readonly node: TreeNode
  readonly into: PathHandle
  readonly name: string
}

function copyLink(way: CopyWay, node: TreeNode, at: string): void {
  symlinkSync(node.link ?? '', at)
  giveTo(ownerOf(way, node.stat), (uid, gid) => lchownSync(at, uid, gid))
}

async function copyFile(
  way: CopyWay,
  from: Source,
  { node, at, shown }: { node: TreeNode; at: string; shown: string },
): Promise<void> {
  using held = openHandle(from)
  if (held.stat.nlink > 1) await refuseAlias(way.reach, held, shown)
  const source = openForReading(held, shown)
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants
  try {
    requireSame(fstatSync(source, { bigint: true }), node, shown)
    const target = openSync(at, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, modeOf(node))
    try {
      if ((await pour(way.reach, source, { target, size: node.stat.size })) !== node.stat.size)
        throw changedMeanwhile(shown)
      requireSame(fstatSync(source, { bigint: true }), node, shown)
      giveTo(ownerOf(way, node.stat), (uid, gid) => fchownSync(target, uid, gid))
      if (way.as === 'moved') await keepFacts(target, node)
    } finally {
      closeSync(target)
    }
  } finally {
    closeSync(source)
  }
}

async function keepFacts(target: number, node: TreeNode): Promise<void> {
  fchmodSync(target, modeOf(node))
  futimesSync(target, Number(node.stat.atimeMs) / 1000, Number(node.stat.mtimeMs) / 1000)
  await fsync(target)
}

/** Copies the bytes, at most a piece more than the size, and says how many there were. */
async function pour(
  reach: Reach,
  source: number,
  { target, size }: { target: number; size: bigint },
): Promise<bigint> {
  const piece = Buffer.allocUnsafe(Math.min(pieceBytes, Number(size) + 1))
  let copied = 0n
  while (copied <= size) {
    stopIfAborted(reach)
    const { bytesRead } = await read(source, piece, 0, piece.length, null)
    if (bytesRead === 0) break
    for (let done = 0; done < bytesRead;)
      done += (await write(target, piece, done, bytesRead - done, null)).bytesWritten
    copied += BigInt(bytesRead)
  }
  return copied
}

async function copyDirectory(
  way: CopyWay,
  from: Source,
  { node, into, name, shown }: Copied & { shown: string },
): Promise<void> {
  using source = holdSame(from, node.stat, shown)
  requireSame(lookAt(from), node, shown)
  // Open to its maker until all is in it.
  mkdirSync(`${into.self}/${name}`, modeOf(node) | 0o700)
  using made = openEntry(into, name)
  if (!made.stat.isDirectory()) throw changedMeanwhile(name)
  giveTo(ownerOf(way, node.stat), (uid, gid) => chownSync(made.self, uid, gid))
  for (const child of node.children)
    await buildCopy(way, entryIn(source, child.name), { node: child, into: made, name: child.name })
  // What the folder above hands down, such as its group, stays.
  const handedDown = made.stat.mode & 0o7000
  chmodSync(made.self, handedDown | (way.as === 'moved' ? modeOf(node) : made.stat.mode & modeOf(node)))
  if (way.as === 'moved') await syncDirectory(made)
}

/** Without set-id and sticky bits. */
function modeOf({ stat }: TreeNode): number {
  return Number(stat.mode) & 0o777
}

function requireSame(now: BigIntStats | undefined, { stat }: TreeNode, shown: string): void {
  if (now === undefined || identityOf(now) !== identityOf(stat)) throw changedMeanwhile(shown)
}

function ownerOf(way: CopyWay, stat: BigIntStats): Owner | undefined {
  if (way.as === 'new') return way.owner
  return process.getuid === undefined ? undefined : { uid: Number(stat.uid), gid: Number(stat.gid) }
}

function giveTo(owner: Owner | undefined, give: (uid: number, gid: number) => void): void {
  if (owner === undefined) return
  try {
    give(owner.uid, owner.gid)
  } catch (error) {
    // Only root may give things away; what anybody else makes is their own.
    if (systemErrorName(error) !== 'EPERM') throw error
  }
}
