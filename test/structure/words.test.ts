import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { listPages, readPage, withoutBlocks } from '../support/markdown.ts'

const root = join(import.meta.dirname, '..', '..')

const words = {
  nobody: /\bnobody\b/gi,
  whoever: /\bwhoever\b/gi,
  somebody: /\bsomebody\b/gi,
  'is no': /\bis no\b(?! more| longer)/gi,
  gives: /\bgives\b/gi,
  'where, for if': /\b(?:undefined|only|fails|true|false|null|empty|nothing|none) where\b/gi,
} as const

/** How often each still stands in the comments of the sources, and in the pages. A number here may only sink. */
const left: { readonly [place in 'comments' | 'pages']: { readonly [word in keyof typeof words]: number } } =
  {
    comments: { nobody: 3, whoever: 0, somebody: 1, 'is no': 0, gives: 6, 'where, for if': 0 },
    pages: { nobody: 3, whoever: 0, somebody: 0, 'is no': 0, gives: 2, 'where, for if': 1 },
  }

function readAll(folder: string, end: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith(end))
    .map((path) => readFileSync(join(root, folder, path), 'utf8'))
}

const texts = {
  comments: readAll('src', '.ts').flatMap((text) => text.match(/\/\*\*[\s\S]*?\*\/|\/\/.*/g) ?? []),
  // Without what a program printed: its words are counted in the sources.
  pages: listPages()
    .filter((path) => path !== 'docs/writing.md')
    .map(readPage)
    .map((text) => text.replaceAll(/^```text\n[^]*?^```$/gm, '').replaceAll(/\s+/g, ' ')),
}

test.each(Object.keys(left) as (keyof typeof left)[])(
  'the words that docs/writing.md replaces become fewer in the %s',
  (place) => {
    const text = texts[place].join('\n')
    expect(text.length).toBeGreaterThan(100_000)
    const found = Object.entries(words).map(([word, form]) => [word, text.match(form)?.length ?? 0])
    expect(Object.fromEntries(found)).toEqual(left[place])
  },
)

/** Generated, or with lines that are numbered requirements. */
const free = new Set(['docs/errors.md', 'docs/tools.md', 'docs/requirements.md'])

test('a line of prose in the pages has at most 100 columns', () => {
  const long = listPages()
    .filter((path) => !free.has(path))
    .flatMap((path) =>
      withoutBlocks(readPage(path))
        .split('\n')
        .filter((line) => line.length > 100 && !line.startsWith('|'))
        // What cannot be broken: code, and the address of a link.
        .filter((line) => !/^[-\s]*(`[^`]*`|\S+)[.,;:]?$/.test(line))
        .map((line) => `${path}: ${line}`),
    )
  expect(long).toEqual([])
})
