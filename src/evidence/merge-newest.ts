/** What a listing shows. */
export interface Wanted {
  tenants: readonly string[]
  session?: string
  limit: number
}

/**
 * The newest of several lists, each newest first. The order within a list stays, also where a clock was set back meanwhile.
 */
export function mergeNewest<T extends { at: number }>(lists: readonly (readonly T[])[], limit: number): T[] {
  const left = lists.map((list) => [...list])
  const merged: T[] = []
  while (merged.length < limit) {
    const [next] = left.filter((list) => list.length > 0).sort((one, other) => timeOf(other) - timeOf(one))
    const found = next?.shift()
    if (found === undefined) break
    merged.push(found)
  }
  return merged
}

function timeOf([first]: readonly { at: number }[]): number {
  return first?.at ?? 0
}
