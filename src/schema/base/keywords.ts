/** What stands below a keyword: one schema, a list of them, a map of them by name, or none. */
export type Below = 'schema' | 'list' | 'map' | 'none'

/** Keywords of the subset. */
export const subsetKeywords: ReadonlyMap<string, Below> = new Map<string, Below>([
  ...names('none', 'type', 'title', 'description', 'default', 'examples', 'enum', 'const', 'nullable'),
  ...names('none', 'format', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'),
  ...names('none', 'minLength', 'maxLength', 'pattern', 'minItems', 'maxItems', 'uniqueItems', 'required'),
  ...names('none', 'minProperties', 'maxProperties', 'x-classification'),
  ...names('schema', 'items', 'additionalProperties'),
  ...names('map', 'properties'),
])

/** Keywords that decide about a value and need the full validation. */
export const fullKeywords: ReadonlyMap<string, Below> = new Map<string, Below>([
  ...names('schema', 'not', 'if', 'then', 'else', 'contains', 'propertyNames', 'unevaluatedItems'),
  ...names('schema', 'unevaluatedProperties'),
  ...names('list', 'allOf', 'anyOf', 'oneOf', 'prefixItems'),
  ...names('map', '$defs', 'patternProperties', 'dependentSchemas'),
  ...names('none', 'dependentRequired', 'minContains', 'maxContains', '$ref', '$dynamicRef'),
])

/** Keywords of older drafts and of other schema documents; imported schemas may have them, in their old meaning. */
export const olderKeywords: ReadonlyMap<string, Below> = new Map<string, Below>([
  ...names('schema', 'additionalItems'),
  ...names('map', 'definitions'),
  ...names('none', 'dependencies', '$recursiveRef', 'id'),
])

/** Keywords that say something about the schema and nothing about the value. */
export const plainKeywords: ReadonlySet<string> = new Set([
  '$schema',
  '$id',
  '$comment',
  '$anchor',
  '$dynamicAnchor',
  '$recursiveAnchor',
  '$vocabulary',
  'readOnly',
  'writeOnly',
  'deprecated',
  'contentEncoding',
  'contentMediaType',
  'contentSchema',
])

function names(below: Below, ...keywords: string[]): [string, Below][] {
  return keywords.map((keyword) => [keyword, below])
}
