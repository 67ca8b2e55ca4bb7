/** A number with its noun: `1 file`, `2 files`, `3 matches`. */
export function countOf(count: number, noun: string): string {
  if (count === 1) return `1 ${noun}`
  return `${count} ${noun}${/(?:s|x|ch|sh)$/.test(noun) ? 'es' : 's'}`
}
