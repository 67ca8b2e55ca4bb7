import type { Json, JsonObject } from '../../contract/base/json.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'

/** The text of the first of these fields that is a non-empty text. */
export function textOf(message: JsonObject, ...names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = Object.hasOwn(message, name) ? message[name] : undefined
    if (typeof value === 'string' && value !== '') return value
  }
  return undefined
}

/** The first of these fields that is there. */
export function fieldOf(message: JsonObject, ...names: readonly string[]): Json | undefined {
  for (const name of names) if (Object.hasOwn(message, name)) return message[name]
  return undefined
}

/** What these fields say, each value once: which of them counts is for the one who reads the message to say, and may be another one there. */
export function valuesOf(message: JsonObject, names: readonly string[]): Json[] {
  const said = new Map<string, Json>()
  for (const name of names) {
    const value = Object.hasOwn(message, name) ? message[name] : undefined
    if (value !== undefined && value !== null) said.set(JSON.stringify(value), value)
  }
  return [...said.values()]
}

/** An object, or the JSON text of one. */
export function objectOf(value: Json | undefined): JsonObject | undefined {
  if (typeof value !== 'string') return isObject(value) ? value : undefined
  try {
    const read: Json = JSON.parse(value)
    return isObject(read) ? read : undefined
  } catch {
    return undefined
  }
}

function isObject(value: Json | undefined): value is JsonObject {
  return isPlainObject(value)
}
