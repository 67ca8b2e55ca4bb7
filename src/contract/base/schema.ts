import type { Issue, Json, JsonObject } from './json.ts'

/**
 * The JSON Schema subset that native tools may use (draft 2020-12 meaning).
 * `oneOf`, `anyOf`, `allOf`, `not`, `$ref`, conditionals and `patternProperties` are not part of it.
 */
export interface JsonSchema {
  type?: JsonType | readonly JsonType[]
  title?: string
  description?: string
  default?: Json
  examples?: readonly Json[]
  enum?: readonly Json[]
  const?: Json
  nullable?: boolean
  format?: string
  minimum?: number
  maximum?: number
  exclusiveMinimum?: number
  exclusiveMaximum?: number
  multipleOf?: number
  minLength?: number
  maxLength?: number
  pattern?: string
  minItems?: number
  maxItems?: number
  uniqueItems?: boolean
  items?: JsonSchema
  properties?: { readonly [name: string]: JsonSchema }
  required?: readonly string[]
  additionalProperties?: boolean | JsonSchema
  minProperties?: number
  maxProperties?: number
  /** What kind of value this is, such as `pii`: obligations of the policy speak of it. Says nothing about which values fit. */
  'x-classification'?: string | readonly string[]
}

export type JsonType = 'object' | 'array' | 'string' | 'number' | 'integer' | 'boolean' | 'null'

/** A lossless coercion that made an input fit its schema, kept in the result's metadata. */
export interface Repair {
  pointer: string
  from: string
  to: string
}

/** The result of checking a value against a schema: the value to go on with, or every issue. */
export type Checked =
  | { ok: true; value: Json; repairs: readonly Repair[] }
  | { ok: false; issues: readonly Issue[] }

/** Checks values against schemas. Compiles a schema on first use and keeps a bounded number. */
export interface SchemaChecker {
  /** Checks an input; fills in declared defaults; with `repair`, applies lossless coercions and records them. */
  check(schema: JsonSchema, value: unknown, options?: { repair?: boolean }): Checked
  /** Issues of a schema itself. `native` allows the subset only; `imported` allows every keyword but remote references. */
  inspect(schema: unknown, kind: 'native' | 'imported'): readonly Issue[]
  /** An imported schema brought into the subset where that loses nothing; `full` marks one that needs full validation. */
  normalise(schema: JsonObject): { schema: JsonSchema; full: boolean; issues: readonly Issue[] }
}
