import { isKeywords, type Keywords } from '../base/is-keywords.ts'
import { annotationsOf } from './merge-schemas.ts'

/** Whether a document follows a draft before 2019-09: as it says itself, or as it keeps its definitions where those have them. */
export function isOlderDraft({ $schema, definitions, $defs }: Keywords): boolean {
  if (typeof $schema === 'string') return /\/draft-0[3-7]\//.test($schema)
  return definitions !== undefined && $defs === undefined
}

/**
 * The keywords of one schema in their 2020-12 form: what older drafts and OpenAPI say in other words, said in today's. In a document of an
 * `older` draft nothing beside a reference counts.
 */
export function moderniseKeywords(schema: Keywords, older: boolean): Record<string, unknown> {
  if (older && typeof schema['$ref'] === 'string') return { ...annotationsOf(schema), $ref: schema['$ref'] }
  const modern: Record<string, unknown> = { ...schema }
  moderniseValues(modern)
  moderniseBounds(modern)
  moderniseItems(modern)
  moderniseDependencies(modern)
  moderniseNullable(modern)
  // Draft 3 marks a field as required in itself; 2020-12 cannot say so in this place.
  if (typeof modern['required'] === 'boolean') delete modern['required']
  for (const reference of ['$dynamicRef', '$recursiveRef']) {
    // Within a single document, without others that could override anchors, these mean the same as $ref.
    if (typeof modern[reference] === 'string') modern['$ref'] ??= modern[reference]
    delete modern[reference]
  }
  // Every string is a name, so that this says nothing.
  if (isKeywords(modern['propertyNames']) && isOnlyStringType(modern['propertyNames']))
    delete modern['propertyNames']
  return modern
}

/** Draft 3 has a name for any type. An enum without values, which later drafts advise against, lets no value through. */
function moderniseValues(schema: Record<string, unknown>): void {
  const { type, enum: values } = schema
  if ([type].flat().includes('any')) delete schema['type']
  if (!Array.isArray(values) || values.length > 0) return
  delete schema['enum']
  schema['not'] = {}
}

/** Draft 4: `exclusiveMinimum: true` makes `minimum` exclusive. */
function moderniseBounds(schema: Record<string, unknown>): void {
  for (const [exclusive, bound] of [
    ['exclusiveMinimum', 'minimum'],
    ['exclusiveMaximum', 'maximum'],
  ] as const) {
    if (typeof schema[exclusive] !== 'boolean') continue
    const isExclusive = schema[exclusive] && typeof schema[bound] === 'number'
    if (isExclusive) schema[exclusive] = schema[bound]
    else delete schema[exclusive]
    if (isExclusive) delete schema[bound]
  }
}

/** Drafts up to 7 and 2019-09: an array of items is a tuple, and `additionalItems` is what follows it. */
function moderniseItems(schema: Record<string, unknown>): void {
  const { items, additionalItems } = schema
  delete schema['additionalItems']
  if (Array.isArray(items)) {
    delete schema['items']
    if (items.length > 0) schema['prefixItems'] = items
    if (additionalItems !== undefined) schema['items'] = additionalItems
  }
  if (schema['items'] !== false || schema['prefixItems'] !== undefined) return
  delete schema['items']
  schema['maxItems'] = 0
}

/** Drafts up to 7: one keyword for dependent names and dependent schemas. */
function moderniseDependencies(schema: Record<string, unknown>): void {
  const { dependencies } = schema
  delete schema['dependencies']
  if (!isKeywords(dependencies)) return
  const entries = Object.entries(dependencies)
  const names = entries.filter(([, value]) => Array.isArray(value))
  const schemas = entries.filter(([, value]) => !Array.isArray(value))
  if (names.length > 0) schema['dependentRequired'] ??= Object.fromEntries(names)
  if (schemas.length > 0) schema['dependentSchemas'] ??= Object.fromEntries(schemas)
}

/** OpenAPI 3.0: `nullable` adds null to the type, and means nothing without one. */
function moderniseNullable(schema: Record<string, unknown>): void {
  const { nullable, type } = schema
  delete schema['nullable']
  if (nullable !== true || type === undefined) return
  const types: unknown[] = Array.isArray(type) ? type : [type]
  schema['type'] = types.includes('null') ? types : [...types, 'null']
}

function isOnlyStringType(schema: Keywords): boolean {
  return schema['type'] === 'string' && Object.keys(schema).length === 1
}
