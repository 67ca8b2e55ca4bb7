/** A regular expression as a tree, as far as whether it matches is concerned: no captures, no greed. */
export type PatternNode =
  | { kind: 'set'; has: (codePoint: number) => boolean }
  | { kind: 'sequence'; parts: PatternNode[] }
  | { kind: 'choice'; options: PatternNode[] }
  | { kind: 'repeat'; body: PatternNode; min: number; max: number }
  | { kind: 'edge'; at: 'start' | 'end' | 'word' | 'inside' }
  | { kind: 'ahead'; body: PatternNode; negative: boolean }

/** Why a pattern cannot be used. The message continues "The pattern …". */
export class PatternError extends Error {
  override readonly name = 'PatternError'
}

const maxLength = 4096
const maxNesting = 50

/** A pattern in the words of the built-in engine, with its flags. */
export interface PatternSource {
  source: string
  flags: 'u' | 'iu'
}

/** Reads a regular expression as `readSource` does. Throws a `PatternError` for what is invalid or not supported. */
export function parsePattern({ source, flags }: PatternSource): PatternNode {
  return new Parser(source, flags).parse()
}

/**
 * A pattern (ECMAScript, as far as it means the same with flag `u`) in the syntax of that flag, which allows no needless escapes such as `\-`,
 * and no `-` beside a class such as `\w`. A leading `(?i)`, which other languages have, becomes a flag. Throws a `PatternError` for
 * what is not a pattern.
 */
export function readSource(pattern: string): PatternSource {
  if (pattern.length > maxLength) throw new PatternError(`is longer than ${maxLength} characters.`)
  const given = pattern.replace(/^\(\?i\)/, '')
  const flags = given === pattern ? 'u' : 'iu'
  if (compiles(given)) return { source: given, flags }
  const source = given
    .replace(/\\([^0-9A-Za-z^$\\.*+?()[\]{}|/])/gu, (_, letter: string) =>
      /[!-~]/.test(letter) ? String.raw`\x${letter.charCodeAt(0).toString(16).padStart(2, '0')}` : letter,
    )
    .replace(/\\[^]|\[(?:\\[^]|[^\]\\])*\]/gu, (part) =>
      part.startsWith('[') ? separateClasses(part) : part,
    )
  if (!compiles(source)) throw new PatternError('is not a valid regular expression (ECMAScript, flag u).')
  return { source, flags }
}

const setItem = String.raw`\\(?:u\{[^}]*\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|c[a-zA-Z]|[pP]\{[^}]*\}|[^])|[^\\]`
const range = new RegExp(`(${setItem})-(${setItem})(-?)|${setItem}`, 'gu')

/** A `-` beside a part of a set that stands for many characters is one itself. */
function separateClasses(set: string): string {
  const isClass = (item = ''): boolean => /^\\[dDwWsSpP]/.test(item)
  const start = set.startsWith('[^') ? 2 : 1
  const inside = set.slice(start, -1).replace(range, (...parts: string[]) => {
    const [text = '', from, to, dash = ''] = parts
    if (!isClass(from) && !isClass(to)) return text
    return [from, '-', to, dash].map((part) => (part === '-' ? String.raw`\-` : part)).join('')
  })
  return `${set.slice(0, start)}${inside}]`
}

function compiles(source: string): boolean {
  try {
    return new RegExp(source, 'u') instanceof RegExp
  } catch {
    return false
  }
}

/** Walks a source that is known to be valid, so that it only has to find where each part ends. */
class Parser {
  readonly #source: string
  readonly #flags: string
  #at = 0
  #nesting = 0

  constructor(source: string, flags: string) {
    this.#source = source
    this.#flags = flags
  }

  parse(): PatternNode {
    return this.#choice()
  }

