import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  futimesSync,
  lchownSync,
  linkSync,
  lutimesSync,
  mkdirSync,
  openSync,
  readlinkSync,
  symlinkSync,
  utimesSync,
  type BigIntStats,
} from 'node:fs'
import { join } from 'node:path'
import { ToolFailure } from '../../contract/base/errors.ts'
import { aborted } from '../files/aborted.ts'
import { systemErrorName } from '../files/file-failure.ts'
import { copyContent, openRegular } from './landing/content.ts'
import { holdRoot } from './landing/folders.ts'
import { give, ownerOf } from './landing/give.ts'
import { walkBelow, type Found } from './landing/walk-below.ts'
import { noLayer } from './layer-failure.ts'
import { maxDepth } from './read-entry.ts'

/** What is copied at most, of all roots together. */
const maxEntries = 20_000
const maxBytes = 256 * 1024 * 1024

/** Whom a layer is for. */
interface User {
  readonly uid: number
  readonly gid: number
  /** Whether it is another one than this process's own. */
  readonly other: boolean
}

/** Looks at each thing before it is copied. Fails with `SANDBOX.UNAVAILABLE` if it is one too many or cannot be copied with its owner. */
type CopyBounds = (path: string, stat: BigIntStats) => void

/** Bounds of the copies of all roots of a command. */
export function createCopyBounds(user: User, signals: readonly AbortSignal[]): CopyBounds {
  let entries = 0
  let bytes = 0n
  const groups = new Set([user.gid, ...(process.getgroups?.() ?? [])])
  return (path, stat) => {
    entries += 1
    bytes += stat.isFile() ? stat.size : 0n
    if (signals.some(({ aborted: isAborted }) => isAborted)) throw aborted()
    if (entries > maxEntries || bytes > maxBytes)
      throw noLayer(
        `the folders that it may write to hold more than ${maxEntries} files and folders, or more than ${maxBytes / 1024 / 1024} MiB`,
      )
    if (!user.other && (Number(stat.uid) !== user.uid || !groups.has(Number(stat.gid))))
      throw noLayer(`"${path}" belongs to another user or group`)
    if (path.split('/').length > maxDepth) throw noLayer(`"${path}" lies too deep`)
  }
}

/**
 * Copies all that is in a root into an empty folder of this process, with owners, permissions, times and hard links, by reflink if the file system can.
 * Each folder is held open meanwhile, and no link is followed, so that nothing from elsewhere gets into the copy. Sockets, pipes and devices
 * are left out.
 */
export async function copyRoot(root: string, copy: string, look: CopyBounds): Promise<void> {
  const copies = new Map<string, string>()
  const folders: { to: string; stat: BigIntStats }[] = []
  await walkRoot(root, async (found) => {
    const { path, at, stat } = found
    const to = join(copy, path)
    look(join(root, path), stat)
    if (stat.isDirectory()) {
      mkdirSync(to, 0o700)
      folders.push({ to, stat })
    } else if (stat.isSymbolicLink()) {
      symlinkSync(readlinkSync(at, { encoding: 'buffer' }), to)
      give(ownerOf(stat), (uid, gid) => lchownSync(to, uid, gid))
      lutimesSync(to, ...timesOf(stat))
    } else if (stat.isFile()) await copyUnlessGone(found, { path: join(root, path), to, copies })
  })
  for (const { to, stat } of folders.toReversed()) {
    give(ownerOf(stat), (uid, gid) => chownSync(to, uid, gid))
    chmodSync(to, Number(stat.mode & 0o7777n))
    utimesSync(to, ...timesOf(stat))
  }
}

/** What is removed meanwhile is not in the copy, as if the command had begun a moment later. */
async function copyUnlessGone(found: Found, copying: Parameters<typeof copyFile>[1]): Promise<void> {
  try {
    await copyFile(found, copying)
  } catch (error) {
    if (systemErrorName(error) !== 'ENOENT') throw error
  }
}

async function copyFile(
  { at }: Found,
  { path, to, copies }: { path: string; to: string; copies: Map<string, string> },
): Promise<void> {
  using source = openRegular(at, path)
  const { stat } = source
  if (stat.size > maxBytes) throw noLayer(`"${path}" is larger than ${maxBytes / 1024 / 1024} MiB`)
  const key = `${stat.dev} ${stat.ino}`
  const copied = stat.nlink > 1n ? copies.get(key) : undefined
  if (copied !== undefined) return linkSync(copied, to)
  copies.set(key, to)
  const target = openSync(to, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600)
  try {
    await copyContent(source, target, { digest: false })
    give(ownerOf(stat), (uid, gid) => fchownSync(target, uid, gid))
    fchmodSync(target, Number(stat.mode & 0o7777n))
    futimesSync(target, ...timesOf(stat))
  } finally {
    closeSync(target)
  }
}

/** What is in a root cannot be copied if it cannot be read, or is swapped meanwhile. */
async function walkRoot(root: string, visit: (found: Found) => Promise<void> | void): Promise<void> {
  try {
    using folders = holdRoot(root)
    await walkBelow(folders.top, visit, { skipsGone: true })
  } catch (error) {
    if (error instanceof ToolFailure) throw error.reason === 'file_limit' ? noLayer(error.message) : error
    const name = systemErrorName(error)
    if (name === undefined) throw error
    throw noLayer(`"${root}" could not be copied (${name})`)
  }
}

function timesOf({ atimeNs, mtimeNs }: BigIntStats): [atime: number, mtime: number] {
  return [Number(atimeNs) / 1e9, Number(mtimeNs) / 1e9]
}
