import type { JsonSchema } from '../../contract/base/schema.ts'
import { parsePointer } from '../../kit/json/json-pointer.ts'

/** What a schema says of the value at a pointer. */
export interface SchemaPlace {
  readonly schema: JsonSchema
  /** Whether a value that fits always has something there. */
  readonly isSure: boolean
}

/** What a schema says of the value at a pointer; undefined if it says that there is none, or nothing. */
export function schemaAt(schema: JsonSchema, pointer: string): SchemaPlace | undefined {
  let place: SchemaPlace = { schema, isSure: true }
  for (const token of parsePointer(pointer)) {
    const next = below(place.schema, token)
    if (next === undefined) return undefined
    place = { schema: next.schema, isSure: place.isSure && next.isSure }
  }
  return place
}

function below(schema: JsonSchema, token: string): SchemaPlace | undefined {
  const { properties, required = [], additionalProperties: others, items } = schema
  const isOnly = (type: string): boolean => schema.type === type && schema.nullable !== true
  if (properties !== undefined && Object.hasOwn(properties, token)) {
    const field = properties[token]
    return field && { schema: field, isSure: isOnly('object') && required.includes(token) }
  }
  if (typeof others === 'object')
    return { schema: others, isSure: isOnly('object') && required.includes(token) }
  if (items !== undefined && /^(0|[1-9]\d*)$/.test(token))
    return { schema: items, isSure: isOnly('array') && (schema.minItems ?? 0) > Number(token) }
  return undefined
}
