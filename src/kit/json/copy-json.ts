/** A deep copy of a JSON value that is not nested deeply: plain, whether or not the value is frozen. `__proto__` is copied as a plain key. */
export function copyJson<T>(value: T): T {
  return copy(value) as T
}

function copy(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(copy)
  const members: Record<string, unknown> = { ...value }
  for (const key in members) {
    const member = members[key]
    if (typeof member === 'object') members[key] = copy(member)
  }
  return members
}
