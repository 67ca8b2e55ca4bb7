import { partsPerOutline, toNumber, type Outline, type PartOutline } from './outline.ts'
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
  /** Begins of calls without an end. */
  open?: true | undefined
}

/**
 * What was read of summaries, so that those which have nothing of what is asked are not read again. Of what stands in a chain nothing changes
 * any more, and bodies only become fewer.
 */
export interface KnownSummaries {
  /** Keeps what is known of the part with this number. */
  learn(tenant: string, number: number, part: PartOutline): void
  /** Keeps the outline with this number. */
  learnOutline(tenant: string, number: number, outline: Outline): void
  /** What is known of the part with this number. */
  get(tenant: string, number: number): PartOutline | undefined
  /** The outline with this number, if it was read. */
  getOutline(tenant: string, number: number): Outline | undefined
}

/** Knows nothing yet. */
export function createKnownSummaries(): KnownSummaries {
  const tenants = new Map<string, { parts: Map<number, PartOutline>; outlines: Map<number, Outline> }>()
  const of = (tenant: string) => {
    const known = tenants.get(tenant) ?? { parts: new Map(), outlines: new Map() }
    tenants.set(tenant, known)
    return known
  }
  const getOutline: KnownSummaries['getOutline'] = (tenant, number) =>
    tenants.get(tenant)?.outlines.get(number)
  return {
    learn: (tenant, number, part) => void of(tenant).parts.set(number, part),
    learnOutline: (tenant, number, outline) => void of(tenant).outlines.set(number, outline),
    get: (tenant, number) =>
      tenants.get(tenant)?.parts.get(number) ??
      getOutline(tenant, Math.floor(number / partsPerOutline))?.parts()[number % partsPerOutline],
    getOutline,
  }
}

/** Whether parts of which this is known have nothing of what is asked. */
export function isOutside(
  known: PartOutline | undefined,
  { session, since, until, fits, withBody, open }: Wanted,
): boolean {
  return (
    known !== undefined &&
    ((withBody === true && !known.hasBodies) ||
      (open === true && !known.hasOpen) ||
      (since !== undefined && known.latest < since) ||
      (until !== undefined && known.earliest >= until) ||
      (session !== undefined && !known.sessions.includes(toNumber(session))) ||
      (fits !== undefined && !known.shapes().some(fits)))
  )
}
