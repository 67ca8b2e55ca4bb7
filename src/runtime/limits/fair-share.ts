/**
 * How much of each part may be shown, so that all together stay within a budget: what is small is there as a whole, and the rest share
 * alike what that leaves, so that no part in the middle is lost. Each part that is cut costs some more, for saying so.
 */
export function fairShare(sizes: readonly number[], budget: number, costOfCut: number): number {
  let left = budget
  let others = sizes.length
  for (const size of sizes.toSorted((one, other) => one - other)) {
    const even = left / others
    if (size > even) return Math.max(0, Math.floor(even) - costOfCut)
    left -= size
    others--
  }
  return Number.POSITIVE_INFINITY
}
