import { isPlainObject } from '../../kit/json/is-plain-object.ts'

/** The objects in a value that should be a list of objects, such as the parts of a message that comes from a client. */
export function listObjects(value: unknown): { readonly [field: string]: unknown }[] {
  return Array.isArray(value) ? value.filter(isPlainObject) : []
}
