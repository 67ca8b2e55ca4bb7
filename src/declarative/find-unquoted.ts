/** A place in a script, and what is around it. */
interface Place {
  at: number
  readonly found: string[]
}

const parameter = /\$(?:[A-Za-z_]\w*|[0-9@*]|\{[!#]?(?:[A-Za-z_]\w*|[0-9]+|[@*])[^}]*\})/y
/** Lengths and counts are numbers. */
const number = /^\$(?:#|\{#)/

/** Every parameter of a script that is expanded outside of double quotes, as it is written there, each once. */
export function findUnquoted(script: string): string[] {
  const place: Place = { at: 0, found: [] }
  while (place.at < script.length) {
    readPlain(script, place)
    // A parenthesis that closes nothing: a pattern of `case`.
    place.at++
  }
  return [...new Set(place.found)]
}

/** Up to a parenthesis that was not opened here. */
function readPlain(script: string, place: Place): void {
  for (; place.at < script.length; place.at++) {
    const letter = script[place.at]
    if (letter === ')') return
    if (letter === '\\') place.at++
    else if (letter === "'") place.at = endOf(script, "'", place.at + 1)
    else if (letter === '"') readDouble(script, place)
    else if (letter === '(') {
      place.at++
      readPlain(script, place)
    } else if (letter === '#' && /^$|[\s;&|(]$/.test(script.slice(0, place.at).slice(-1)))
      place.at = endOf(script, '\n', place.at)
    else if (letter === '$') readExpansion(script, place, true)
  }
}

/** From `"` to the one that ends it. */
function readDouble(script: string, place: Place): void {
  for (place.at++; place.at < script.length; place.at++) {
    const letter = script[place.at]
    if (letter === '"') return
    if (letter === '\\') place.at++
    else if (letter === '$') readExpansion(script, place, false)
  }
}

/** Leaves the place at the last letter of what begins with `$`. A substitution has quotes of its own. */
function readExpansion(script: string, place: Place, isOpen: boolean): void {
  if (script[place.at + 1] === '(') {
    place.at += 2
    readPlain(script, place)
    return
  }
  parameter.lastIndex = place.at
  const [text] = parameter.exec(script) ?? []
  if (text === undefined) return
  if (isOpen && !number.test(text)) place.found.push(text)
  place.at += text.length - 1
}

function endOf(script: string, mark: string, from: number): number {
  const end = script.indexOf(mark, from)
  return end < 0 ? script.length : end
}
