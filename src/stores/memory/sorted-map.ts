/** Which entries, and in which order. */
interface Range {
  /** From this name on, it too, whether it is there or not. */
  from?: string | undefined
  backwards?: boolean
}

/** A map whose entries stand in the order of their names, as bytes of UTF-8. */
export class SortedMap<T> {
  readonly #values = new Map<string, T>()
  readonly #names: { name: string; bytes: Buffer }[] = []

  get size(): number {
    return this.#names.length
  }

  get(name: string): T | undefined {
    return this.#values.get(name)
  }

  set(name: string, value: T): void {
    if (!this.#values.has(name)) {
      const bytes = Buffer.from(name)
      this.#names.splice(this.#placeOf(bytes), 0, { name, bytes })
    }
    this.#values.set(name, value)
  }

  delete(name: string): void {
    if (this.#values.delete(name)) this.#names.splice(this.#placeOf(Buffer.from(name)), 1)
  }

  /** Do not change it meanwhile. */
  *entries({ from, backwards = false }: Range): IterableIterator<[name: string, value: T]> {
    const step = backwards ? -1 : 1
    for (let at = this.#startOf(from, backwards); ; at += step) {
      const name = this.#names[at]?.name
      const value = name === undefined ? undefined : this.#values.get(name)
      if (name === undefined || value === undefined) return
      yield [name, value]
    }
  }

  #startOf(from: string | undefined, backwards: boolean): number {
    if (from === undefined) return backwards ? this.#names.length - 1 : 0
    const place = this.#placeOf(Buffer.from(from))
    return backwards && this.#names[place]?.name !== from ? place - 1 : place
  }

  /** Where the first name stands that is not before this one. */
  #placeOf(bytes: Buffer): number {
    let low = 0
    let high = this.#names.length
    while (low < high) {
      const middle = (low + high) >> 1
      const there = this.#names[middle]?.bytes
      if (there !== undefined && Buffer.compare(there, bytes) < 0) low = middle + 1
      else high = middle
    }
    return low
  }
}
