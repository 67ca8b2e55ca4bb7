import { setImmediate } from 'node:timers/promises'
import { ToolFailure } from '../../../contract/base/errors.ts'
import { showControls } from '../../../kit/text/show-controls.ts'
import { showJson } from '../../../kit/text/show-safely.ts'
import { maxFileBytes } from '../files/plan-change.ts'
import { sharedEnds } from '../../../kit/diff/shared-ends.ts'
import { findOccurrences } from './find-occurrences.ts'
import { createLineView, type LineView } from '../files/line-view.ts'
import { findSimilarLine } from './similar-line.ts'

/** One replacement. */
export interface Edit {
  old: string
  new: string
  replaceAll: boolean
}

/** More occurrences than this are not counted. */
const maxCounted = 100
/** More than this are not replaced: what is put between them would take seconds. */
const maxReplaced = 500_000
/** Characters that the edits of one call may look through, one edit after the other. */
const maxLookedThrough = 256 * 1024 * 1024
/** After so many, other calls get their turn. */
const sliceCharacters = 1024 * 1024

/**
 * Applies the edits in order, each to what the one before left. An `old` occurs exactly once, or `replaceAll` is set; the new
 * text is taken literally. Texts without CR match whatever the line endings of the file are, and what they put in gets the line
 * ending of the place. Rejects with a `ToolFailure`: `text_not_found`, `ambiguous_edit`, or `file_too_large` for edits that would take
 * too long or make more than a file may hold; then nothing of it is to be kept.
 */
export async function applyEdits(text: string, edits: readonly Edit[], mayCreate: boolean): Promise<string> {
  let current = text
  let lookedThrough = 0
  let sinceTurn = 0
  for (const [index, edit] of edits.entries()) {
    const place = { number: index + 1, count: edits.length }
    const toLookThrough = current.length * (edits.length - index)
    if (lookedThrough + toLookThrough > maxLookedThrough) throw tooMuchWork(current, place)
    lookedThrough += current.length
    if ((sinceTurn += current.length) > sliceCharacters && index > 0) {
      sinceTurn = 0
      await setImmediate()
    }
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
  const limit = edit.replaceAll ? maxReplaced + 1 : maxCounted
  const found = findOccurrences(view.text, edit.old, { limit, overlapping: !edit.replaceAll })
  if (found.length === 0) throw notFound(view, edit, place)
  if (found.length > 1 && !edit.replaceAll) throw ambiguous(view, found, place)
  const grown = text.length + found.length * (edit.new.length - edit.old.length)
  if (found.length > maxReplaced || grown > maxFileBytes) throw tooLarge(found.length, place)
  return replaceAt(view, found, edit)
}

/** Replaces only what differs, so that line endings inside the unchanged start and end of an edit stay as they are. */
function replaceAt(view: LineView, found: readonly number[], edit: Edit): string {
  const { start, end } = sharedEnds(edit.old, edit.new)
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

function notFound(view: LineView, edit: Edit, place: Place): ToolFailure {
  const similar = findSimilarLine(edit.old, view.text)
  const hint =
    similar === undefined
      ? 'Read the file again and copy the text exactly.'
      : similar.onlySpace
        ? `Line ${similar.line} differs in white space only: ${showJson(similar.text, 0)}.`
        : `The most similar line is ${similar.line}: ${showJson(similar.text, 0)}.`
  const coded = hasCodes(edit.old, view.text) ? `${codesHint} ` : ''
  const message = `The "old" text of ${nameEdit(place)} is not in the file${afterEarlier(place)}. ${coded}${hint}`
  const data = { edit: place.number, ...(similar && { line: similar.line, text: similar.text }) }
  return new ToolFailure({ reason: 'text_not_found', message, data })
}

const codesHint = 'It has codes such as <U+200B>; the file has the characters themselves.'

/** Whether it is a text of the file as a search shows it. */
function hasCodes(old: string, text: string): boolean {
  return /<U\+[0-9A-F]{4,6}>|[\u2400-\u2421]/.test(old) && showControls(text).includes(showControls(old))
}

function ambiguous(view: LineView, found: readonly number[], place: Place): ToolFailure {
  const lines = view.lineNumbersAt(found.slice(0, 20))
  const count = found.length >= maxCounted ? `at least ${maxCounted} times` : `${found.length} times`
  return new ToolFailure({
    reason: 'ambiguous_edit',
    message: `The "old" text of ${nameEdit(place)} occurs ${count}, at lines ${lines.join(', ')}. Add lines around it until it is unique, or set replace_all.`,
    data: { edit: place.number, matches: found.length, lines },
  })
}

function tooLarge(occurrences: number, place: Place): ToolFailure {
  const count = occurrences > maxReplaced ? `more than ${maxReplaced}` : occurrences
  return new ToolFailure({
    reason: 'file_too_large',
    message: `The "old" text of ${nameEdit(place)} occurs ${count} times; at most ${maxReplaced} are replaced, and the file may grow to ${maxFileBytes} bytes. Change less at a time, or use a program.`,
    data: { edit: place.number },
  })
}

function tooMuchWork({ length }: string, { number, count }: Place): ToolFailure {
  return new ToolFailure({
    reason: 'file_too_large',
    message: `${count} edits are too many for this file: from edit ${number} on, each would look through ${length} characters, and all of them through more than ${maxLookedThrough}. Send fewer edits at a time.`,
    data: { edits: count, edit: number },
  })
}

function nameEdit({ number, count }: Place): string {
  return count === 1 ? 'the edit' : `edit ${number} of ${count}`
}

function afterEarlier({ number }: Place): string {
  return number === 1 ? '' : ' as the edits before it left it'
}
