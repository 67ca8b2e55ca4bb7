import { isObject } from './is-object.ts'

/**
 * JSON text that is the same for equal values: object keys sorted by UTF-16 code units, as RFC 8785 asks.
 * Takes what `JSON.stringify` takes; leaves out undefined members.
 */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(isInOrder(value) ? value : inOrder(value)) ?? 'null'
}

/** Most values have their keys in order already, and need no copy. */
function isInOrder(value: unknown): boolean {
  if (!isObject(value)) return true
  if (Array.isArray(value)) return value.every(isInOrder)
  let previous = ''
  for (const key in value) {
    // JavaScript lists integer keys first, whatever their order as text.
    if (key < previous) return false
    previous = key
    const member = value[key]
    if (typeof member === 'object' && !isInOrder(member)) return false
  }
  return true
}

function inOrder(value: unknown): unknown {
  if (!isObject(value)) return value
  if (Array.isArray(value)) return value.map(inOrder)
  const result: Record<string, unknown> = Object.create(null)
  for (const key of Object.keys(value).sort()) result[key] = inOrder(value[key])
  return result
}
