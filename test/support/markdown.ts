import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from './command-line.ts'

/** A fenced block of a page. */
export interface CodeBlock {
  language: string
  code: string
  /** The heading above it, without its marks. */
  heading: string
}

/** Every page for people, as paths from the root of the package. */
export function listPages(): string[] {
  return ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', ...globSync('docs/**/*.md', { cwd: packageRoot })]
}

export function readPage(path: string): string {
  return readFileSync(join(packageRoot, path), 'utf8')
}

/** The fenced blocks of a page, in order. */
export function findBlocks(text: string): CodeBlock[] {
  const blocks: CodeBlock[] = []
  let heading = ''
  let open: CodeBlock | undefined
  for (const line of text.split('\n')) {
    const fence = /^```(\w*)/.exec(line)
    if (open !== undefined) {
      if (fence === null) open.code += `${line}\n`
      else open = undefined
    } else if (fence !== null) {
      open = { language: fence[1] ?? '', code: '', heading }
      blocks.push(open)
    } else heading = /^#+ (.*)$/.exec(line)?.[1] ?? heading
  }
  return blocks
}

/** A page without its fenced blocks. */
export function withoutBlocks(text: string): string {
  return text.replaceAll(/^```[^]*?^```$/gm, '')
}

/** The anchor that a heading gets where pages are shown. */
export function toAnchor(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{Letter}\p{Number} _-]/gu, '')
    .replaceAll(' ', '-')
}
