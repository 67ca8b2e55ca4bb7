import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseWrittenJson } from './parse-written-json.ts'

const valueOf = (text: string) => {
  const parsed = parseWrittenJson(text)
  if ('issues' in parsed) throw new Error(JSON.stringify(parsed.issues))
  return parsed.value
}
const issuesOf = (text: string) => {
  const parsed = parseWrittenJson(text)
  return 'issues' in parsed ? parsed.issues.map(({ code, pointer }) => `${code} ${pointer}`) : []
}

test('comments and a comma after the last item are passed over', () => {
  const text = `// first
  {
    /* "a": 0, */ "a": [1, 2, /* , */], // "a": 3
    "b": { "url": "http://x//y", "c": "/* no */", },
    "d": "\\"//\\\\", }
  // last`
  expect(valueOf(text)).toEqual({ a: [1, 2], b: { url: 'http://x//y', c: '/* no */' }, d: '"//\\' })
  expect(parseWrittenJson(text)).toMatchObject({ hasComments: true })
  expect(parseWrittenJson('{"a": [1,],}')).toEqual({ value: { a: [1] }, hasComments: false })
})

test.each([
  ['', 'invalid_json '],
  [' // nothing', 'invalid_json '],
  ['[,]', 'invalid_json '],
  ['{,}', 'invalid_json '],
  ['[1,,]', 'invalid_json '],
  ['{"a": 1 "b": 2}', 'invalid_json '],
  ['{"a": 1}, ', 'invalid_json '],
  ["{'a': 1}", 'invalid_json '],
  ['{"a": NaN}', 'invalid_json '],
  ['{"a": "\u0001"}', 'invalid_json '],
  ['/* {"a": 1}', 'invalid_json '],
  ['{"a": 1} /* ', 'invalid_json '],
  ['{"a": 1} /*/', 'invalid_json '],
  ['{"a": 1} }', 'invalid_json '],
  ['{"a" /', 'invalid_json '],
])('%j is not JSON', (text, issue) => {
  expect(issuesOf(text)).toEqual([issue])
})

test.each([
  ['{"a": 1, "a": 1}', ['/a']],
  ['{"a": 1, "\\u0061": 2}', ['/a']],
  ['{"rules": [{"effect": "deny"}, {"effect": "deny", "x": {}, "effect": "allow"}]}', ['/rules/1/effect']],
  ['[[], [{"a/b": {"~": 1, "~": 2}, "a/b": 3}]]', ['/1/0/a~1b/~0', '/1/0/a~1b']],
  ['{"__proto__": 1, "__proto__": 2}', ['/__proto__']],
  ['{"a": {"a": 1}, "b": ["a", "a", {"a": 1}]}', []],
])('names that stand twice in %s: %j', (text, pointers) => {
  expect(issuesOf(text)).toEqual(pointers.map((pointer) => `stands_twice ${pointer}`))
})

test('any JSON is read as JSON has it', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.boolean(), (value, wide) => {
      const text = JSON.stringify(value, null, wide ? 2 : 0)
      expect(valueOf(text)).toEqual(JSON.parse(text))
    }),
    { numRuns: 100 },
  )
})

test('no text takes long', () => {
  expect(issuesOf(`{"a":${'['.repeat(200_000)}${']'.repeat(200_000)}`)).toEqual(['invalid_json '])
  expect(issuesOf('/*'.repeat(200_000))).toEqual(['invalid_json '])
  expect(issuesOf('"\\'.repeat(200_000))).toEqual(['invalid_json '])
})
