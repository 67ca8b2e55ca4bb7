import type { Json } from '../../contract/base/json.ts'

/** What is JSON once the answer is written. It is not copied before. */
export function toJsonObject(value: object): { [name: string]: Json } {
  return value as { [name: string]: Json }
}
