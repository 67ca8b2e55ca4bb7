import { nearestNames } from '../../../kit/text/nearest-names.ts'

/** A line that may be the one that was meant. */
export interface SimilarLine {
  /** From 1 on. */
  line: number
  text: string
  /** Whether it differs in white space at its ends only. */
  onlySpace: boolean
}

const maxLines = 2_000
const maxLetters = 200
/** Further down it is not looked for. */
const maxText = 2 * 1024 * 1024

/** The line of a text most like the first line with letters of `wanted`; undefined if nothing is close. */
export function findSimilarLine(wanted: string, text: string): SimilarLine | undefined {
  const target = wanted
    .slice(0, 10_000)
    .split('\n')
    .map((line) => line.trim())
    .find((line) => line !== '')
  if (target === undefined) return undefined
  const lines = text.slice(0, maxText).split('\n')
  const same = lines.findIndex((line) => line.trim() === target)
  if (same >= 0) return { line: same + 1, text: shorten(lines[same] ?? ''), onlySpace: true }
  const candidates = lines.slice(0, maxLines).map((line) => line.slice(0, maxLetters))
  const [nearest] = nearestNames(target, candidates, 1)
  if (nearest === undefined) return undefined
  return { line: candidates.indexOf(nearest) + 1, text: nearest, onlySpace: false }
}

function shorten(line: string): string {
  return line.slice(0, maxLetters)
}
