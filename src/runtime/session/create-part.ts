import type { KeptPart } from '../state/session-book.ts'

/** A part of a session that ends with it. */
export function createPart<Value>(): KeptPart<Value> {
  let current: Value | undefined
  return {
    read: () => current,
    async write(value) {
      current = value
    },
  }
}
