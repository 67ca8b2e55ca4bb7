import type { Visitor } from './roles.ts'

/** A visit that goes on. */
export type Visit = Visitor & { readonly visit: string; readonly since: number }

/** The visits that go on. */
export interface CurrentVisits {
  /** The newest first. */
  list(): readonly Visit[]
  /** Ends a visit, if it goes on. */
  end(visit: Pick<Visit, 'visit'>, by: string): Promise<void>
}
