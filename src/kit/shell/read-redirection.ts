import { skipBlanks, takeMatch, Unreadable, type Cursor } from './cursor.ts'
import { readWord } from './read-word.ts'

/** What the redirections of one command do. */
export interface Redirections {
  opensFile: boolean
  input: string | undefined
  /** Set by `&>`, which only some shells know: for the others a command ends there and the next begins. */
  parts: boolean
}

/** Reads a redirection; false if none begins here. */
export function readRedirection(cursor: Cursor, into: Redirections): boolean {
  const operator = takeMatch(cursor, /\d*(?:<<<|<<-?|<>|<&|>>|>\||>&|<(?!\()|>(?!\())|&>>?/y)
  if (operator === undefined) return false
  const kind = operator.replace(/^\d+/, '')
  if (kind.startsWith('&')) into.parts = true
  skipBlanks(cursor)
  if (kind === '<<' || kind === '<<-') beginDocument(cursor, into, kind === '<<-')
  else {
    const target = readWord(cursor)
    if (target === undefined) throw new Unreadable('a redirection without a target')
    if (kind === '<<<') into.input = `${into.input ?? ''}${target.text}\n`
    else if (target.known < target.text.length || !isHarmless(kind, target.text)) into.opensFile = true
  }
  return true
}

function isHarmless(kind: string, target: string): boolean {
  if (target === '/dev/null') return true
  return (kind === '>&' || kind === '<&') && /^(?:\d+-?|-)$/.test(target)
}

function beginDocument(cursor: Cursor, into: Redirections, stripsTabs: boolean): void {
  const source = takeMatch(cursor, /(?:[^ \t\n;&|<>()'"\\`$]|'[^'\n]*'|"[^"\\\n$`]*"|\\[^\n])+/y)
  // A shell takes a "$" in a delimiter for itself, and goes on to the end of the word.
  if (source === undefined || !/^(?:[ \t\n;&|<>()]|$)/.test(cursor.text.charAt(cursor.at)))
    throw new Unreadable('a here-document without a readable delimiter')
  cursor.documents.push({
    delimiter: source.replaceAll(/\\([^])|['"]/g, (_, escaped?: string) => escaped ?? ''),
    quoted: /['"\\]/.test(source),
    stripsTabs,
    take: (text) => (into.input = `${into.input ?? ''}${text}`),
  })
}