  #choice(): PatternNode {
    if (++this.#nesting > maxNesting) throw new PatternError(`nests groups more than ${maxNesting} deep.`)
    const options = [this.#sequence()]
    while (this.#eat('|')) options.push(this.#sequence())
    this.#nesting--
    return options.length === 1 && options[0] !== undefined ? options[0] : { kind: 'choice', options }
  }

  #sequence(): PatternNode {
    const parts: PatternNode[] = []
    while (this.#at < this.#source.length && !this.#sees('|') && !this.#sees(')'))
      parts.push(this.#repeated(this.#atom()))
    return { kind: 'sequence', parts }
  }

  #repeated(body: PatternNode): PatternNode {
    const found = this.#take(/(?:[*+?]|\{(\d+)(,(\d*))?\})\??/y)
    if (found === undefined) return body
    const [text, min, range, max] = found
    if (text.startsWith('*')) return { kind: 'repeat', body, min: 0, max: Infinity }
    if (text.startsWith('+')) return { kind: 'repeat', body, min: 1, max: Infinity }
    if (text.startsWith('?')) return { kind: 'repeat', body, min: 0, max: 1 }
    const least = Number(min)
    if (range === undefined) return { kind: 'repeat', body, min: least, max: least }
    return { kind: 'repeat', body, min: least, max: max === '' ? Infinity : Number(max) }
  }

  #atom(): PatternNode {
    if (this.#eat('^')) return { kind: 'edge', at: 'start' }
    if (this.#eat('$')) return { kind: 'edge', at: 'end' }
    if (this.#eat('(')) return this.#group()
    const escape = this.#take(/\\(?:[bB]|k<|[1-9])/y)?.[0]
    if (escape === undefined) return { kind: 'set', has: this.#set() }
    if (escape === String.raw`\b`) return { kind: 'edge', at: 'word' }
    if (escape === String.raw`\B`) return { kind: 'edge', at: 'inside' }
    throw new PatternError(String.raw`uses a back-reference ("${escape}"); write out what it stands for.`)
  }

  #group(): PatternNode {
    const look = this.#take(/\?(?:<?[=!]|:|<[^>]*>|[a-z-]*:)/y)?.[0] ?? ''
    if (look === '?<=' || look === '?<!') throw new PatternError('uses a lookbehind, which is not supported.')
    if (/^\?[a-z-]+:$/.test(look))
      throw new PatternError('sets flags inside a group, which is not supported.')
    const body = this.#choice()
    this.#eat(')')
    if (look === '?=' || look === '?!') return { kind: 'ahead', body, negative: look === '?!' }
    return body
  }

  #set(): (codePoint: number) => boolean {
    const [text] = this.#take(
      /\[(?:\\[\s\S]|[^\]\\])*\]|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u\{[^}]*\}|\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|\\[pP]\{[^}]*\}|\\c[a-zA-Z]|\\[\s\S]|[\s\S]/uy,
    ) ?? ['']
    const isPlain = !/^[\\[.]/.test(text)
    if (isPlain && this.#flags === 'u') return isOne(text.codePointAt(0))
    return isIn(new RegExp(`^${text}$`, this.#flags))
  }

  #sees(letter: string): boolean {
    return this.#source[this.#at] === letter
  }

  #eat(letter: string): boolean {
    if (!this.#sees(letter)) return false
    this.#at++
    return true
  }

  #take(shape: RegExp): RegExpExecArray | undefined {
    shape.lastIndex = this.#at
    const found = shape.exec(this.#source)
    if (found === null) return undefined
    this.#at += found[0].length
    return found
  }
}

function isOne(wanted: number | undefined): (codePoint: number) => boolean {
  return (codePoint) => codePoint === wanted
}

const isThere = 1
const isMissing = 2

/** Asks the built-in engine about one character, so that classes and properties mean exactly what they do there. */
function isIn(set: RegExp): (codePoint: number) => boolean {
  // Of ASCII it is asked once, when the character is met first: most patterns of a start meet no text.
  const ascii = new Uint8Array(128)
  return (codePoint) => {
    if (codePoint >= ascii.length) return set.test(String.fromCodePoint(codePoint))
    ascii[codePoint] ||= set.test(String.fromCodePoint(codePoint)) ? isThere : isMissing
    return ascii[codePoint] === isThere
  }
}
