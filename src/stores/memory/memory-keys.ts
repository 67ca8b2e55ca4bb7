import type { StoredRecord } from '../../contract/evidence.ts'
import type { Outcome } from '../../contract/base/result.ts'
import type { KeyClaim, KeyHeld, KeyResolution, KeyUse } from '../../contract/store.ts'

/** Idempotency keys of one process. Keeps a claim with its result until it expires. */
export interface MemoryKeys {
  find(use: KeyUse): KeyHeld | undefined
  claim(use: KeyUse): KeyClaim
  /** Says that a call began. */
  begin(call: string, record: Begin): void
  /** Reports that a call ended, so that its key answers with this result. */
  end(call: string, result: { outcome: Outcome; body: string | null }): void
  /** Says what became of a call after all. */
  resolve(resolution: KeyResolution): void
  /** Whether the key of this call still answers with its result at this time. */
  needs(call: string, at: number): boolean
}

type Begin = Pick<StoredRecord, 'text' | 'body'>

interface Claim {
  tenant: string
  key: string
  call: string
  inputDigest: string
  expiresAt: number
  begin?: Begin
  result?: { outcome: Outcome; body: string | null }
}

/** No keys yet. */
export function createMemoryKeys(): MemoryKeys {
  const byKey = new Map<string, Claim>()
  const byCall = new Map<string, Claim>()
  let sweepAt = 1000

  const forget = ({ key, call }: Claim): void => {
    byKey.delete(key)
    byCall.delete(call)
  }
  const sweep = (now: number): void => {
    if (byKey.size < sweepAt) return
    for (const claim of byKey.values())
      if (claim.result !== undefined && claim.expiresAt <= now) forget(claim)
    sweepAt = Math.max(1000, byKey.size * 2)
  }
  return {
    find(use) {
      const held = byKey.get(keyOf(use))
      return held !== undefined && holds(held, use) ? fate(held, use) : undefined
    },
    claim(use) {
      const { tenant, call, inputDigest } = use
      const key = keyOf(use)
      const held = byKey.get(key)
      if (held !== undefined && holds(held, use)) return fate(held, use)
      if (held !== undefined) forget(held)
      sweep(use.at)
      const claim = { tenant, key, call, inputDigest, expiresAt: use.at + use.windowMs }
      byKey.set(key, claim)
      byCall.set(call, claim)
      return { state: 'claimed' }
    },
    begin(call, { text, body }) {
      if (byCall.size === 0) return
      const claim = byCall.get(call)
      if (claim !== undefined) claim.begin = { text, body }
    },
    end(call, result) {
      if (byCall.size === 0) return
      const claim = byCall.get(call)
      if (claim !== undefined) claim.result = result
    },
    resolve({ tenant, call, outcome, result }) {
      const claim = byCall.get(call)
      if (claim?.tenant !== tenant) return
      if (outcome === 'happened') claim.result = { outcome: 'ok', body: result }
      else forget(claim)
    },
    needs(call, at) {
      const claim = byCall.get(call)
      return claim !== undefined && claim.expiresAt > at
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

function fate({ call, inputDigest, begin, result }: Claim, use: KeyUse): KeyHeld {
  if (inputDigest !== use.inputDigest) return { state: 'conflict', call }
  if (result === undefined) return { state: 'running', call }
  if (begin === undefined || result.outcome === 'unknown' || result.body === null)
    return { state: 'unknown', call }
  return { state: 'ended', call, begin, result: result.body }
}
