import { skipBlanks, takeMatch, Unreadable, type Cursor } from './cursor.ts'
import { readAnyCommand } from './read-compound.ts'
import { skipSpace, takeLineBreak } from './read-documents.ts'

/**
 * Reads commands up to this text, which is left there, or to the end of all. `}` and `esac` end a list only if a command would
 * begin.
 */
export function readList(cursor: Cursor, end: string | undefined): void {
  for (;;) {
    skipSpace(cursor)
    if (cursor.at >= cursor.text.length || isAt(cursor, end)) return
    readPipeline(cursor)
    if (cursor.at >= cursor.text.length || isAt(cursor, end)) return
    if (takeLineBreak(cursor) || takeMatch(cursor, /#[^\n]*/y) !== undefined) continue
    if (takeMatch(cursor, /;(?![;&])|&(?!&)/y) === undefined)
      throw new Unreadable('no separator between two commands')
  }
}

/** Commands joined by operators, each of which needs a command after it. */
function readPipeline(cursor: Cursor): void {
  for (;;) {
    readAnyCommand(cursor)
    skipBlanks(cursor)
    if (takeMatch(cursor, /&&|\|\||\|&|\|/y) === undefined) return
    skipSpace(cursor)
    if (cursor.at >= cursor.text.length) throw new Unreadable('nothing after an operator')
  }
}

function isAt(cursor: Cursor, end: string | undefined): boolean {
  const { text, at } = cursor
  switch (end) {
    case undefined:
      return false
    case ')':
      return text[at] === ')'
    case '}':
      return /^\}(?![^ \t\n;&|<>()])/.test(text.slice(at, at + 2))
    default:
      return /^(?:;;|;&|esac(?![^ \t\n;&|<>()]))/.test(text.slice(at, at + 5))
  }
}
