/** Freezes a value and all that it has, so that it can be handed to many. What is frozen already is taken to be so as a whole. */
export function freezeDeeply<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const member of Object.values(value)) freezeDeeply(member)
  }
  return value
}
