/** A thing in a bag. */
export interface InBag<Thing> {
  readonly thing: Thing
  at: number
}

/**
 * Things that come and go all the time, in no order. Unlike a set it leaves no tables behind, each of which would hold the next one, and what that had,
 * until all memory is looked through.
 */
export class Bag<Thing> {
  readonly #things: InBag<Thing>[] = []

  get size(): number {
    return this.#things.length
  }

  add(thing: Thing): InBag<Thing> {
    const added = { thing, at: this.#things.length }
    this.#things.push(added)
    return added
  }

  /** Takes it out, if it is still in there. */
  remove(one: InBag<Thing>): void {
    if (this.#things[one.at] !== one) return
    const last = this.#things.pop()
    if (last === undefined || last === one) return
    this.#things[one.at] = last
    last.at = one.at
    one.at = -1
  }

  /** What is in there now, but for what is taken out meanwhile. */
  *[Symbol.iterator](): Generator<Thing> {
    const now = [...this.#things]
    for (const one of now) if (this.#things[one.at] === one) yield one.thing
  }

  /** The same, which is taken out. */
  empty(): Thing[] {
    return this.#things.splice(0).map(({ thing }) => thing)
  }
}
