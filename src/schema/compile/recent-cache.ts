/** A bounded cache that returns what it made when a caller asks for the same key again. */
export interface RecentCache<K, V> {
  /** The value of this key; made when it is not there, or was dropped. */
  get(key: K): V
}

/**
 * Keeps the values used most recently, between half of `capacity` and all of it. Two generations: what is used moves to the young
 * one; when that is half of the capacity, the old one is dropped. A hit in the young one costs one look-up and writes nothing.
 */
export function createRecentCache<K, V>(capacity: number, make: (key: K) => V): RecentCache<K, V> {
  let young = new Map<K, V>()
  let old = new Map<K, V>()
  return {
    get(key) {
      const found = young.get(key)
      if (found !== undefined) return found
      const value = old.get(key) ?? make(key)
      if (young.size >= capacity / 2) {
        old = young
        young = new Map()
      }
      young.set(key, value)
      return value
    },
  }
}
