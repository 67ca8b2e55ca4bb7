import type { Json } from '../../contract/base/json.ts'

/** A plain copy of what travels as JSON anyway. */
export function toJsonObject(value: object): { [name: string]: Json } {
  const copied: { [name: string]: Json } = JSON.parse(JSON.stringify(value))
  return copied
}
