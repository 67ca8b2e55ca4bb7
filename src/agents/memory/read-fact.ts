import {
  memoryScopes,
  memoryWriters,
  type MemoryFact,
  type MemorySource,
} from '../../contract/services/memory.ts'
import { parseFrontMatter } from '../definitions/parse-front-matter.ts'
import { longestFact } from './fact-file.ts'

/** The fields that a file may have before its text. */
const sourceFields = ['by', 'actor', 'session', 'run', 'node', 'call'] as const

/** The fact of a file, or what is wrong with it. A text without a front matter is a fact of every project. */
export function readFact(id: string, text: string): MemoryFact | { message: string; line?: number } {
  if (!/^---[ \t]*\r?\n/.test(text)) return check({ id, content: text, fields: new Map() })
  const parsed = parseFrontMatter(text)
  if ('issue' in parsed) return parsed.issue
  return check({ id, content: parsed.body, fields: parsed.fields })
}

interface Given {
  readonly id: string
  readonly content: string
  readonly fields: ReadonlyMap<string, { readonly value: unknown; readonly line: number }>
}

function check({ id, content, fields }: Given): MemoryFact | { message: string; line?: number } {
  const of = (name: string): unknown => fields.get(name)?.value ?? undefined
  const wrong = (name: string, message: string) => {
    const line = fields.get(name)?.line
    return { message: `"${name}" ${message}`, ...(line !== undefined && { line }) }
  }
  const text = content.trim()
  if (text === '') return { message: 'It has no text. Write the fact below the front matter.' }
  if (text.length > longestFact)
    return { message: `It has ${text.length} characters, and a fact has ${longestFact} at most. Shorten it.` }
  const scope = of('scope') ?? (of('project') === undefined ? 'tenant' : 'project')
  if (!isAmong(memoryScopes, scope)) return wrong('scope', 'must be project or tenant.')
  const project = of('project')
  if (scope === 'project' && (typeof project !== 'string' || project === ''))
    return wrong('project', 'must be the path of the project that the fact holds in.')
  const tags = of('tags') ?? []
  if (!Array.isArray(tags) || !tags.every((tag) => typeof tag === 'string'))
    return wrong('tags', 'must be a list of words.')
  const bad = sourceFields.find((name) => of(name) !== undefined && typeof of(name) !== 'string')
  if (bad !== undefined) return wrong(bad, 'must be a text.')
  return {
    id,
    content: text,
    scope,
    ...(scope === 'project' && typeof project === 'string' && { project }),
    tags,
    source: toSource(of),
  }
}

function toSource(of: (name: string) => unknown): MemorySource {
  const by = of('by')
  const time = of('at')
  const at = typeof time === 'string' ? Date.parse(time) : Number.NaN
  const texts = sourceFields
    .filter((name) => name !== 'by' && typeof of(name) === 'string')
    .map((name) => [name, of(name)])
  return {
    by: isAmong(memoryWriters, by) ? by : 'person',
    ...Object.fromEntries(texts),
    ...(!Number.isNaN(at) && { at }),
  }
}

function isAmong<Value extends string>(values: readonly Value[], value: unknown): value is Value {
  return values.some((each) => each === value)
}
