import type { JsonSchema } from '../../contract/base/schema.ts'

const constant = new WeakSet<JsonSchema>()

/** Marks a schema as a part of the program, which nothing changes: what one checker compiled of it serves all others. */
export function asConstant(schema: JsonSchema): JsonSchema {
  constant.add(schema)
  return schema
}

/** Whether a schema is marked as one. */
export function isConstant(schema: JsonSchema): boolean {
  return constant.has(schema)
}
