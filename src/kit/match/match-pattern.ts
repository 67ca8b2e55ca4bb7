/** Whether a pattern with `*` (any letters, none too) matches the whole text. */
export function matchPattern(pattern: string, text: string): boolean {
  return match(pattern, text, letters)
}

/** Whether one of these patterns matches the whole text; if there are none to meet, every text does. */
export function meetsPatterns(patterns: readonly string[] | undefined, text: string): boolean {
  return patterns === undefined || patterns.some((pattern) => matchPattern(pattern, text))
}

/**
 * Whether a path glob matches the whole path: `*` and `?` stay inside one segment, a segment `**` stands for any number of
 * segments, none too. Both are split at `/`.
 */
export function matchPath(glob: string, path: string): boolean {
  return match(glob.split('/'), path.split('/'), segments)
}

/** What a pattern is made of. */
interface Alphabet {
  /** Stands for any number of items, none too. */
  readonly star: string
  readonly same: (part: string, item: string) => boolean
}

const letters: Alphabet = { star: '*', same: (part, item) => part === item }
const lettersOfSegment: Alphabet = { star: '*', same: (part, item) => part === item || part === '?' }
const segments: Alphabet = { star: '**', same: (part, item) => match(part, item, lettersOfSegment) }

/** A star is tried again only from the last one on, so it takes pattern × text steps at most. */
function match(pattern: ArrayLike<string>, text: ArrayLike<string>, { star, same }: Alphabet): boolean {
  let p = 0
  let t = 0
  let lastStar = -1
  let resume = 0
  while (t < text.length) {
    const part = pattern[p]
    if (part === star) {
      lastStar = p++
      resume = t
    } else if (part !== undefined && same(part, text[t] ?? '')) {
      p++
      t++
    } else if (lastStar >= 0) {
      p = lastStar + 1
      t = ++resume
    } else return false
  }
  while (pattern[p] === star) p++
  return p === pattern.length
}
