import type { JsonType } from '../../contract/base/schema.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'

/** JSON types as bits, so that a set of types is a number. A whole number is both `number` and `integer`. */
export const kinds = {
  string: 1,
  number: 2,
  integer: 4,
  boolean: 8,
  null: 16,
  object: 32,
  array: 64,
} as const satisfies Record<JsonType, number>

/** The bit of every type. */
export const everyKind = 127

/** The bits of a value's types; 0 for what JSON cannot carry. */
export function kindOf(value: unknown): number {
  switch (typeof value) {
    case 'string':
      return kinds.string
    case 'number':
      if (Number.isInteger(value)) return kinds.number | kinds.integer
      return Number.isFinite(value) ? kinds.number : 0
    case 'boolean':
      return kinds.boolean
    case 'object':
      if (value === null) return kinds.null
      if (Array.isArray(value)) return kinds.array
      return isPlainObject(value) ? kinds.object : 0
    default:
      return 0
  }
}

/** The bits of a `type` keyword; of every type where it is missing. `nullable` adds null. */
export function kindsOf(schema: { type?: JsonType | readonly JsonType[]; nullable?: boolean }): number {
  if (schema.type === undefined) return everyKind
  let bits = schema.nullable === true ? kinds.null : 0
  for (const type of typesOf(schema.type)) bits |= kinds[type]
  return bits
}

/** The names in a `type` keyword. */
export function typesOf(type: JsonType | readonly JsonType[] | undefined): readonly JsonType[] {
  if (type === undefined) return []
  return typeof type === 'string' ? [type] : type
}
