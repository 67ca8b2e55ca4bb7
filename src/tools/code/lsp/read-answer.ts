import { fileURLToPath } from 'node:url'
import { isPlainObject } from '../../../kit/json/is-plain-object.ts'
import type { CodeItem, Spot } from './question.ts'

/** What a server says is data of another program: everything here takes what fits and leaves the rest. */

const maxNameLetters = 200
const maxHoverLetters = 8_000
const maxCalls = 20
const maxDepth = 32

/** The places of `Location`, `Location[]` or `LocationLink[]`. */
export function readPlaces(answer: unknown): CodeItem[] {
  return listOf(answer).flatMap((each) => {
    if (!isPlainObject(each)) return []
    return 'targetUri' in each
      ? toItem(each['targetUri'], each['targetSelectionRange'] ?? each['targetRange'], {})
      : toItem(each['uri'], each['range'], {})
  })
}

/** The symbols of a file: a tree of `DocumentSymbol`, each before those in it, or `SymbolInformation[]`. */
export function readDocumentSymbols(answer: unknown, uri: string): CodeItem[] {
  const walk = (symbols: unknown, container: string | undefined, depth: number): CodeItem[] =>
    listOf(symbols).flatMap((each) => {
      if (!isPlainObject(each) || depth > maxDepth) return []
      if ('location' in each) return readSymbol(each)
      const own = toItem(uri, each['selectionRange'] ?? each['range'], {
        ...named(each),
        ...(container !== undefined && { container }),
      })
      return [...own, ...walk(each['children'] ?? [], shorten(each['name']), depth + 1)]
    })
  return walk(answer, undefined, 0)
}

/** `SymbolInformation[]` or `WorkspaceSymbol[]`. */
export function readWorkspaceSymbols(answer: unknown): CodeItem[] {
  return listOf(answer).flatMap((each) => (isPlainObject(each) ? readSymbol(each) : []))
}

function readSymbol(symbol: Record<string, unknown>): CodeItem[] {
  const { location } = symbol
  if (!isPlainObject(location)) return []
  const container = shorten(symbol['containerName'])
  return toItem(location['uri'], location['range'], {
    ...named(symbol),
    ...(container !== undefined && container !== '' && { container }),
  })
}

/** One `CallHierarchyItem`. */
export function readHierarchyItem(item: unknown): CodeItem[] {
  if (!isPlainObject(item)) return []
  return toItem(item['uri'], item['selectionRange'] ?? item['range'], named(item))
}

/** Callers (`from`) or callees (`to`), with the places of the calls. */
export function readCalls(answer: unknown, end: 'from' | 'to'): CodeItem[] {
  return listOf(answer).flatMap((each) => {
    if (!isPlainObject(each)) return []
    const calls = listOf(each['fromRanges'])
      .slice(0, maxCalls)
      .flatMap((range) => readSpot(range, 'start'))
    return readHierarchyItem(each[end]).map((item) => ({ ...item, calls }))
  })
}

/** The text of a `Hover`: markup, or marked strings as they were before. */
export function readHover(answer: unknown): string | undefined {
  if (!isPlainObject(answer)) return undefined
  const { contents } = answer
  const texts = (Array.isArray(contents) ? contents : [contents]).map((part: unknown) =>
    textOf(isPlainObject(part) ? part['value'] : part),
  )
  const text = texts.join('\n\n').trim()
  if (text === '') return undefined
  return text.length > maxHoverLetters ? `${text.slice(0, maxHoverLetters).toWellFormed()}…` : text
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** Items of a list, one thing as a list of one, nothing as none. */
export function listOf(value: unknown): readonly unknown[] {
  if (value === undefined || value === null) return []
  return Array.isArray(value) ? value : [value]
}

function toItem(uri: unknown, range: unknown, about: Partial<CodeItem>): CodeItem[] {
  const path = pathOf(uri)
  if (path === undefined) return []
  // A symbol of a workspace may come without its place in the file.
  const [start = { line: 1, character: 1 }] = readSpot(range, 'start')
  const [end] = readSpot(range, 'end')
  return [
    {
      path,
      ...start,
      ...(end !== undefined && { endLine: end.line, endCharacter: end.character }),
      ...about,
    },
  ]
}

/** From 1, as models and people count. */
function readSpot(range: unknown, edge: 'start' | 'end'): Spot[] {
  const spot: unknown = isPlainObject(range) ? range[edge] : undefined
  if (!isPlainObject(spot)) return []
  const { line, character } = spot
  return isIndex(line) && isIndex(character) ? [{ line: line + 1, character: character + 1 }] : []
}

function isIndex(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value < 2 ** 31
}

function pathOf(uri: unknown): string | undefined {
  if (typeof uri !== 'string' || !uri.startsWith('file:')) return undefined
  try {
    return fileURLToPath(uri)
  } catch {
    // No path of this machine.
    return undefined
  }
}

function named(symbol: Record<string, unknown>): Partial<CodeItem> {
  const name = shorten(symbol['name'])
  const kind = symbolKinds[Number(symbol['kind']) - 1]
  return { ...(name !== undefined && { name }), ...(kind !== undefined && { kind }) }
}

function shorten(text: unknown): string | undefined {
  if (typeof text !== 'string') return undefined
  return text.length > maxNameLetters
    ? `${text.slice(0, maxNameLetters).toWellFormed()}…`
    : text.toWellFormed()
}

/** By the numbers of the protocol, from 1 on. */
const symbolKinds: readonly string[] = [
  'file',
  'module',
  'namespace',
  'package',
  'class',
  'method',
  'property',
  'field',
  'constructor',
  'enum',
  'interface',
  'function',
  'variable',
  'constant',
  'string',
  'number',
  'boolean',
  'array',
  'object',
  'key',
  'null',
  'enum member',
  'struct',
  'event',
  'operator',
  'type parameter',
]
