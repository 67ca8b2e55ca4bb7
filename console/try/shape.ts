import type { Json, JsonObject } from '../api.ts'

/** How a form asks for a value. `raw` is JSON as text: for what a form cannot show. */
export type Shape =
  | { readonly kind: 'text' | 'number' | 'boolean' | 'raw' }
  | { readonly kind: 'choice'; readonly values: readonly Json[] }
  | { readonly kind: 'list'; readonly items: JsonObject }
  | { readonly kind: 'object'; readonly fields: readonly FieldShape[] }

export interface FieldShape {
  readonly name: string
  readonly schema: JsonObject
  readonly isRequired: boolean
}

/** Forms go no deeper. */
const deepest = 4
/** Words of a schema by which its value is of more than one form. */
const manifold = ['$ref', 'anyOf', 'oneOf', 'allOf', 'not', 'if', 'prefixItems', 'patternProperties']

export function shapeOf(schema: JsonObject, depth = 0): Shape {
  const { type, enum: values } = schema
  if (depth > deepest || manifold.some((word) => word in schema)) return { kind: 'raw' }
  if ('const' in schema) return { kind: 'choice', values: [schema['const'] ?? null] }
  if (Array.isArray(values)) return { kind: 'choice', values }
  if (type === 'string') return { kind: 'text' }
  if (type === 'number' || type === 'integer') return { kind: 'number' }
  if (type === 'boolean') return { kind: 'boolean' }
  if (type === 'array' && isObject(schema['items'])) return { kind: 'list', items: schema['items'] }
  if (type === 'object' && isObject(schema['properties']))
    return { kind: 'object', fields: fieldsOf(schema['properties'], schema['required']) }
  return { kind: 'raw' }
}

function fieldsOf(properties: JsonObject, required: Json | undefined): readonly FieldShape[] {
  const names = Array.isArray(required) ? required : []
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    schema: isObject(schema) ? schema : {},
    isRequired: names.includes(name),
  }))
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A pointer (RFC 6901) to what this name or place has below another one. */
export function below(pointer: string, name: string | number): string {
  return `${pointer}/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`
}
