import fc from 'fast-check'
import { expect, test } from 'vitest'
import { describeJsonIssue } from './describe-json-issue.ts'
import { rounds } from '../../../test/support/rounds.ts'

test.each([
  ['', 'line 1, column 1: expected a value, texts in double quotes before its end'],
  ['{"a": hunter2}', 'line 1, column 7: expected a value, texts in double quotes'],
  ['{\n  "a": 1\n  "b": 2\n}', 'line 3, column 3: expected "," or "}"'],
  ['[1 2]', 'line 1, column 4: expected "," or "]"'],
  ['[', 'line 1, column 2: expected a value, texts in double quotes, or "]" before its end'],
  ['[1,]', 'line 1, column 4: expected a value, texts in double quotes'],
  ['{hunter: 2}', 'line 1, column 2: expected a name in double quotes or "}"'],
  ['{"a": 1, }', 'line 1, column 10: expected a name in double quotes'],
  ['{"a" "hunter2"}', 'line 1, column 6: expected ":"'],
  ['{"a": "hunter2\n}', 'line 1, column 15: expected a double quote at the end of the text'],
  ['{"a": "hunter2', 'line 1, column 15: expected a double quote at the end of the text before its end'],
  ['["a\u0001"]', 'line 1, column 4: expected no control character in a text'],
  [
    String.raw`["C:\hunter2"]`,
    'line 1, column 5: expected another backslash, or one of "\\/bfnrt or four digits behind a u, after this one',
  ],
  ['[01]', 'line 1, column 3: expected "," or "]"'],
  ['[1}', 'line 1, column 3: expected "," or "]"'],
  ['{"a": 1} hunter2', 'line 1, column 10: expected nothing more'],
])('%j: %s', (text, said) => {
  expect(describeJsonIssue(text)).toBe(said)
})

test('the place is where the parser finds it, and every text that it refuses has one', () => {
  const odd = fc.constantFrom(
    '"',
    '\\',
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    'x',
    '0',
    '-',
    '.',
    '\n',
    '\u0001',
    ' ',
  )
  fc.assert(
    fc.property(fc.json(), fc.nat(), odd, (json, where, sign) => {
      const at = where % (json.length + 1)
      const text = json.slice(0, at) + sign + json.slice(at)
      const refused = whyRefused(text)
      fc.pre(refused !== undefined)
      const said = describeJsonIssue(text)
      expect(said).not.toContain('something else')
      // Of many texts the parser shows a part in place of a position; in a word, a number or an escape it goes further.
      const [, line, column = 0] = /\(line (\d+) column (\d+)\)$/.exec(refused ?? '') ?? []
      if (line === undefined) return
      const [, ownLine, ownColumn] = /^line (\d+), column (\d+): /.exec(said) ?? []
      expect(ownLine).toBe(line)
      expect(Number(ownColumn)).toBeLessThanOrEqual(Number(column))
    }),
    { numRuns: rounds({ usual: 200, long: 500 }) },
  )
})

test('no text takes long', () => {
  for (const text of ['['.repeat(1e6), '"\\'.repeat(5e5), `"${'a'.repeat(1e6)}`, ' '.repeat(1e6)])
    expect(describeJsonIssue(text)).toMatch(/^line 1, column \d+: expected /)
})

function whyRefused(text: string): string | undefined {
  try {
    JSON.parse(text)
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}
