import { expect, test } from 'vitest'
import { matchesPart, readCommandPattern, wordBreak } from './command-pattern.ts'

const matches = (pattern: string, ...words: string[]) => {
  const { parts } = readCommandPattern(pattern)
  expect(parts).toHaveLength(1)
  return parts.some((part) => matchesPart(part, words.join(wordBreak)))
}

test.each([
  ['npm run build', 'npm run build', true],
  ['npm run build', 'npm run build --watch', false],
  ['npm run build', 'npm run', false],
  ['ls *', 'ls', true],
  ['ls *', 'ls -la x', true],
  ['ls *', 'lsof', false],
  ['ls:*', 'ls -la', true],
  ['ls:*', 'ls', true],
  ['ls:*', 'lsof', false],
  ['ls*', 'lsof', true],
  ['ls*', 'ls -la', true],
  ['npm run test:*', 'npm run test --watch', true],
  ['npm run test:*', 'npm run test:unit', false],
  ['git:* push', 'git push', false],
  ['git log * main', 'git log --oneline -5 main', true],
  ['git log * main', 'git log main', false],
  ['* --version', 'node --version', true],
  ['* --help *', 'npm --help x', true],
  ['* --help *', 'npm --help', false],
  ['*', 'anything at all', true],
  ['a*a*a*b', 'aaaaaaaaaaaaaaaa', false],
  ['a*a*a*b', 'a a a x b', true],
])('%j matches %j: %j', (pattern, command, expected) => {
  expect(matches(pattern, ...command.split(' '))).toBe(expected)
})

test('an argument is one word', () => {
  expect(matches('git commit -m fix it', 'git', 'commit', '-m', 'fix it')).toBe(false)
  expect(matches('git commit -m "fix it"', 'git', 'commit', '-m', 'fix it')).toBe(true)
  expect(matches("git commit -m 'fix it'", 'git', 'commit', '-m', 'fix', 'it')).toBe(false)
  expect(matches('echo a b', 'echo', 'a b')).toBe(false)
})

test('a star in quotes stays inside of its word, unless the quote is open', () => {
  expect(matches('git commit -m "*"', 'git', 'commit', '-m', 'fix it')).toBe(true)
  expect(matches('git commit -m "*"', 'git', 'commit', '-m', 'fix', '--no-verify')).toBe(false)
  expect(matches('git commit -m "feat: *', 'git', 'commit', '-m', 'feat: a', '--amend')).toBe(true)
})

test('a backslash makes letters mean themselves', () => {
  expect(matches(String.raw`echo \*`, 'echo', '*')).toBe(true)
  expect(matches(String.raw`echo \*`, 'echo', 'x')).toBe(false)
  expect(matches(String.raw`echo a\ b "\*\"" '\*\'`, 'echo', 'a b', '*"', '*\\')).toBe(true)
})

test('operators part a pattern into commands, and files in it are seen', () => {
  expect(readCommandPattern('curl * | sh && a; b').parts.map(({ prefix }) => prefix)).toEqual([
    `curl${wordBreak}`,
    'sh',
    'a',
    'b',
  ])
  for (const harmless of ['npm test 2>&1', 'npm test >/dev/null 2>/dev/null'])
    expect(readCommandPattern(harmless)).toMatchObject({
      redirects: false,
      parts: [{ prefix: `npm${wordBreak}test` }],
    })
  expect(readCommandPattern('cat > notes*')).toMatchObject({ redirects: true, parts: [{ prefix: 'cat' }] })
  expect(readCommandPattern(' ;; ').parts).toEqual([])
})

test('what is fixed about a pattern is known', () => {
  expect(readCommandPattern('./run.sh a').parts).toMatchObject([{ exact: true, byPath: true }])
  expect(readCommandPattern('rm /x').parts).toMatchObject([{ exact: true, byPath: false }])
  expect(readCommandPattern('rm *').parts).toMatchObject([
    { exact: false, open: true, prefix: `rm${wordBreak}` },
  ])
})
