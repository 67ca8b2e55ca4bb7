/** The order of things that come back later, and perhaps in another one. */
export interface Places {
  /** The next place, kept for this value. */
  keep(name: string, value: unknown): number
  /** The place that was kept for this value under this name, which is then no longer kept; else the next one. */
  take(name: string, value: unknown): number
}

interface Place {
  readonly value: unknown
  readonly place: number
}

/** Keeps places for as many names as this, and as many values under each: some never come back. Values are the same if they are as JSON. */
export function createPlaces(mostKept: number): Places {
  const kept = new Map<string, readonly Place[]>()
  let last = 0
  return {
    keep(name, value) {
      const others = kept.get(name)?.filter((each) => !isSame(each.value, value)) ?? []
      const place = { value, place: ++last }
      kept.set(name, [...others.slice(1 - mostKept), place])
      const [oldest] = kept.keys()
      if (kept.size > mostKept && oldest !== undefined) kept.delete(oldest)
      return place.place
    },
    take(name, value) {
      const all = kept.get(name) ?? []
      const found = all.find((each) => isSame(each.value, value))
      if (found === undefined) return ++last
      const others = all.filter((each) => each !== found)
      if (others.length === 0) kept.delete(name)
      else kept.set(name, others)
      return found.place
    },
  }
}

function isSame(one: unknown, other: unknown): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other)
}
