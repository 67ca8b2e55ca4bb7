import { formatPatch, structuredPatch } from 'diff'
import { fileDigest } from '../json/digest.ts'
import { showControls } from '../text/show-controls.ts'
import { sharedEnds, type SharedEnds } from './shared-ends.ts'

/** A change of one file, as texts without a byte order mark. */
export interface TextChange {
  /** How the file is called in the diff. */
  name: string
  /** Undefined for a new file. */
  before: string | undefined
  after: string
}

export interface DiffPreview {
  body: string
  addedLines: number
  removedLines: number
}

const maxBodyBytes = 64 * 1024
/** Bounds the work for texts that have little in common; counted, not timed, so that the same change always has the same preview. */
const maxEditLength = 1_000
/** Parts that differ and have more characters than this together are not compared line by line. */
const maxCompared = 1024 * 1024
/** Lines shown on both sides of a change. */
const context = 3

/**
 * A unified diff for a person to read. Characters that could hide something are made visible. Over 64 KiB it is shortened, and its
 * last line says so, with the digest of the whole.
 */
export function previewDiff({ name, before, after }: TextChange): DiffPreview {
  const oldName = before === undefined ? '/dev/null' : `a/${name}`
  const { hunks, addedLines, removedLines } = findHunks(before ?? '', after)
  const whole = `--- ${oldName}\n+++ b/${name}\n${hunks}`
  return { body: shorten(showControls(whole)), addedLines, removedLines }
}

interface Hunks {
  hunks: string
  addedLines: number
  removedLines: number
}

function findHunks(before: string, after: string): Hunks {
  const same = sharedEnds(before, after)
  const part = cutLines(before, after, { ...same, around: 0 })
  const isLarge = part.before.length + part.after.length > maxCompared
  const found = isLarge ? undefined : compareLines(cutLines(before, after, { ...same, around: context }))
  return found ?? replaceLines(part)
}

/** The part of two texts that differs, in whole lines. */
interface Part {
  before: string
  after: string
  /** How many lines are before it. */
  line: number
}

/** The part between what two texts have in common, with so many lines of that on both sides. */
function cutLines(
  before: string,
  after: string,
  { start, end, around }: SharedEnds & { around: number },
): Part {
  let from = before.lastIndexOf('\n', start - 1) + 1
  if (start === 0) from = 0
  for (let lines = 0; lines < around && from > 0; lines++)
    from = from < 2 ? 0 : before.lastIndexOf('\n', from - 2) + 1
  const isWhole = [before, after].every((text) => text.length === end || text[text.length - end - 1] === '\n')
  let same = end
  for (let lines = isWhole ? 0 : -1; lines < around && same > 0; lines++) {
    const next = before.indexOf('\n', before.length - same)
    same = next < 0 ? 0 : before.length - next - 1
  }
  return {
    before: before.slice(from, before.length - same),
    after: after.slice(from, after.length - same),
    line: countBreaks(before, from),
  }
}

/** Undefined for texts that are too different. */
function compareLines({ before, after, line }: Part): Hunks | undefined {
  const found = structuredPatch('', '', before, after, undefined, undefined, { context, maxEditLength })
  if (found === undefined) return undefined
  for (const hunk of found.hunks) {
    hunk.oldStart += line
    hunk.newStart += line
  }
  const lines = found.hunks.flatMap((hunk) => hunk.lines)
  return {
    hunks:
      found.hunks.length === 0
        ? ''
        : formatPatch(found, { includeIndex: false, includeUnderline: false, includeFileHeaders: false }),
    addedLines: lines.filter((each) => each.startsWith('+')).length,
    removedLines: lines.filter((each) => each.startsWith('-')).length,
  }
}

/** The old lines out, the new lines in. */
function replaceLines({ before, after, line }: Part): Hunks {
  const [removedLines, addedLines] = [countLines(before), countLines(after)]
  const startOf = (lines: number): number => line + (lines === 0 ? 0 : 1)
  const range = `-${startOf(removedLines)},${removedLines} +${startOf(addedLines)},${addedLines}`
  return {
    hunks: `@@ ${range} @@\n${markLines(before, '-')}${markLines(after, '+')}`,
    addedLines,
    removedLines,
  }
}

function markLines(text: string, mark: string): string {
  if (text === '') return ''
  const isWhole = text.endsWith('\n')
  const marked = mark + (isWhole ? text.slice(0, -1) : text).replaceAll('\n', `\n${mark}`)
  return isWhole ? `${marked}\n` : `${marked}\n\\ No newline at end of file\n`
}

function countLines(text: string): number {
  return countBreaks(text, text.length) + (text === '' || text.endsWith('\n') ? 0 : 1)
}

function countBreaks(text: string, end: number): number {
  let count = 0
  for (let at = 0; at < end; at++) if (text.charCodeAt(at) === 0x0a) count++
  return count
}

function shorten(body: string): string {
  const bytes = Buffer.from(body)
  if (bytes.length <= maxBodyBytes) return body
  const end = bytes.lastIndexOf(0x0a, maxBodyBytes)
  const shown = bytes.subarray(0, end < 0 ? maxBodyBytes : end).toString()
  const hiddenLines = countBreaks(body, body.length) - countBreaks(shown, shown.length)
  return `${shown}\n… ${hiddenLines} more lines of the diff (${bytes.length} bytes, ${fileDigest(body)}) are not shown here\n`
}
