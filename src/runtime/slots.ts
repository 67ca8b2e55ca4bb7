import type { Registered } from '../contract/registry.ts'

/** What a call holds while its tool runs. Freed once, when the tool has really ended. */
export interface Slot {
  free(): void
}

/** So many at a time. Who finds none free waits in line: callers in turn, and the calls of each in the order of coming. */
export interface Slots extends Slot {
  /** Takes one where fewer than `limit` are taken and nobody waits. */
  take(limit: number): boolean
  /** Stands in line for one, among what else this caller waits for. Default: all are of one caller. */
  join(limit: number, caller?: string): PlaceInLine
}

export interface PlaceInLine {
  /** Resolves when the slot is taken. */
  readonly taken: Promise<void>
  /** Gives up: leaves the line, or frees the slot that came in the meantime. */
  leave(): void
}

/** The slots of every tool of a runtime, over all its sessions, tenants and definitions. */
export interface ToolSlots {
  of(tool: Pick<Registered, 'line'>): Slots
}

export function createToolSlots(): ToolSlots {
  const byLine = new Map<string, Slots>()
  const byTool = new WeakMap<object, Slots>()
  const ofLine = (line: string): Slots => {
    let slots = byLine.get(line)
    if (slots === undefined) byLine.set(line, (slots = createSlots()))
    return slots
  }
  return {
    of(tool) {
      let slots = byTool.get(tool)
      if (slots === undefined) byTool.set(tool, (slots = ofLine(tool.line)))
      return slots
    },
  }
}

/** Slots that are all free. While some are, taking one is counting. */
export function createSlots(): Slots {
  return new CountedSlots()
}

interface Waiter {
  readonly limit: number
  start(): void
}

class CountedSlots implements Slots {
  #taken = 0
  /** Of each caller, the one whose turn it is first. */
  readonly #line = new Map<string, Set<Waiter>>()

  take(limit: number): boolean {
    if (this.#taken >= limit || this.#line.size > 0) return false
    this.#taken++
    return true
  }

  join(limit: number, caller = ''): PlaceInLine {
    const { promise, resolve } = Promise.withResolvers<void>()
    const waiter: Waiter = { limit, start: resolve }
    const own = this.#line.get(caller) ?? new Set()
    this.#line.set(caller, own.add(waiter))
    this.#startNext()
    return {
      taken: promise,
      leave: () => {
        if (!own.delete(waiter)) return this.free()
        if (own.size === 0) this.#line.delete(caller)
        this.#startNext()
      },
    }
  }

  free(): void {
    this.#taken--
    this.#startNext()
  }

  /** The first in line is not overtaken, even if a later one asks for less room. */
  #startNext(): void {
    for (const [caller, own] of this.#line) {
      const [waiter] = own
      if (waiter === undefined || this.#taken >= waiter.limit) return
      own.delete(waiter)
      this.#line.delete(caller)
      // A map that is looped over goes on with what is put behind.
      if (own.size > 0) this.#line.set(caller, own)
      this.#taken++
      waiter.start()
    }
  }
}
