import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { quoteArgument, quoteArgv } from './quote-argv.ts'

test('reads as a shell would take it (FILE-7)', () => {
  expect(quoteArgv(['git', 'log', '--format=%H', '-1'])).toBe('git log --format=%H -1')
  expect(quoteArgv(['echo', 'a b', '', "it's", '$(x); `y`'])).toBe(
    String.raw`echo 'a b' '' 'it'\''s' '$(x); ` + "`y`'",
  )
})

test('shows what cannot be seen: line feeds, escapes, reordering letters (FILE-7)', () => {
  expect(quoteArgument('a\nrm')).toBe(String.raw`$'a\nrm'`)
  expect(quoteArgument('\x1b[2K')).toBe(String.raw`$'\x1b[2K'`)
  expect(quoteArgument('a\u202eb')).toBe(String.raw`$'a\U0000202eb'`)
})

test('never gives two argument lists the same line', () => {
  const argument = fc.string({
    unit: fc.constantFrom('a', ' ', "'", '\\', '\n', '$', '"', '\x1b', 'é'),
    maxLength: 5,
  })
  const lists = fc.array(argument, { maxLength: 3 })
  fc.assert(
    fc.property(lists, lists, (a, b) => {
      expect(quoteArgv(a) === quoteArgv(b)).toBe(JSON.stringify(a) === JSON.stringify(b))
    }),
  )
})

test('comes back from bash as it was', () => {
  const argv = ["it's", 'a b', '\\n', 'a\nb', 'tab\there', '\x1b[0m', "'\\''\n", 'é🙂']
  const printed = execFileSync('bash', ['--norc', '--noprofile', '-c', `printf '%s\\0' ${quoteArgv(argv)}`], {
    env: { LC_ALL: 'C.UTF-8', PATH: process.env['PATH'] },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  expect(printed.toString().split('\0').slice(0, -1)).toEqual(argv)
})
