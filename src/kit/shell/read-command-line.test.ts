import { expect, test } from 'vitest'
import { readCommandLine } from './read-command-line.ts'

/** Each command as its words; what is not known for sure stands in angle brackets. */
function wordsOf(text: string): string[][] {
  return readCommandLine(text).commands.map(({ words }) =>
    words.map(({ text: value, known }) => (known < value.length ? `<${value}>` : value)),
  )
}

const plain = (text: string) => {
  const reading = readCommandLine(text)
  expect(reading.hidden && reading.plain).toBe(false)
  return reading.plain
}

test.each([
  [
    'echo ok; touch x',
    [
      ['echo', 'ok'],
      ['touch', 'x'],
    ],
  ],
  ['a && b || c | d |& e & f', [['a'], ['b'], ['c'], ['d'], ['e'], ['f']]],
  [
    'echo ok\ntouch x\n\n',
    [
      ['echo', 'ok'],
      ['touch', 'x'],
    ],
  ],
  ['(a; b) && { c; d; } ; ! e', [['a'], ['b'], ['c'], ['d'], ['e']]],
  ['time -p (a; b)', [['a'], ['b']]],
  ['echo a#b # ; rm c', [['echo', 'a#b']]],
  ['echo a \\\n b', [['echo', 'a', 'b']]],
])('%j is its commands and nothing else', (text, commands) => {
  expect(wordsOf(text)).toEqual(commands)
  expect(plain(text)).toBe(true)
})

test.each([
  [String.raw`r\m r''m "r"m 'rm' r""m`, ['rm', 'rm', 'rm', 'rm', 'rm']],
  [String.raw`a "b \" \\ \n" 'c \' d\ e`, ['a', String.raw`b " \ \n`, 'c \\', 'd e']],
  ['git {} a~b }', ['git', '{}', 'a~b', '}']],
  ['echo "a\nb"', ['echo', 'a\nb']],
])('quotes of %j are resolved', (text, words) => {
  expect(wordsOf(text)).toEqual([words])
  expect(plain(text)).toBe(true)
})

test.each([
  ['echo $X "${Y}z" $1 $?', ['echo', '<$X>', '<${Y}z>', '<$1>', '<$?>']],
  ['ls *.ts a?b [ab] {a,b} ~/x x=~', ['ls', '<*.ts>', '<a?b>', '<[ab]>', '<{a,b}>', '<~/x>', '<x=~>']],
  [String.raw`$'\x73\x68\t' $'\u0072m' $"rm"`, ['<sh\t>', '<rm>', '<rm>']],
  [
    'echo ${x:-y} ${#x} ${x%.ts} $((1 + 2*3))',
    ['echo', '<${x:-y}>', '<${#x}>', '<${x%.ts}>', '<$((1 + 2*3))>'],
  ],
  ['echo "${1:-y}" ${10} ${#1} ${2%.ts}', ['echo', '<${1:-y}>', '<${10}>', '<${#1}>', '<${2%.ts}>']],
])('what only a shell knows in %j is not taken for known', (text, words) => {
  expect(wordsOf(text)).toEqual([words])
  expect(plain(text)).toBe(true)
})

test.each([
  [
    'echo "$(rm a `rm b`)"',
    [
      ['rm', 'b'],
      ['rm', 'a', '<`rm b`>'],
    ],
  ],
  [
    'cat <(rm a) >(rm b)',
    [
      ['rm', 'a'],
      ['rm', 'b'],
    ],
  ],
  [
    'X=$(rm a) Y="`rm b`" true',
    [
      ['rm', 'a'],
      ['rm', 'b'],
    ],
  ],
  ['echo ${x:-$(rm a)}', [['rm', 'a']]],
  [
    'cat <<E\n$(rm a)\nE\nrm b',
    [
      ['rm', 'a'],
      ['rm', 'b'],
    ],
  ],
  ['cat <<< "$(rm a)"', [['rm', 'a']]],
  ['echo > "$(rm a)"', [['rm', 'a']]],
])('commands inside of %j are found', (text, commands) => {
  expect(wordsOf(text)).toEqual(expect.arrayContaining(commands))
  expect(plain(text)).toBe(true)
})

test.each([
  'if true; then rm a; else rm b; fi',
  'for x in $(rm a); do rm b; done > log',
  'while rm a\ndo rm b\ndone',
  'case $x in a|b) rm a;; (c) rm b ;; esac | wc',
  'f() { rm a; }; rm b',
  'function f { rm a; }\nrm b',
  'x=(a $(rm a)); rm b',
  '[[ $(rm a) ]] && rm b',
  '(rm a; rm b) > log',
  'echo $(case x in a) rm b;; esac; rm a)',
])('commands of %j are found, and it is more than commands', (text) => {
  expect(wordsOf(text)).toEqual(
    expect.arrayContaining([
      ['rm', 'a'],
      ['rm', 'b'],
    ]),
  )
  expect(plain(text)).toBe(false)
})

