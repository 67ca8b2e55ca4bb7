import type { Instruction } from './compile-program.ts'

/** How many steps all pattern matching of one check may take together; counted down. */
export interface Budget {
  steps: number
}

/** One place to look for matches from. */
interface Search {
  pc: number
  from: number
  /** Pairs of instruction and position that are known to lead to no match. */
  visited: Uint32Array
  /** Go on after the first match, for the longest. */
  longest: boolean
  /** Take the marks of a search that found something back, because what it visited leads to a match. */
  reusable: boolean
}

/** Runs one program over one text. It visits each pair of instruction and position at most once. */
export class Machine {
  readonly #program: readonly Instruction[]
  readonly #text: string
  readonly #budget: Budget
  /** What is known of each lookahead. */
  readonly #aheads = new Map<number, Uint32Array>()

  constructor(program: readonly Instruction[], text: string, budget: Budget) {
    this.#program = program
    this.#text = text
    this.#budget = budget
  }

  /** One bit for each pair of instruction and position; empty when the budget does not even allow for that. */
  visits(): Uint32Array {
    const words = Math.ceil((this.#program.length * (this.#text.length + 1)) / 32)
    this.#budget.steps -= words / 4
    return new Uint32Array(this.#budget.steps < 0 ? 0 : words)
  }

  /** Whether some path from here reaches `match`; undefined when the budget ran out. What is marked as visited is known not to. */
  matches(from: number, visited: Uint32Array): boolean | undefined {
    const end = this.#find({ pc: 0, from, visited, longest: false, reusable: false })
    return end === undefined ? undefined : end >= 0
  }

  /** Where the longest match from here ends, -1 where there is none; undefined when the budget ran out. */
  longestEnd(from: number, visited: Uint32Array): number | undefined {
    return this.#find({ pc: 0, from, visited, longest: true, reusable: true })
  }

  #find({ pc: start, from, visited, longest, reusable }: Search): number | undefined {
    const width = this.#text.length + 1
    // Pairs of instruction and position that are still to be tried.
    const open = [start, from]
    const marks: number[] = []
    let end = -1
    while (open.length > 0) {
      if (--this.#budget.steps < 0) return undefined
      const at = open.pop() ?? 0
      const pc = open.pop() ?? 0
      const bit = pc * width + at
      const word = visited[bit >>> 5] ?? 0
      if ((word & (1 << (bit & 31))) !== 0) continue
      visited[bit >>> 5] = word | (1 << (bit & 31))
      if (reusable) marks.push(bit)
      const matched = this.#step(pc, at, open)
      if (matched === undefined) return undefined
      if (!matched) continue
      end = Math.max(end, at)
      if (!longest) break
    }
    if (end >= 0) for (const bit of marks) visited[bit >>> 5] = (visited[bit >>> 5] ?? 0) & ~(1 << (bit & 31))
    return end
  }

  #step(pc: number, at: number, open: number[]): boolean | undefined {
    const instruction = this.#program[pc]
    switch (instruction?.op) {
      case 'set': {
        const codePoint = this.#text.codePointAt(at)
        if (codePoint !== undefined && instruction.has(codePoint))
          open.push(pc + 1, at + (codePoint > 0xffff ? 2 : 1))
        return false
      }
      case 'split':
        open.push(instruction.second, at, instruction.first, at)
        return false
      case 'jump':
        open.push(instruction.to, at)
        return false
      case 'edge':
        if (this.#isEdge(instruction.at, at)) open.push(pc + 1, at)
        return false
      case 'ahead': {
        const inside = this.#lookAhead(pc, at)
        if (inside === undefined) return undefined
        if (inside !== instruction.negative) open.push(instruction.after, at)
        return false
      }
      case 'match':
      case undefined:
        return true
    }
  }

  #lookAhead(pc: number, from: number): boolean | undefined {
    let visited = this.#aheads.get(pc)
    if (visited === undefined) this.#aheads.set(pc, (visited = this.visits()))
    const end = this.#find({ pc: pc + 1, from, visited, longest: false, reusable: true })
    return end === undefined ? undefined : end >= 0
  }

  #isEdge(kind: 'start' | 'end' | 'word' | 'inside', at: number): boolean {
    if (kind === 'start') return at === 0
    if (kind === 'end') return at === this.#text.length
    const isBoundary = isWord(this.#text[at - 1]) !== isWord(this.#text[at])
    return isBoundary === (kind === 'word')
  }
}

function isWord(letter: string | undefined): boolean {
  return letter !== undefined && /^\w$/.test(letter)
}
