import { hash } from 'node:crypto'

/**
 * A name as one part of a canonical name. Letters, digits, `_` and `-` stay; any other letter is written as `_u<hex>_`, so that it can
 * be read back. One that gets longer than `longest` keeps its start and gets 32 hex digits of its SHA-256. It depends on the name
 * alone: it stays when others come and go.
 */
export function toSegment(name: string, longest: number): string {
  const plain = escape(name)
  if (plain.length <= longest && !digestEnd.test(plain)) return plain
  const end = `_x${hash('sha256', wellFormed(name), 'hex').slice(0, 32)}`
  return plain.slice(0, longest - end.length) + end
}

/** A plain name that looks as if it were shortened is written as one that is. */
const digestEnd = /_x[0-9a-f]{32}$/

/** Parts that a canonical name must not have. */
const forbidden: readonly string[] = ['__proto__', 'constructor', 'prototype']

function escape(name: string): string {
  if (name === '') return '_u_'
  if (forbidden.includes(name)) return toCode(name) + name.slice(1)
  const letters = Array.from(name)
  return letters.map((letter, index) => escapeLetter(letter, letters.slice(index + 1, index + 3))).join('')
}

/** An underscore that could begin the code of a letter is written as a code itself. */
function escapeLetter(letter: string, [first, second]: readonly string[]): string {
  if (letter === '_')
    return first === 'u' && second !== undefined && !/^[A-Zg-z-]$/.test(second) ? toCode(letter) : letter
  return /^[A-Za-z0-9-]$/.test(letter) ? letter : toCode(letter)
}

function toCode(letter: string): string {
  return `_u${(letter.codePointAt(0) ?? 0).toString(16)}_`
}

/** UTF-8 has no half of a surrogate pair: each would have the digest of every other. */
function wellFormed(name: string): string {
  return name.isWellFormed() ? name : JSON.stringify(name)
}
