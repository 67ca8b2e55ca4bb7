import type { Instruction } from './compile-program.ts'
import { Machine, type Budget } from './machine.ts'

/** Start and end of an occurrence, in UTF-16 units. */
export type Span = readonly [start: number, end: number]

/** Looks for every occurrence in a text: the leftmost, there the longest, then on behind it; empty ones do not count. */
export type SpanFinder = (text: string, budget: Budget) => readonly Span[] | undefined

/** A finder for this program; it returns undefined when the budget runs out. */
export function createSpanFinder(program: readonly Instruction[]): SpanFinder {
  const starts = findStarts(program)
  return (text, budget) => {
    // Looking at a character that cannot start anything costs far less than a step.
    budget.steps -= text.length >>> 3
    const spans: Span[] = []
    let search: { machine: Machine; visited: Uint32Array } | undefined
    for (let at = 0; at < text.length;) {
      const codePoint = text.codePointAt(at) ?? 0
      const next = at + (codePoint > 0xffff ? 2 : 1)
      if (!starts(codePoint)) {
        at = next
        continue
      }
      search ??= startSearch(new Machine(program, text, budget))
      const end = search.machine.longestEnd(at, search.visited)
      if (end === undefined) return undefined
      if (end > at) spans.push([at, end])
      at = Math.max(end, next)
    }
    return budget.steps < 0 ? undefined : spans
  }
}

function startSearch(machine: Machine) {
  return { machine, visited: machine.visits() }
}

/** Whether a character may be the first of an occurrence. */
function findStarts(program: readonly Instruction[]): (codePoint: number) => boolean {
  const sets = firstSets(program)
  const isFirst = (codePoint: number): boolean => sets.some((has) => has(codePoint))
  const ascii = Uint8Array.from({ length: 128 }, (_, code) => Number(isFirst(code)))
  return (codePoint) => (codePoint < 128 ? ascii[codePoint] === 1 : isFirst(codePoint))
}

/** The sets that can be reached without a character. */
function firstSets(program: readonly Instruction[]): ((codePoint: number) => boolean)[] {
  const sets: ((codePoint: number) => boolean)[] = []
  const open = [0]
  const seen = new Set<number>()
  while (open.length > 0) {
    const pc = open.pop() ?? 0
    if (seen.has(pc)) continue
    seen.add(pc)
    const instruction = program[pc]
    if (instruction?.op === 'set') sets.push(instruction.has)
    if (instruction?.op === 'split') open.push(instruction.first, instruction.second)
    if (instruction?.op === 'jump') open.push(instruction.to)
    if (instruction?.op === 'edge') open.push(pc + 1)
    if (instruction?.op === 'ahead') open.push(instruction.after)
  }
  return sets
}
