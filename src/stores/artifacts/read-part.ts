import { createHash } from 'node:crypto'
import { open, type FileHandle } from 'node:fs/promises'
import type { ArtifactPart } from '../../contract/services/artifacts.ts'

/** Files whose bytes were held against their digest, as they stood then. */
export interface Checked {
  has(digest: string, state: string): boolean
  add(digest: string, state: string): void
}

const maxChecked = 256
const pieceBytes = 1024 * 1024

/** Nothing is checked yet. */
export function createChecked(): Checked {
  const states = new Map<string, string>()
  return {
    has: (digest, state) => states.get(digest) === state,
    add(digest, state) {
      states.delete(digest)
      states.set(digest, state)
      const [oldest] = states.keys()
      if (states.size > maxChecked && oldest !== undefined) states.delete(oldest)
    },
  }
}

/**
 * Some bytes of a file, of which no more than these and a small piece are in memory at a time. The whole is held against its digest when it
 * is first read, and again where it was changed since: `changed` where it is not what the digest says. Rejects as the file system does.
 */
export async function readPart({
  path,
  digest,
  checked,
  part: { offset, length },
}: {
  path: string
  digest: string
  checked: Checked
  part: ArtifactPart
}): Promise<{ bytes: Uint8Array; total: number } | 'changed'> {
  const file = await open(path, 'r')
  try {
    const { ino, size, mtimeNs, ctimeNs } = await file.stat({ bigint: true })
    const state = [ino, size, mtimeNs, ctimeNs].join(' ')
    if (!checked.has(digest, state)) {
      if ((await digestOf(file)) !== digest) return 'changed'
      checked.add(digest, state)
    }
    const total = Number(size)
    const bytes = Buffer.alloc(Math.max(0, Math.min(length, total - offset)))
    return { bytes: bytes.subarray(0, await fill(file, bytes, offset)), total }
  } finally {
    await file.close()
  }
}

async function digestOf(file: FileHandle): Promise<string> {
  const hash = createHash('sha256')
  const piece = Buffer.alloc(pieceBytes)
  for (let offset = 0; ;) {
    const count = await fill(file, piece, offset)
    hash.update(piece.subarray(0, count))
    if (count < piece.length) return `sha256:${hash.digest('hex')}`
    offset += count
  }
}

/** As many bytes as there are, up to those of the buffer. */
async function fill(file: FileHandle, buffer: Buffer, from: number): Promise<number> {
  let filled = 0
  while (filled < buffer.length) {
    const { bytesRead } = await file.read(buffer, filled, buffer.length - filled, from + filled)
    if (bytesRead === 0) break
    filled += bytesRead
  }
  return filled
}
