import type { Redactor } from './redact.ts'

/** Redacts bytes that come in pieces. */
export interface RedactingStream {
  /** What can go on by now; the rest waits for what follows. */
  push(piece: Uint8Array): Uint8Array
  /** What still waits. */
  end(): Uint8Array
}

/** A line longer than this goes on before it ends. Small, so that no string of it outlives a quick collection of garbage. */
const maxWaiting = 96 * 1024

/**
 * Redacts whole lines at a time, what of a secret goes over several lines as one, and lines that do not end so that no cut lies in a
 * secret. Bytes that are no secret come out as they went in, whatever their encoding: they are read as Latin-1, one letter a byte.
 */
export function createRedactingStream(redactor: Redactor): RedactingStream {
  const room = Math.max(maxWaiting, 3 * redactor.longestSecret)
  let waiting = ''
  const release = (end: number): string => {
    const ready = redactor.text(waiting.slice(0, end))
    waiting = waiting.slice(end)
    return ready
  }
  return {
    push(piece) {
      const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength)
      let ready = ''
      for (let at = 0; at < bytes.length;) {
        const end = at + room - waiting.length
        waiting += bytes.toString('latin1', at, Math.min(end, bytes.length))
        at = end
        ready += release(redactor.lineEnd(waiting))
        if (waiting.length < room) continue
        ready += release(startOfLetter(waiting, redactor.cut(waiting, room - redactor.longestSecret)))
      }
      return Buffer.from(ready, 'latin1')
    },
    end: () => Buffer.from(release(waiting.length), 'latin1'),
  }
}

/** Where the letter begins whose bytes in UTF-8 this place lies in. */
function startOfLetter(bytes: string, at: number): number {
  let start = at
  while (at - start < 3 && (bytes.charCodeAt(start) & 0b1100_0000) === 0b1000_0000) start--
  return start
}
