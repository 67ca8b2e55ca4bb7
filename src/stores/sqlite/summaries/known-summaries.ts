import type { Shape, Summary } from './summary.ts'

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
  /** Keeps what the summary with this number says, and how many of its records have a body. */
  learn(tenant: string, number: number, about: { summary: Summary; bodies: number }): void
  /** Whether something is known of the part with this number. */
  has(tenant: string, number: number): boolean
  /** Whether the part with this number is known to have nothing of what is asked. */
  isOutside(number: number, wanted: Wanted): boolean
}

interface Known extends Pick<Summary, 'earliest' | 'latest' | 'shapes'> {
  hasBodies: boolean
  /** A number for each session, which another session may have too. */
  sessions: Uint32Array
}

/** Knows nothing yet. */
export function createKnownSummaries(): KnownSummaries {
  const tenants = new Map<string, Map<number, Known>>()
  return {
    learn(tenant, number, { summary: { earliest, latest, shapes, sessions }, bodies }) {
      const ofTenant = tenants.get(tenant) ?? new Map<number, Known>()
      tenants.set(tenant, ofTenant)
      const numbers = Uint32Array.from(sessions, toNumber)
      ofTenant.set(number, { earliest, latest, shapes, sessions: numbers, hasBodies: bodies > 0 })
    },
    has: (tenant, number) => tenants.get(tenant)?.has(number) === true,
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

/** The same number for the same text (FNV-1a). */
function toNumber(text: string): number {
  let number = 0x811c9dc5
  const wellFormed = text.toWellFormed()
  for (let i = 0; i < wellFormed.length; i++)
    number = Math.imul(number ^ wellFormed.charCodeAt(i), 0x01000193)
  return number >>> 0
}
