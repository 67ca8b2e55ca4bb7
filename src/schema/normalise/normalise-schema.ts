import type { Issue } from '../../contract/base/json.ts'
import type { JsonSchema } from '../../contract/base/schema.ts'
import { inspectSchema } from '../inspect/inspect-schema.ts'
import { isKeywords, type Keywords } from '../base/is-keywords.ts'
import { mapChildren, usesMoreThanSubset } from '../base/keyword-children.ts'
import { limits } from '../base/limits.ts'
import { looksBeside, mergeSchemas } from './merge-schemas.ts'
import { isOlderDraft, moderniseKeywords } from './modernise-keywords.ts'
import { createDefinitions, type Definitions } from './definitions.ts'
import { uniteSchemas } from './unite-schemas.ts'

/** An imported schema in its simplest form, whether it needs full validation, and what is wrong with it. */
export interface Normalised {
  readonly schema: JsonSchema
  readonly full: boolean
  readonly issues: readonly Issue[]
}

/**
 * Brings an imported schema into the subset where that loses nothing: older drafts are said in today's words, local references are
 * written out, unions of types and of values become arrays of types and enums. What remains of other keywords makes it `full`;
 * recursive references then point into `$defs`. A schema with issues is given back as it is.
 */
export function normaliseSchema(schema: Keywords): Normalised {
  const issues = inspectSchema(schema, 'imported')
  const simple =
    issues.length > 0 ? schema : (simplifyRoot(schema, true) ?? simplifyRoot(schema, false) ?? schema)
  // The inspection found every keyword well formed, or says what is not.
  return { schema: simple as JsonSchema, full: issues.length > 0 || usesMoreThanSubset(simple), issues }
}

/** Undefined when writing references out makes the schema too large. */
function simplifyRoot(root: Keywords, writeOut: boolean): Keywords | undefined {
  const work: Work = {
    definitions: createDefinitions(root, writeOut),
    older: isOlderDraft(root),
    nodes: limits.schemaNodes,
    depth: 0,
  }
  const simple = simplify(root, work)
  const definitions: Record<string, unknown> = {}
  for (const { name, target } of work.definitions.wanted()) {
    work.definitions.enter(target)
    definitions[name] = simplify(target, work)
    work.definitions.leave()
  }
  if (work.nodes <= 0) return undefined
  if (!isKeywords(simple)) return {}
  return Object.keys(definitions).length === 0 ? simple : { ...simple, $defs: definitions }
}

interface Work {
  readonly definitions: Definitions
  readonly older: boolean
  /** Schemas that may still be written. */
  nodes: number
  depth: number
}

/** Keywords for which `false` is the usual word, and understood everywhere. */
const mayBeFalse: ReadonlySet<string> = new Set([
  'additionalProperties',
  'items',
  'unevaluatedItems',
  'unevaluatedProperties',
])

function simplify(schema: unknown, work: Work, keyword = ''): unknown {
  if (schema === true) return {}
  if (schema === false && !mayBeFalse.has(keyword)) return { not: {} }
  if (!isKeywords(schema)) return schema
  if (work.depth > limits.depth) work.nodes = 0
  if (--work.nodes <= 0) return {}
  work.depth++
  const { $ref, $defs: _, ...keywords } = moderniseKeywords(schema, work.older)
  let simple = mapChildren(keywords, (child, below) => simplify(child, work, below))
  if (typeof $ref === 'string') simple = takeIn(simple, referred($ref, work))
  simple = foldAll(simple)
  for (const keyword of ['anyOf', 'oneOf'] as const) simple = foldChoice(simple, keyword)
  work.depth--
  return simple
}

/** What a reference names, written out, or a reference to its definition where that would never end. */
function referred($ref: string, work: Work): unknown {
  const { definitions } = work
  const target = definitions.resolve($ref)
  const name = definitions.nameOf(target)
  if (name !== undefined) return { $ref: name }
  definitions.enter(target)
  const simple = simplify(target, work)
  definitions.leave()
  return simple
}

/** The schema and another one together: as one where possible, else in its `allOf`. */
function takeIn(schema: Record<string, unknown>, other: unknown): Record<string, unknown> {
  const merged = isKeywords(other) ? mergeSchemas(schema, other) : undefined
  if (merged !== undefined) return merged
  const rest: readonly unknown[] = Array.isArray(schema['allOf']) ? schema['allOf'] : []
  return { ...schema, allOf: [...rest, other] }
}

function foldAll(schema: Record<string, unknown>): Record<string, unknown> {
  const { allOf, ...rest } = schema
  if (!Array.isArray(allOf)) return schema
  // Taken in, what looks beside itself would see what the others say.
  const isApart = (part: unknown): boolean => isKeywords(part) && looksBeside(part)
  const apart = allOf.filter(isApart)
  const whole = allOf.filter((part) => !isApart(part)).reduce<Record<string, unknown>>(takeIn, rest)
  if (apart.length === 0) return whole
  const kept: readonly unknown[] = Array.isArray(whole['allOf']) ? whole['allOf'] : []
  return { ...whole, allOf: [...kept, ...apart] }
}

function foldChoice(schema: Record<string, unknown>, keyword: 'anyOf' | 'oneOf'): Record<string, unknown> {
  const { [keyword]: choices, ...rest } = schema
  if (!Array.isArray(choices)) return schema
  const united = uniteSchemas(choices, keyword === 'oneOf')
  return (united && mergeSchemas(rest, united)) ?? schema
}
