/** What a call holds while its tool runs. Freed once, when the tool has really ended. */
export interface Slot {
  free(): void
}

/** So many at a time. Who finds none free waits in line, first come, first served. */
export interface Slots extends Slot {
  /** Takes one where fewer than `limit` are taken and nobody waits. */
  take(limit: number): boolean
  /** Stands in line for one. */
  join(limit: number): PlaceInLine
}

export interface PlaceInLine {
  /** Resolves when the slot is taken. */
  readonly taken: Promise<void>
  /** Gives up: leaves the line, or frees the slot that came in the meantime. */
  leave(): void
}

/** The slots of every tool of a runtime, by canonical name, over all its sessions and tenants. */
export interface ToolSlots {
  of(tool: string): Slots
}

export function createToolSlots(): ToolSlots {
  const byTool = new Map<string, Slots>()
  return {
    of(tool) {
      let slots = byTool.get(tool)
      if (slots === undefined) byTool.set(tool, (slots = createSlots()))
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
  readonly #line = new Set<Waiter>()

  take(limit: number): boolean {
    if (this.#taken >= limit || this.#line.size > 0) return false
    this.#taken++
    return true
  }

  join(limit: number): PlaceInLine {
    const { promise, resolve } = Promise.withResolvers<void>()
    const waiter: Waiter = { limit, start: resolve }
    this.#line.add(waiter)
    this.#advance()
    return {
      taken: promise,
      leave: () => {
        if (this.#line.delete(waiter)) this.#advance()
        else this.free()
      },
    }
  }

  free(): void {
    this.#taken--
    this.#advance()
  }

  /** Nobody overtakes the first in line, even where a later one asks for less room. */
  #advance(): void {
    for (const waiter of this.#line) {
      if (this.#taken >= waiter.limit) return
      this.#line.delete(waiter)
      this.#taken++
      waiter.start()
    }
  }
}
