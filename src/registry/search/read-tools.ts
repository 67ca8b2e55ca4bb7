import type { IndexedTool } from '../../contract/registry.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import { toStem } from './query-words.ts'
import { splitWords } from '../../kit/ranking/split-words.ts'

/** The words of tools, as numbers of terms: of each tool, those of each field behind each other. */
export interface ToolWords {
  readonly words: Uint32Array
  /** Where the words of a field end, by tool and field. */
  readonly ends: Uint32Array
}

/** How many fields a tool has: what it is called, which server has it, what it says of itself, and the names and descriptions of its parameters. */
export const fieldCount = 5

/** Of a schema that nests deeper, the rest says little. */
const deepest = 4
/** Of a text that is longer, the rest says little. */
const mostCharacters = 4_000
const mostValues = 50

/** Reads the words of tools, and numbers those that it meets for the first time. */
export function readTools(tools: readonly IndexedTool[], terms: Map<string, number>): ToolWords {
  const ends = new Uint32Array(tools.length * fieldCount)
  const known = new Map<string, number>()
  let words = new Uint32Array(Math.max(64, tools.length * 64))
  let count = 0
  const termOf = (word: string): number => {
    const stem = toStem(word)
    if (stem === undefined) return -1
    const term = terms.get(stem) ?? terms.size
    terms.set(stem, term)
    return term
  }
  const take = (word: string): void => {
    let term = known.get(word)
    if (term === undefined) known.set(word, (term = termOf(word)))
    if (term < 0) return
    if (count === words.length) {
      const larger = new Uint32Array(count * 2)
      larger.set(words)
      words = larger
    }
    words[count++] = term
  }
  for (const [index, tool] of tools.entries())
    for (const [field, texts] of textsOf(tool).entries()) {
      for (const text of texts) splitWords(text.slice(0, mostCharacters), take)
      ends[index * fieldCount + field] = count
    }
  return { words: words.subarray(0, count), ends }
}

function textsOf({ name, title, description, inputSchema }: IndexedTool): readonly (readonly string[])[] {
  // Tools of a server have the name of the server before their own.
  const [, server = '', own = name] = /^mcp\.([^.]+)\.(.+)$/.exec(name) ?? []
  const names: string[] = []
  const descriptions: string[] = []
  readProperties(inputSchema, { names, descriptions }, 0)
  return [
    [own, ...(title === undefined || title === own ? [] : [title])],
    [server],
    [description],
    names,
    descriptions,
  ]
}

/** The values that a parameter may have are what people ask for: "a psychiatrist". */
function readValues({ enum: own, items }: { enum?: unknown; items?: unknown }, found: string[]): void {
  const values: unknown = own ?? (isPlainObject(items) ? items['enum'] : undefined)
  if (!Array.isArray(values)) return
  for (const value of values.slice(0, mostValues)) if (typeof value === 'string') found.push(value)
}

interface Parameters {
  readonly names: string[]
  readonly descriptions: string[]
}

function readProperties(schema: unknown, found: Parameters, depth: number): void {
  if (!isPlainObject(schema) || depth > deepest) return
  const { properties, items } = schema
  if (items !== undefined) readProperties(items, found, depth + 1)
  if (!isPlainObject(properties)) return
  for (const [name, property] of Object.entries(properties)) {
    found.names.push(name)
    if (!isPlainObject(property)) continue
    if (typeof property['description'] === 'string') found.descriptions.push(property['description'])
    readValues(property, found.descriptions)
    readProperties(property, found, depth + 1)
  }
}
