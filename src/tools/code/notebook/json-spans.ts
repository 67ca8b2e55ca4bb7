/** Where a value of a JSON text begins and ends. */
export interface Span {
  start: number
  end: number
}

/** The members of the object that begins at `start`, in the order of the text; of a key given twice the last, as parsers take it. The text must be valid JSON. */
export function membersAt(text: string, start: number): ReadonlyMap<string, Span> {
  const members = new Map<string, Span>()
  for (let at = skipSpace(text, start + 1); text[at] !== '}'; at = next(text, at)) {
    const keyEnd = valueEnd(text, at)
    const key = String(JSON.parse(text.slice(at, keyEnd)))
    const value = skipSpace(text, skipSpace(text, keyEnd) + 1)
    at = valueEnd(text, value)
    members.set(key, { start: value, end: at })
  }
  return members
}

/** The elements of the array that begins at `start`. The text must be valid JSON. */
export function elementsAt(text: string, start: number): readonly Span[] {
  const elements: Span[] = []
  for (let at = skipSpace(text, start + 1); text[at] !== ']'; at = next(text, at)) {
    const end = valueEnd(text, at)
    elements.push({ start: at, end })
    at = end
  }
  return elements
}

/** Where the first value of a JSON text begins. */
export function firstValue(text: string): number {
  return skipSpace(text, 0)
}

/** Past the comma, if there is one. */
function next(text: string, end: number): number {
  const at = skipSpace(text, end)
  return text[at] === ',' ? skipSpace(text, at + 1) : at
}

function skipSpace(text: string, from: number): number {
  let at = from
  while (/[ \t\r\n]/.test(text[at] ?? '')) at++
  return at
}

function valueEnd(text: string, start: number): number {
  const first = text[start]
  if (first === '"') return stringEnd(text, start)
  let at = start
  if (first !== '{' && first !== '[') {
    while (at < text.length && !/[ \t\r\n,\]}]/.test(text[at] ?? '')) at++
    return at
  }
  let depth = 0
  do {
    const letter = text[at]
    if (letter === '"') {
      at = stringEnd(text, at)
      continue
    }
    if (letter === '{' || letter === '[') depth++
    else if (letter === '}' || letter === ']') depth--
    at++
  } while (depth > 0)
  return at
}

function stringEnd(text: string, start: number): number {
  for (let quote = text.indexOf('"', start + 1); ; quote = text.indexOf('"', quote + 1)) {
    let slashes = 0
    while (text[quote - 1 - slashes] === '\\') slashes++
    if (slashes % 2 === 0) return quote + 1
  }
}
