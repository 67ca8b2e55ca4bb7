import type { SchemaChange, SchemaUse } from '../../contract/registry.ts'
import type { JsonSchema } from '../../contract/base/schema.ts'
import { canonicalJson } from '../../kit/json/canonical-json.ts'

/** Where a comparison of two schemas stands, and what it found so far. */
export interface SchemaWalk {
  readonly use: SchemaUse
  /** RFC 6901 pointer to the place of both. */
  readonly pointer: string
  readonly found: SchemaChange[]
}

/** Compares what stands at one place in both. */
export type CompareSchemas = (before: JsonSchema, after: JsonSchema, walk: SchemaWalk) => void

/** Whether two keywords say the same. */
export function isSame(left: unknown, right: unknown): boolean {
  if (left === undefined || right === undefined) return left === right
  return canonicalJson(left) === canonicalJson(right)
}
