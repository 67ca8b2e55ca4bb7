import { ansiQuoted } from './ansi-quoted.ts'
import { markHidden, take, takeMatch, Unreadable, type Cursor } from './cursor.ts'
import { readBackquoted, readDollar, readProcess, readQuotedText } from './read-expansion.ts'
import type { ShellWord } from './reading.ts'
import { WordDraft } from './word-draft.ts'

/** Reads a word; undefined if none begins here. */
export function readWord(cursor: Cursor): ShellWord | undefined {
  const start = cursor.at
  const draft = new WordDraft()
  while (readPiece(cursor, draft)) continue
  if (cursor.at === start) return undefined
  if (cursor.documents.length > 0 && cursor.text.slice(start, cursor.at).includes('\n'))
    throw new Unreadable('a line break inside of a word before a here-document')
  if (draft.mayEvaluate) markHidden(cursor)
  return draft.toWord()
}

/** Adds the next part of a word; false at its end. */
function readPiece(cursor: Cursor, draft: WordDraft): boolean {
  const plain = takeMatch(cursor, /(?:[^ \t\n;&|<>()'"`$\\*?[{~]|\{\})+/y)
  if (plain !== undefined) {
    draft.add(plain)
    return true
  }
  switch (cursor.text[cursor.at]) {
    case "'":
      readSingleQuoted(cursor, draft)
      return true
    case '"':
      readDoubleQuoted(cursor, draft)
      return true
    case '\\':
      readEscaped(cursor, draft)
      return true
    case '$':
      readDollarWord(cursor, draft)
      return true
    case '`':
      readBackquoted(cursor, draft, 'bare')
      return true
    case '<':
    case '>':
      return readProcess(cursor, draft)
    default:
      return readSpecial(cursor, draft)
  }
}

/** Letters that, without quotes, begin a glob, a list in braces or the path of a home directory. */
function readSpecial(cursor: Cursor, draft: WordDraft): boolean {
  const letter = takeMatch(cursor, /[*?[{~]/y)
  if (letter === undefined) return false
  if (letter !== '~') draft.addUnknown(letter, 'alike')
  else if (/[^=:]$/.test(draft.text)) draft.add(letter)
  else draft.addUnknown(letter)
  return true
}

function readSingleQuoted(cursor: Cursor, draft: WordDraft): void {
  const end = cursor.text.indexOf("'", cursor.at + 1)
  if (end < 0) throw unclosed(cursor)
  draft.add(cursor.text.slice(cursor.at + 1, end))
  cursor.at = end + 1
}

function readDoubleQuoted(cursor: Cursor, draft: WordDraft): void {
  cursor.at++
  readQuotedText(cursor, draft, /[^"\\$`]+/y)
  if (!take(cursor, '"')) throw unclosed(cursor)
}

function readEscaped(cursor: Cursor, draft: WordDraft): void {
  cursor.at++
  if (take(cursor, '\n')) return
  draft.add(takeMatch(cursor, /[^]/uy) ?? '\\')
}

/** `$'…'` and `$"…"` are values in some shells and not in others, so they are never known. */
function readDollarWord(cursor: Cursor, draft: WordDraft): void {
  const quoted = takeMatch(cursor, /\$'(?:[^'\\]|\\[^])*'/y)
  if (quoted !== undefined) draft.addUnknown(ansiQuoted(quoted.slice(2, -1)))
  else if (cursor.text.startsWith('$"', cursor.at)) {
    cursor.at++
    draft.addUnknown('')
    readDoubleQuoted(cursor, draft)
  } else readDollar(cursor, draft, 'bare')
}

function unclosed(cursor: Cursor): Unreadable {
  cursor.at = cursor.text.length
  return new Unreadable('a quote is not closed')
}
