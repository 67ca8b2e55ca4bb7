/** A text seen with LF line endings, and the way back to what the file really has. */
export interface LineView {
  /** The text with every CRLF as LF. */
  readonly text: string
  /** The original between two offsets of the view. */
  source(from: number, to: number): string
  /** The line ending that a line put in at this offset should have: that of its line, else of the line before. */
  lineEndingAt(offset: number): '\n' | '\r\n'
  /** Lines, from 1 on, in which these ascending offsets lie. */
  lineNumbersAt(offsets: readonly number[]): number[]
}

/** A view of a text. With `literal`, CR counts like any other letter and nothing is converted. */
export function createLineView(original: string, literal: boolean): LineView {
  if (literal || !original.includes('\r\n')) {
    return {
      text: original,
      source: (from, to) => original.slice(from, to),
      lineEndingAt: () => '\n',
      lineNumbersAt: (offsets) => findLines(original, offsets),
    }
  }
  const text = original.replaceAll('\r\n', '\n')
  const breaks = findBreaks(original)
  const toOriginal = (offset: number) => offset + countBelow(breaks, offset)
  const isCrlf = (offset: number) => breaks[countBelow(breaks, offset)] === offset
  return {
    text,
    source: (from, to) => original.slice(toOriginal(from), toOriginal(to)),
    lineEndingAt(offset) {
      const next = text.indexOf('\n', offset)
      const nearest = next >= 0 ? next : text.lastIndexOf('\n', offset)
      return nearest >= 0 && isCrlf(nearest) ? '\r\n' : '\n'
    },
    lineNumbersAt: (offsets) => findLines(text, offsets),
  }
}

/** Offsets in the view of the line feeds that are CRLF in the original, ascending. */
function findBreaks(original: string): number[] {
  const breaks: number[] = []
  for (let at = original.indexOf('\r\n'); at >= 0; at = original.indexOf('\r\n', at + 2)) {
    breaks.push(at - breaks.length)
  }
  return breaks
}

function countBelow(sorted: readonly number[], limit: number): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((sorted[middle] ?? 0) < limit) low = middle + 1
    else high = middle
  }
  return low
}

function findLines(text: string, offsets: readonly number[]): number[] {
  let line = 1
  let at = text.indexOf('\n')
  return offsets.map((offset) => {
    for (; at >= 0 && at < offset; at = text.indexOf('\n', at + 1)) line++
    return line
  })
}
