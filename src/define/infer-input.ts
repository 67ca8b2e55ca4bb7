import type { Json } from '../contract/base/json.ts'
import type { JsonSchema } from '../contract/base/schema.ts'
import type { StandardSchema } from './standard-schema.ts'

/**
 * What a tool receives: the output type of a library's schema, or the type that a JSON Schema literal (`as const`) describes.
 */
export type InferInput<S> =
  S extends StandardSchema<infer _Input, infer Output> ? Output : S extends JsonSchema ? FromSchema<S> : never

/** The type of the values that fit a JSON Schema literal, with defaults filled in. `Json` where the literal says nothing. */
export type FromSchema<S> = S extends { readonly const: infer Value }
  ? Value
  : S extends { readonly enum: readonly (infer Value)[] }
    ? Value
    : S extends { readonly type: infer Type }
      ? FromType<S, Type extends readonly (infer One)[] ? One : Type> | OrNull<S>
      : Json

type OrNull<S> = S extends { readonly nullable: true } ? null : never

/** Distributes over the type names. */
type FromType<S, Type> = Type extends 'string'
  ? string
  : Type extends 'number' | 'integer'
    ? number
    : Type extends 'boolean'
      ? boolean
      : Type extends 'null'
        ? null
        : Type extends 'array'
          ? S extends { readonly items: infer Items }
            ? FromSchema<Items>[]
            : Json[]
          : Type extends 'object'
            ? FromObject<S>
            : never

type FromObject<S> = S extends { readonly properties: infer Fields }
  ? Flatten<
      { -readonly [Name in Present<S, Fields>]: FromSchema<Fields[Name]> } & {
        -readonly [Name in Exclude<keyof Fields, Present<S, Fields>>]?: FromSchema<Fields[Name]>
      }
    > &
      Others<S>
  : S extends { readonly additionalProperties: infer Other }
    ? Other extends false
      ? { [name: string]: never }
      : { [name: string]: Other extends true ? Json : FromSchema<Other> }
    : { [name: string]: Json }

/** Fields that are always there: the required ones, and those with a default. */
type Present<S, Fields> = {
  [Name in keyof Fields]: Name extends RequiredName<S>
    ? Name
    : Fields[Name] extends { readonly default: unknown }
      ? Name
      : never
}[keyof Fields]

type RequiredName<S> = S extends { readonly required: readonly (infer Name)[] } ? Name : never

/** Beside declared fields, others are typed only if the schema speaks of them. */
type Others<S> = S extends { readonly additionalProperties: infer Other }
  ? Other extends false
    ? unknown
    : { [name: string]: Json | undefined }
  : unknown

type Flatten<T> = { [Name in keyof T]: T[Name] } & {}
