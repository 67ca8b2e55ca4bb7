import { PatternError, type PatternNode } from './parse-pattern.ts'

/** One step of a pattern's automaton. `split` and `ahead` name the places to go on at; others go on at the next one. */
export type Instruction =
  | { op: 'set'; has: (codePoint: number) => boolean }
  | { op: 'split'; first: number; second: number }
  | { op: 'jump'; to: number }
  | { op: 'edge'; at: 'start' | 'end' | 'word' | 'inside' }
  | { op: 'ahead'; negative: boolean; after: number }
  | { op: 'match' }

const maxInstructions = 10_000

/** Turns a pattern into a program, with counted repeats written out. Throws a `PatternError` when that gets too long. */
export function compileProgram(pattern: PatternNode): Instruction[] {
  const program: Instruction[] = []
  emit(pattern, program)
  program.push({ op: 'match' })
  return program
}

function emit(node: PatternNode, program: Instruction[]): void {
  if (program.length > maxInstructions)
    throw new PatternError('is too large: nested counted repeats multiply. Use smaller counts.')
  switch (node.kind) {
    case 'set':
      program.push({ op: 'set', has: node.has })
      return
    case 'edge':
      program.push({ op: 'edge', at: node.at })
      return
    case 'sequence':
      for (const part of node.parts) emit(part, program)
      return
    case 'choice':
      return emitChoice(node.options, program)
    case 'repeat':
      return emitRepeat(node, program)
    case 'ahead': {
      const ahead = { op: 'ahead' as const, negative: node.negative, after: 0 }
      program.push(ahead)
      emit(node.body, program)
      program.push({ op: 'match' })
      ahead.after = program.length
    }
  }
}

function emitChoice(options: readonly PatternNode[], program: Instruction[]): void {
  const ends: { op: 'jump'; to: number }[] = []
  for (const [index, option] of options.entries()) {
    if (index === options.length - 1) {
      emit(option, program)
      continue
    }
    const split = { op: 'split' as const, first: program.length + 1, second: 0 }
    program.push(split)
    emit(option, program)
    const end = { op: 'jump' as const, to: 0 }
    program.push(end)
    ends.push(end)
    split.second = program.length
  }
  for (const end of ends) end.to = program.length
}

function emitRepeat(node: PatternNode & { kind: 'repeat' }, program: Instruction[]): void {
  for (let copy = 0; copy < node.min; copy++) {
    const before = program.length
    emit(node.body, program)
    // A body without instructions is empty; more copies of it change nothing.
    if (program.length === before) return
  }
  if (node.max === Infinity) {
    const split = { op: 'split' as const, first: program.length + 1, second: 0 }
    const start = program.push(split) - 1
    emit(node.body, program)
    program.push({ op: 'jump', to: start })
    split.second = program.length
    return
  }
  const splits: { op: 'split'; first: number; second: number }[] = []
  for (let copy = node.min; copy < node.max; copy++) {
    const split = { op: 'split' as const, first: program.length + 1, second: 0 }
    program.push(split)
    splits.push(split)
    emit(node.body, program)
    if (program.length === split.first) break
  }
  for (const split of splits) split.second = program.length
}
