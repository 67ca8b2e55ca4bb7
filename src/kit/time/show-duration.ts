const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const

/** A time in words, in its two largest units: `14 h 50 min`, `2 min`, `1.5 s`, `250 ms`. */
export function showDuration(ms: number): string {
  const largest = units.findIndex(([, each]) => ms >= each)
  const [unit = 's', size = 1_000] = units[largest] ?? []
  if (largest === -1 || !Number.isFinite(ms)) return `${Math.round(ms)} ms`
  if (unit === 's') return `${Math.round(ms / 100) / 10} s`
  const [smaller = 's', part = 1_000] = units[largest + 1] ?? []
  // Rounded as a whole, so that nothing is left over that would be one more of the larger unit.
  const parts = Math.round(ms / part)
  const each = size / part
  const rest = parts % each
  return `${Math.floor(parts / each)} ${unit}${rest === 0 ? '' : ` ${rest} ${smaller}`}`
}
