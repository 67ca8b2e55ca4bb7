import { Readable } from 'node:stream'
import { unpack } from './unpack.ts'

/** Room for what stands around packed data that hardly shrinks. */
const slackBytes = 64 * 1024

/** A body up to `maxBytes`, counted after it is unpacked; the rest is not read. Of what comes in packed, not much more is taken. */
export async function readBody(
  body: Readable,
  { encoding, maxBytes }: { encoding: string; maxBytes: number },
): Promise<{ bytes: Uint8Array; truncated: boolean }> {
  // One that is left before its end emits an error, which no caller needs.
  body.on('error', () => {})
  const bound = { bytes: maxBytes + slackBytes, reached: false }
  const unpacked = unpack(Readable.from(upTo(body, bound), { objectMode: false }), encoding)
  const pieces: Buffer[] = []
  let size = 0
  let more = false
  try {
    for await (const piece of unpacked as AsyncIterable<Buffer>) {
      const left = maxBytes - size
      more = piece.length > left
      pieces.push(more ? piece.subarray(0, left) : piece)
      size += Math.min(piece.length, left)
      if (more) break
    }
  } finally {
    unpacked.destroy()
    body.destroy()
  }
  return { bytes: Buffer.concat(pieces, size), truncated: more || bound.reached }
}

/** Most bytes that are taken in, and whether more would have come. */
interface Bound {
  readonly bytes: number
  reached: boolean
}

/** Packed data may unpack to nothing for ever. */
async function* upTo(body: Readable, bound: Bound): AsyncGenerator<Buffer> {
  let received = 0
  for await (const piece of body as AsyncIterable<Buffer>) {
    yield piece
    received += piece.length
    bound.reached = received > bound.bytes
    if (bound.reached) return
  }
}
