import { createHash } from 'node:crypto'
import { read as readCallback } from 'node:fs'
import { promisify } from 'node:util'
import type { PathState } from '../../contract/base/effects.ts'

const read = promisify(readCallback)
const pieceBytes = 256 * 1024

/** A file as a history tells of it. */
export type FileState = Extract<PathState, { kind: 'file' }>

/** What an open file holds, from its start. */
export async function* readPieces(descriptor: number): AsyncGenerator<Uint8Array> {
  for (let position = 0; ;) {
    const piece = Buffer.allocUnsafe(pieceBytes)
    const { bytesRead } = await read(descriptor, piece, 0, pieceBytes, position)
    if (bytesRead === 0) return
    position += bytesRead
    yield piece.subarray(0, bytesRead)
  }
}

/** The state of an open file. `onPiece` is called again and again, and may throw to end it. */
export async function stateOfFile(
  descriptor: number,
  mode: number,
  onPiece: () => void = () => {},
): Promise<FileState> {
  const hash = createHash('sha256')
  let bytes = 0
  for await (const piece of readPieces(descriptor)) {
    onPiece()
    hash.update(piece)
    bytes += piece.length
  }
  return { kind: 'file', mode: mode & 0o777, bytes, digest: `sha256:${hash.digest('hex')}` }
}
