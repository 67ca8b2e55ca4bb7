import type { SQLOutputValue } from 'node:sqlite'
import { createKeyedDigest } from '../../keyed-digest.ts'

/** Shows that a row was written by a process that has the key of the store. */
export interface Sealer {
  /** The seal of a row with these values: 43 characters that cannot be made without the key. */
  seal(...row: readonly SQLOutputValue[]): string
  /**
   * What a row with this seal adds to a sum of rows: 32 bytes. Stands in no file, so that an attacker cannot make up other rows with the
   * same sum.
   */
  term(seal: string): Buffer
  /** A sum for a reader who has the key, and noise for any other; the other way round, too. `seal` is that of the sums. */
  veil(sum: Uint8Array, seal: string, name: string): Buffer
}

/** A sealer with the key of a store: HMAC-SHA-256, each purpose under a key of its own that is made from that one. */
export function createSealer(key: Uint8Array): Sealer {
  const derive = createKeyedDigest(key)
  const digestFor = (purpose: string) => createKeyedDigest(Buffer.from(derive(purpose), 'base64url'))
  const [ofRow, ofTerm, ofVeil] = [digestFor('seal'), digestFor('term'), digestFor('veil')]
  return {
    seal: (...row) => ofRow(JSON.stringify(row)),
    term: (seal) => Buffer.from(ofTerm(seal), 'base64url'),
    veil: (sum, seal, name) => xor(sum, Buffer.from(ofVeil(`${name} ${seal}`), 'base64url')),
  }
}

/** Both of the same length. */
export function xor(left: Uint8Array, right: Uint8Array): Buffer {
  const both = Buffer.from(left)
  for (let i = 0; i < both.length; i++) both[i] = (left[i] ?? 0) ^ (right[i] ?? 0)
  return both
}
