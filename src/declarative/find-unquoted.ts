/** What was found in a script. */
export interface UnquotedReading {
  /** Every parameter that is expanded outside of double quotes, as it is written there, each once. */
  readonly parameters: readonly string[]
  /** Quotes cannot be told for sure: there is a here-document, a `$'…'`, or a quote or pattern where others would be taken for it. */
  readonly unclear: boolean
}

/** A place in a script, and what is around it. */
interface Place {
  readonly script: string
  at: number
  depth: number
  readonly found: Set<string>
  unclear: boolean
}

const parameter = /\$(?:[A-Za-z_]\w*|[0-9@*]|\{[!#]?(?:[A-Za-z_]\w*|[0-9]+|[@*])[^}]*\})/y
/** Lengths and counts are numbers. */
const count = /^\$(?:#|\{#)/
const maxDepth = 100

/** Finds the parameters of a script whose value would be taken apart. */
export function findUnquoted(script: string): UnquotedReading {
  const place: Place = { script, at: 0, depth: 0, found: new Set(), unclear: false }
  while (place.at < script.length) {
    readPlain(place)
    // A parenthesis that closes nothing: a pattern of `case`.
    place.at++
  }
  return { parameters: [...place.found], unclear: place.unclear }
}

/** Up to a parenthesis that was not opened here. */
function readPlain(place: Place): void {
  const { script } = place
  for (; place.at < script.length; place.at++) {
    const letter = script[place.at]
    if (letter === ')') return
    if (letter === '\\') place.at++
    else if (letter === "'") place.at = endOf(script, "'", place.at + 1)
    else if (letter === '"') readDouble(place)
    else if (letter === '`') readBackquoted(place)
    else if (letter === '(') enter(place, 1)
    else if (letter === '$') readDollar(place, true)
    else if (letter === '#' && /^$|[\s;&|(]/.test(script[place.at - 1] ?? ''))
      place.at = endOf(script, '\n', place.at)
    else if (letter === '<' && /^<<(?!<)/.test(script.slice(place.at, place.at + 3))) {
      place.unclear ||= script[place.at - 1] !== '<'
    } else if (place.depth > 0 && /^case\s/.test(script.slice(place.at, place.at + 5))) place.unclear = true
  }
}

/** From `"` to the one that ends it. */
function readDouble(place: Place): void {
  const { script } = place
  for (place.at++; place.at < script.length; place.at++) {
    const letter = script[place.at]
    if (letter === '"') return
    if (letter === '\\') place.at++
    else if (letter === '`') readBackquoted(place)
    else if (letter === '$') readDollar(place, false)
  }
}

/** Leaves the place at the last letter of what begins with `$`. A substitution has quotes of its own. */
function readDollar(place: Place, isOpen: boolean): void {
  const { script, at } = place
  const next = script[at + 1]
  if (next === '(') return enter(place, 2)
  if (next === "'" && isOpen) place.unclear = true
  parameter.lastIndex = at
  const [text] = parameter.exec(script) ?? []
  if (text === undefined) return
  if (isOpen && !count.test(text)) place.found.add(text)
  if (/[`'"]|\$\(/.test(text.slice(2))) place.unclear = true
  place.at += text.length - 1
}

/** From an opening parenthesis, so many letters on, to the one that closes it. */
function enter(place: Place, letters: number): void {
  place.at += letters
  if (place.depth >= maxDepth) {
    place.unclear = true
    place.at = place.script.length
    return
  }
  place.depth++
  readPlain(place)
  place.depth--
}

/** A substitution in backquotes is a script of its own, with one more level of backslashes. */
function readBackquoted(place: Place): void {
  const source = /`(?:[^`\\]|\\[^])*`/y
  source.lastIndex = place.at
  const [text] = source.exec(place.script) ?? []
  if (text === undefined) {
    place.unclear = true
    return
  }
  const inner = findUnquoted(text.slice(1, -1).replaceAll(/\\([`\\$"])/g, '$1'))
  for (const each of inner.parameters) place.found.add(each)
  place.unclear ||= inner.unclear
  place.at += text.length - 1
}

function endOf(script: string, mark: string, from: number): number {
  const end = script.indexOf(mark, from)
  return end < 0 ? script.length : end
}
