import { isAbsolute, join } from 'node:path'
import { ToolFailure } from '../../../contract/base/errors.ts'
import type { SearchHit } from '../../../contract/services/sandbox.ts'
import type { Look } from './documents.ts'
import type { Answer, CodeItem, Question } from './question.ts'

/** How a search looks: where, for how much, and in which files. */
export interface SearchRange {
  readonly look: Look
  readonly limit: number
  /** Only files with these endings; none: all. */
  readonly extensions: readonly string[]
}

const maxFileBytes = 4 * 1024 * 1024
const maxLineLetters = 1_000

/**
 * The answer as far as text alone shows it: words, and lines that look like declarations of them. A name is searched for as it is, whatever
 * its characters mean in a pattern. Fails with `text_not_found` if the place has no name.
 */
export async function searchCode(question: Question, range: SearchRange): Promise<Answer> {
  switch (question.operation) {
    case 'document_symbols':
      return toSymbols(await find(declarations('[\\w$]+'), { ...range, path: question.path }))
    case 'workspace_symbols': {
      const name = `[\\w$]*${literally(question.query)}[\\w$]*`
      return toSymbols(await find(declarations(name), { ...range, anyCase: true }))
    }
    default:
      return searchPlace(question, await nameAt(question, range.look), range)
  }
}

async function searchPlace(
  { operation, path }: Exclude<Question, { operation: 'document_symbols' | 'workspace_symbols' }>,
  name: string,
  range: SearchRange,
): Promise<Answer> {
  const word = wholeWord(name)
  const define = () => find(declarations(word), range)
  switch (operation) {
    case 'references':
      return toUses(await find(word, range), name)
    case 'incoming_calls': {
      const { hits, truncated } = await find(`${word}\\s*\\(`, range)
      return toUses({ truncated, hits: hits.filter(({ text = '' }) => declaredIn(text) !== name) }, name)
    }
    case 'implementation': {
      const derived = `\\b(?:implements|extends|impl|for)\\b.*${word}|\\bclass\\s+\\w+\\s*[(:].*${word}`
      const found = await find(derived, range)
      return found.hits.length > 0 ? toUses(found, name) : toUses(await define(), name)
    }
    case 'hover':
      return hoverOf(await define(), range.look)
    case 'outgoing_calls':
      return callsIn(await define(), path, range)
    default:
      return toUses(await define(), name)
  }
}

interface Hits {
  readonly hits: readonly SearchHit[]
  readonly truncated: boolean
}

function find(
  pattern: string,
  {
    look,
    limit,
    extensions,
    path = look.root,
    anyCase = false,
  }: SearchRange & { path?: string; anyCase?: boolean },
): Promise<Hits> {
  const glob = path === look.root && extensions.length > 0 ? { glob: globOf(extensions) } : {}
  return look.search.find({
    pattern,
    path,
    mode: 'content',
    limit,
    exclude: look.exclude,
    caseInsensitive: anyCase,
    ...glob,
  })
}

/** Files with one of these endings. */
export function globOf(extensions: readonly string[]): string {
  return `*.{${extensions.map((extension) => extension.slice(1)).join(',')}}`
}

const keywords =
  'function\\*?|func|fun|fn|def|class|struct|enum|interface|trait|protocol|typealias|type|namespace|module|mod|record|object|const|let|var|val|static|union|macro_rules!'

/** A pattern of ripgrep for lines that declare what this pattern names: by a word of many languages, or as a method with a body. */
function declarations(name: string): string {
  return [
    `\\b(?:${keywords})\\s+(?:\\([^)]*\\)\\s*)?${name}`,
    `^\\s*(?:(?:public|private|protected|static|async|override|abstract|readonly|get|set|pub)\\s+)*${name}\\s*\\([^;]*\\)[^;=]*\\{\\s*$`,
  ].join('|')
}

