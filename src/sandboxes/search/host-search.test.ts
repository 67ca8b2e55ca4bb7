import { chmodSync, existsSync, symlinkSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { SearchRequest } from '../../contract/services/sandbox.ts'
import { findRipgrep } from './find-ripgrep.ts'
import { openTestSandbox, reasonOf, type TestSandbox } from '../host/open-test-sandbox.fixture.ts'
import { startProcessorClock } from '../../../test/support/processor-clock.ts'

function find(place: TestSandbox, request: Partial<SearchRequest>) {
  const { search } = place.enter()
  return search.find({ pattern: 'hello', path: '.', mode: 'content', limit: 100, exclude: [], ...request })
}

async function pathsOf(place: TestSandbox, request: Partial<SearchRequest>): Promise<string[]> {
  return [...new Set((await find(place, request)).hits.map((hit) => hit.path))]
}

test('finds lines in path order with their numbers (FILE-3)', async () => {
  await using place = openTestSandbox()
  place.put('b.txt', 'x\nhello b\r\nhello again\n')
  place.put('a/z.txt', 'hello z')
  place.put('a.txt', '12:hello')
  place.put('.hidden', 'hello hidden')
  expect(await find(place, {})).toEqual({
    hits: [
      { path: '.hidden', line: 1, text: 'hello hidden' },
      { path: 'a/z.txt', line: 1, text: 'hello z' },
      { path: 'a.txt', line: 1, text: '12:hello' },
      { path: 'b.txt', line: 2, text: 'hello b' },
      { path: 'b.txt', line: 3, text: 'hello again' },
    ],
    truncated: false,
  })
})

test('gives context lines, counts and files (FILE-3)', async () => {
  await using place = openTestSandbox()
  place.put('a', 'one\nHELLO\nthree\n\n\nsix\nhello\n')
  expect((await find(place, { before: 1, after: 1, caseInsensitive: true })).hits).toEqual([
    { path: 'a', line: 1, text: 'one', context: true },
    { path: 'a', line: 2, text: 'HELLO' },
    { path: 'a', line: 3, text: 'three', context: true },
    { path: 'a', line: 6, text: 'six', context: true },
    { path: 'a', line: 7, text: 'hello' },
  ])
  expect((await find(place, { mode: 'count', caseInsensitive: true })).hits).toEqual([
    { path: 'a', count: 2 },
  ])
  expect((await find(place, { mode: 'files' })).hits).toEqual([{ path: 'a' }])
  expect((await find(place, { pattern: 'one.HELLO' })).hits).toEqual([])
  expect((await find(place, { pattern: 'one.HELLO', multiline: true })).hits).toEqual([
    { path: 'a', line: 1, text: 'one' },
    { path: 'a', line: 2, text: 'HELLO' },
  ])
})

test('narrows by glob and by type (FILE-4)', async () => {
  await using place = openTestSandbox()
  for (const path of ['a.ts', 'a.js', 'src/b.ts', 'src/deep/c.ts', '#odd.ts']) place.put(path, 'hello')
  expect(await pathsOf(place, { glob: '*.ts' })).toEqual(['#odd.ts', 'a.ts', 'src/b.ts', 'src/deep/c.ts'])
  expect(await pathsOf(place, { glob: 'src/*.ts' })).toEqual(['src/b.ts'])
  expect(await pathsOf(place, { glob: './src/**' })).toEqual(['src/b.ts', 'src/deep/c.ts'])
  expect(await pathsOf(place, { glob: `${place.project}/src/*.{ts,js}` })).toEqual(['src/b.ts'])
  expect(await pathsOf(place, { glob: '#*' })).toEqual(['#odd.ts'])
  expect(await pathsOf(place, { type: 'js' })).toEqual(['a.js'])
  expect(await pathsOf(place, { pattern: undefined, glob: '*.js' })).toEqual(['a.js'])
})

test('lists files newest first (FILE-4)', async () => {
  await using place = openTestSandbox()
  for (const [index, name] of ['old', 'new', 'middle'].entries()) {
    const time = [1000, 3000, 2000][index] ?? 0
    utimesSync(place.put(name, 'x'), time, time)
  }
  const request = { pattern: undefined, mode: 'files', order: 'mtime' } as const
  expect(await pathsOf(place, request)).toEqual(['new', 'middle', 'old'])
  expect(await find(place, { ...request, limit: 1 })).toEqual({ hits: [{ path: 'new' }], truncated: true })
})

test('heeds ignore files and leaves out .git, also for a glob that takes everything', async () => {
  await using place = openTestSandbox()
  place.put('.git/config', 'hello')
  place.put('.gitignore', 'built/')
  place.put('built/a', 'hello')
  place.put('src/.git', 'hello')
  place.put('src/a', 'hello')
  for (const glob of [undefined, '*', '**', '**/*'])
    expect(await pathsOf(place, glob === undefined ? {} : { glob })).toEqual(['src/a'])
  expect(await pathsOf(place, { path: 'built/a' })).toEqual(['built/a'])
})

test('leaves out what is excluded, whatever the glob and the letter case (FILE-8): search scope', async () => {
  await using place = openTestSandbox({ home: '/nowhere' })
  for (const path of ['.env', 'a/.ENV.local', 'keys/x', 'open']) place.put(path, 'hello')
  const exclude = ['**/.env', '**/.env.*', `${place.project}/keys`]
  for (const glob of [undefined, '*', '.env*', '**/.ENV.local', '!open'])
    for (const pattern of ['hello', undefined]) {
      const paths = await pathsOf(place, { pattern, exclude, ...(glob !== undefined && { glob }) })
      expect(paths.filter((path) => path !== 'open')).toEqual([])
    }
  for (const path of ['.env', 'a/.ENV.local', 'keys', 'keys/x'])
    expect(await pathsOf(place, { path, exclude })).toEqual([])
})

test('searches inside the roots only: search scope SR-11', async () => {
  await using place = openTestSandbox()
  symlinkSync(place.outside, join(place.project, 'dl'))
  for (const path of ['/etc', '..', 'dl', 'dl/canary.txt', '/proc/self/root'])
    expect([path, await reasonOf(find(place, { path }))]).toEqual([path, 'path_outside_roots'])
  expect(await reasonOf(find(place, { path: 'nothing' }))).toBe('file_not_found')
})

test('follows no link: search scope SR-14, glob FS-69', async () => {
  await using place = openTestSandbox()
  symlinkSync(place.outside, join(place.project, 'dl'))
  symlinkSync(join(place.outside, 'canary.txt'), join(place.project, 'canary'))
  symlinkSync('.', join(place.project, 'loop'))
  place.put('a', 'CANARY here')
  expect(await pathsOf(place, { pattern: 'CANARY' })).toEqual(['a'])
  expect(await pathsOf(place, { pattern: undefined, glob: 'dl/*' })).toEqual([])
  expect(await pathsOf(place, { pattern: undefined, glob: '../outside/*' })).toEqual([])
})

test('gives absolute paths outside the project root', async () => {
  await using place = openTestSandbox()
  const { search } = place.enter({ readRoots: [place.outside] })
  const request = { pattern: 'CANARY', path: place.outside, mode: 'files', limit: 9, exclude: [] } as const
  expect((await search.find(request)).hits).toEqual([{ path: join(place.outside, 'canary.txt') }])
})

test('takes everything from the model as text: rg flag injection SR-02, SR-05', async () => {
  await using place = openTestSandbox()
  const mark = join(place.project, 'mark')
  chmodSync(place.put('program', `#!/bin/sh\ntouch ${mark}\n`), 0o755)
  const flag = `--pre=${join(place.project, 'program')}`
  place.put('a', `${flag}\nhello --version\n`)
  expect((await find(place, { pattern: flag.replace(/[.]/g, '\\.') })).hits).toHaveLength(1)
  expect((await find(place, { pattern: '--version' })).hits).toHaveLength(1)
  expect((await find(place, { glob: flag })).hits).toEqual([])
  expect(await reasonOf(find(place, { type: `ts ${flag}` }))).toBe('invalid_pattern')
  expect(await reasonOf(find(place, { path: flag }))).toBe('file_not_found')
  place.put('-e', 'hello')
  place.put(flag, 'hello')
  expect(await pathsOf(place, { path: '-e' })).toEqual(['-e'])
  expect(existsSync(mark)).toBe(false)
})

test('reads no configuration of ripgrep: rg flag injection SR-08', async () => {
  await using place = openTestSandbox({
    env: { PATH: process.env['PATH'] ?? '', RIPGREP_CONFIG_PATH: '/dev/stdin' },
  })
  const mark = join(place.project, 'mark')
  chmodSync(place.put('program', `#!/bin/sh\ntouch ${mark}\n`), 0o755)
  place.put('rc', `--pre=${join(place.project, 'program')}\n`)
  process.env['RIPGREP_CONFIG_PATH'] = join(place.project, 'rc')
  await find(place, {})
  delete process.env['RIPGREP_CONFIG_PATH']
  expect(existsSync(mark)).toBe(false)
})

test.each(
  ['(a{1000}){1000}', '(?=a)', '(?<!a)b', '(', 'a\\nb', '(a)\\1', 'a\0b', 'x'.repeat(70_000)].map(
    (pattern) => [pattern.slice(0, 20), pattern] as const,
  ),
)('refuses the pattern %j in good time: regex and output DoS SR-17, SR-18', async (_, pattern) => {
  await using place = openTestSandbox()
  place.put('a', 'a')
  const spentMs = startProcessorClock()
  expect(await reasonOf(find(place, { pattern }))).toBe('invalid_pattern')
  expect(spentMs()).toBeLessThan(5000)
})

test('says what is wrong with a pattern, in short', async () => {
  await using place = openTestSandbox()
  await expect(find(place, { pattern: '(?=a)' })).rejects.toThrow(/look-around.*is not supported/)
  await expect(find(place, { glob: '[' })).rejects.toMatchObject({ reason: 'invalid_pattern' })
  await expect(find(place, { glob: ' ' })).rejects.toMatchObject({ reason: 'invalid_pattern' })
  await expect(find(place, { type: 'nope' })).rejects.toThrow('unrecognized file type: nope')
})

test('answers patterns and globs that hold other matchers: glob FS-67, regex and output DoS', async () => {
  await using place = openTestSandbox()
  place.put('a'.repeat(60), 'a'.repeat(100_000))
  await find(place, {})
  const spentMs = startProcessorClock()
  expect(await pathsOf(place, { pattern: undefined, glob: `${'*a'.repeat(12)}b` })).toEqual([])
  expect(spentMs()).toBeLessThan(1000)
  expect((await find(place, { pattern: '(a+)+$' })).hits).toHaveLength(1)
})

test('stops at the limit and gives the first hits in path order, however many there are: regex and output DoS SR-19', async () => {
  await using place = openTestSandbox()
  for (let i = 0; i < 100; i++) place.put(`${i % 7}/${i}.txt`, `${'hello world '.repeat(20)}\n`.repeat(1500))
  const { hits, truncated } = await find(place, { limit: 2000 })
  expect(truncated).toBe(true)
  expect(hits.length).toBe(2000)
  expect([...new Set(hits.map((hit) => hit.path))]).toEqual(['0/0.txt', '0/14.txt'])
  const few = await find(place, { limit: 3, glob: '*39.txt' })
  expect(few.truncated).toBe(true)
  expect(few.hits.map((hit) => [hit.path, hit.line])).toEqual([
    ['4/39.txt', 1],
    ['4/39.txt', 2],
    ['4/39.txt', 3],
  ])
})

test('cuts long lines with a mark and bounds all text together: regex and output DoS', async () => {
  await using place = openTestSandbox({ limits: { searchBytes: 20_000 } })
  place.put('min.js', `hello ${'x'.repeat(1_000_000)}`)
  place.put('zalgo', `hello o${'\u0301'.repeat(500_000)}`)
  const { hits } = await find(place, {})
  expect(hits.map((hit) => hit.path)).toEqual(['min.js', 'zalgo'])
  for (const { text = '' } of hits) {
    expect(Buffer.byteLength(text)).toBeLessThan(4200)
    expect(text).toMatch(/omitted end of long line\]$/)
  }
  for (let i = 0; i < 20; i++) place.put(`many/${i}`, `hello ${'y'.repeat(3000)}`)
  const many = await find(place, { path: 'many' })
  expect(many.truncated).toBe(true)
  expect(many.hits.length).toBe(6)
})

