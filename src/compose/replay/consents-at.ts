import { readConsent, toConsentValue } from '../../runtime/permission/consents.ts'
import type { Fact, FactChange } from '../../contract/store.ts'

/** The standing consents of the past: which of them held at a time, whatever became of them later. */
export interface PastConsents {
  /** The scope of a consent; undefined if the consent does not exist. */
  scopeOf(id: string): string | undefined
  /** What has to be changed in a store for it to hold what held at this time. Times may come in any order. */
  moveTo(at: number): readonly FactChange[]
}

/** The consents in these facts. */
export function readPastConsents(facts: readonly Fact[]): PastConsents {
  const consents = facts.flatMap((fact) => {
    const consent = readConsent(fact)
    return consent === undefined ? [] : [{ fact, consent }]
  })
  const shown = new Map<string, boolean>()
  return {
    scopeOf: (id) => consents.find(({ consent }) => consent.id === id)?.consent.scope,
    moveTo(at) {
      const changes: FactChange[] = []
      for (const { fact, consent } of consents) {
        const revoked = consent.revokedAt !== undefined && consent.revokedAt <= at
        if (shown.get(fact.id) === revoked) continue
        shown.set(fact.id, revoked)
        const { revokedAt: _, ...active } = consent
        const value = revoked ? fact.value : toConsentValue(active)
        changes.push({ ...fact, value })
      }
      return changes
    },
  }
}