const declared = new RegExp(`\\b(${keywords.replaceAll('\\\\', '\\')})\\s+(?:\\([^)]*\\)\\s*)?([\\w$]+)`)
const method =
  /^\s*(?:(?:public|private|protected|static|async|override|abstract|readonly|get|set|pub)\s+)*([\w$]+)\s*\(/
const noNames = new Set([
  'if',
  'for',
  'while',
  'switch',
  'catch',
  'return',
  'function',
  'with',
  'match',
  'else',
])

function declaredIn(line: string): string | undefined {
  return declared.exec(line)?.[2] ?? method.exec(line)?.[1]
}

function toSymbols({ hits, truncated }: Hits): Answer {
  const items = hits.flatMap((hit): CodeItem[] => {
    const text = lineOf(hit)
    const [, kind, name = declaredIn(text)] = declared.exec(text) ?? []
    if (name === undefined || noNames.has(name)) return []
    return [{ ...placeOf(hit, text, name), name, kind: kind ?? 'method' }]
  })
  return { items, truncated }
}

/** Every place of the name in these lines. */
function toUses({ hits, truncated }: Hits, name: string): Answer {
  return {
    items: hits.map((hit) => ({ ...placeOf(hit, lineOf(hit), name), name })),
    truncated,
  }
}

function lineOf({ text = '' }: SearchHit): string {
  return text.trimEnd().slice(0, maxLineLetters)
}

function placeOf({ path, line = 1 }: SearchHit, text: string, name: string): CodeItem {
  const at = Math.max(0, text.search(new RegExp(`(?<![\\w$])${escapeForV8(name)}(?![\\w$])`)))
  return { path, line, character: at + 1, text }
}

/** The line that declares it, with the comment above. */
async function hoverOf({ hits }: Hits, look: Look): Promise<Answer> {
  const [first] = hits
  if (first === undefined) return { items: [], truncated: false }
  const lines = await readLines(toAbsolute(first, look), look)
  const at = (first.line ?? 1) - 1
  let from = at
  while (from > 0 && at - from < 20 && /^\s*(?:\/\/|\/\*|\*|#|--)/.test(lines[from - 1] ?? '')) from--
  return { items: [], truncated: false, hover: lines.slice(from, at + 1).join('\n') }
}

/** Names with a bracket behind them, from the declaration to the next line that is indented as it is. */
async function callsIn({ hits }: Hits, asked: string, { look, limit }: SearchRange): Promise<Answer> {
  const first = hits.find((hit) => toAbsolute(hit, look) === asked) ?? hits[0]
  if (first === undefined) return { items: [], truncated: false }
  const lines = await readLines(toAbsolute(first, look), look)
  const start = (first.line ?? 1) - 1
  const indent = indentOf(lines[start] ?? '')
  const items: CodeItem[] = []
  for (let at = start; at < lines.length && items.length <= limit; at++) {
    const text = (lines[at] ?? '').slice(0, maxLineLetters)
    if (at > start && text.trim() !== '' && indentOf(text) <= indent) break
    for (const { 1: name = '', index } of text.matchAll(/(?<![\w$])([\w$]+)\s?\(/g))
      if (!noNames.has(name) && (at > start || name !== declaredIn(text)))
        items.push({ path: first.path, line: at + 1, character: index + 1, name, text: text.trim() })
  }
  return { items: items.slice(0, limit), truncated: items.length > limit }
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length
}

async function nameAt(
  { path, line, character }: { path: string; line: number; character: number },
  look: Look,
): Promise<string> {
  const text = (await readLines(path, look))[line - 1] ?? ''
  for (const { 0: name, index } of text.slice(0, 10_000).matchAll(/[\p{L}\p{N}_$]+/gu))
    if (index < character && character - 1 <= index + name.length) return name
  throw new ToolFailure({
    reason: 'text_not_found',
    message: `There is no name at line ${line}, column ${character} of "${path}". Give the place of a name; both count from 1.`,
    data: { line, character },
  })
}

async function readLines(path: string, { files }: Look): Promise<string[]> {
  const { bytes } = await files.read(path, { maxBytes: maxFileBytes })
  return Buffer.from(bytes).toString().split(/\r?\n/)
}

function toAbsolute({ path }: SearchHit, { project }: Look): string {
  return isAbsolute(path) ? path : join(project, path)
}

/** A pattern of ripgrep that means just this text. */
function literally(text: string): string {
  return text.replaceAll(/[\\.+*?()|[\]{}^$#&\-~]/g, String.raw`\$&`)
}

function wholeWord(name: string): string {
  const start = /^\w/.test(name) ? '\\b' : ''
  const end = /\w$/.test(name) ? '\\b' : ''
  return `${start}${literally(name)}${end}`
}

function escapeForV8(text: string): string {
  return text.replaceAll(/[\\.+*?()|[\]{}^$/-]/g, String.raw`\$&`)
}
