import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '..', '..')

const lines = readFileSync(join(root, 'docs', 'requirements.md'), 'utf8').matchAll(
  /^- ([A-Z]+-\d+) (\*\(not built yet\)\* )?/gm,
)
const built = new Map([...lines].map(([, id = '', later]) => [id, later === undefined]))

/** What the titles of tests name, by those of their words that look like the number of a requirement. */
const kinds = [...new Set([...built.keys()].map((id) => id.replace(/-\d+$/, '')))]
const number = new RegExp(`\\b(?:${kinds.join('|')})-\\d+\\b`, 'g')
const named = new Set(
  ['src', 'test'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.test.ts'))
      .flatMap((path) => readFileSync(join(root, folder, path), 'utf8').match(number) ?? []),
  ),
)

test('every requirement that is built has a test with its number', () => {
  expect(built.size).toBe(134)
  const isBuilt = [...built].filter(([, is]) => is).map(([id]) => id)
  expect(isBuilt.filter((id) => !named.has(id))).toEqual([])
})

test('every number of a requirement that a test names stands in docs/requirements.md', () => {
  expect(named.size).toBeGreaterThan(100)
  expect([...named].filter((id) => !built.has(id))).toEqual([])
})

test('what says that it is not built yet has no test', () => {
  const later = [...built].filter(([, is]) => !is).map(([id]) => id)
  expect(later.filter((id) => named.has(id))).toEqual([])
})
