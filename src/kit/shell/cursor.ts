import type { ShellCommand } from './reading.ts'

/** A here-document whose text begins after the next line break. */
export interface PendingDocument {
  readonly delimiter: string
  /** Whether the delimiter is quoted, so that nothing in the text is expanded. */
  readonly quoted: boolean
  readonly stripsTabs: boolean
  /** Takes the text. */
  take(text: string): void
}

/** What was found so far, shared by all that is nested in one command line. */
export interface Findings {
  readonly commands: ShellCommand[]
  plain: boolean
  hidden: boolean
}

/** A place in a text that is being read. */
export interface Cursor {
  readonly text: string
  at: number
  /** How deep this is nested. */
  depth: number
  documents: PendingDocument[]
  readonly findings: Findings
  /** Reads commands up to this text, which is left, or to the end; substitutions hold lists in their turn. */
  readonly readList: (cursor: Cursor, end: string | undefined) => void
}

/** Thrown where a text cannot be read any further; caught where reading began. */
export class Unreadable extends Error {}

/** Deeper nesting than this is not followed. */
const maxDepth = 40

/** Goes one level deeper for as long as `read` runs. */
export function nest(cursor: Cursor, read: () => void): void {
  if (cursor.depth >= maxDepth) throw new Unreadable('nested too deeply')
  const outer = cursor.documents
  cursor.documents = []
  cursor.depth++
  read()
  cursor.depth--
  if (cursor.documents.length > 0) throw new Unreadable('a here-document without its text')
  cursor.documents = outer
}

/** Another text inside of this one, one level deeper. */
export function enter(cursor: Cursor, text: string): Cursor {
  if (cursor.depth >= maxDepth) throw new Unreadable('nested too deeply')
  return { ...cursor, text, at: 0, depth: cursor.depth + 1, documents: [] }
}

/** Consumes this text where it comes next. */
export function take(cursor: Cursor, text: string): boolean {
  if (!cursor.text.startsWith(text, cursor.at)) return false
  cursor.at += text.length
  return true
}

/** Consumes what this sticky pattern matches here. */
export function takeMatch(cursor: Cursor, pattern: RegExp): string | undefined {
  pattern.lastIndex = cursor.at
  const match = pattern.exec(cursor.text)?.[0]
  if (match !== undefined) cursor.at += match.length
  return match
}

/** Skips spaces, tabs and the breaks of joined lines. */
export function skipBlanks(cursor: Cursor): void {
  takeMatch(cursor, /(?:[ \t]|\\\n)+/y)
}

/** Something that was read but is more than simple commands. */
export function markShaped(cursor: Cursor): void {
  cursor.findings.plain = false
}

/** Something that may run what is not read. */
export function markHidden(cursor: Cursor): void {
  cursor.findings.plain = false
  cursor.findings.hidden = true
}
