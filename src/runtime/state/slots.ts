import type { Registered } from '../../contract/registry.ts'

/** What a call holds while its tool runs. Freed once, when the tool has really ended. */
export interface Slot {
  free(): void
}

/** So many at a time. Who finds none free waits in line: callers in turn, and the calls of each in the order of coming. */
export interface Slots extends Slot {
  /** Takes one if fewer than `limit` are taken and no caller waits. */
  take(limit: number): boolean
  /** Stands in line for one, among what else this caller waits for. Default: all are of one caller. */
  join(limit: number, caller?: string): PlaceInLine
}

export interface PlaceInLine {
  /** Resolves when the slot is taken. */
  readonly taken: Promise<void>
  /** Stops waiting: leaves the line, or frees the slot that came in the meantime. */
  leave(): void
}

/** The slots of every tool of a runtime, over all its sessions, tenants and definitions. */
export interface ToolSlots {
  of(tool: Pick<Registered, 'line'>): Slots
}
