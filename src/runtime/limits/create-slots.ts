import type { Slots, PlaceInLine, ToolSlots } from '../state/slots.ts'

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
