/** Stands between two words of a command; no word can hold it. */
export const wordBreak = '\0'

/** A letter, or any text, or any text inside of one word. */
type Token = string | { readonly any: 'text' | 'in-word' }

/** A pattern of one simple command. */
export interface PartPattern {
  readonly tokens: readonly Token[]
  /** Whether any further arguments may follow, or none. */
  readonly open: boolean
  /** What every command that it matches begins with: all before its first wildcard. */
  readonly prefix: string
  /** Whether it has no wildcard, so that it means one command only. */
  readonly exact: boolean
  /** Whether it has a wildcard that stays inside of one word. */
  readonly inWord: boolean
  /** Whether there is more behind its first wildcard than wildcards. */
  readonly closed: boolean
  /** Whether that wildcard stands for the program. */
  readonly anyProgram: boolean
  /** Whether it names its program by a path. */
  readonly byPath: boolean
}

/** A pattern of a command line. */
export interface CommandPattern {
  /** One for each command that it names; more than one where it has operators such as `&&` and `|`. */
  readonly parts: readonly PartPattern[]
  /** Whether it names a file that is redirected to or from. */
  readonly redirects: boolean
}

const anyText: Token = { any: 'text' }
const anyInWord: Token = { any: 'in-word' }

const redirection =
  /(?:(?<![^\s;&|])\d+)?(?:<<<|<<-?|<>|<&|>>|>\||>&|<(?!\()|>(?!\())[ \t]*(?:\d+-?|-|[^\s;&|<>()]*)|&>>?[ \t]*[^\s;&|<>()]*/y
const harmlessRedirection = /^\d*[<>]&\d+$|\/dev\/null$/
const operator = /\|\||\|&|&&|[;&|\n]/y
const quoted = /"((?:[^"\\]|\\[^])*)("|$)|'([^']*)('|$)/y

/**
 * Reads a pattern: words as a shell would part them, `*` for any text, `\*` for a star itself. A last ` *` that is the only wildcard,
 * and a last `:*`, mean any further arguments and none too. A `*` inside of quotes stays inside of its word.
 */
export function readCommandPattern(source: string): CommandPattern {
  const text = source.trim().replace(/:\*$/, ' *')
  const parts: Token[][] = [[]]
  let redirects = false
  for (let at = 0; at < text.length;) {
    const match = (pattern: RegExp): RegExpExecArray | undefined => {
      pattern.lastIndex = at
      const found = pattern.exec(text) ?? undefined
      at += found?.[0].length ?? 0
      return found
    }
    const tokens = parts.at(-1) ?? []
    const redirected = match(redirection)?.[0]
    const quote = redirected === undefined ? match(quoted) : undefined
    if (redirected !== undefined) redirects ||= !harmlessRedirection.test(redirected)
    else if (quote !== undefined) tokens.push(...readQuoted(quote))
    else if (match(operator) !== undefined) parts.push([])
    else if (match(/[ \t]+/y) !== undefined) tokens.push(wordBreak)
    else tokens.push(match(/\*/y) === undefined ? readLetter(match(/\\?[^]/uy)?.[0] ?? '') : anyText)
  }
  return {
    parts: parts
      .map(trimBreaks)
      .filter((tokens) => tokens.length > 0)
      .map(toPart),
    redirects,
  }
}

function readLetter(letter: string): string {
  return letter.length > 1 ? letter.replace(/^\\/, '') : letter
}

/** A quote that is not closed reaches to the end, and a `*` in it takes further words too. */
function readQuoted([, double, doubleEnd, single, singleEnd]: RegExpExecArray): Token[] {
  const star = doubleEnd === '' || singleEnd === '' ? anyText : anyInWord
  const letters = double === undefined ? /\\\*|[^]/gu : /\\[*"\\$`]|[^]/gu
  const text = double ?? single ?? ''
  return Array.from(text.matchAll(letters), ([letter]) => (letter === '*' ? star : readLetter(letter)))
}

function trimBreaks(tokens: readonly Token[]): readonly Token[] {
  const kept = tokens.filter((token, index) => token !== wordBreak || tokens[index - 1] !== wordBreak)
  const start = kept[0] === wordBreak ? 1 : 0
  return kept.slice(start, kept.length > 1 && kept.at(-1) === wordBreak ? -1 : kept.length)
}

function toPart(all: readonly Token[]): PartPattern {
  const first = all.findIndex((token) => typeof token !== 'string')
  const open = first > 1 && first === all.length - 1 && all[first] === anyText && all[first - 1] === wordBreak
  const tokens = open ? all.slice(0, -2) : all
  const program = all.slice(0, all.includes(wordBreak) ? all.indexOf(wordBreak) : all.length)
  const inWord = all.some((token) => typeof token !== 'string' && token.any === 'in-word')
  const closed = first >= 0 && all.slice(first).some((token) => typeof token === 'string')
  const anyProgram = closed && first < program.length
  const exact = first < 0
  return {
    tokens,
    open,
    prefix: prefixOf(all),
    exact,
    inWord,
    closed,
    anyProgram,
    byPath: program.includes('/'),
  }
}

function prefixOf(tokens: readonly Token[]): string {
  let prefix = ''
  for (const token of tokens) {
    if (typeof token !== 'string') break
    prefix += token
  }
  return prefix
}

/** Whether a command matches: its words, with a word break between each two. In time proportional to both at most. */
export function matchesPart(
  { tokens, open }: Pick<PartPattern, 'tokens' | 'open'>,
  command: string,
): boolean {
  let states = follow(tokens, [], 0)
  for (const letter of command) {
    if (open && letter === wordBreak && states.includes(tokens.length)) return true
    const next: number[] = []
    for (const state of states) {
      const token = tokens[state]
      if (token === undefined) continue
      if (token === letter) follow(tokens, next, state + 1)
      else if (typeof token !== 'string' && (token.any === 'text' || letter !== wordBreak)) {
        if (token.any === 'text' && state === tokens.length - 1) return true
        follow(tokens, next, state)
      }
    }
    if (next.length === 0) return false
    states = next
  }
  return states.includes(tokens.length)
}

/**
 * Whether a command matches word by word: a wildcard stands for a part of one word, and for no option where a word begins with it; only one
 * that is the whole last word stands for all that follow. `more` says that unknown words follow.
 */
export function matchesWords({ tokens, open }: PartPattern, command: string, more: boolean): boolean {
  const parts = split(tokens)
  const last = parts.at(-1)
  const isOpen = open || (last?.length === 1 && last[0] === anyText)
  const fixed = isOpen && !open ? parts.slice(0, -1) : parts
  const words = command.split(wordBreak)
  if (isOpen ? words.length < fixed.length : more || words.length !== fixed.length) return false
  return fixed.every((part, at) => {
    const word = words[at] ?? ''
    const isFree = typeof part[0] !== 'string' && at > 0 && /^[-+]/.test(word)
    return !isFree && matchesTokens(part, word)
  })
}

function split(tokens: readonly Token[]): Token[][] {
  const parts: Token[][] = [[]]
  for (const token of tokens)
    if (token === wordBreak) parts.push([])
    else parts.at(-1)?.push(token)
  return parts
}

function matchesTokens(tokens: readonly Token[], word: string): boolean {
  return matchesPart({ tokens, open: false }, word)
}

/** Adds a state, and those that are reached from it without a letter. States stay in order, each once. */
function follow(tokens: readonly Token[], states: number[], state: number): number[] {
  for (let reached = state; ; reached++) {
    if ((states.at(-1) ?? -1) < reached) states.push(reached)
    if (reached >= tokens.length || typeof tokens[reached] === 'string') return states
  }
}
