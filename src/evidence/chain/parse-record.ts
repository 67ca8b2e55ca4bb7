import { isPlainObject } from '../../kit/json/is-plain-object.ts'

/** The record with this text; undefined if it is none. */
export function parseRecord(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isPlainObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** When the record with this text was made, in milliseconds since the epoch; undefined if it is none that says so. */
export function timeOf(text: string): number | undefined {
  const made = parseRecord(text)?.['at']
  return typeof made === 'number' ? made : undefined
}
