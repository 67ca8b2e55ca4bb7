/**
 * Lists two lists side by side, in the order of both: first with as many pairs as fit by the first rule, and what lies between two of those by the rules
 * after it.
 */
export function align<T>(
  one: readonly T[],
  other: readonly T[],
  rules: readonly ((left: T, right: T) => boolean)[],
): (readonly [T | undefined, T | undefined])[] {
  const [rule, ...rest] = rules
  if (rule === undefined)
    return [
      ...one.map((each) => [each, undefined] as const),
      ...other.map((each) => [undefined, each] as const),
    ]
  const aligned: (readonly [T | undefined, T | undefined])[] = []
  let [i, j] = [0, 0]
  for (const [left, right] of findPairs(one, other, rule)) {
    aligned.push(...align(one.slice(i, left), other.slice(j, right), rest), [one[left], other[right]])
    ;[i, j] = [left + 1, right + 1]
  }
  return [...aligned, ...align(one.slice(i), other.slice(j), rest)]
}

/** The places of the longest common sequence. */
function findPairs<T>(
  one: readonly T[],
  other: readonly T[],
  fits: (left: T, right: T) => boolean,
): (readonly [number, number])[] {
  const width = other.length + 1
  const longest = new Uint16Array((one.length + 1) * width)
  const at = (i: number, j: number): number => longest[i * width + j] ?? 0
  for (let i = one.length - 1; i >= 0; i--)
    for (let j = other.length - 1; j >= 0; j--)
      longest[i * width + j] = isFit(i, j) ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
  const pairs: (readonly [number, number])[] = []
  for (let i = 0, j = 0; i < one.length && j < other.length;)
    if (isFit(i, j) && at(i, j) === at(i + 1, j + 1) + 1) pairs.push([i++, j++])
    else if (at(i + 1, j) >= at(i, j + 1)) i++
    else j++
  return pairs

  function isFit(i: number, j: number): boolean {
    const [left, right] = [one[i], other[j]]
    return left !== undefined && right !== undefined && fits(left, right)
  }
}
