import { pointerTo } from '../../kit/json/json-pointer.ts'
import { isKeywords, madeRequired, report, typesOf, type Keywords, type Lowering } from './lowering.ts'

/** An object in the form of strict tools: no further properties, and all of them required if the provider asks for that. */
export function closeObject(schema: Keywords, at: string, work: Lowering): Keywords {
  const isObject = typesOf(schema).includes('object') || isKeywords(schema['properties'])
  if (!isObject || work.rules.find('closed-objects') === undefined) return schema
  const { additionalProperties } = schema
  const properties = isKeywords(schema['properties']) ? schema['properties'] : undefined
  const isFree =
    (additionalProperties !== undefined && additionalProperties !== false) ||
    (properties === undefined && at !== '' && additionalProperties !== false)
  if (isFree)
    report(
      work,
      additionalProperties === undefined ? at : pointerTo(at, 'additionalProperties'),
      'Strict tools take no object with free property names. Name the properties, take an array of name and value, or pass strict: "if-possible".',
    )
  const closed: Keywords = { ...schema, properties: properties ?? {}, additionalProperties: false }
  return work.rules.find('all-required') === undefined
    ? withRequired(closed)
    : requireAll(closed, properties ?? {}, work)
}

/** A list that is there, as some ask for. */
function withRequired(schema: Keywords): Keywords {
  return { ...schema, required: Array.isArray(schema['required']) ? schema['required'] : [] }
}

function requireAll(schema: Keywords, properties: Keywords, work: Lowering): Keywords {
  const before: unknown[] = Array.isArray(schema['required']) ? schema['required'] : []
  const optional = Object.keys(properties).filter((name) => !before.includes(name))
  const added = optional.filter((name) => !takesNull(properties[name]))
  if (added.length > 0) work.hasNulls = true
  return {
    ...schema,
    ...(added.length > 0 && { [madeRequired]: added }),
    properties: Object.fromEntries(
      Object.entries(properties).map(([name, each]) => [name, added.includes(name) ? withNull(each) : each]),
    ),
    required: Object.keys(properties),
  }
}

function takesNull(schema: unknown): boolean {
  if (!isKeywords(schema)) return false
  const { anyOf, enum: values } = schema
  if (Array.isArray(anyOf)) return anyOf.some(takesNull)
  if (Array.isArray(values) && !values.includes(null)) return false
  return typesOf(schema).includes('null')
}

function withNull(schema: unknown): unknown {
  if (!isKeywords(schema)) return schema
  const { type, enum: values, anyOf, $ref } = schema
  if (Array.isArray(anyOf)) return { ...schema, anyOf: [...anyOf, { type: 'null' }] }
  if (type === undefined || $ref !== undefined || 'const' in schema) {
    const { description, ...rest } = schema
    return { ...(description !== undefined && { description }), anyOf: [rest, { type: 'null' }] }
  }
  return {
    ...schema,
    type: [...new Set([...typesOf(schema), 'null'])],
    ...(Array.isArray(values) && { enum: [...values, null] }),
  }
}
