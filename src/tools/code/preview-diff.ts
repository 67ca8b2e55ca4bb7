import { formatPatch, structuredPatch, type StructuredPatch } from 'diff'
import { fileDigest } from '../../kit/digest.ts'
import { showControls } from '../../kit/show-controls.ts'

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
/** Bounds the work for texts that have little in common; counted, not timed, so that the same change always gives the same preview. */
const maxEditLength = 1_000

/**
 * A unified diff for a person to read. Characters that could hide something are made visible. Over 64 KiB it is shortened, and its
 * last line says so, with the digest of the whole.
 */
export function previewDiff(change: TextChange): DiffPreview {
  const patch = findPatch(change)
  let addedLines = 0
  let removedLines = 0
  for (const hunk of patch.hunks) {
    for (const line of hunk.lines) {
      if (line.startsWith('+')) addedLines++
      else if (line.startsWith('-')) removedLines++
    }
  }
  const whole = formatPatch(patch, { includeIndex: false, includeUnderline: false, includeFileHeaders: true })
  return { body: shorten(showControls(whole)), addedLines, removedLines }
}

function findPatch({ name, before, after }: TextChange): StructuredPatch {
  const oldName = before === undefined ? '/dev/null' : `a/${name}`
  const options = { context: 3, maxEditLength }
  const found = structuredPatch(oldName, `b/${name}`, before ?? '', after, undefined, undefined, options)
  if (found !== undefined) return found
  // Too different to compare line by line: the old lines out, the new lines in.
  const removed = toLines(before ?? '', '-')
  const added = toLines(after, '+')
  const counts = { oldLines: countLines(removed), newLines: countLines(added) }
  const hunk = { oldStart: 1, newStart: 1, ...counts, lines: [...removed, ...added] }
  return {
    oldFileName: oldName,
    newFileName: `b/${name}`,
    oldHeader: undefined,
    newHeader: undefined,
    index: undefined,
    hunks: [hunk],
  }
}

function toLines(text: string, mark: string): string[] {
  const lines = text.split('\n').map((line) => mark + line)
  if (lines.at(-1) === mark) lines.pop()
  else lines.push(String.raw`\ No newline at end of file`)
  return lines
}

function countLines(lines: readonly string[]): number {
  return lines.filter((line) => !line.startsWith('\\')).length
}

function shorten(body: string): string {
  const bytes = Buffer.from(body)
  if (bytes.length <= maxBodyBytes) return body
  const end = bytes.lastIndexOf(0x0a, maxBodyBytes)
  const shown = bytes.subarray(0, end < 0 ? maxBodyBytes : end).toString()
  const hiddenLines = body.split('\n').length - shown.split('\n').length
  return `${shown}\n… ${hiddenLines} more lines of the diff (${bytes.length} bytes, ${fileDigest(body)}) are not shown here\n`
}
