/** How many characters two texts have in common at their start, and at their end after that. */
export interface SharedEnds {
  start: number
  end: number
}

export function sharedEnds(a: string, b: string): SharedEnds {
  const shorter = Math.min(a.length, b.length)
  let start = 0
  while (start < shorter && a.charCodeAt(start) === b.charCodeAt(start)) start++
  let end = 0
  while (end < shorter - start && a.charCodeAt(a.length - 1 - end) === b.charCodeAt(b.length - 1 - end)) end++
  return { start, end }
}
