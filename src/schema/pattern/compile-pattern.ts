import { compileProgram, type Instruction } from './compile-program.ts'
import { createSpanFinder, type Span, type SpanFinder } from './find-spans.ts'
import { Machine, type Budget } from './machine.ts'
import { parsePattern, readSource, type PatternNode } from './parse-pattern.ts'

/** A compiled pattern. */
export interface Pattern {
  /** Whether the pattern occurs in the text; undefined when the budget ran out before that was known. */
  test(text: string, budget: Budget): boolean | undefined
  /** Every occurrence: leftmost, there the longest, never empty; undefined when the budget ran out. */
  spans(text: string, budget: Budget): readonly Span[] | undefined
}

/**
 * Compiles a pattern (ECMAScript, flag `u`; or `iu` after a leading `(?i)`; back-references, lookbehind and
 * other inline flags are not supported). Throws a
 * `PatternError` that says why a pattern cannot be used.
 *
 * No pattern can run away. The built-in engine backtracks, which takes exponential time for patterns such as `^(a+)+$`; it is
 * used only if there is at most one place to backtrack to for each character. Everything else runs on an automaton
 * that visits each pair of instruction and position once, so its time is at most their product, and the budget bounds
 * the product.
 */
export function compilePattern(pattern: string): Pattern {
  const read = readSource(pattern)
  const tree = parsePattern(read)
  const program = compileProgram(tree)
  let finder: SpanFinder | undefined
  const spans: SpanFinder = (text, budget) => (finder ??= createSpanFinder(program))(text, budget)
  if (!isPlain(tree)) return { test: (text, budget) => search(program, text, budget), spans }
  const plain = new RegExp(read.source, read.flags)
  return {
    spans,
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
    const found = machine.matches(start, visited)
    if (found !== false) return found
  }
  return false
}
