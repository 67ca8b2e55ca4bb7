import type { Json } from '../contract/json.ts'
import type { JsonSchema } from '../contract/schema.ts'

/** `startLine` → `start_line`. */
function toSnake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/** The schema with every declared property under its snake_case name. */
export function toSnakeSchema(schema: JsonSchema): JsonSchema {
  const snake: JsonSchema = { ...schema }
  if (schema.properties !== undefined) {
    snake.properties = Object.fromEntries(
      Object.entries(schema.properties).map(([name, property]) => [toSnake(name), toSnakeSchema(property)]),
    )
  }
  if (schema.required !== undefined) snake.required = schema.required.map(toSnake)
  if (schema.items !== undefined) snake.items = toSnakeSchema(schema.items)
  return snake
}

/** A value that fits the snake_case schema, back under the names the schema was written with. Undeclared members stay as they are. */
export function fromSnake(value: Json, schema: JsonSchema): Json {
  if (Array.isArray(value))
    return schema.items === undefined ? value : value.map((item) => fromSnake(item, schema.items ?? {}))
  if (typeof value !== 'object' || value === null || schema.properties === undefined) return value
  const byWireName = new Map(
    Object.entries(schema.properties).map(([name, property]) => [toSnake(name), { name, property }]),
  )
  return Object.fromEntries(
    Object.entries(value).map(([wireName, item]) => {
      const declared = byWireName.get(wireName)
      return declared === undefined ? [wireName, item] : [declared.name, fromSnake(item, declared.property)]
    }),
  )
}
