import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseFrontMatter } from './parse-front-matter.ts'

const parts = [
  '---\n',
  '---',
  '\n',
  '\r\n',
  'name: ',
  'a',
  ': ',
  '- ',
  '"',
  "'",
  '[',
  ']',
  '{',
  '}',
  '&a ',
  '*a',
  '|\n',
  '!!x ',
  '#',
  '  ',
  '\t',
  '\u0000',
  '__proto__: ',
  '? ',
  '<<: ',
]

test('whatever stands in a file, it is read or an issue with a line of it, and nothing is thrown (AGENT-1, SCHEMA-6)', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...parts), { maxLength: 40 }), (pieces) => {
      const text = `---\n${pieces.join('')}\n---\nbody`
      const parsed = parseFrontMatter(text)
      if ('issue' in parsed) {
        expect(parsed.issue.message).not.toBe('')
        expect(parsed.issue.line).toBeGreaterThanOrEqual(1)
        expect(parsed.issue.line).toBeLessThanOrEqual(text.split('\n').length)
      } else expect(parsed.fields).toBeInstanceOf(Map)
      expect(Object.prototype).not.toHaveProperty('polluted')
    }),
    { numRuns: 300 },
  )
})

test('lines that are no YAML are taken as other agents take them, and quotes around a text are not part of it', () => {
  const text =
    '---\nname: "a b"\ndescription: Use it: when, and "so"\nmaxTurns: 12\nempty:\n---\nbody\n---\nrest'
  const parsed = parseFrontMatter(text)
  if ('issue' in parsed) throw new Error(parsed.issue.message)
  expect(
    Object.fromEntries([...parsed.fields].map(([name, { value, line }]) => [name, [value, line]])),
  ).toEqual({
    name: ['a b', 2],
    description: ['Use it: when, and "so"', 3],
    maxTurns: [12, 4],
    empty: [undefined, 5],
  })
  expect(parsed.body).toBe('body\n---\nrest')
})
