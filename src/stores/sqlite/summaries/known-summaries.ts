import type { Row } from './summary-table.ts'
import type { Summary } from './summary.ts'

/** What is asked of the records of a chain. */
export interface Wanted {
  tenant: string
  session?: string | undefined
  /** Made in this time: from its start on, and before its end. */
  since?: number | undefined
  until?: number | undefined
  withBody?: boolean
}

/** What was read of summaries, so that those which have nothing of what is asked are not read again. */
export interface KnownSummaries {
  /** Keeps what a summary says that has its seal. */
  learn(tenant: string, row: Row, summary: Summary): void
  /** Whether a summary is known to have nothing of what is asked. */
  isOutside(row: Row, wanted: Wanted): boolean
}

interface Known extends Pick<Summary, 'earliest' | 'latest'> {
  seal: string
  /** A number for each session, which another session may have too. */
  sessions: Uint32Array
}

/** Knows nothing yet. */
export function createKnownSummaries(): KnownSummaries {
  const tenants = new Map<string, Map<number, Known>>()
  return {
    learn(tenant, { number, seal }, { earliest, latest, sessions }) {
      const ofTenant = tenants.get(tenant) ?? new Map<number, Known>()
      tenants.set(tenant, ofTenant)
      ofTenant.set(number, { seal, earliest, latest, sessions: Uint32Array.from(sessions, toNumber) })
    },
    isOutside({ number, bodies, seal }, { tenant, session, since, until, withBody }) {
      const known = tenants.get(tenant)?.get(number)
      if (known?.seal !== seal) return false
      return (
        (withBody === true && bodies === 0) ||
        (since !== undefined && known.latest < since) ||
        (until !== undefined && known.earliest >= until) ||
        (session !== undefined && !known.sessions.includes(toNumber(session)))
      )
    },
  }
}

/** The same number for the same text (FNV-1a). */
function toNumber(text: string): number {
  let number = 0x811c9dc5
  for (let i = 0; i < text.length; i++) number = Math.imul(number ^ text.charCodeAt(i), 0x01000193)
  return number >>> 0
}
