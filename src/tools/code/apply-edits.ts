import { ToolFailure } from '../../contract/errors.ts'
import { findOccurrences } from './find-occurrences.ts'
import { createLineView, type LineView } from './line-view.ts'
import { findSimilarLine } from './similar-line.ts'

/** One replacement. */
export interface Edit {
  old: string
  new: string
  replaceAll: boolean
}

/** More occurrences than this are not counted. */
const maxCounted = 100

/**
 * Applies the edits in order, each to what the one before left. An `old` occurs exactly once, or `replaceAll` is set; the new
 * text is taken literally. Texts without CR match whatever the line endings of the file are, and what they put in gets the line
 * ending of the place. Throws a `ToolFailure` with `text_not_found` or `ambiguous_edit`; then nothing of it is to be kept.
 */
export function applyEdits(text: string, edits: readonly Edit[], mayCreate: boolean): string {
  let current = text
  for (const [index, edit] of edits.entries()) {
    const place = { number: index + 1, count: edits.length }
    current = edit.old === '' ? fillEmpty(current, edit, mayCreate) : applyEdit(current, edit, place)
  }
  return current
}

interface Place {
  number: number
  count: number
}

function fillEmpty(text: string, edit: Edit, mayCreate: boolean): string {
  if (text === '' && mayCreate) return edit.new
  throw new ToolFailure({
    reason: 'ambiguous_edit',
    message:
      text === ''
        ? 'An empty "old" fills an empty file only with create_if_missing; set it, or use code.write_file.'
        : 'An empty "old" matches everywhere. Give the text to replace, or the text beside which to insert.',
  })
}

function applyEdit(text: string, edit: Edit, place: Place): string {
  const view = createLineView(text, edit.old.includes('\r') || edit.new.includes('\r'))
  const limit = edit.replaceAll ? Number.POSITIVE_INFINITY : maxCounted
  const found = findOccurrences(view.text, edit.old, { limit, overlapping: !edit.replaceAll })
  if (found.length === 0) throw notFound(view, edit, place)
  if (found.length > 1 && !edit.replaceAll) throw ambiguous(view, found, place)
  return replaceAt(view, found, edit)
}

/** Replaces only what differs, so that line endings inside the unchanged start and end of an edit stay as they are. */
function replaceAt(view: LineView, found: readonly number[], edit: Edit): string {
  const { start, end } = commonEnds(edit.old, edit.new)
  const added = edit.new.slice(start, edit.new.length - end)
  const pieces: string[] = []
  let done = 0
  for (const offset of found) {
    const from = offset + start
    pieces.push(view.source(done, from), added.replaceAll('\n', view.lineEndingAt(from)))
    done = offset + edit.old.length - end
  }
  pieces.push(view.source(done, view.text.length))
  return pieces.join('')
}

function commonEnds(a: string, b: string): { start: number; end: number } {
  const shorter = Math.min(a.length, b.length)
  let start = 0
  while (start < shorter && a[start] === b[start]) start++
  let end = 0
  while (end < shorter - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++
  return { start, end }
}

function notFound(view: LineView, edit: Edit, place: Place): ToolFailure {
  const similar = findSimilarLine(edit.old, view.text)
  const hint =
    similar === undefined
      ? 'Read the file again and copy the text exactly.'
      : similar.onlySpace
        ? `Line ${similar.line} differs in white space only: ${JSON.stringify(similar.text)}.`
        : `The most similar line is ${similar.line}: ${JSON.stringify(similar.text)}.`
  const message = `The "old" text of ${nameEdit(place)} is not in the file${afterEarlier(place)}. ${hint}`
  const data = { edit: place.number, ...(similar && { line: similar.line, text: similar.text }) }
  return new ToolFailure({ reason: 'text_not_found', message, data })
}

function ambiguous(view: LineView, found: readonly number[], place: Place): ToolFailure {
  const lines = found.slice(0, 20).map((offset) => view.lineNumberAt(offset))
  const count = found.length >= maxCounted ? `at least ${maxCounted} times` : `${found.length} times`
  return new ToolFailure({
    reason: 'ambiguous_edit',
    message: `The "old" text of ${nameEdit(place)} occurs ${count}, at lines ${lines.join(', ')}. Add lines around it until it is unique, or set replace_all.`,
    data: { edit: place.number, matches: found.length, lines },
  })
}

function nameEdit({ number, count }: Place): string {
  return count === 1 ? 'the edit' : `edit ${number} of ${count}`
}

function afterEarlier({ number }: Place): string {
  return number === 1 ? '' : ' as the edits before it left it'
}
