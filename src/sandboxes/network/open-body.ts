import { Readable } from 'node:stream'
import { checkSize, createBodyStream, type BodyOptions, type BodyStream, type Flow } from './body-stream.ts'
import { unpack } from './base/unpack.ts'

/** The body of an answer with these headers, unpacked. Throws a `ToolFailure` if it is packed in a way that was not asked for. */
export function openBody(
  connection: Flow,
  headers: Readonly<Record<string, string>>,
  onDone?: () => void,
): BodyStream {
  const isEvents = /^text\/event-stream\b/i.test(headers['content-type'] ?? '')
  const encoding = headers['content-encoding']
  if (encoding === undefined) return createBodyStream(connection, { isEvents, onDone })
  return openPacked(connection, { encoding, isEvents, onDone })
}

function openPacked(
  connection: Flow,
  { encoding, ...options }: BodyOptions & { encoding: string },
): BodyStream {
  const packed = new Readable({ read: () => connection.resume() })
  const unpacked = unpack(packed, encoding)
  const abort = (reason: Error): void => {
    unpacked.destroy()
    connection.abort(reason)
  }
  const flow = { pause: () => void unpacked.pause(), resume: () => void unpacked.resume(), abort }
  const body = createBodyStream(flow, options)
  // Packed data may unpack to nothing for ever.
  let packedBytes = 0
  unpacked.on('data', (piece: Buffer) => {
    if (options.isEvents) packedBytes = 0
    body.push(piece)
  })
  unpacked.on('end', () => body.end())
  unpacked.on('error', (cause) => {
    body.fail(new TypeError('terminated', { cause }))
    connection.abort(cause)
  })
  return {
    stream: body.stream,
    push(piece) {
      packedBytes += piece.length
      const fault = checkSize(packedBytes)
      if (fault === undefined) {
        if (!packed.push(piece)) connection.pause()
      } else {
        body.fail(fault)
        abort(fault)
      }
    },
    end: () => void packed.push(null),
    fail(error) {
      body.fail(error)
      unpacked.destroy()
    },
  }
}
