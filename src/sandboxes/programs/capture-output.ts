import type { Readable } from 'node:stream'
import type { ArtifactSink, ArtifactWriter, CapturedOutput } from '../../contract/services/sandbox.ts'
import { releaseBytes } from '../../kit/release-bytes.ts'
import { keepEnds } from '../../kit/text/keep-ends.ts'
import { withoutBrokenEnd } from '../../kit/text/without-broken-end.ts'

/** How much of a stream to keep, and who else wants it. */
export interface CaptureOptions {
  readonly name: 'stdout' | 'stderr'
  /** Bytes to keep: half from the start, half from the end. */
  readonly maxBytes: number
  /** Gets the whole, once it is more than `maxBytes`. */
  readonly sink: ArtifactSink | undefined
  /** Gets the text as it comes, whole code points at a time. */
  readonly onText: ((text: string) => void) | undefined
  /** Told when the sink or `onText` throws; nothing more is handed to them then. */
  readonly onFault: (error: unknown) => void
}

/** What is kept of a stream so far. End it once, with `finish` or `abandon`. */
export interface Capture {
  /** Bytes that came so far. */
  bytes(): number
  /** Ends the artifact and returns what was kept. */
  finish(): Promise<CapturedOutput>
  /** Throws the artifact away. */
  abandon(): Promise<void>
}

/** Keeps the start and the end of a stream in bounded memory, whatever comes. */
export function captureOutput(stream: Readable, options: CaptureOptions): Capture {
  const { name, maxBytes, sink, onText } = options
  const kept = keepEnds(maxBytes)
  const decoder = new TextDecoder()
  let writer: ArtifactWriter | undefined
  let faulty = false

  const handOn = (chunk: Uint8Array, last: boolean) => {
    if (sink !== undefined && writer === undefined && kept.bytes() + chunk.length > maxBytes) {
      writer = sink.open({ mimeType: 'text/plain', name: `${name}.txt` })
      const { head, tail } = kept.parts()
      for (const earlier of [head, tail]) if (earlier.length > 0) writer.write(earlier)
    }
    if (chunk.length > 0) writer?.write(chunk)
    const text = onText === undefined ? '' : decoder.decode(chunk, { stream: !last })
    if (text !== '') onText?.(text)
  }
  const take = (chunk: Uint8Array, last = false) => {
    try {
      if (!faulty) handOn(chunk, last)
    } catch (error) {
      faulty = true
      options.onFault(error)
    }
    kept.add(chunk)
  }
  stream.on('data', (chunk: Buffer) => {
    take(chunk)
    // Everybody who was handed it has taken what they need.
    releaseBytes(chunk)
  })
  // A pipe that breaks has given what it had.
  stream.on('error', () => stream.destroy())

  return {
    bytes: () => kept.bytes(),
    async finish() {
      take(new Uint8Array(), true)
      const artifact = await writer?.finish()
      return {
        ...toText(kept.parts(), kept.bytes() > maxBytes),
        bytes: kept.bytes(),
        ...(artifact !== undefined && { artifact }),
      }
    },
    async abandon() {
      await writer?.abandon()
    },
  }
}

function toText(
  { head, tail }: { head: Buffer; tail: Buffer },
  truncated: boolean,
): Pick<CapturedOutput, 'head' | 'tail' | 'truncated'> {
  if (!truncated) return { head: Buffer.concat([head, tail]).toString(), tail: '', truncated }
  return { head: withoutBrokenEnd(head).toString(), tail: dropBrokenStart(tail).toString(), truncated }
}

/** Without the last bytes of a code point whose start was cut off. */
function dropBrokenStart(bytes: Buffer): Buffer {
  let start = 0
  while (start < 3 && isContinuation(bytes[start] ?? 0)) start++
  return bytes.subarray(start)
}

function isContinuation(byte: number): boolean {
  return (byte & 0b1100_0000) === 0b1000_0000
}
