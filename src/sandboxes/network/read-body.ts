import { pipeline, Readable, type Transform } from 'node:stream'
import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createZstdDecompress,
} from 'node:zlib'
import { ToolFailure } from '../../contract/errors.ts'

/** What `accept-encoding` offers. What servers mean by `deflate` is not sure. */
export const knownEncodings = 'gzip, br, zstd'

/** More layers serve nobody but who wants to fill memory. */
const maxLayers = 2
/** Room for what stands around packed data that hardly shrinks. */
const slackBytes = 64 * 1024

/** A body up to `maxBytes`, counted after it is unpacked; the rest is not read. Of what comes in packed, not much more is taken. */
export async function readBody(
  body: Readable,
  { encoding, maxBytes }: { encoding: string; maxBytes: number },
): Promise<{ bytes: Uint8Array; truncated: boolean }> {
  // One that is left before its end says so, and nobody wants to know.
  body.on('error', () => {})
  const bound = { bytes: maxBytes + slackBytes, reached: false }
  const unpacked = unpack(body, encoding, bound)
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

/** Errors of all streams come out of the last one, which is the one that is read. */
function unpack(body: Readable, encoding: string, bound: Bound): Readable {
  const layers = encoding
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '' && name !== 'identity')
    .reverse()
    .map(openLayer)
  if (layers.length > maxLayers) throw unknownEncoding(encoding)
  const packed = Readable.from(upTo(body, bound), { objectMode: false })
  return layers.reduce<Readable>((from, layer) => pipeline(from, layer, () => {}), packed)
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

/** What was unpacked before the end of a cut body counts. */
function openLayer(name: string): Transform {
  switch (name) {
    case 'gzip':
    case 'x-gzip':
      return createGunzip({ finishFlush: constants.Z_SYNC_FLUSH })
    case 'deflate':
      return createInflate({ finishFlush: constants.Z_SYNC_FLUSH })
    case 'br':
      return createBrotliDecompress({ finishFlush: constants.BROTLI_OPERATION_FLUSH })
    case 'zstd':
      return createZstdDecompress({ finishFlush: constants.ZSTD_e_flush })
    default:
      throw unknownEncoding(name)
  }
}

function unknownEncoding(encoding: string): ToolFailure {
  return new ToolFailure({
    reason: 'upstream_error',
    message: `The server packed its answer as "${encoding.slice(0, 100)}", which nobody asked for.`,
  })
}
