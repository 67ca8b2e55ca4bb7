/**
 * Whether a pattern with `*` (any letters, none too) matches the whole text. Linear in both: a star is tried
 * again only from the last one on.
 */
export function matchPattern(pattern: string, text: string): boolean {
  let p = 0
  let t = 0
  let star = -1
  let resume = 0
  while (t < text.length) {
    if (pattern[p] === '*') {
      star = p++
      resume = t
    } else if (pattern[p] === text[t]) {
      p++
      t++
    } else if (star >= 0) {
      p = star + 1
      t = ++resume
    } else return false
  }
  while (pattern[p] === '*') p++
  return p === pattern.length
}

/**
 * Whether a path glob matches the whole path: `*` and `?` stay inside one segment, a segment `**` stands for any number of
 * segments, none too. Both are split at `/`.
 */
export function matchPath(glob: string, path: string): boolean {
  return matchSegments(glob.split('/'), path.split('/'))
}

function matchSegments(globs: readonly string[], segments: readonly string[]): boolean {
  let g = 0
  let s = 0
  let star = -1
  let resume = 0
  while (s < segments.length) {
    if (globs[g] === '**') {
      star = g++
      resume = s
    } else if (g < globs.length && matchSegment(globs[g] ?? '', segments[s] ?? '')) {
      g++
      s++
    } else if (star >= 0) {
      g = star + 1
      s = ++resume
    } else return false
  }
  while (globs[g] === '**') g++
  return g === globs.length
}

function matchSegment(glob: string, segment: string): boolean {
  let g = 0
  let s = 0
  let star = -1
  let resume = 0
  while (s < segment.length) {
    if (glob[g] === '*') {
      star = g++
      resume = s
    } else if (glob[g] === segment[s] || glob[g] === '?') {
      g++
      s++
    } else if (star >= 0) {
      g = star + 1
      s = ++resume
    } else return false
  }
  while (glob[g] === '*') g++
  return g === glob.length
}
