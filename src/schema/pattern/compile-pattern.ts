import { compileProgram, type Instruction } from './compile-program.ts'
import { parsePattern, unicodeSource, type PatternNode } from './parse-pattern.ts'

/** How many steps all pattern matching of one check may take together; counted down. */
export interface Budget {
  steps: number
}

/** A compiled pattern. */
export interface Pattern {
  /** Whether the pattern occurs in the text; undefined when the budget ran out before that was known. */
  test(text: string, budget: Budget): boolean | undefined
}

/**
 * Compiles a pattern (ECMAScript, flag `u`; back-references, lookbehind and inline flags are not supported). Throws a
 * `PatternError` that says why a pattern cannot be used.
 *
 * No pattern can run away. The built-in engine backtracks, which takes exponential time for patterns such as `^(a+)+$`; it is
 * used only where there is at most one place to backtrack to for each character. Everything else runs on an automaton
 * that visits each pair of instruction and position once, so its time is at most their product, and the budget bounds
 * the product.
 */
export function compilePattern(source: string): Pattern {
  const tree = parsePattern(source)
  const program = compileProgram(tree)
  if (!isPlain(tree)) return { test: (text, budget) => search(program, text, budget) }
  const plain = new RegExp(unicodeSource(source), 'u')
  return {
    test(text, budget) {
      budget.steps -= text.length
      return budget.steps < 0 ? undefined : plain.test(text)
    },
  }
}

/** Anchored at the start, single characters only, and at most one repeat of variable length. */
function isPlain(tree: PatternNode): boolean {
  const parts = flatten(tree)
  if (parts[0]?.kind !== 'edge' || parts[0].at !== 'start') return false
  let variable = 0
  for (const part of parts) {
    if (part.kind === 'choice' || part.kind === 'ahead') return false
    if (part.kind !== 'repeat') continue
    if (part.body.kind !== 'set') return false
    if (part.min !== part.max) variable++
  }
  return variable <= 1
}

function flatten(node: PatternNode): PatternNode[] {
  return node.kind === 'sequence' ? node.parts.flatMap(flatten) : [node]
}

function search(program: readonly Instruction[], text: string, budget: Budget): boolean | undefined {
  const machine = new Machine(program, text, budget)
  const visited = machine.visits()
  for (let start = 0; start <= text.length; start += (text.codePointAt(start) ?? 0) > 0xffff ? 2 : 1) {
    const found = machine.matches(0, start, visited)
    if (found !== false) return found
  }
  return false
}

class Machine {
  readonly #program: readonly Instruction[]
  readonly #text: string
  readonly #budget: Budget

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

  /** Whether some path from here reaches `match`. What is marked as visited is known not to. */
  matches(start: number, from: number, visited: Uint32Array): boolean | undefined {
    const width = this.#text.length + 1
    // Pairs of instruction and position that are still to be tried.
    const open = [start, from]
    while (open.length > 0) {
      if (--this.#budget.steps < 0) return undefined
      const at = open.pop() ?? 0
      const pc = open.pop() ?? 0
      const bit = pc * width + at
      const word = visited[bit >>> 5] ?? 0
      if ((word & (1 << (bit & 31))) !== 0) continue
      visited[bit >>> 5] = word | (1 << (bit & 31))
      const matched = this.#step(pc, at, open)
      if (matched !== false) return matched
    }
    return false
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
        const inside = this.matches(pc + 1, at, this.visits())
        if (inside === undefined) return undefined
        if (inside !== instruction.negative) open.push(instruction.after, at)
        return false
      }
      case 'match':
      case undefined:
        return true
    }
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
