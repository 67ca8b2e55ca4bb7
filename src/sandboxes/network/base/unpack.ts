import { pipeline, type Readable, type Transform } from 'node:stream'
import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createZstdDecompress,
} from 'node:zlib'
import { ToolFailure } from '../../../contract/base/errors.ts'

/** What `accept-encoding` offers. What servers mean by `deflate` is not sure. */
export const knownEncodings = 'gzip, br, zstd'

/** More layers serve only a server that wants to fill memory. */
const maxLayers = 2

/**
 * What was packed as `content-encoding` says. Errors of all streams come out of the one that is given back, which is the one to read
 * and to destroy. Throws a `ToolFailure` for what was not asked for.
 */
export function unpack(packed: Readable, encoding: string): Readable {
  const layers = encoding
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '' && name !== 'identity')
    .reverse()
    .map(openLayer)
  if (layers.length > maxLayers) throw unknownEncoding()
  return layers.reduce<Readable>((from, layer) => pipeline(from, layer, () => {}), packed)
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
      throw unknownEncoding()
  }
}

/** What the server calls its packing is a stranger's text, so it is not repeated. */
function unknownEncoding(): ToolFailure {
  return new ToolFailure({
    reason: 'upstream_error',
    message: `The server packed its answer in a way that was not asked for (only ${knownEncodings} were). Use another page.`,
  })
}
