import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** What is searched for, and in how many lines it stands. */
export const needle = { pattern: 'needle_[0-9]+', lines: 200 }

/** A file of 10 kB in the tree. */
export const fileOfTree = 'module-0/file-0.ts'

const fileCount = 3000

/** Writes the same 3,000 files of 1 to 10 kB at every call. */
export function writeTree(root: string): void {
  const lines = makeLines()
  for (let index = 0; index < fileCount; index++) {
    const directory = join(root, `module-${index % 60}`)
    if (index < 60) mkdirSync(directory, { recursive: true })
    writeFileSync(join(directory, `file-${Math.floor(index / 60)}.ts`), makeText(index, lines))
  }
}

function makeText(index: number, lines: readonly string[]): string {
  const size = index === 0 ? 10_000 : 1000 + ((index * 7919) % 9000)
  let text = index % (fileCount / needle.lines) === 1 ? `const needle_${index} = true\n` : ''
  for (let line = index * 13; text.length < size; line++) text += lines[line % lines.length]
  return text.slice(0, size)
}

function makeLines(): string[] {
  const words = [
    'order',
    'weight',
    'total',
    'customer',
    'line',
    'price',
    'stock',
    'invoice',
    'date',
    'address',
  ]
  return Array.from(
    { length: 997 },
    (_, index) =>
      `const ${words[index % 10]}${index} = ${words[(index * 7) % 10]}.${words[(index * 3) % 10]}(${index})\n`,
  )
}

/** Where the tree stands; set for every contender of these rows. */
export function treeFromEnvironment(): string {
  const root = process.env.BENCH_TREE
  if (root === undefined) throw new Error('BENCH_TREE names no directory; start bench/run.mjs')
  return root
}

/** A program that does nothing. */
export const commandToRun = '/bin/true'
