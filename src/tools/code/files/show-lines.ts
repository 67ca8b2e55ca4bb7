import { isUtf8 } from 'node:buffer'
import type { JsonObject } from '../../../contract/base/json.ts'
import { countOf } from '../base/count-of.ts'
import type { LineSlice, SlicedLine } from './slice-lines.ts'
import type { TextEncodingName } from './text-file.ts'

/** What is known of the file beside its lines. */
export interface LinesOf {
  path: string
  bytes: number
  startLine: number
  encoding: TextEncodingName
  bom: boolean
}

/** Text and data together stay below 8 MiB, the largest result; escapes in JSON may make content several times as long. */
const maxLetters = 8 * 1024 * 1024 - 64 * 1024

/** Lines for a model, each as its number, a tab and its text, with notes in brackets below; and the same for programs. */
export function showLines(
  slice: LineSlice,
  about: LinesOf,
): { text: string; data: JsonObject; summary: string } {
  const shown = takeFitting(slice.lines)
  const lines = shown.map(({ line }) => line)
  const next = about.startLine + lines.length
  const truncated = slice.totalLines === undefined || next <= slice.totalLines
  const facts: Facts = {
    truncated,
    truncatedLines: lines.filter((line) => line.cut).map((line) => line.number),
    lineEndings: nameEndings(lines),
    broken: about.encoding === 'utf-8' && lines.some((line) => !isUtf8(line.bytes)),
    openEnd: !truncated && lines.length > 0 && slice.finalNewline === false,
  }
  const summary = summarise(about, lines.length, slice.totalLines)
  const data: JsonObject = {
    path: about.path,
    content: shown.map(({ content }) => content).join(''),
    start_line: about.startLine,
    lines: lines.length,
    ...(slice.totalLines !== undefined && { total_lines: slice.totalLines }),
    bytes: about.bytes,
    truncated,
    ...(truncated ? { next_start_line: next } : { final_newline: slice.finalNewline === true }),
    truncated_lines: facts.truncatedLines,
    line_endings: facts.lineEndings,
    encoding: about.encoding,
    bom: about.bom,
    broken_characters: facts.broken,
  }
  const notes = findNotes(facts, about, next)
  if (lines.length === 0) notes.unshift(`${summary}.`)
  const text = [...shown.map(({ numbered }) => numbered), ...notes.map((note) => `[${note}]`)].join('\n')
  return { text, data, summary }
}

interface Facts {
  truncated: boolean
  truncatedLines: number[]
  lineEndings: 'lf' | 'crlf' | 'cr' | 'mixed' | 'none'
  broken: boolean
  /** The last line is shown and has no newline. */
  openEnd: boolean
}

interface ShownLine {
  line: SlicedLine
  content: string
  numbered: string
}

function takeFitting(lines: readonly SlicedLine[]): ShownLine[] {
  const shown: ShownLine[] = []
  let letters = 0
  for (const line of lines) {
    const text = line.bytes.toString()
    const numbered = `${line.number}\t${text}${line.cut ? '…' : ''}`
    letters += numbered.length + 1 + JSON.stringify(text).length + 4
    if (letters > maxLetters) break
    shown.push({ line, content: text + line.ending, numbered })
  }
  return shown
}

function summarise({ path, startLine }: LinesOf, count: number, total: number | undefined): string {
  if (total === 0) return `${path} is empty`
  if (count === 0) return `${path} has ${countOf(total ?? 0, 'line')}; line ${startLine} lies past its end`
  const of = total === undefined ? '' : ` of ${total}`
  return `Lines ${startLine}-${startLine + count - 1}${of} of ${path}`
}

function findNotes(facts: Facts, { encoding }: LinesOf, next: number): string[] {
  const notes: string[] = []
  if (facts.truncated) notes.push(`More lines follow: go on from line ${next}.`)
  if (facts.truncatedLines.length > 0) notes.push(`Cut at 4096 bytes: ${listNumbers(facts.truncatedLines)}.`)
  if (facts.lineEndings === 'crlf' || facts.lineEndings === 'cr' || facts.lineEndings === 'mixed') {
    notes.push(`Line endings: ${facts.lineEndings.toUpperCase()}.`)
  }
  if (facts.openEnd) notes.push('No newline at end of file.')
  if (encoding !== 'utf-8') notes.push(`Encoding: ${encoding}.`)
  if (facts.broken) notes.push('Bytes that are not UTF-8 are shown as U+FFFD.')
  return notes
}

function listNumbers(numbers: readonly number[]): string {
  const more = numbers.length > 20 ? ` and ${numbers.length - 20} more` : ''
  return `${numbers.length === 1 ? 'line' : 'lines'} ${numbers.slice(0, 20).join(', ')}${more}`
}

function nameEndings(lines: readonly SlicedLine[]): 'lf' | 'crlf' | 'cr' | 'mixed' | 'none' {
  const found = new Set(lines.map((line) => line.ending).filter((ending) => ending !== ''))
  const [ending] = found
  if (ending === undefined) return 'none'
  if (found.size > 1) return 'mixed'
  return ending === '\n' ? 'lf' : ending === '\r' ? 'cr' : 'crlf'
}
