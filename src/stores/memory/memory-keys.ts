import type { Outcome } from '../../contract/result.ts'
import type { KeyClaim, KeyHeld, KeyUse } from '../../contract/store.ts'

/** Idempotency keys of one process. Keeps a claim with its result until it expires. */
export interface MemoryKeys {
  find(use: KeyUse): KeyHeld | undefined
  claim(use: KeyUse): KeyClaim
  /** Says that a call ended, so that its key gives this result. */
  end(call: string, result: { outcome: Outcome; body: string | null }): void
}

interface Claim {
  call: string
  inputDigest: string
  expiresAt: number
  result?: { outcome: Outcome; body: string | null }
}

/** No keys yet. */
export function createMemoryKeys(): MemoryKeys {
  const byKey = new Map<string, Claim>()
  const byCall = new Map<string, Claim>()
  let sweepAt = 1000

  const sweep = (now: number): void => {
    if (byKey.size < sweepAt) return
    for (const [key, claim] of byKey) {
      if (claim.result === undefined || claim.expiresAt > now) continue
      byKey.delete(key)
      byCall.delete(claim.call)
    }
    sweepAt = Math.max(1000, byKey.size * 2)
  }
  return {
    find(use) {
      const held = byKey.get(keyOf(use))
      return held !== undefined && holds(held, use) ? fate(held, use) : undefined
    },
    claim(use) {
      const key = keyOf(use)
      const held = byKey.get(key)
      if (held !== undefined && holds(held, use)) return fate(held, use)
      if (held !== undefined) byCall.delete(held.call)
      sweep(use.at)
      const claim = { call: use.call, inputDigest: use.inputDigest, expiresAt: use.at + use.windowMs }
      byKey.set(key, claim)
      byCall.set(use.call, claim)
      return { state: 'claimed' }
    },
    end(call, result) {
      if (byCall.size === 0) return
      const claim = byCall.get(call)
      if (claim !== undefined) claim.result = result
    },
  }
}

function keyOf({ tenant, tool, key }: KeyUse): string {
  return JSON.stringify([tenant, tool, key])
}

/** A running call keeps its key however long it takes. */
function holds(claim: Claim, use: KeyUse): boolean {
  return claim.result === undefined || claim.expiresAt > use.at
}

function fate({ call, inputDigest, result }: Claim, use: KeyUse): KeyHeld {
  if (inputDigest !== use.inputDigest) return { state: 'conflict', call }
  if (result === undefined) return { state: 'running', call }
  if (result.outcome === 'unknown' || result.body === null) return { state: 'unknown', call }
  return { state: 'ended', call, result: result.body }
}