test('copes with odd names and binary files', async () => {
  await using place = openTestSandbox()
  const names = [
    'new\nline',
    'sp ace ',
    'a*b',
    '[x]',
    '{y}',
    '!z',
    '1:2',
    'ü',
    'q\'"',
    'back\\slash',
    '-dash',
  ]
  for (const name of names) place.put(name, 'hello\n')
  place.put('binary', Buffer.concat([Buffer.from(`hello\n${'text\n'.repeat(50_000)}`), Buffer.from([0, 0])]))
  const found = await pathsOf(place, { mode: 'files' })
  expect(found.sort()).toEqual([...names, 'binary'].sort())
  const { hits } = await find(place, {})
  expect(hits.map((hit) => hit.path).sort()).toEqual([...names, 'binary'].sort())
  for (const name of names) expect(await pathsOf(place, { path: name })).toEqual([name])
})

test('is ended by the signal of its call', async () => {
  await using place = openTestSandbox()
  place.put('a', 'hello')
  const stop = new AbortController()
  const { search } = place.enter({}, { access: 'read', signal: () => stop.signal })
  const request = { pattern: 'hello', path: '.', mode: 'content', limit: 9, exclude: [] } as const
  const working = search.find(request)
  stop.abort()
  expect(await reasonOf(working)).toBe('aborted_by_user')
  expect(await reasonOf(search.find(request))).toBe('aborted_by_user')
})

test('says what to install where ripgrep is missing', async () => {
  await expect(findRipgrep('/nowhere', async () => undefined)).rejects.toMatchObject({
    code: 'SANDBOX.UNAVAILABLE',
    reason: 'missing_program',
    message: expect.stringContaining('npm install @vscode/ripgrep'),
  })
})

test('falls back to the rg of the system', async () => {
  await using place = openTestSandbox()
  const program = place.put('bin/rg', '#!/bin/sh\n')
  chmodSync(program, 0o755)
  const path = join(place.project, 'bin')
  expect(await findRipgrep(path, async () => undefined)).toBe(program)
  expect(await findRipgrep(path, async () => '/nowhere/rg')).toBe(program)
  expect(await findRipgrep(path)).toMatch(/ripgrep.*rg(\.exe)?$/)
})
