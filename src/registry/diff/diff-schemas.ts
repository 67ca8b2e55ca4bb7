import type { JsonSchema } from '../../contract/base/schema.ts'
import type { SchemaChange, SchemaUse } from '../../contract/registry.ts'
import { pointerTo } from '../../kit/json/json-pointer.ts'
import { diffFields } from './diff-fields.ts'
import { kindsOf, narrowingRules } from '../../kit/schema/narrowing-rules.ts'
import { isSame, type SchemaWalk } from './schema-walk.ts'
import { shorten } from '../../kit/text/shorten.ts'

/**
 * Every change between two versions of a schema, with its pointer. An input breaks where a value that fitted may not fit any more; an
 * output breaks where it may hold what its readers do not expect. Readers are taken to ignore fields that they do not
 * know, and a field without a name in the old schema is promised nothing. Titles, descriptions, examples, formats and
 * `x-` keywords are no changes. What cannot be compared counts as broken.
 */
export function diffSchemas(before: JsonSchema, after: JsonSchema, use: SchemaUse): readonly SchemaChange[] {
  const found: SchemaChange[] = []
  compareSchemas(before, after, { use, pointer: '', found })
  return found
}

const annotations: ReadonlySet<string> = new Set([
  'title',
  'description',
  'examples',
  'format',
  '$schema',
  '$id',
  '$comment',
  'deprecated',
  'readOnly',
  'writeOnly',
])
const structure = ['items', 'properties', 'required', 'additionalProperties'] as const
const comparable: ReadonlySet<string> = new Set([
  ...narrowingRules.flatMap((rule) => rule.keywords),
  ...structure,
])

/** Compares two schemas and everything below them. */
function compareSchemas(before: JsonSchema, after: JsonSchema, walk: SchemaWalk): void {
  if (isSame(before, after)) return
  const strange = findStrange(before) ?? findStrange(after)
  if (strange !== undefined) return refuseToCompare(strange, walk)
  const [from, to] = walk.use === 'input' ? [before, after] : [after, before]
  for (const rule of narrowingRules) {
    const changed = rule.keywords.filter((keyword) => !isSame(before[keyword], after[keyword]))
    for (const keyword of changed)
      walk.found.push({
        kind: rule.narrows(from, to) ? 'breaking' : 'changed',
        pointer: pointerTo(walk.pointer, keyword),
        message: `"${keyword}" was ${show(before[keyword])} and is ${show(after[keyword])}.`,
      })
  }
  const both = (kind: 'array' | 'object') => kindsOf(from).has(kind) && kindsOf(to).has(kind)
  if (both('array')) compareSchemas(before.items ?? {}, after.items ?? {}, below(walk, 'items'))
  else compareIdle(['items'], { before, after, walk })
  if (both('object')) diffFields({ before, after, walk, compare: compareSchemas })
  else compareIdle(['properties', 'required', 'additionalProperties'], { before, after, walk })
}

interface Place {
  before: JsonSchema
  after: JsonSchema
  walk: SchemaWalk
}

/** Schemas that use more than the subset are the same or they are not. */
function refuseToCompare(strange: string, walk: SchemaWalk): void {
  walk.found.push({
    kind: 'breaking',
    pointer: walk.pointer,
    message: `The schema changed, and what "${strange}" means there cannot be compared.`,
  })
}

/** Keywords that speak of no value that both schemas take. */
function compareIdle(keywords: readonly (typeof structure)[number][], { before, after, walk }: Place): void {
  for (const keyword of keywords)
    if (!isSame(before[keyword], after[keyword]))
      walk.found.push({
        kind: 'changed',
        pointer: pointerTo(walk.pointer, keyword),
        message: `"${keyword}" is not the same.`,
      })
}

function below(walk: SchemaWalk, keyword: string): SchemaWalk {
  return { ...walk, pointer: pointerTo(walk.pointer, keyword) }
}

/** The first keyword that is neither of the subset nor an annotation. */
function findStrange(schema: JsonSchema): string | undefined {
  return Object.keys(schema).find(
    (keyword) => !comparable.has(keyword) && !annotations.has(keyword) && !keyword.startsWith('x-'),
  )
}

function show(value: unknown): string {
  if (value === undefined) return 'not there'
  const text = JSON.stringify(value)
  return shorten(text, 80)
}
