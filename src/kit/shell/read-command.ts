import { markHidden, markShaped, skipBlanks, take, takeMatch, Unreadable, type Cursor } from './cursor.ts'
import { skipSpace } from './read-documents.ts'
import { readRedirection, type Redirections } from './read-redirection.ts'
import { readWord } from './read-word.ts'
import type { ShellWord } from './reading.ts'

/** A simple command under way. A here-document supplies its input only after its line. */
interface CommandDraft extends Redirections {
  assigned: ShellWord[]
  words: ShellWord[]
}

/** Reads one simple command: assignments, words and redirections. */
export function readCommand(cursor: Cursor): void {
  const start = cursor.at
  const command = readParts(cursor)
  if (cursor.at === start) throw new Unreadable('a command is missing')
  cursor.findings.commands.push(command)
  while (command.parts && !isOver(cursor)) {
    markHidden(cursor)
    cursor.findings.commands.push(readParts(cursor))
  }
}

/** Reads on to the end of the command, or to after a redirection that ends it for some shells. */
function readParts(cursor: Cursor): CommandDraft {
  const command: CommandDraft = { assigned: [], words: [], opensFile: false, input: undefined, parts: false }
  do skipBlanks(cursor)
  while (
    !command.parts &&
    (readRedirection(cursor, command) || readAssignment(cursor, command) || readNextWord(cursor, command))
  )
  return command
}

function isOver({ text, at }: Cursor): boolean {
  return at >= text.length || /^(?:[\n;|()#]|&(?!>))/.test(text.slice(at, at + 2))
}

function readNextWord(cursor: Cursor, command: CommandDraft): boolean {
  if (cursor.text[cursor.at] === '#') return false
  const word = readWord(cursor)
  if (word === undefined) return false
  command.words.push(word)
  return true
}

function readAssignment(cursor: Cursor, command: CommandDraft): boolean {
  if (command.words.length > 0) return false
  const head = takeMatch(cursor, /[A-Za-z_]\w*(?:\[[^\]\n]*\])?\+?=/y)
  if (head === undefined) return false
  if (head.includes('[')) markHidden(cursor)
  const value = take(cursor, '(') ? readItems(cursor) : (readWord(cursor) ?? { text: '', known: 0 })
  // What is assigned is not taken apart.
  command.assigned.push({ text: head + value.text, known: head.length + value.known, as: 'one' })
  return true
}

/** The items of an array, from after `(` to after `)`. */
function readItems(cursor: Cursor): Pick<ShellWord, 'text' | 'known'> {
  markShaped(cursor)
  do skipSpace(cursor)
  while (readWord(cursor) !== undefined)
  if (!take(cursor, ')')) throw new Unreadable('a parenthesis is not closed')
  return { text: '()', known: 0 }
}
