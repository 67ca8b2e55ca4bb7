import { copyJson } from './copy-json.ts'

/** A copy of JSON that many may have at once: none of them can change it. The same copy for the same object. */
export function createFrozenCopies(): <T extends object>(value: T) => T {
  const copies = new WeakMap<object, object>()
  return <T extends object>(value: T): T => {
    let copy = copies.get(value)
    if (copy === undefined) copies.set(value, (copy = freeze(copyJson(value))))
    return copy as T
  }
}

function freeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  for (const member of Object.values(value)) freeze(member)
  return Object.freeze(value)
}
