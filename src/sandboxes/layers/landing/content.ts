import { createHash } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  constants,
  copyFile as copyFileCallback,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  writeSync,
  type BigIntStats,
} from 'node:fs'
import { basename, dirname } from 'node:path'
import { promisify } from 'node:util'
import { fileDigest } from '../../../kit/json/digest.ts'
import { readPieces } from '../../history/file-content.ts'
import { systemErrorName, wrongKind } from '../../files/file-failure.ts'
import { openEntry, openPath } from '../../files/open-path.ts'

const copyFile = promisify(copyFileCallback)
const pieceBytes = 256 * 1024
const shared = Buffer.allocUnsafeSlow(pieceBytes)

/** A regular file that is open for reading. Dispose of it. */
export interface OpenFile extends Disposable {
  readonly descriptor: number
  readonly stat: BigIntStats
}

/** Opens a regular file, and waits for nothing. Throws `ELOOP` for a link; fails with `special_file` for all else. `path` is for messages. */
export function openRegular(at: string, path: string): OpenFile {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants
  const descriptor = openSync(at, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  const close = () => closeSync(descriptor)
  const stat = fstatSync(descriptor, { bigint: true })
  if (stat.isFile()) return { descriptor, stat, [Symbol.dispose]: close }
  close()
  throw wrongKind(path, 'other', 'file')
}

/** The same for a file that only this process uses, also if its mode keeps its owner out. The mode becomes another one then. */
export function openOwn(at: string, path: string): OpenFile {
  try {
    return openRegular(at, path)
  } catch (error) {
    if (systemErrorName(error) !== 'EACCES') throw error
    using folder = openPath(dirname(at))
    using held = openEntry(folder, basename(at))
    if (!held.stat.isFile() || held.stat.uid !== process.geteuid?.()) throw error
    chmodSync(held.self, 0o600)
    return openRegular(at, path)
  }
}

/** Copies a file into an empty one; holes stay holes. Returns the digest of what was copied if that is asked for. */
export async function copyContent(
  { descriptor, stat }: OpenFile,
  target: number,
  { digest }: { digest: boolean },
): Promise<string | undefined> {
  if (stat.size < pieceBytes) {
    const bytes = shared.subarray(0, readSync(descriptor, shared, 0, pieceBytes, 0))
    if (bytes.length < pieceBytes) {
      writeAll(target, bytes)
      return digest ? fileDigest(bytes) : undefined
    }
  }
  const hasHoles = stat.blocks * 512n < stat.size
  if (!digest && !hasHoles && process.platform === 'linux') {
    // By descriptors, so that no name is looked up.
    await copyFile(`/proc/self/fd/${descriptor}`, `/proc/self/fd/${target}`, constants.COPYFILE_FICLONE)
    return undefined
  }
  const hasher = createHash('sha256')
  let size = 0
  for await (const piece of readPieces(descriptor)) {
    if (digest) hasher.update(piece)
    if (!hasHoles || !isZero(piece)) writeAll(target, piece, size)
    size += piece.length
  }
  ftruncateSync(target, size)
  return digest ? `sha256:${hasher.digest('hex')}` : undefined
}

const zeros = Buffer.alloc(pieceBytes)

function isZero(piece: Uint8Array): boolean {
  return piece.length <= zeros.length && zeros.subarray(0, piece.length).equals(piece)
}

/** The digest of a whole file. */
export async function digestOf({ descriptor, stat }: OpenFile): Promise<string> {
  if (stat.size < pieceBytes) {
    const bytes = shared.subarray(0, readSync(descriptor, shared, 0, pieceBytes, 0))
    if (bytes.length < pieceBytes) return fileDigest(bytes)
  }
  const hasher = createHash('sha256')
  for await (const piece of readPieces(descriptor)) hasher.update(piece)
  return `sha256:${hasher.digest('hex')}`
}

function writeAll(target: number, bytes: Uint8Array, at = 0): void {
  for (let done = 0; done < bytes.length;)
    done += writeSync(target, bytes, done, bytes.length - done, at + done)
}
