import { isPlainObject } from '../../kit/json/is-plain-object.ts'

/** The fields of an object in a message; of other values, none. */
export function fieldsOf(value: unknown): { readonly [field: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as { readonly [field: string]: unknown })
    : {}
}

/** The items of a list in a message; of other values, none. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** A text in a message; an empty one for other values. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** Throws for what a program handed over in the place of an answer of the API. */
export function refuseMessage(given: unknown, expected: string): never {
  const found = isPlainObject(given)
    ? `an object with ${Object.keys(given).slice(0, 8).join(', ') || 'no fields'}`
    : given === null
      ? 'null'
      : Array.isArray(given)
        ? 'a list'
        : typeof given
  throw new TypeError(`door.results takes ${expected}; found ${found}.`)
}
