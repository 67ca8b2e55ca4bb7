import { readSync } from 'node:fs'
import { openOwn, openRegular } from './landing/content.ts'

/** Larger files are not compared. */
const maxBytes = 64 * 1024 * 1024
const pieceBytes = 256 * 1024

/**
 * Whether a file of a layer holds what the one below it holds. False if one cannot be read, or is large: it then counts as changed. Times tell
 * nothing, because a program may set them.
 */
export function hasSameContent(inLayer: string, below: string): boolean {
  try {
    using one = openOwn(inLayer, inLayer)
    using other = openRegular(below, below)
    if (one.stat.size !== other.stat.size || one.stat.size > maxBytes) return false
    const [left, right] = [Buffer.allocUnsafe(pieceBytes), Buffer.allocUnsafe(pieceBytes)]
    for (let at = 0; at < one.stat.size; at += pieceBytes) {
      const read = readSync(one.descriptor, left, 0, pieceBytes, at)
      if (readSync(other.descriptor, right, 0, pieceBytes, at) !== read) return false
      if (!left.subarray(0, read).equals(right.subarray(0, read))) return false
    }
    return true
  } catch {
    return false
  }
}
