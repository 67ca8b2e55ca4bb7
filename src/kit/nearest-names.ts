/** Up to `count` of these names that look most like `wanted`, best first; none where nothing is close. */
export function nearestNames(wanted: string, names: Iterable<string>, count = 3): string[] {
  const target = fold(wanted.slice(0, 128))
  const scored: { name: string; score: number }[] = []
  for (const name of names) {
    const score = similarity(target, fold(name))
    if (score >= 0.35) scored.push({ name, score })
  }
  return scored
    .sort((a, b) => b.score - a.score || (a.name < b.name ? -1 : 1))
    .slice(0, count)
    .map((entry) => entry.name)
}

function fold(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]+/g, '')
}

/** Dice coefficient over pairs of letters. */
function similarity(a: string, b: string): number {
  if (a === b) return 1
  if (a.length < 2 || b.length < 2) return 0
  const pairs = new Map<string, number>()
  for (let i = 0; i < a.length - 1; i++) pairs.set(a.slice(i, i + 2), (pairs.get(a.slice(i, i + 2)) ?? 0) + 1)
  let shared = 0
  for (let i = 0; i < b.length - 1; i++) {
    const left = pairs.get(b.slice(i, i + 2)) ?? 0
    if (left > 0) {
      shared++
      pairs.set(b.slice(i, i + 2), left - 1)
    }
  }
  return (2 * shared) / (a.length + b.length - 2)
}
