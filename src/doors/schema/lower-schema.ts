import type { Issue } from '../../contract/base/json.ts'
import { copyJson } from '../../kit/json/copy-json.ts'
import { pointerTo } from '../../kit/json/json-pointer.ts'
import { createResolver } from '../../schema/base/references.ts'
import type { Rules } from '../rules/find-rules.ts'
import { listKeywords, mapKeywords, singleKeywords } from './children-at.ts'
import { closeObject } from './close-object.ts'
import { findOverLimits } from './find-over-limits.ts'
import { flattenRoot } from './flatten-root.ts'
import { lowerKeywords } from './lower-keywords.ts'
import { lowerKey } from './lower-key.ts'
import { writeOut } from './write-out.ts'
import {
  isKeywords,
  mayGoDeeper,
  report,
  typesOf,
  typeOfValue,
  type Keywords,
  type Lowering,
} from './lowering.ts'
import { restoreInput } from './restore-input.ts'

/** A schema as a provider takes it. */
export interface Lowered {
  readonly schema: Keywords
  /** What the provider does not take, and what cannot be said in another way. */
  readonly issues: readonly Issue[]
  /** The input that the schema of the tool means, of an input that follows the lowered one. */
  readonly restore: (input: unknown) => unknown
}

/**
 * Says a schema in what a provider takes. What the provider cannot check stands in the descriptions, for the model to read, as JSON Schema: the
 * pipeline checks all of it whatever the provider does. No valid input gets lost, but those that name a property that only another choice knows.
 */
export function lowerSchema(schema: unknown, rules: Rules): Lowered {
  const known = rules.find('keywords')?.known
  const root: Keywords = isKeywords(schema) ? schema : {}
  const work: Lowering = {
    rules,
    known: known && new Set(known),
    issues: [],
    resolve: createResolver(root),
    hasNulls: false,
    keys: new Map(),
    open: new Set(),
    depth: 0,
  }
  const lowered = lowerRoot(root, work)
  if (work.issues.length === 0) work.issues.push(...findOverLimits(lowered, rules))
  const changes = { schema: lowered, keys: work.keys }
  const isChanged = work.hasNulls || work.keys.size > 0
  return {
    schema: lowered,
    issues: work.issues,
    restore: isChanged ? (input) => restoreInput(input, changes) : (input) => input,
  }
}

function lowerRoot(root: Keywords, work: Lowering): Keywords {
  const rule = work.rules.find('root')
  if (rule === undefined) return lowerNode(root, '', work)
  const { schema, told } = flattenRoot(root, rule.without, work)
  const lowered = lowerAndTell(schema, told, { at: '', work })
  const hasProperties = isKeywords(lowered['properties'])
  return rule.properties === true && !hasProperties ? { ...lowered, properties: {} } : lowered
}

/** Longest text, in characters, that says in a description what the provider does not take. */
const maxTold = 4_000

function lowerNode(given: Keywords, at: string, work: Lowering): Keywords {
  return lowerAndTell(given, {}, { at, work })
}

/** `before` is what stood in the schema, and was taken out. */
function lowerAndTell(
  given: Keywords,
  before: Keywords,
  { at, work }: { at: string; work: Lowering },
): Keywords {
  if (!mayGoDeeper(work, at)) return {}
  work.depth++
  const { schema: written, opened, told: unsaid } = writeOut(given, work)
  const { schema: plain, told } = lowerKeywords(written, work)
  let node = lowerChildren(plain, at, work)
  node = withItems(node, at, work)
  node = closeObject(node, at, work)
  node = withType(node, at, work)
  for (const each of opened) work.open.delete(each)
  work.depth--
  return standApart(withWords(node, { ...before, ...unsaid, ...told }, { at, work }), work)
}

