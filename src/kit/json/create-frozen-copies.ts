import { copyJson } from './copy-json.ts'
import { freezeDeeply } from './freeze-deeply.ts'

/** A copy of JSON that many may have at once: none of them can change it. The same copy for the same object. */
export function createFrozenCopies(): <T extends object>(value: T) => T {
  const copies = new WeakMap<object, object>()
  return <T extends object>(value: T): T => {
    let copy = copies.get(value)
    if (copy === undefined) copies.set(value, (copy = freezeDeeply(copyJson(value))))
    return copy as T
  }
}
