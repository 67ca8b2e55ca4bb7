import { readConsent, toConsentValue } from '../../runtime/permission/consents.ts'
import type { Fact, FactChange } from '../../contract/store.ts'

/** The standing consents of the past: which of them held at a time, whatever became of them later. */
export interface PastConsents {
  /** The scope of a consent; undefined if the consent does not exist. */
  scopeOf(id: string): string | undefined
  /**
   * What has to be changed in a store for it to hold what held for a call at this time. Times may come in any order. What was given or revoked in the
   * same millisecond held if the call `leanedOn` it.
   */
  moveTo(at: number, leanedOn: string | undefined): readonly FactChange[]
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
    moveTo(at, leanedOn) {
      const changes: FactChange[] = []
      for (const { fact, consent } of consents) {
        const { givenAt, revokedAt = Number.POSITIVE_INFINITY } = consent
        const isTie = givenAt === at || revokedAt === at
        const revoked = isTie ? consent.id !== leanedOn : revokedAt < at
        if (shown.get(fact.id) === revoked) continue
        shown.set(fact.id, revoked)
        const { revokedAt: _, ...active } = consent
        changes.push({ ...fact, value: toConsentValue(revoked ? { ...active, revokedAt: givenAt } : active) })
      }
      return changes
    },
  }
}
