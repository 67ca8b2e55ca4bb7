/** Up to `count` of these names that look most like `wanted`, best first; none if nothing is close. */
export function nearestNames(wanted: string, names: Iterable<string>, count = 3): string[] {
  const likeness = measureLikeness(wanted.slice(0, 128))
  const best: Scored[] = []
  for (const name of names) {
    const scored = { name, score: likeness(name) }
    if (scored.score < 0.35) continue
    const worst = best[count - 1]
    if (worst !== undefined && compare(scored, worst) >= 0) continue
    best.splice(count - 1, 1)
    best.push(scored)
    best.sort(compare)
  }
  return best.map(({ name }) => name)
}

interface Scored {
  readonly name: string
  readonly score: number
}

function compare(left: Scored, right: Scored): number {
  return right.score - left.score || (left.name < right.name ? -1 : 1)
}

/** How like a name is to this one, from 0 to 1: the Dice coefficient over pairs of neighbours. There may be thousands of names. */
export function measureLikeness(wanted: string): (name: string) => number {
  const left = new Uint16Array(bases * bases)
  const wantedCount = visitPairs(wanted, (pair) => (left[pair] = (left[pair] ?? 0) + 1))
  const shared: number[] = []
  const take = (pair: number): void => {
    const count = left[pair] ?? 0
    if (count === 0) return
    left[pair] = count - 1
    shared.push(pair)
  }
  return (name) => {
    shared.length = 0
    const count = visitPairs(name, take)
    for (const pair of shared) left[pair] = (left[pair] ?? 0) + 1
    return shared.length === 0 ? 0 : (2 * shared.length) / (wantedCount + count)
  }
}

const bases = 37

/** What each ASCII character counts as: its value as a digit of base 36, whatever its case, and one more; 0 for all that is skipped. */
const digits = Uint8Array.from({ length: 128 }, (_, code) => {
  const digit = parseInt(String.fromCharCode(code), 36)
  return Number.isNaN(digit) ? 0 : digit + 1
})

/** Visits the pairs of neighbouring letters and digits, each as a number; of a name of one letter, that alone. Returns how many there are. */
function visitPairs(name: string, visit: (pair: number) => void): number {
  let before = 0
  let count = 0
  for (let at = 0; at < name.length; at++) {
    const digit = digits[name.charCodeAt(at)] ?? 0
    if (digit === 0) continue
    if (before > 0) {
      visit(before * bases + digit)
      count++
    }
    before = digit
  }
  if (count > 0 || before === 0) return count
  visit(before)
  return 1
}