function lowerChildren(schema: Keywords, at: string, work: Lowering): Keywords {
  const lowered: Keywords = {}
  for (const [keyword, value] of Object.entries(schema)) {
    const below = pointerTo(at, keyword)
    if (listKeywords.includes(keyword) && Array.isArray(value))
      lowered[keyword] = value.map((each, index) => lowerChild(each, pointerTo(below, index), work))
    else if (singleKeywords.includes(keyword)) lowered[keyword] = lowerChild(value, below, work)
    else if (mapKeywords.includes(keyword) && isKeywords(value))
      lowered[keyword] = lowerMap(value, { keyword, at: below, work })
    else if (keyword === 'required' && Array.isArray(value))
      lowered[keyword] = value.map((name: unknown) =>
        typeof name === 'string' ? lowerKey(name, work) : name,
      )
    else if (keyword === 'dependentRequired' && isKeywords(value))
      lowered[keyword] = Object.fromEntries(
        Object.entries(value).map(([name, needed]) => [
          lowerKey(name, work),
          Array.isArray(needed) ? needed.map((each) => lowerKey(String(each), work)) : needed,
        ]),
      )
    else lowered[keyword] = copyJson(value)
  }
  return lowered
}

function lowerMap(
  schemas: Keywords,
  { keyword, at, work }: { keyword: string; at: string; work: Lowering },
): Keywords {
  const isNamed = keyword === 'properties' || keyword === 'dependentSchemas'
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => {
      const key = isNamed ? lowerKey(name, work) : name
      const lowered = lowerChild(schema, pointerTo(at, name), work)
      if (key === name || keyword !== 'properties' || !isKeywords(lowered)) return [key, lowered]
      return [
        key,
        { ...lowered, description: joinWords(lowered['description'], `Its own name is "${name}".`) },
      ]
    }),
  )
}

function lowerChild(schema: unknown, at: string, work: Lowering): unknown {
  if (!isKeywords(schema))
    return work.rules.find('typed') !== undefined && schema === true ? lowerNode({}, at, work) : schema
  return lowerNode(schema, at, work)
}

/** An array says what its items are, if the provider asks for that. */
function withItems(schema: Keywords, at: string, work: Lowering): Keywords {
  if (work.rules.find('items') === undefined || !typesOf(schema).includes('array')) return schema
  const { items, prefixItems } = schema
  if (isKeywords(items)) return schema
  const first: unknown[] = Array.isArray(prefixItems) ? prefixItems : []
  const choices = items === false || items === undefined ? first.filter(isKeywords) : []
  if (choices.length === 0) return { ...schema, items: lowerNode({}, pointerTo(at, 'items'), work) }
  return { ...schema, items: choices.length === 1 ? choices[0] : { anyOf: choices } }
}

/** Every part says which values it takes, if the provider asks for that. */
function withType(schema: Keywords, at: string, work: Lowering): Keywords {
  if (work.rules.find('typed') === undefined) return schema
  const { type, anyOf, $ref, enum: values } = schema
  if (type !== undefined || anyOf !== undefined || $ref !== undefined) return schema
  const named: unknown[] = 'const' in schema ? [schema['const']] : Array.isArray(values) ? values : []
  const types = [...new Set(named.map(typeOfValue))]
  if (types.length > 0) return { ...schema, type: types.length === 1 ? types[0] : types }
  if (isKeywords(schema['properties'])) return { ...schema, type: 'object' }
  report(work, at, 'The type of every value is wanted here, and any value fits. Name its type.')
  return schema
}

/** Nothing stands beside a reference, for providers that allow nothing there. */
function standApart(schema: Keywords, { known }: Lowering): Keywords {
  const { $ref, $defs, ...rest } = schema
  if ($ref === undefined || known === undefined || Object.keys(rest).length === 0) return schema
  return { ...rest, ...($defs !== undefined && { $defs }), anyOf: [{ $ref }] }
}

/** Says in the description what the provider does not check. */
function withWords(schema: Keywords, told: Keywords, { at, work }: { at: string; work: Lowering }): Keywords {
  if (Object.keys(told).length === 0) return schema
  const text = JSON.stringify(withoutWords(told))
  const [keyword = ''] = Object.keys(told)
  if (text.length > maxTold)
    report(
      work,
      pointerTo(at, keyword),
      `"${keyword}" is not taken here, and is too long to say in a description. Write the schema without it, or make it smaller.`,
    )
  return {
    ...schema,
    description: joinWords(schema['description'], `Must also fit this JSON Schema: ${text}`),
  }
}

function joinWords(before: unknown, words: string): string {
  return typeof before === 'string' && before !== '' ? `${before}\n${words}` : words
}

/** Without what says nothing about values. */
function withoutWords(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutWords)
  if (!isKeywords(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name, each]) => !((name === 'description' || name === 'title') && typeof each === 'string'))
      .map(([name, each]) => [name, withoutWords(each)]),
  )
}
