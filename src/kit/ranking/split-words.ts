/** What a character is to a word. */
const other = 0
const lower = 1
const upper = 2
const digit = 3
/** Of a script that is written without spaces. */
const dense = 4

const ascii = new Uint8Array(128)
for (let code = 0; code < 128; code++) {
  const character = String.fromCharCode(code)
  ascii[code] = /[a-z]/.test(character)
    ? lower
    : /[A-Z]/.test(character)
      ? upper
      : /\d/.test(character)
        ? digit
        : other
}

/**
 * Calls `take` with each word of a text, in lower case. Identifiers are split as people read them: `getUserID2` has the words `get`, `user`, `id` and `2`,
 * and the whole of its letters, `getuserid`, is one too. Of scripts without spaces, each pair of characters is a word.
 */
export function splitWords(text: string, take: (word: string) => void): void {
  let at = 0
  while (at < text.length) {
    const kind = kindAt(text, at)
    if (kind === other) {
      at++
      continue
    }
    const start = at
    // perf: most words are lower case as they stand.
    if (kind === lower) at = endOfLower(text, at)
    const isPlain = at > start && !isOneRun(kind, at < text.length ? kindAt(text, at) : other)
    if (isPlain) {
      take(text.slice(start, at))
      continue
    }
    do at++
    while (at < text.length && isOneRun(kind, kindAt(text, at)))
    if (kind === digit) take(text.slice(start, at))
    else if (kind === dense) takePairs(text.slice(start, at), take)
    else takeParts(text, { start, end: at, take })
  }
}

/** Where the lower-case ASCII letters from here end. */
function endOfLower(text: string, from: number): number {
  let at = from
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code < 97 || code > 122) break
  }
  return at
}

function kindAt(text: string, at: number): number {
  const code = text.charCodeAt(at)
  return code < 128 ? (ascii[code] ?? other) : kindOf(text[at] ?? '')
}

const known = new Map<string, number>()

function kindOf(character: string): number {
  const found = known.get(character)
  if (found !== undefined) return found
  const kind = /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/.test(character)
    ? dense
    : /\p{Lu}/u.test(character)
      ? upper
      : /[\p{L}\p{M}]/u.test(character)
        ? lower
        : /\p{N}/u.test(character)
          ? digit
          : other
  known.set(character, kind)
  return kind
}

function isOneRun(first: number, next: number): boolean {
  return next === first || (first !== digit && first !== dense && (next === lower || next === upper))
}

function takePairs(run: string, take: (word: string) => void): void {
  if (run.length === 1) take(run)
  for (let at = 0; at + 1 < run.length; at++) take(run.slice(at, at + 2))
}

function takeParts(
  text: string,
  { start, end, take }: { start: number; end: number; take: (word: string) => void },
): void {
  let from = start
  for (let at = start + 1; at < end; at++) {
    if (!isBreak(text, at, end)) continue
    take(text.slice(from, at).toLowerCase())
    from = at
  }
  take(text.slice(from, end).toLowerCase())
  if (from !== start) take(text.slice(start, end).toLowerCase())
}

/** Between `r` and `I`, and between the `L` and the `P` of `HTMLPage`. */
function isBreak(text: string, at: number, end: number): boolean {
  if (kindAt(text, at) !== upper) return false
  return kindAt(text, at - 1) === lower || (at + 1 < end && kindAt(text, at + 1) === lower)
}
