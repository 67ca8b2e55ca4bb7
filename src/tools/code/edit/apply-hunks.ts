import { ToolFailure } from '../../../contract/base/errors.ts'
import { findOccurrences } from './find-occurrences.ts'
import type { Hunk, HunkLine } from './parse-unified-diff.ts'

/**
 * Applies the hunks of a diff, or refuses: every line of context and every removed line must be there exactly. Either all hunks
 * fit at their stated lines, or each fits at exactly one place of the file, in order; one whose context ends early only at the end of the
 * file. Anything else is refused, as is a hunk without any old line in a file that has text. A diff without CR fits any line endings and
 * adds lines with the ending of their neighbours. Throws a `ToolFailure` with `patch_apply_failed`.
 */
export function applyHunks(text: string, hunks: readonly Hunk[]): string {
  const lines = splitLines(text)
  const literal = hunks.some((hunk) => hunk.lines.some((line) => line.text.endsWith('\r')))
  const file: FileLines = { lines, compared: literal ? lines : lines.map(withoutCr), literal }
  const places = locate(file, hunks)
  const result = build(file, hunks, places)
  const open = result.findIndex((line, index) => index < result.length - 1 && !line.endsWith('\n'))
  if (open >= 0) {
    throw failed(
      `it would leave line ${open + 1} without a newline although more lines follow; put "\\ No newline at end of file" after the last line only, and after a line that it removes`,
    )
  }
  return result.join('')
}

interface FileLines {
  /** With their line endings. */
  lines: readonly string[]
  /** What hunks are compared with. */
  compared: readonly string[]
  literal: boolean
}

function splitLines(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+/g) ?? []
}

function withoutCr(line: string): string {
  return line.endsWith('\r\n') ? `${line.slice(0, -2)}\n` : line
}

function oldSide(hunk: Hunk): string[] {
  return hunk.lines.filter((line) => line.kind !== 'add').map(toText)
}

function toText(line: HunkLine): string {
  return line.noNewline ? line.text : `${line.text}\n`
}

function locate(file: FileLines, hunks: readonly Hunk[]): number[] {
  const wanted = hunks.map(oldSide)
  const stated = hunks.map((hunk) => Math.max(0, hunk.oldStart - 1))
  for (const [index, old] of wanted.entries()) {
    if (old.length === 0 && file.lines.length > 0) {
      throw failed(
        `hunk ${index + 1} has no line of context, so its place cannot be checked; add the lines around it`,
      )
    }
  }
  const fit = hunks.every((hunk, index) => fitsAt(file, hunk, stated[index] ?? 0))
  return checkOrder(fit ? stated : hunks.map((hunk, index) => findOnlyPlace(file, hunk, index)), wanted)
}

function fitsAt(file: FileLines, hunk: Hunk, at: number): boolean {
  const old = oldSide(hunk)
  if (old.length === 0) return true
  const isSure = !isBare(hunk) && mayLieAt(file, hunk, at)
  return isSure && old.every((line, index) => file.compared[at + index] === line)
}

function findOnlyPlace(file: FileLines, hunk: Hunk, index: number): number {
  const places = findOccurrences(file.compared, oldSide(hunk), { limit: 20, overlapping: true })
  const [only] = places
  if (only === undefined) throw failed(`hunk ${index + 1} ${describeMisfit(file, hunk)}`)
  if (places.length > 1) {
    const numbers = places.map((at) => at + 1).join(', ')
    throw failed(
      `hunk ${index + 1} fits at several places, lines ${numbers}, and the stated lines do not decide; read the file again, then correct the line numbers or add context after the change`,
    )
  }
  if (mayLieAt(file, hunk, only)) return only
  throw failed(
    isBare(hunk)
      ? `hunk ${index + 1} has no context and fits only at line ${only + 1}; correct its line number or add the lines around it`
      : `hunk ${index + 1} belongs to the start or the end of the file, as its context ends there, but fits only at line ${only + 1}; add the lines around it, or correct its line number`,
  )
}

/**
 * Whether the ends of a hunk let it lie there. Context ends early only if the file does: a hunk with none after its changes belongs to the
 * end of the file, and one from line 1 with less before them than after to the start. One without any is believed its line.
 */
function mayLieAt(file: FileLines, hunk: Hunk, at: number): boolean {
  const { before, after } = contextOf(hunk)
  if (isBare(hunk)) return at === hunk.oldStart - 1
  if (before < after && hunk.oldStart <= 1 && at > 0) return false
  return after > 0 || at + oldSide(hunk).length === file.lines.length
}

function isBare(hunk: Hunk): boolean {
  const { before, after } = contextOf(hunk)
  return before === 0 && after === 0
}

/** Lines of context before the first change of a hunk, and after the last. */
function contextOf({ lines }: Hunk): { before: number; after: number } {
  const isChange = ({ kind }: HunkLine): boolean => kind !== 'context'
  return { before: lines.findIndex(isChange), after: lines.length - 1 - lines.findLastIndex(isChange) }
}

function describeMisfit(file: FileLines, hunk: Hunk): string {
  const old = oldSide(hunk)
  const start = Math.max(0, hunk.oldStart - 1)
  const offset = old.findIndex((line, index) => file.compared[start + index] !== line)
  const wanted = old[offset] ?? ''
  const actual = file.compared[start + offset]
  const there = actual === undefined ? 'the file ends before' : `the file has ${quote(actual)}`
  const newline =
    actual !== undefined &&
    actual.trimEnd() === wanted.trimEnd() &&
    actual.endsWith('\n') !== wanted.endsWith('\n')
  const hint = newline ? '; mark a last line that has no newline with "\\ No newline at end of file"' : ''
  return `does not fit: at line ${start + offset + 1} it expects ${quote(wanted)} and ${there}${hint}; read the file again and correct the diff`
}

function quote(line: string): string {
  return JSON.stringify(line.length > 120 ? `${line.slice(0, 120)}…` : line)
}

function checkOrder(places: number[], wanted: readonly (readonly string[])[]): number[] {
  for (let i = 1; i < places.length; i++) {
    const before = (places[i - 1] ?? 0) + (wanted[i - 1]?.length ?? 0)
    if ((places[i] ?? 0) < before) {
      throw failed(
        `hunk ${i + 1} lies before the end of hunk ${i}; put the hunks in order and join those that overlap`,
      )
    }
  }
  return places
}

function build(file: FileLines, hunks: readonly Hunk[], places: readonly number[]): string[] {
  const result: string[] = []
  let at = 0
  for (const [index, hunk] of hunks.entries()) {
    const place = places[index] ?? 0
    for (; at < place; at++) result.push(file.lines[at] ?? '')
    for (const line of hunk.lines) {
      if (line.kind === 'context') result.push(file.lines[at] ?? '')
      if (line.kind === 'add') result.push(addedLine(file, line, at))
      else at++
    }
  }
  for (; at < file.lines.length; at++) result.push(file.lines[at] ?? '')
  return result
}

function addedLine(file: FileLines, line: HunkLine, at: number): string {
  if (file.literal || line.noNewline) return toText(line)
  // The last line of a file may have no line ending; then the one before it says.
  const neighbour = [at - 1, at - 2, at].map((near) => file.lines[near]).find((near) => near?.endsWith('\n'))
  return neighbour?.endsWith('\r\n') === true ? `${line.text}\r\n` : `${line.text}\n`
}

function failed(why: string): ToolFailure {
  return new ToolFailure({ reason: 'patch_apply_failed', message: `The diff cannot be applied: ${why}.` })
}
