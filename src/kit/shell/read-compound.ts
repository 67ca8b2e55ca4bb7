import {
  markHidden,
  markShaped,
  nest,
  skipBlanks,
  take,
  takeMatch,
  Unreadable,
  type Cursor,
} from './cursor.ts'
import { readCommand } from './read-command.ts'
import { skipSpace } from './read-documents.ts'
import { readRedirection, type Redirections } from './read-redirection.ts'
import { readWord } from './read-word.ts'

/** Words that only shape what is around them; what follows is a command again, or the end of one. */
const shaping = /(?:if|then|elif|else|fi|while|until|do|done|!)(?![^ \t\n;&|<>()])/y
/** What may stand in front of a group. */
const beforeGroup = /(?:time(?:[ \t]+-p)?|coproc(?:[ \t]+\w+)?)[ \t]+(?=\(|\{[ \t\n])/y
const functionHead =
  /(?:function[ \t]+[^ \t\n;&|<>()]+[ \t]*(?:\([ \t]*\))?|[^ \t\n;&|<>()'"\\$`=]+[ \t]*\([ \t]*\))/y
/** Tests that take the value of a text for arithmetic, in which there may be commands. */
const arithmeticTests = new Set(['-v', '-R', '-eq', '-ne', '-lt', '-le', '-gt', '-ge'])

/**
 * Reads one command of any kind. Loops and conditions are not held against their grammar: their words are passed over, and what
 * they may run is found all the same.
 */
export function readAnyCommand(cursor: Cursor): void {
  passShaping(cursor)
  takeMatch(cursor, beforeGroup)
  if (take(cursor, '(')) readGroup(cursor, ')')
  else if (takeMatch(cursor, /\{(?=[ \t\n])/y) !== undefined) readGroup(cursor, '}')
  else if (takeMatch(cursor, /(?:for|select)(?=[ \t])/y) !== undefined) readLoopHead(cursor)
  else if (takeMatch(cursor, /case(?=[ \t])/y) !== undefined) readCase(cursor)
  else if (takeMatch(cursor, /\[\[(?=[ \t\n])/y) !== undefined) readTest(cursor)
  else if (!isBetween(cursor)) readCommand(cursor)
  else if (cursor.findings.plain) throw new Unreadable('a command is missing')
}

function passShaping(cursor: Cursor): void {
  for (;;) {
    const word = takeMatch(cursor, shaping) ?? takeMatch(cursor, functionHead)
    if (word === undefined) return
    if (word !== '!') markShaped(cursor)
    if (word.endsWith(')') || word.startsWith('function')) skipSpace(cursor)
    else skipBlanks(cursor)
  }
}

/** Whether no command begins here. */
function isBetween(cursor: Cursor): boolean {
  return cursor.at >= cursor.text.length || /[\n;&|)]/.test(cursor.text[cursor.at] ?? '')
}

/** From after the opening to after the closing mark, and its redirections. */
function readGroup(cursor: Cursor, end: ')' | '}'): void {
  if (end === ')' && cursor.text[cursor.at] === '(') markHidden(cursor)
  nest(cursor, () => cursor.readList(cursor, end))
  if (!take(cursor, end)) throw new Unreadable('a group is not closed')
  readGroupRedirections(cursor)
}

/** What is redirected for a group is redirected for every command in it. */
function readGroupRedirections(cursor: Cursor): void {
  const redirections: Redirections = { opensFile: false, input: undefined, parts: false }
  const documents = cursor.documents.length
  do skipBlanks(cursor)
  while (readRedirection(cursor, redirections))
  if (redirections.opensFile) markShaped(cursor)
  if (redirections.input !== undefined || cursor.documents.length > documents) markHidden(cursor)
}

/** The variable and the words of a loop. */
function readLoopHead(cursor: Cursor): void {
  markShaped(cursor)
  skipBlanks(cursor)
  if (cursor.text.startsWith('((', cursor.at)) {
    markHidden(cursor)
    const end = cursor.text.indexOf('))', cursor.at)
    if (end < 0) throw new Unreadable('a parenthesis is not closed')
    cursor.at = end + 2
    return
  }
  do skipBlanks(cursor)
  while (
    !/do(?![^ \t\n;&|<>()])/y.test(cursor.text.slice(cursor.at, cursor.at + 3)) &&
    readWord(cursor) !== undefined
  )
}

function readCase(cursor: Cursor): void {
  markShaped(cursor)
  skipBlanks(cursor)
  readWord(cursor)
  skipSpace(cursor)
  if (!take(cursor, 'in')) throw new Unreadable('"in" is missing')
  for (;;) {
    skipSpace(cursor)
    if (takeMatch(cursor, /esac(?![^ \t\n;&|<>()])/y) !== undefined) return readGroupRedirections(cursor)
    take(cursor, '(')
    do skipBlanks(cursor)
    while (readWord(cursor) !== undefined || take(cursor, '|'))
    if (!take(cursor, ')')) throw new Unreadable('a pattern is not closed')
    nest(cursor, () => cursor.readList(cursor, ';;'))
    skipSpace(cursor)
    if (takeMatch(cursor, /;;&|;;|;&|(?=esac)/y) === undefined) throw new Unreadable('";;" is missing')
  }
}

/** `[[ … ]]` */
function readTest(cursor: Cursor): void {
  markShaped(cursor)
  for (;;) {
    skipSpace(cursor)
    if (takeMatch(cursor, /\]\](?![^ \t\n;&|<>()])/y) !== undefined) return readGroupRedirections(cursor)
    if (takeMatch(cursor, /&&|\|\||[|()<>]/y) !== undefined) continue
    const word = readWord(cursor)
    if (word === undefined) throw new Unreadable('"]]" is missing')
    if (arithmeticTests.has(word.text)) markHidden(cursor)
  }
}
