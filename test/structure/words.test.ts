import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

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
    comments: { nobody: 3, whoever: 1, somebody: 1, 'is no': 0, gives: 8, 'where, for if': 0 },
    pages: { nobody: 69, whoever: 47, somebody: 28, 'is no': 44, gives: 38, 'where, for if': 12 },
  }

function readAll(folder: string, end: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith(end))
    .map((path) => readFileSync(join(root, folder, path), 'utf8'))
}

const texts = {
  comments: readAll('src', '.ts').flatMap((text) => text.match(/\/\*\*[\s\S]*?\*\/|\/\/.*/g) ?? []),
  pages: readAll('docs', '.md').filter((text) => !text.startsWith('# How we write')),
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
