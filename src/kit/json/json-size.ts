import { isObject } from './is-object.ts'

/** About how many characters a JSON value takes as text, without making that text. Never less than its strings have. */
export function jsonSize(value: unknown): number {
  if (typeof value === 'string') return value.length + 2
  if (!isObject(value)) return 8
  let size = 2
  if (Array.isArray(value)) {
    for (const item of value) size += jsonSize(item) + 1
    return size
  }
  for (const key in value) size += key.length + 4 + jsonSize(value[key])
  return size
}
