import type { JobLog } from '../state/job-log.ts'
import type { ArtifactSink, ArtifactWriter } from '../../contract/services/sandbox.ts'
import { keepEnds } from '../../kit/text/keep-ends.ts'
import { createRedactingStream } from '../../kit/secrets/redact-stream.ts'
import type { Redactor } from '../../kit/secrets/redact.ts'
import { releaseBytes } from '../../kit/release-bytes.ts'
import { withoutBrokenEnd } from '../../kit/text/without-broken-end.ts'

/** Kept at hand: half from the start, half from the end. */
const keptBytes = 256 * 1024

/** A log whose lines stand in it as soon as they are whole. What is more than fits goes to the sink, all of it. */
export function createJobLog(sink: ArtifactSink, redactor: Redactor): JobLog {
  const kept = keepEnds(keptBytes)
  const streams = { stdout: createRedactingStream(redactor), stderr: createRedactingStream(redactor) }
  let writer: ArtifactWriter | undefined

  const take = (bytes: Uint8Array): void => {
    if (writer === undefined && kept.bytes() + bytes.length > keptBytes) {
      writer = sink.open({ mimeType: 'text/plain', name: 'output.txt' })
      for (const earlier of Object.values(kept.parts())) if (earlier.length > 0) writer.write(earlier)
    }
    if (bytes.length > 0) writer?.write(bytes)
    kept.add(bytes)
    releaseBytes(bytes)
  }
  return {
    bytes: () => kept.bytes(),
    add({ stream, text }) {
      const bytes = Buffer.from(text)
      take(streams[stream].push(bytes))
      releaseBytes(bytes)
    },
    read({ offset, maxBytes }) {
      const { bytes, at } = findPart(kept.parts(), kept.bytes(), offset)
      const page = bytes.subarray(0, maxBytes)
      const whole = at + page.length === kept.bytes() ? page : withoutBrokenEnd(page)
      return { text: whole.toString(), offset: at, nextOffset: at + whole.length }
    },
    finish() {
      for (const stream of Object.values(streams)) take(stream.end())
      return writer?.finish() ?? Promise.resolve(undefined)
    },
    abandon: () => writer?.abandon() ?? Promise.resolve(),
  }
}

/** What is at hand from an offset on, as far as it hangs together. */
function findPart(
  { head, tail }: { head: Buffer; tail: Buffer },
  total: number,
  offset: number,
): { bytes: Buffer; at: number } {
  const tailAt = total - tail.length
  if (tailAt <= head.length) {
    const at = Math.min(offset, total)
    return { bytes: Buffer.concat([head, tail]).subarray(at), at }
  }
  const start = withoutBrokenEnd(head)
  if (offset < start.length) return { bytes: start.subarray(offset), at: offset }
  const first = tailAt + brokenStart(tail)
  const at = Math.min(Math.max(offset, first), total)
  return { bytes: tail.subarray(at - tailAt), at }
}

/** How many bytes at the start belong to a code point that began before. */
function brokenStart(bytes: Uint8Array): number {
  let count = 0
  while (count < 3 && isContinuation(bytes[count])) count++
  return count
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0b1100_0000) === 0b1000_0000
}
