/** Where to look and how far. */
export interface OccurrenceOptions {
  /** Stops after this many. */
  limit: number
  /** Whether occurrences may share letters: counts `aa` twice in `aaa`. */
  overlapping: boolean
}

/**
 * Offsets at which a run of letters (of a string) or of lines (of an array) occurs, in order. Linear in both lengths
 * (Knuth, Morris, Pratt): `String.indexOf` takes minutes for hostile texts of a few megabytes. An empty run occurs nowhere.
 */
export function findOccurrences(
  text: ArrayLike<string>,
  wanted: ArrayLike<string>,
  { limit, overlapping }: OccurrenceOptions,
): number[] {
  const found: number[] = []
  const size = wanted.length
  if (size === 0 || size > text.length) return found
  const borders = findBorders(wanted)
  let matched = 0
  for (let i = 0; i < text.length && found.length < limit; i++) {
    while (matched > 0 && text[i] !== wanted[matched]) matched = borders[matched - 1] ?? 0
    if (text[i] === wanted[matched]) matched++
    if (matched < size) continue
    found.push(i - size + 1)
    matched = overlapping ? (borders[size - 1] ?? 0) : 0
  }
  return found
}

/** For each prefix, the length of its longest proper prefix that is a suffix too. */
function findBorders(wanted: ArrayLike<string>): Uint32Array {
  const borders = new Uint32Array(wanted.length)
  let border = 0
  for (let i = 1; i < wanted.length; i++) {
    while (border > 0 && wanted[i] !== wanted[border]) border = borders[border - 1] ?? 0
    if (wanted[i] === wanted[border]) border++
    borders[i] = border
  }
  return borders
}
