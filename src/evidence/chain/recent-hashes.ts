/** So many hashes are kept. A power of two. */
const window = 16_384

/** The hashes of the records that were passed last, by sequence. */
export interface RecentHashes {
  set(sequence: number, hash: string): void
  /** Undefined for a record that was not passed, or long ago. */
  get(sequence: number): string | undefined
}

/** None yet. Sequences must come without gaps. */
export function createRecentHashes(): RecentHashes {
  const hashes: string[] = []
  let first = 0
  let last = 0
  return {
    set(sequence, hash) {
      if (last === 0) first = sequence
      last = sequence
      hashes[sequence & (window - 1)] = hash
    },
    get(sequence) {
      const kept = sequence >= first && sequence <= last && sequence > last - window
      return kept ? hashes[sequence & (window - 1)] : undefined
    },
  }
}
