/**
 * Whether a script of sed only prints and edits what passes through it. It is read as GNU sed does; where others may read it in another way,
 * and where it has a command that runs, writes or takes a text of several lines, it is not.
 */
export function isHarmlessSed(script: string): boolean {
  let at = 0
  while (at < script.length) {
    const next = passCommand(script, at)
    if (next === undefined) return false
    at = next
  }
  return true
}

const between = /[\s;]*/y
const address = /(?:\d+(?:~\d+)?|\$|[+~]\d+)/y
const simple = /[=dDFgGhHnNpPxz]/y
const withNumber = /[qQlL][ \t]*\d*/y
const withLabel = /[btT:][ \t]*[\w.-]*(?=[\s;}]|$)/y
/** Reads a file, to the end of the line. */
const reading = /[rR][ \t]+[^\n]*/y
const ofSubstitute = /(?:[gpiImM]|\d)*/y
const end = /[ \t]*(?=[\n;}]|$)/y

/** From one command to after it; undefined if it is none of those that are known. */
function passCommand(script: string, from: number): number | undefined {
  let at = pass(script, from, between) ?? from
  if (at === script.length) return at
  const addressed = passAddresses(script, at)
  if (addressed === undefined) return undefined
  at = pass(script, addressed, /[ \t!]*/y) ?? addressed
  if (script[at] === '{' || script[at] === '}') return at + 1
  const done = passSubstitute(script, at) ?? passPlain(script, at)
  return done === undefined ? undefined : pass(script, done, end)
}

function passPlain(script: string, at: number): number | undefined {
  return [withNumber, withLabel, reading, simple]
    .map((pattern) => pass(script, at, pattern))
    .find((each) => each !== undefined)
}

function passAddresses(script: string, from: number): number | undefined {
  const first = passAddress(script, from)
  if (first === undefined) return undefined
  if (first === from) return from
  const comma = pass(script, first, /[ \t]*,[ \t]*/y)
  if (comma === undefined) return first
  const second = passAddress(script, comma)
  return second === comma ? undefined : second
}

/** The same place where there is none. */
function passAddress(script: string, at: number): number | undefined {
  const counted = pass(script, at, address)
  if (counted !== undefined) return counted
  const mark = script[at] === '\\' ? script[at + 1] : script[at] === '/' ? '/' : undefined
  if (mark === undefined) return at
  const after = passPattern(script, at + (script[at] === '\\' ? 2 : 1), mark)
  return after === undefined ? undefined : pass(script, after, /[IM]*/y)
}

/** `s` and `y`, with any mark between their parts. */
function passSubstitute(script: string, at: number): number | undefined {
  const kind = script[at]
  const mark = script[at + 1]
  if ((kind !== 's' && kind !== 'y') || mark === undefined || /[\s\\\w]/.test(mark)) return undefined
  const middle = kind === 's' ? passPattern(script, at + 2, mark) : passPart(script, at + 2, mark)
  const last = middle === undefined ? undefined : passPart(script, middle, mark)
  if (last === undefined) return undefined
  return kind === 'y' ? last : pass(script, last, ofSubstitute)
}

/** A bracket that holds the mark is read in two ways, so that it is not passed. */
function passPattern(script: string, from: number, mark: string): number | undefined {
  const after = passPart(script, from, mark)
  return after !== undefined && isBalanced(script.slice(from, after - 1)) ? after : undefined
}

/** To after the mark. */
function passPart(script: string, from: number, mark: string): number | undefined {
  for (let at = from; at < script.length; at++) {
    if (script[at] === mark) return at + 1
    if (script[at] === '\n') return undefined
    if (script[at] === '\\') at++
  }
  return undefined
}

function isBalanced(part: string): boolean {
  return !part.replaceAll(/\\[^]|\[\^?\]?[^\]]*\]/g, '').includes('[')
}

function pass(text: string, at: number, pattern: RegExp): number | undefined {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : undefined
}
