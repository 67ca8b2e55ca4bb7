import type { Bounds } from '../contract/policy.ts'

/** Bounds in which these folders may be read too. */
export function withCopies(bounds: Bounds, copies: readonly string[]): Bounds {
  if (copies.length === 0) return bounds
  const { capabilities } = bounds
  const fs = { ...capabilities.fs, read: [...capabilities.fs.read, ...copies] }
  return { ...bounds, capabilities: { ...capabilities, fs } }
}
