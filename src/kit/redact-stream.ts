import type { Redactor } from './redact.ts'

/** Redacts bytes that come in pieces. */
export interface RedactingStream {
  /** What can go on by now; the rest waits for what follows. */
  push(piece: Uint8Array): Uint8Array
  /** What still waits. */
  end(): Uint8Array
}

/** A line longer than this, or a key that does not end, is let go at last. */
const maxWaiting = 256 * 1024

const keyBegin = /-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----(?![\s\S]*-----END [A-Z ]{0,30}PRIVATE KEY-----)/

/**
 * Redacts whole lines at a time, and a private key as one, so that no secret is cut in two by a piece's edge. Bytes that are no
 * secret come out as they went in, whatever their encoding: they are read as Latin-1, one letter a byte.
 */
export function createRedactingStream(redactor: Redactor): RedactingStream {
  let waiting = ''
  return {
    push(piece) {
      waiting += Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength).toString('latin1')
      const end = waiting.length > maxWaiting ? waiting.length : findSafeEnd(waiting)
      const ready = redactor.text(waiting.slice(0, end))
      waiting = waiting.slice(end)
      return Buffer.from(ready, 'latin1')
    },
    end() {
      const ready = redactor.text(waiting)
      waiting = ''
      return Buffer.from(ready, 'latin1')
    },
  }
}

function findSafeEnd(text: string): number {
  const lineEnd = text.lastIndexOf('\n') + 1
  const lines = text.slice(0, lineEnd)
  const openKey = lines.includes('PRIVATE KEY') ? lines.search(keyBegin) : -1
  return openKey >= 0 ? openKey : lineEnd
}
