import { closeSync, constants, fstatSync, read as readCallback, readSync } from 'node:fs'
import { promisify } from 'node:util'
import { ToolFailure } from '../../contract/base/errors.ts'
import type { FileStat } from '../../contract/services/sandbox.ts'
import { systemErrorName, toFileFailure, wrongKind } from './file-failure.ts'
import type { PathHandle } from './path-handle.ts'
import { locateExisting } from './locate.ts'
import { stopIfAborted, type Reach } from './reach.ts'
import { refuseAlias } from './refuse-alias.ts'
import { kindOf, toFileStat } from './to-file-stat.ts'

const readAsync = promisify(readCallback)
const pieceBytes = 64 * 1024
/** A caller that reads on after the first piece mostly reads far: fewer trips to another thread. */
const largePieceBytes = 256 * 1024
/** Up to this size a file is read at once: quicker than four trips to another thread. */
const atOnceBytes = 1024 * 1024

/**
 * The whole of a regular file. Fails with `file_too_large` over `maxBytes`, counted in bytes read, so that a file that says it
 * is empty or grows meanwhile is bounded too.
 */
export async function readFile(
  reach: Reach,
  path: string,
  maxBytes: number,
): Promise<{ bytes: Uint8Array; stat: FileStat }> {
  using held = locateExisting(reach, path)
  if (held.stat.nlink > 1) await refuseAlias(reach, held, path)
  const descriptor = openForReading(held, path)
  try {
    const stat = fstatSync(descriptor)
    if (stat.size > maxBytes) throw tooLarge(path, maxBytes)
    const bytes = await readUpTo(descriptor, stat.size, maxBytes + 1)
    if (bytes.length > maxBytes) throw tooLarge(path, maxBytes)
    return { bytes, stat: toFileStat(stat) }
  } catch (error) {
    throw toFileFailure(error, path)
  } finally {
    closeSync(descriptor)
  }
}

/** A regular file in pieces, each a buffer of its own: the first of 64 KiB, the others of 256 KiB. Closed when the reader stops. */
export async function* readChunks(reach: Reach, path: string): AsyncGenerator<Uint8Array> {
  using held = locateExisting(reach, path)
  if (held.stat.nlink > 1) await refuseAlias(reach, held, path)
  const descriptor = openForReading(held, path)
  try {
    for (let size = pieceBytes; ; size = largePieceBytes) {
      stopIfAborted(reach)
      const piece = Buffer.allocUnsafe(size)
      const count = await readInto(descriptor, piece, true)
      if (count === 0) return
      yield piece.subarray(0, count)
    }
  } catch (error) {
    throw toFileFailure(error, path)
  } finally {
    closeSync(descriptor)
  }
}

/** Opens a regular file; never waits for a pipe, never touches a device. The caller closes it. */
export function openForReading(held: PathHandle, path: string): number {
  if (!held.stat.isFile()) throw wrongKind(path, kindOf(held.stat), 'file')
  try {
    return held.open(constants.O_RDONLY | constants.O_NONBLOCK)
  } catch (error) {
    throw toFileFailure(error, path)
  }
}

async function readUpTo(descriptor: number, size: number, bound: number): Promise<Uint8Array> {
  let buffer = Buffer.allocUnsafe(Math.min(size > 0 ? size + 1 : pieceBytes, bound))
  let used = 0
  for (;;) {
    const count = await readInto(descriptor, buffer.subarray(used), size > atOnceBytes)
    used += count
    if (count === 0 || used === bound) return buffer.subarray(0, used)
    if (used === buffer.length) {
      const larger = Buffer.allocUnsafe(Math.min(used * 2, bound))
      buffer.copy(larger)
      buffer = larger
    }
  }
}

async function readInto(descriptor: number, buffer: Buffer, aside: boolean): Promise<number> {
  try {
    if (!aside) return readSync(descriptor, buffer)
    return (await readAsync(descriptor, buffer, 0, buffer.length, null)).bytesRead
  } catch (error) {
    // A file that would wait for more, such as /proc/kmsg, has given what it has.
    if (systemErrorName(error) === 'EAGAIN') return 0
    throw error
  }
}

function tooLarge(path: string, maxBytes: number): ToolFailure {
  return new ToolFailure({
    reason: 'file_too_large',
    message: `"${path}" has more than ${maxBytes} bytes. Read a part of it, or search in it.`,
    data: { maxBytes },
  })
}
