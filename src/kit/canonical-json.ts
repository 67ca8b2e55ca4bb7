/**
 * JSON text that is the same for equal values: object keys sorted by UTF-16 code units, as RFC 8785 asks.
 * Takes what `JSON.stringify` takes; leaves out undefined members.
 */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(sorted(value)) ?? 'null'
}

function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(sorted)
  const record = value as Record<string, unknown>
  const keys = Object.keys(record)
  const result: Record<string, unknown> = Object.create(null)
  for (const key of isSorted(keys) ? keys : keys.sort()) result[key] = sorted(record[key])
  return result
}

function isSorted(keys: readonly string[]): boolean {
  for (let i = 1; i < keys.length; i++) if ((keys[i - 1] ?? '') > (keys[i] ?? '')) return false
  return true
}
