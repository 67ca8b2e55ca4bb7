import { markHidden, markShaped, skipBlanks, take, takeMatch, type Cursor } from './cursor.ts'
import { readExpansions } from './read-expansion.ts'

/** Skips blanks, comments and line breaks. */
export function skipSpace(cursor: Cursor): void {
  do {
    skipBlanks(cursor)
    takeMatch(cursor, /#[^\n]*/y)
  } while (takeLineBreak(cursor))
}

/** Consumes a line break, and with it the texts of the here-documents that were announced on the line; false if none is here. */
export function takeLineBreak(cursor: Cursor): boolean {
  if (!take(cursor, '\n')) return false
  const documents = cursor.documents
  cursor.documents = []
  for (const document of documents) {
    const body: string[] = []
    let closed = false
    while (!closed && cursor.at < cursor.text.length) {
      const line = document.quoted ? takeLine(cursor) : takeJoinedLine(cursor)
      const content = document.stripsTabs ? line.replace(/^\t+/, '') : line
      closed = content === document.delimiter
      if (!closed) body.push(`${content}\n`)
    }
    if (!closed) markShaped(cursor)
    const text = body.join('')
    document.take(text)
    if (!document.quoted) readExpansions(cursor, text)
  }
  return true
}

function takeLine(cursor: Cursor): string {
  const line = takeMatch(cursor, /[^\n]*/y) ?? ''
  take(cursor, '\n')
  return line
}

/** A line and those that a backslash at its end joins to it, none of which ends a document. Shells differ about tabs in front of them. */
function takeJoinedLine(cursor: Cursor): string {
  let line = takeLine(cursor)
  while (/(?<!\\)(?:\\\\)*\\$/.test(line) && cursor.at < cursor.text.length) {
    markHidden(cursor)
    line = line.slice(0, -1) + takeLine(cursor)
  }
  return line
}
