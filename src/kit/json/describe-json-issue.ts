/** Where a text is not JSON, and what was expected there. Nothing of the text is shown: it may hold secrets. */
export function describeJsonIssue(text: string): string {
  const { at, expected } = findIssue(text) ?? { at: text.length, expected: 'something else' }
  const lines = text.slice(0, at).split('\n')
  const column = (lines.at(-1)?.length ?? 0) + 1
  const ends = at >= text.length ? ' before its end' : ''
  return `line ${lines.length}, column ${column}: expected ${expected}${ends}`
}

interface Found {
  readonly at: number
  readonly expected: string
}

/** What may come next. */
type State = 'value' | 'firstItem' | 'name' | 'firstName' | 'colon' | 'next'

/** One sign, number or word. Texts are read by themselves. */
const token = /[{}[\],:]|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y

function findIssue(text: string): Found | undefined {
  const open: ('{' | '[')[] = []
  let state = 'value' as State
  for (let at = skipSpace(text, 0); at < text.length; at = skipSpace(text, at)) {
    const isText = text[at] === '"'
    if (isText && state !== 'colon' && state !== 'next') {
      const end = findEndOfText(text, at)
      if (typeof end !== 'number') return end
      at = end
      state = state === 'name' || state === 'firstName' ? 'colon' : 'next'
      continue
    }
    token.lastIndex = at
    const [sign] = token.exec(text) ?? []
    const after: State | undefined = sign === undefined ? undefined : step(state, sign, open)
    if (sign === undefined || after === undefined) return { at, expected: describe(state, open) }
    at += sign.length
    state = after
  }
  return state === 'next' && open.length === 0
    ? undefined
    : { at: text.length, expected: describe(state, open) }
}

function skipSpace(text: string, from: number): number {
  let at = from
  while (at < text.length && ' \t\r\n'.includes(text.charAt(at))) at += 1
  return at
}

/** Takes a sign where it may stand; undefined if it may not. */
function step(state: State, sign: string, open: ('{' | '[')[]): State | undefined {
  const around = open.at(-1)
  const isClose = (sign === '}' && around === '{') || (sign === ']' && around === '[')
  if (isClose && (state === 'next' || state === 'firstItem' || state === 'firstName')) {
    open.pop()
    return 'next'
  }
  if (state === 'next') {
    if (sign !== ',' || around === undefined) return undefined
    return around === '{' ? 'name' : 'value'
  }
  if (state === 'colon') return sign === ':' ? 'value' : undefined
  if (state === 'name' || state === 'firstName') return undefined
  if (sign === '{' || sign === '[') {
    open.push(sign)
    return sign === '{' ? 'firstName' : 'firstItem'
  }
  return /^[}\],:]/.test(sign) ? undefined : 'next'
}

/** Where the text in quotes that begins here ends, or why it does not. */
function findEndOfText(text: string, from: number): number | Found {
  let at = from + 1
  while (at < text.length) {
    const sign = text.charAt(at)
    if (sign === '"') return at + 1
    if (sign === '\n' || sign === '\r') break
    if (sign < ' ') return { at, expected: 'no control character in a text' }
    if (sign === '\\' && !/^\\(["\\/bfnrt]|u[\da-fA-F]{4})/.test(text.slice(at, at + 6)))
      return {
        at,
        expected: 'another backslash, or one of "\\/bfnrt or four digits behind a u, after this one',
      }
    at += sign === '\\' ? 2 : 1
  }
  return { at, expected: 'a double quote at the end of the text' }
}

function describe(state: State, open: readonly ('{' | '[')[]): string {
  const expected: { readonly [each in Exclude<State, 'next'>]: string } = {
    value: 'a value, texts in double quotes',
    firstItem: 'a value, texts in double quotes, or "]"',
    name: 'a name in double quotes',
    firstName: 'a name in double quotes or "}"',
    colon: '":"',
  }
  if (state !== 'next') return expected[state]
  const around = open.at(-1)
  if (around === undefined) return 'nothing more'
  return around === '{' ? '"," or "}"' : '"," or "]"'
}
