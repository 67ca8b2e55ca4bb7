/**
 * A description in two parts, of which the first is as long as a provider takes; the schema has room for the rest. It is cut between paragraphs, lines,
 * sentences or words, whichever comes last.
 */
export function splitDescription(
  description: string,
  maxLength = Infinity,
): { readonly first: string; readonly rest: string } {
  if (description.length <= maxLength) return { first: description, rest: '' }
  const start = description.slice(0, maxLength)
  const ends = ['\n\n', '\n', '. ', ' '].map((mark) => start.lastIndexOf(mark) + (mark === '. ' ? 1 : 0))
  const cut = ends.find((end) => end > maxLength / 2) ?? withoutHalf(start).length
  return { first: description.slice(0, cut).trimEnd(), rest: description.slice(cut).trimStart() }
}

/** Without the first half of a character at its end. */
function withoutHalf(text: string): string {
  return text.replace(/[\uD800-\uDBFF]$/, '')
}
