import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsync as fsyncCallback,
  openSync,
  rmSync,
  write as writeCallback,
  type Stats,
} from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { FileStat } from '../../contract/services/sandbox.ts'
import { fileDigest } from '../../kit/json/digest.ts'
import { readPieces } from '../history/file-content.ts'
import { noteUnfinished, unfinishedName } from '../leftovers/unfinished-files.ts'
import { systemErrorName, toFileFailure } from './file-failure.ts'
import { findTarget, type Target } from './find-target.ts'
import { ownerIn } from './owner-in.ts'
import { putInPlace, type FileChange } from './put-in-place.ts'
import { requireWriting, stopIfAborted, type Reach } from './reach.ts'
import { syncDirectory } from './sync-directory.ts'
import { toFileStat } from './to-file-stat.ts'

const fsync = promisify(fsyncCallback)
const write = promisify(writeCallback)

/**
 * Replaces or creates a regular file in one step: a temporary file beside it, synced, then given the name. Whatever fails, the
 * old content stands and the temporary file is gone. The mode of an old file is kept but for set-id bits; a hard link to it
 * keeps the old content. A new file belongs to the owner of its folder where this process may see to that.
 */
export async function writeFile(reach: Reach, path: string, change: FileChange): Promise<FileStat> {
  requireWriting(reach, 'write files')
  stopIfAborted(reach)
  try {
    using target = await findTarget(reach, path, change)
    const temporary = openTemporary(target)
    try {
      await fill(temporary.descriptor, change.bytes)
      stopIfAborted(reach)
      await noteWrite(reach, target, { ...change, mode: fstatSync(temporary.descriptor).mode & 0o777 })
      putInPlace(temporary.path, `${target.directory.self}/${target.name}`, { path, expect: change.expect })
      await syncDirectory(target.directory)
      return toFileStat(fstatSync(temporary.descriptor))
    } finally {
      closeSync(temporary.descriptor)
      temporary.remove()
    }
  } catch (error) {
    throw toFileFailure(error, path)
  }
}

/** Keeps what is replaced, and notes what comes into its place. */
async function noteWrite(
  { history }: Reach,
  { directory, name, old }: Target,
  { bytes, expect, mode }: FileChange & { mode: number },
): Promise<void> {
  if (history === undefined) return
  const after = { kind: 'file', mode, bytes: bytes.length, digest: fileDigest(bytes) } as const
  const path = join(directory.real, name)
  if (old === undefined || expect === 'absent') {
    await history.record([{ path, before: { kind: 'none' }, after }])
    return
  }
  const before = { kind: 'file', mode: old.mode & 0o777, bytes: old.size, ...expect } as const
  const open = () => readOld(`${directory.self}/${name}`)
  await history.keep({ digest: before.digest, bytes: before.bytes, open })
  await history.record([{ path, before, after }])
}

async function* readOld(at: string): AsyncGenerator<Uint8Array> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants
  const descriptor = openSync(at, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  try {
    yield* readPieces(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

interface Temporary {
  readonly path: string
  readonly descriptor: number
  remove(): void
}

/** A new, empty file in the target's directory, with the owner and mode that the target is to have. */
function openTemporary({ directory, old }: Target): Temporary {
  const name = unfinishedName()
  const path = `${directory.self}/${name}`
  const forget = noteUnfinished(join(directory.real, name))
  const remove = () => {
    rmSync(path, { force: true })
    forget()
  }
  try {
    const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants
    const mode = old === undefined ? 0o666 : 0o600
    const descriptor = openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode)
    try {
      const owner = ownerIn(directory.stat)
      if (old !== undefined) keepOwnerAndMode(descriptor, old)
      else if (owner !== undefined) fchownSync(descriptor, owner.uid, owner.gid)
      return { path, descriptor, remove }
    } catch (error) {
      closeSync(descriptor)
      throw error
    }
  } catch (error) {
    remove()
    throw error
  }
}

function keepOwnerAndMode(descriptor: number, old: Stats): void {
  const now = fstatSync(descriptor)
  if (process.platform !== 'win32' && (now.uid !== old.uid || now.gid !== old.gid)) {
    try {
      fchownSync(descriptor, old.uid, old.gid)
    } catch (error) {
      // Only root may give a file away; what anybody else writes becomes their own.
      if (systemErrorName(error) !== 'EPERM') throw error
    }
  }
  fchmodSync(descriptor, old.mode & 0o777)
}

async function fill(descriptor: number, bytes: Uint8Array): Promise<void> {
  for (let done = 0; done < bytes.length;)
    done += (await write(descriptor, bytes, done, bytes.length - done, null)).bytesWritten
  await fsync(descriptor)
}