test.each([
  'echo $((x))',
  'echo ${x@P}',
  'echo ${!x}',
  'echo ${x[$y]}',
  'echo $[x]',
  "test -v 'a[$(rm b)]'",
  "[[ -v 'x' ]]",
  '[[ $x -eq 1 ]]',
  'a[$x]=1 true',
  '((x))',
  'for ((i=0;i<x;i++)); do true; done',
  'echo &>/dev/null rm x',
  'npm test &&',
  'npm test | ',
  '&& npm test',
  'echo "open',
  "echo 'open",
  'echo $(open',
  'echo `open',
  '(open',
  '{ open;',
  'case x in a) b',
  'echo ) x',
  'cat <',
  'cat <<$E\nE',
  'a ;; b',
  `${'$('.repeat(41)}x${')'.repeat(41)}`,
  'echo a\0b',
])('may run what is not read (%#): %s', (text) => {
  const { plain: isPlain, hidden } = readCommandLine(text)
  expect({ isPlain, hidden }).toEqual({ isPlain: false, hidden: true })
})

test.each([
  'echo ) ; rm x',
  'npm test &&& rm x',
  'x=( ; rm x',
  '[[ ; rm x',
  'echo &>/dev/null rm x',
  `${'true;'.repeat(5000)} rm x`,
  `${'$('.repeat(60)}rm x${')'.repeat(60)}`,
  '((rm x))',
  '$((rm x); true)',
])('a command after what cannot be read is found (%#)', (text) => {
  expect(wordsOf(text)).toContainEqual(['rm', 'x'])
})

test.each([
  ['a > f', true],
  ['a >> f', true],
  ['a < f', true],
  ['a >| f', true],
  ['a &> f', true],
  ['a >& f', true],
  ['a <> f', true],
  ['a 2> $x', true],
  ['> f', true],
  ['a > /dev/null 2>&1 < /dev/null 3>&-', false],
  ['a &> /dev/null', false],
  ['a <<< b', false],
])('%j opens a file: %j', (text, opensFile) => {
  expect(readCommandLine(text).commands.at(-1)?.opensFile).toBe(opensFile)
})

test('what a here-document gives is kept, without expansion where its delimiter is quoted', () => {
  const [sh, cat, ...others] = readCommandLine(
    "sh <<'E F' | cat <<-X\nrm $(a)\nE F\n\tb\n\tX\nX=1 Y+=$a Z= true",
  ).commands
  expect(sh?.input).toBe('rm $(a)\n')
  expect(cat?.input).toBe('b\n')
  expect(others.map(({ assigned }) => assigned)).toEqual([
    [
      { text: 'X=1', known: 3, as: 'one' },
      { text: 'Y+=$a', known: 3, as: 'one' },
      { text: 'Z=', known: 2, as: 'one' },
    ],
  ])
})

test.each([
  ['a "$x" \'b\' ~/c <(d)', 'one'],
  ['a*b [xy] {c,d} a?', 'alike'],
  ['$x a$x "$@" "${x[@]}" $(b) `b` x"$y"$z', 'any'],
])('each word of %j stands for %s', (text, as) => {
  const { words = [] } = readCommandLine(text).commands.at(-1) ?? {}
  expect(words.filter((word) => word.as !== as && word.text !== 'a')).toEqual([])
})

test.each([
  'cat <<E$\nE\n',
  'cat <<E$x\nE\n',
  'cat <<E`x`\nE\n',
  'cat <<E\u00a0\nE\n',
  'cat <<E\nx\\\nE\nE\n',
  'cat <<E\n\\\\\\\nE\nE\n',
])('%j is not read as if its text ended with the first E', (text) => {
  expect(readCommandLine(text).plain).toBe(false)
})

test('a backslash ends no line of a quoted here-document, nor do two of another one', () => {
  expect(plain("cat <<'E'\nx\\\nE\n")).toBe(true)
  expect(plain('cat <<E\nx\\\\\nE\n')).toBe(true)
})

test('every text ends, however it is put together', () => {
  const pieces = [
    '(',
    ')',
    '{ ',
    '}',
    '$(',
    '`',
    '"',
    "'",
    '\\',
    '${',
    '$((',
    '<<E\n',
    'E\n',
    ';',
    '&&',
    '>',
    '[[ ',
    'case ',
    'do ',
    'x()',
  ]
  for (const first of pieces)
    for (const second of pieces)
      for (const text of [first + second, `${first}a ${second}b`, (first + second).repeat(200)])
        expect(readCommandLine(text).commands.length).toBeLessThan(2000)
})
