import type * as Zlib from 'node:zlib'

/** So many records of a chain, one after another, are packed together. */
export const recordsPerPack = 128

/** How many characters a pack may have when it is unpacked: what is larger would be held for too long by who reads or writes it. */
export const largestPack = 1_048_576

/** The texts and bodies of the records in a pack, in order; null stands for a body that is not there. */
export interface PackContent {
  texts: readonly string[]
  bodies: readonly (string | null)[]
}

/** A line of JSON with the length of each text and body, and these behind it: compressed. */
export function pack({ texts, bodies }: PackContent): Uint8Array {
  const lengths = [...texts, ...bodies].map((text) => text?.length ?? null)
  return zlib().zstdCompressSync(`${JSON.stringify(lengths)}\n${texts.join('')}${bodies.join('')}`)
}

/** What `pack` was given; undefined if this is not what it returned. */
export function unpack(packed: unknown): PackContent | undefined {
  const all = packed instanceof Uint8Array ? decompress(packed) : undefined
  const start = all?.indexOf('\n') ?? -1
  const lengths = all === undefined ? undefined : parseLengths(all.slice(0, start))
  if (all === undefined || lengths === undefined) return undefined
  let end = start + 1
  const texts: string[] = []
  const bodies: (string | null)[] = []
  for (const [index, length] of lengths.entries()) {
    const text = length === null ? null : all.slice(end, (end += length))
    if (index >= recordsPerPack) bodies.push(text)
    else if (text === null) return undefined
    else texts.push(text)
  }
  return end === all.length ? { texts, bodies } : undefined
}

/** The number of the pack in which the record with this sequence is, or will be. */
export function packOf(sequence: number): number {
  return Math.floor((sequence - 1) / recordsPerPack)
}

/** The place in its pack of the record with this sequence. */
export function placeInPack(sequence: number): number {
  return (sequence - 1) % recordsPerPack
}

/** Mostly a pack is unpacked in one piece. */
const chunkSize = 262_144

function decompress(packed: Uint8Array): string | undefined {
  try {
    // A letter has at most three bytes, and the lengths stand before.
    return zlib()
      .zstdDecompressSync(packed, { maxOutputLength: 4 * largestPack, chunkSize })
      .toString()
  } catch {
    // Something else wrote it. What is in it is missing, and that is found where it is looked for.
    return undefined
  }
}

function parseLengths(text: string): (number | null)[] | undefined {
  if (!/^\[(?:\d{1,7}|null)(?:,(?:\d{1,7}|null))*\]$/.test(text)) return undefined
  const lengths: (number | null)[] = JSON.parse(text)
  return lengths.length === 2 * recordsPerPack ? lengths : undefined
}

/** Loaded when something is packed, or is read that was. */
function zlib(): typeof Zlib {
  return process.getBuiltinModule('node:zlib')
}
