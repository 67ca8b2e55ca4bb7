import { enter, markHidden, nest, take, takeMatch, Unreadable, type Cursor } from './cursor.ts'
import { WordDraft } from './word-draft.ts'

/** Arithmetic with numbers only; where it has a name, the value of a variable may be run as a command. */
const constantArithmetic = /\$\(\((?:[\d\s+*/%<>=!|^~?:,-]|&)*\)\)/y
const variable = /\$(?:[A-Za-z_]\w*|[\d@*#?$!-])/y
/** What is in braces is a value and nothing else. */
const harmlessBraces = /^(?:#?[A-Za-z_]\w*|#?\d+|[@*#?$!-]|(?:[A-Za-z_]\w*|\d+)(?::?[-+]|%|#)[^]*)$/

/** Text in which only `\`, `$` and a backquote mean something, up to the first other letter that `plain` does not take. */
export function readQuotedText(cursor: Cursor, draft: WordDraft, plain: RegExp): void {
  for (;;) {
    const text = takeMatch(cursor, plain)
    if (text !== undefined) draft.add(text)
    else if (take(cursor, '\\\n')) continue
    else if (cursor.text[cursor.at] === '\\')
      draft.add(takeMatch(cursor, /\\[$`"\\]/y)?.slice(1) ?? takeMatch(cursor, /\\/y) ?? '')
    else if (cursor.text[cursor.at] === '$') readDollar(cursor, draft, 'quoted')
    else if (cursor.text[cursor.at] === '`') readBackquoted(cursor, draft, 'quoted')
    else return
  }
}

/** Whether it stands inside of double quotes, which keep a value in one word, or outside of any. */
export type Quoting = 'quoted' | 'bare'

/** In quotes too, these are as many words as there are values. */
const list = /^\$(?:@|\{.*@)/s

/** Reads what begins with `$`. */
export function readDollar(cursor: Cursor, draft: WordDraft, quoting: Quoting): void {
  const start = cursor.at
  if (takeMatch(cursor, variable) === undefined && takeMatch(cursor, constantArithmetic) === undefined) {
    if (cursor.text.startsWith('$((', cursor.at)) {
      // Arithmetic, or a subshell inside of a substitution: read as the second, and trusted as neither.
      markHidden(cursor)
      readSubstitution(cursor)
    } else if (cursor.text.startsWith('$(', cursor.at)) readSubstitution(cursor)
    else if (take(cursor, '${')) readBraces(cursor)
    else if (take(cursor, '$[')) markHidden(cursor)
    else {
      cursor.at++
      draft.add('$')
      return
    }
  }
  const source = cursor.text.slice(start, cursor.at)
  draft.addUnknown(source, quoting === 'bare' || list.test(source) ? 'any' : 'one')
}

/** Two letters, a list of commands, and `)`. */
function readSubstitution(cursor: Cursor): void {
  cursor.at += 2
  nest(cursor, () => cursor.readList(cursor, ')'))
  if (!take(cursor, ')')) throw new Unreadable('a parenthesis is not closed')
}

/** From after `${` to after `}`. */
function readBraces(cursor: Cursor): void {
  const start = cursor.at
  const inside = new WordDraft()
  nest(cursor, () => {
    while (!take(cursor, '}')) {
      const before = cursor.at
      readQuotedText(cursor, inside, /[^}\\$`']+/y)
      takeMatch(cursor, /'[^']*'/y)
      if (cursor.at === before) throw new Unreadable('a brace is not closed')
    }
  })
  if (!harmlessBraces.test(cursor.text.slice(start, cursor.at - 1))) markHidden(cursor)
}

/** Reads a substitution in backquotes; what is inside is written with one more level of backslashes. */
export function readBackquoted(cursor: Cursor, draft: WordDraft, quoting: Quoting): void {
  const source = takeMatch(cursor, /`(?:[^`\\]|\\[^])*`/y)
  if (source === undefined) {
    cursor.at = cursor.text.length
    throw new Unreadable('a backquote is not closed')
  }
  const inner = enter(cursor, source.slice(1, -1).replaceAll(/\\([`\\$"])/g, '$1'))
  cursor.readList(inner, undefined)
  if (inner.at < inner.text.length || inner.documents.length > 0)
    throw new Unreadable('more than a list of commands')
  draft.addUnknown(source, quoting === 'bare' ? 'any' : 'one')
}

/** Reads `<(…)` or `>(…)`; false if that is not what comes next. */
export function readProcess(cursor: Cursor, draft: WordDraft): boolean {
  const start = cursor.at
  if (cursor.text[start + 1] !== '(') return false
  readSubstitution(cursor)
  draft.addUnknown(cursor.text.slice(start, cursor.at))
  return true
}

/** The substitutions in the text of a here-document are run. */
export function readExpansions(cursor: Cursor, text: string): void {
  readQuotedText(enter(cursor, text), new WordDraft(), /[^\\$`]+/y)
}
