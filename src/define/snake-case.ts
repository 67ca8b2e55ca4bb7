import { SetupError } from '../contract/base/errors.ts'
import type { Json } from '../contract/base/json.ts'
import type { JsonSchema } from '../contract/base/schema.ts'
import { usesMoreThanSubset } from '../schema/base/keyword-children.ts'

/** `startLine` → `start_line`. */
export function toSnake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/**
 * The schema with every declared property under its snake_case name. Throws a SetupError where two properties would have one
 * name.
 */
export function toSnakeSchema(schema: JsonSchema): JsonSchema {
  if (usesMoreThanSubset(schema))
    throw new SetupError(
      'unsupported_schema',
      'Fields cannot be shown in snake_case if the schema has choices, references or tuples. Leave "wireCase" out, or write the names of the fields in snake_case.',
    )
  return renameSchema(schema)
}

function renameSchema(schema: JsonSchema): JsonSchema {
  const snake: JsonSchema = { ...schema }
  const { properties, required, items, additionalProperties: others } = schema
  if (properties !== undefined) {
    refuseCollisions(Object.keys(properties))
    snake.properties = Object.fromEntries(
      Object.entries(properties).map(([name, property]) => [toSnake(name), renameSchema(property)]),
    )
  }
  if (required !== undefined) snake.required = required.map(toSnake)
  if (items !== undefined) snake.items = renameSchema(items)
  if (typeof others === 'object') snake.additionalProperties = renameSchema(others)
  const rename = (value: Json) => toSnakeFields(value, schema)
  if (schema.default !== undefined) snake.default = rename(schema.default)
  if (schema.const !== undefined) snake.const = rename(schema.const)
  if (schema.enum !== undefined) snake.enum = schema.enum.map(rename)
  if (schema.examples !== undefined) snake.examples = schema.examples.map(rename)
  return snake
}

/** A value that fits the snake_case schema, back under the names the schema was written with. Undeclared members stay as they are. */
export function fromSnake(value: Json, schema: JsonSchema): Json {
  return renameFields(value, schema, { from: toSnake, to: asWritten })
}

/** A value that fits the schema as it was written, under the names of the snake_case one. Undeclared members stay as they are. */
export function toSnakeFields(value: Json, schema: JsonSchema): Json {
  return renameFields(value, schema, { from: asWritten, to: toSnake })
}

interface Renaming {
  /** What a declared name is called in the value. */
  from(name: string): string
  /** What it is called from now on. */
  to(name: string): string
}

function asWritten(name: string): string {
  return name
}

function renameFields(value: Json, schema: JsonSchema, renaming: Renaming): Json {
  if (Array.isArray(value)) return value.map((item) => renameFields(item, schema.items ?? {}, renaming))
  if (typeof value !== 'object' || value === null) return value
  const others = typeof schema.additionalProperties === 'object' ? schema.additionalProperties : {}
  const declared = new Map(
    Object.entries(schema.properties ?? {}).map((entry) => [renaming.from(entry[0]), entry]),
  )
  return Object.fromEntries(
    Object.entries(value).map(([given, item]) => {
      const [name, property] = declared.get(given) ?? []
      return name === undefined || property === undefined
        ? [given, renameFields(item, others, renaming)]
        : [renaming.to(name), renameFields(item, property, renaming)]
    }),
  )
}

function refuseCollisions(names: readonly string[]): void {
  const twice = names.find((name) =>
    names.some((other) => other !== name && toSnake(other) === toSnake(name)),
  )
  if (twice === undefined) return
  throw new SetupError(
    'unsupported_schema',
    `Two properties would both be "${toSnake(twice)}" in snake_case; rename one of them.`,
  )
}
