import type { Issue, Json, JsonObject } from './json.ts'

/**
 * A JSON Schema, with the meaning of draft 2020-12. A tool of a program may use every keyword here; a declared tool and the form of an
 * elicitation only those up to `x-classification`, which is the subset that every model provider understands.
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
  /** A part of this document: `#`, `#/$defs/name`. References to other documents are refused. */
  $ref?: string
  $defs?: NamedSchemas
  allOf?: readonly Subschema[]
  anyOf?: readonly Subschema[]
  oneOf?: readonly Subschema[]
  not?: Subschema
  if?: Subschema
  then?: Subschema
  else?: Subschema
  patternProperties?: NamedSchemas
  propertyNames?: Subschema
  dependentRequired?: { readonly [name: string]: readonly string[] }
  dependentSchemas?: NamedSchemas
  unevaluatedProperties?: Subschema
  prefixItems?: readonly Subschema[]
  contains?: Subschema
  minContains?: number
  maxContains?: number
  unevaluatedItems?: Subschema
}

/** A schema, or `true` for any value and `false` for none. */
export type Subschema = JsonSchema | boolean

/** Schemas by a name. */
export interface NamedSchemas {
  readonly [name: string]: Subschema
}

/**
 * Which schemas may be written in a place. `native`: the subset alone. `own`, for tools of a program: every keyword of draft 2020-12;
 * unknown keywords are refused. `imported`: older drafts too, and unknown keywords mean nothing. References that
 * leave the document are refused everywhere.
 */
export type SchemaKind = 'native' | 'own' | 'imported'

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
  /** Issues of a schema itself, as it may be written in this place. */
  inspect(schema: unknown, kind: SchemaKind): readonly Issue[]
  /** An imported schema brought into the subset where that loses nothing; `full` marks one that needs full validation. */
  normalise(schema: JsonObject): { schema: JsonSchema; full: boolean; issues: readonly Issue[] }
}
