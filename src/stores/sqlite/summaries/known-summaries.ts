import { toNumber, type PartOutline } from './outline.ts'
import type { Shape } from './summary.ts'

/** What is asked of the records of a chain. */
export interface Wanted {
  tenant: string
  session?: string | undefined
  /** Made in this time: from its start on, and before its end. */
  since?: number | undefined
  until?: number | undefined
  /** Whether records of this shape may be asked for. */
  fits?: (shape: Shape) => boolean
  withBody?: boolean
}

/**
 * What was read of summaries, so that those which have nothing of what is asked are not read again. Of what stands in a chain nothing changes
 * any more, and bodies only become fewer.
 */
export interface KnownSummaries {
  /** Keeps what is known of the part with this number. */
  learn(tenant: string, number: number, outline: PartOutline): void
  /** What is known of the part with this number. */
  get(tenant: string, number: number): PartOutline | undefined
  /** Whether the part with this number is known to have nothing of what is asked. */
  isOutside(number: number, wanted: Wanted): boolean
}

/** Knows nothing yet. */
export function createKnownSummaries(): KnownSummaries {
  const tenants = new Map<string, Map<number, PartOutline>>()
  return {
    learn(tenant, number, outline) {
      const ofTenant = tenants.get(tenant) ?? new Map<number, PartOutline>()
      tenants.set(tenant, ofTenant)
      ofTenant.set(number, outline)
    },
    get: (tenant, number) => tenants.get(tenant)?.get(number),
    isOutside(number, { tenant, session, since, until, fits, withBody }) {
      const known = tenants.get(tenant)?.get(number)
      if (known === undefined) return false
      return (
        (withBody === true && !known.hasBodies) ||
        (since !== undefined && known.latest < since) ||
        (until !== undefined && known.earliest >= until) ||
        (session !== undefined && !known.sessions.includes(toNumber(session))) ||
        (fits !== undefined && !known.shapes.some(fits))
      )
    },
  }
}
