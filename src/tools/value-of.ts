import type { Json } from '../contract/base/json.ts'

/** The type of the values that a literal schema lets through. A field with a default counts as present. */
export type ValueOf<Schema> = Schema extends { enum: readonly (infer Member)[] }
  ? Member
  : Schema extends { type: 'string' }
    ? string
    : Schema extends { type: 'integer' | 'number' }
      ? number
      : Schema extends { type: 'boolean' }
        ? boolean
        : Schema extends { type: 'array'; items: infer Item }
          ? readonly ValueOf<Item>[]
          : Schema extends { type: 'object'; properties: infer Fields }
            ? ObjectOf<Fields, Schema extends { required: readonly (infer Name)[] } ? Name : never>
            : Json

type ObjectOf<Fields, Required> = {
  readonly [Name in Present<Fields, Required>]: ValueOf<Fields[Name]>
} & {
  readonly [Name in Exclude<keyof Fields, Present<Fields, Required>>]?: ValueOf<Fields[Name]>
}

type Present<Fields, Required> =
  | (keyof Fields & Required)
  | { [Name in keyof Fields]: Fields[Name] extends { default: Json } ? Name : never }[keyof Fields]
