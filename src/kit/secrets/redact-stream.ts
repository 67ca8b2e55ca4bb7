import type { Redactor } from './redact.ts'

/** Redacts bytes that come in pieces. */
export interface RedactingStream {
  /** What can go on by now; the rest waits for what follows. */
  push(piece: Uint8Array): Uint8Array
  /** What still waits. */
  end(): Uint8Array
}

/** A line longer than this goes on before it ends. */
const maxWaiting = 56 * 1024
const newline = 0x0a

/**
 * Redacts whole lines at a time, what of a secret goes over several lines as one, and lines that do not end so that no cut lies in a
 * secret. Bytes that are no secret come out as they went in, whatever their encoding: they are read as Latin-1, one letter a byte.
 */
export function createRedactingStream(redactor: Redactor): RedactingStream {
  const { longestSecret } = redactor
  const room = Math.max(maxWaiting, 3 * longestSecret)
  // Bytes and no text: a text that waits from piece to piece makes the heap grow.
  let waiting: Buffer | undefined
  let count = 0
  const take = (piece: Uint8Array): number => {
    waiting ??= Buffer.allocUnsafeSlow(room)
    const taken = piece.subarray(0, room - count)
    waiting.set(taken, count)
    count += taken.length
    return taken.length
  }
  const release = (end: number): Buffer => {
    const ready = redactor.text(waiting?.toString('latin1', 0, end) ?? '')
    waiting?.copyWithin(0, end, count)
    count -= end
    return Buffer.from(ready, 'latin1')
  }
  const findEnd = (): number => {
    const text = waiting?.toString('latin1', 0, count) ?? ''
    const lineEnd = redactor.lineEnd(text)
    if (lineEnd > 0 || count < room) return lineEnd
    return startOfLetter(text, redactor.cut(text, room - longestSecret))
  }
  return {
    push(piece) {
      const ready: Buffer[] = []
      for (let at = 0; at < piece.length;) {
        const from = count
        at += take(piece.subarray(at))
        if (count === room || waiting?.subarray(from, count).includes(newline) === true)
          ready.push(release(findEnd()))
      }
      return ready.length === 1 ? (ready[0] ?? Buffer.alloc(0)) : Buffer.concat(ready)
    },
    end: () => release(count),
  }
}

/** Where the letter begins whose bytes in UTF-8 this place lies in. */
function startOfLetter(bytes: string, at: number): number {
  let start = at
  while (at - start < 3 && (bytes.charCodeAt(start) & 0b1100_0000) === 0b1000_0000) start--
  return start
}
