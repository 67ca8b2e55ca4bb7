import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { findUnquoted } from './find-unquoted.ts'
import { rounds } from '../../test/support/rounds.ts'

test.each<[string, string[]]>([
  ['git log "$1" "${2:-x}" "a${x}b"', []],
  ['git log $1', ['$1']],
  ['git log a$1b ${2} $@ $* ${x:-y} $x', ['$1', '${2}', '$@', '$*', '${x:-y}', '$x']],
  [`echo '$1' \\$1 "\\$1" $# $? \${#x}`, []],
  ['echo "$(cat $1)"', ['$1']],
  ['echo "$(cat "$1")" "$2"', []],
  ['echo "`cat $1`" `cat "$2"`', ['$1']],
  ['x="$1"; (cd "$x"; ls $2)', ['$2']],
  ['# $1\necho a#$2 #$3', ['$2']],
  ['case "$1" in a) ls $2;; (b) ls "$3";; esac', ['$2']],
  [`echo "it's" $1 'a' "b"`, ['$1']],
  ['echo "a" "$(echo ")")" $1', ['$1']],
])('of %j the parameters outside of double quotes are %j', (script, parameters) => {
  expect(findUnquoted(script)).toEqual({ parameters, unclear: false })
})

test.each([
  "cat <<E\ndon't\nE\ngit log $1",
  'cat <<-"E"\n$1\nE',
  String.raw`echo $'a\'b' $1`,
  '"$(case "$1" in a) git log $2;; esac)"',
  '"${1:-$(cat $2)}"',
  '"${1:-\'}"',
  'echo `cat',
  `${'('.repeat(200)}$1`,
])('%j is not told for sure', (script) => {
  expect(findUnquoted(script).unclear).toBe(true)
})

test('a here-string is none of a here-document', () => {
  expect(findUnquoted('cat <<< "$1"')).toEqual({ parameters: [], unclear: false })
})

test('a script in which it finds nothing takes no value apart, whatever its pieces', () => {
  const piece = fc.constantFrom(
    '"$1"',
    '$1',
    `'`,
    `"`,
    '$(',
    ')',
    '`',
    '(',
    ' ',
    ';',
    'echo ',
    '\\',
    '${1}',
    '#',
    '\n',
    'a',
    '$2',
  )
  const script = fc.array(piece, { maxLength: 8 }).map((pieces) => `printf '<%s>' ${pieces.join('')}`)
  fc.assert(
    fc.property(script, (text) => {
      const { parameters, unclear } = findUnquoted(text)
      if (parameters.length > 0 || unclear) return
      const run = (value: string) => {
        try {
          return execFileSync('sh', ['-c', text, 'sh', value, value], {
            stdio: 'pipe',
            encoding: 'utf8',
            timeout: 5_000,
          })
        } catch {
          return ''
        }
      }
      const words = (output: string) => output.match(/</g)?.length ?? 0
      expect(words(run('one two'))).toBe(words(run('one')))
    }),
    { numRuns: rounds({ usual: 60, long: 150 }) },
  )
})
