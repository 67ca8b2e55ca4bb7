import { chmodSync, existsSync, symlinkSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { SearchRequest } from '../../contract/base/sandbox.ts'
import { findRipgrep } from './find-ripgrep.ts'
import { openTestGround, reasonOf, type TestGround } from '../host/open-test-ground.fixture.ts'
import { startProcessorClock } from '../../../test/support/processor-clock.ts'

function find(ground: TestGround, request: Partial<SearchRequest>) {
  const { search } = ground.enter()
  return search.find({ pattern: 'hello', path: '.', mode: 'content', limit: 100, exclude: [], ...request })
}

async function pathsOf(ground: TestGround, request: Partial<SearchRequest>): Promise<string[]> {
  return [...new Set((await find(ground, request)).hits.map((hit) => hit.path))]
}

test('finds lines in path order with their numbers (FILE-3)', async () => {
  await using ground = openTestGround()
  ground.put('b.txt', 'x\nhello b\r\nhello again\n')
  ground.put('a/z.txt', 'hello z')
  ground.put('a.txt', '12:hello')
  ground.put('.hidden', 'hello hidden')
  expect(await find(ground, {})).toEqual({
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
  await using ground = openTestGround()
  ground.put('a', 'one\nHELLO\nthree\n\n\nsix\nhello\n')
  expect((await find(ground, { before: 1, after: 1, caseInsensitive: true })).hits).toEqual([
    { path: 'a', line: 1, text: 'one', context: true },
    { path: 'a', line: 2, text: 'HELLO' },
    { path: 'a', line: 3, text: 'three', context: true },
    { path: 'a', line: 6, text: 'six', context: true },
    { path: 'a', line: 7, text: 'hello' },
  ])
  expect((await find(ground, { mode: 'count', caseInsensitive: true })).hits).toEqual([
    { path: 'a', count: 2 },
  ])
  expect((await find(ground, { mode: 'files' })).hits).toEqual([{ path: 'a' }])
  expect((await find(ground, { pattern: 'one.HELLO' })).hits).toEqual([])
  expect((await find(ground, { pattern: 'one.HELLO', multiline: true })).hits).toEqual([
    { path: 'a', line: 1, text: 'one' },
    { path: 'a', line: 2, text: 'HELLO' },
  ])
})

test('narrows by glob and by type (FILE-4)', async () => {
  await using ground = openTestGround()
  for (const path of ['a.ts', 'a.js', 'src/b.ts', 'src/deep/c.ts', '#odd.ts']) ground.put(path, 'hello')
  expect(await pathsOf(ground, { glob: '*.ts' })).toEqual(['#odd.ts', 'a.ts', 'src/b.ts', 'src/deep/c.ts'])
  expect(await pathsOf(ground, { glob: 'src/*.ts' })).toEqual(['src/b.ts'])
  expect(await pathsOf(ground, { glob: './src/**' })).toEqual(['src/b.ts', 'src/deep/c.ts'])
  expect(await pathsOf(ground, { glob: `${ground.project}/src/*.{ts,js}` })).toEqual(['src/b.ts'])
  expect(await pathsOf(ground, { glob: '#*' })).toEqual(['#odd.ts'])
  expect(await pathsOf(ground, { type: 'js' })).toEqual(['a.js'])
  expect(await pathsOf(ground, { pattern: undefined, glob: '*.js' })).toEqual(['a.js'])
})

test('lists files newest first (FILE-4)', async () => {
  await using ground = openTestGround()
  for (const [index, name] of ['old', 'new', 'middle'].entries()) {
    const time = [1000, 3000, 2000][index] ?? 0
    utimesSync(ground.put(name, 'x'), time, time)
  }
  const request = { pattern: undefined, mode: 'files', order: 'mtime' } as const
  expect(await pathsOf(ground, request)).toEqual(['new', 'middle', 'old'])
  expect(await find(ground, { ...request, limit: 1 })).toEqual({ hits: [{ path: 'new' }], truncated: true })
})

test('heeds ignore files and leaves out .git, also for a glob that takes everything', async () => {
  await using ground = openTestGround()
  ground.put('.git/config', 'hello')
  ground.put('.gitignore', 'built/')
  ground.put('built/a', 'hello')
  ground.put('src/.git', 'hello')
  ground.put('src/a', 'hello')
  for (const glob of [undefined, '*', '**', '**/*'])
    expect(await pathsOf(ground, glob === undefined ? {} : { glob })).toEqual(['src/a'])
  expect(await pathsOf(ground, { path: 'built/a' })).toEqual(['built/a'])
})

test('leaves out what is excluded, whatever the glob and the letter case (FILE-8): search scope', async () => {
  await using ground = openTestGround({ home: '/nowhere' })
  for (const path of ['.env', 'a/.ENV.local', 'keys/x', 'open']) ground.put(path, 'hello')
  const exclude = ['**/.env', '**/.env.*', `${ground.project}/keys`]
  for (const glob of [undefined, '*', '.env*', '**/.ENV.local', '!open'])
    for (const pattern of ['hello', undefined]) {
      const paths = await pathsOf(ground, { pattern, exclude, ...(glob !== undefined && { glob }) })
      expect(paths.filter((path) => path !== 'open')).toEqual([])
    }
  for (const path of ['.env', 'a/.ENV.local', 'keys', 'keys/x'])
    expect(await pathsOf(ground, { path, exclude })).toEqual([])
})

test('searches inside the roots only: search scope SR-11', async () => {
  await using ground = openTestGround()
  symlinkSync(ground.outside, join(ground.project, 'dl'))
  for (const path of ['/etc', '..', 'dl', 'dl/canary.txt', '/proc/self/root'])
    expect([path, await reasonOf(find(ground, { path }))]).toEqual([path, 'path_outside_roots'])
  expect(await reasonOf(find(ground, { path: 'nothing' }))).toBe('file_not_found')
})

test('follows no link: search scope SR-14, glob FS-69', async () => {
  await using ground = openTestGround()
  symlinkSync(ground.outside, join(ground.project, 'dl'))
  symlinkSync(join(ground.outside, 'canary.txt'), join(ground.project, 'canary'))
  symlinkSync('.', join(ground.project, 'loop'))
  ground.put('a', 'CANARY here')
  expect(await pathsOf(ground, { pattern: 'CANARY' })).toEqual(['a'])
  expect(await pathsOf(ground, { pattern: undefined, glob: 'dl/*' })).toEqual([])
  expect(await pathsOf(ground, { pattern: undefined, glob: '../outside/*' })).toEqual([])
})

test('gives absolute paths outside the project root', async () => {
  await using ground = openTestGround()
  const { search } = ground.enter({ readRoots: [ground.outside] })
  const request = { pattern: 'CANARY', path: ground.outside, mode: 'files', limit: 9, exclude: [] } as const
  expect((await search.find(request)).hits).toEqual([{ path: join(ground.outside, 'canary.txt') }])
})

test('takes everything from the model as text: rg flag injection SR-02, SR-05', async () => {
  await using ground = openTestGround()
  const mark = join(ground.project, 'mark')
  chmodSync(ground.put('program', `#!/bin/sh\ntouch ${mark}\n`), 0o755)
  const flag = `--pre=${join(ground.project, 'program')}`
  ground.put('a', `${flag}\nhello --version\n`)
  expect((await find(ground, { pattern: flag.replace(/[.]/g, '\\.') })).hits).toHaveLength(1)
  expect((await find(ground, { pattern: '--version' })).hits).toHaveLength(1)
  expect((await find(ground, { glob: flag })).hits).toEqual([])
  expect(await reasonOf(find(ground, { type: `ts ${flag}` }))).toBe('invalid_pattern')
  expect(await reasonOf(find(ground, { path: flag }))).toBe('file_not_found')
  ground.put('-e', 'hello')
  ground.put(flag, 'hello')
  expect(await pathsOf(ground, { path: '-e' })).toEqual(['-e'])
  expect(existsSync(mark)).toBe(false)
})

test('reads no configuration of ripgrep: rg flag injection SR-08', async () => {
  await using ground = openTestGround({
    env: { PATH: process.env['PATH'] ?? '', RIPGREP_CONFIG_PATH: '/dev/stdin' },
  })
  const mark = join(ground.project, 'mark')
  chmodSync(ground.put('program', `#!/bin/sh\ntouch ${mark}\n`), 0o755)
  ground.put('rc', `--pre=${join(ground.project, 'program')}\n`)
  process.env['RIPGREP_CONFIG_PATH'] = join(ground.project, 'rc')
  await find(ground, {})
  delete process.env['RIPGREP_CONFIG_PATH']
  expect(existsSync(mark)).toBe(false)
})

test.each(
  ['(a{1000}){1000}', '(?=a)', '(?<!a)b', '(', 'a\\nb', '(a)\\1', 'a\0b', 'x'.repeat(70_000)].map(
    (pattern) => [pattern.slice(0, 20), pattern] as const,
  ),
)('refuses the pattern %j in good time: regex and output DoS SR-17, SR-18', async (_, pattern) => {
  await using ground = openTestGround()
  ground.put('a', 'a')
  const spentMs = startProcessorClock()
  expect(await reasonOf(find(ground, { pattern }))).toBe('invalid_pattern')
  expect(spentMs()).toBeLessThan(5000)
})

test('says what is wrong with a pattern, in short', async () => {
  await using ground = openTestGround()
  await expect(find(ground, { pattern: '(?=a)' })).rejects.toThrow(/look-around.*is not supported/)
  await expect(find(ground, { glob: '[' })).rejects.toMatchObject({ reason: 'invalid_pattern' })
  await expect(find(ground, { glob: ' ' })).rejects.toMatchObject({ reason: 'invalid_pattern' })
  await expect(find(ground, { type: 'nope' })).rejects.toThrow('unrecognized file type: nope')
})

test('answers patterns and globs that hold other matchers: glob FS-67, regex and output DoS', async () => {
  await using ground = openTestGround()
  ground.put('a'.repeat(60), 'a'.repeat(100_000))
  await find(ground, {})
  const spentMs = startProcessorClock()
  expect(await pathsOf(ground, { pattern: undefined, glob: `${'*a'.repeat(12)}b` })).toEqual([])
  expect(spentMs()).toBeLessThan(1000)
  expect((await find(ground, { pattern: '(a+)+$' })).hits).toHaveLength(1)
})

test('stops at the limit and gives the first hits in path order, however many there are: regex and output DoS SR-19', async () => {
  await using ground = openTestGround()
  for (let i = 0; i < 100; i++) ground.put(`${i % 7}/${i}.txt`, `${'hello world '.repeat(20)}\n`.repeat(1500))
  const { hits, truncated } = await find(ground, { limit: 2000 })
  expect(truncated).toBe(true)
  expect(hits.length).toBe(2000)
  expect([...new Set(hits.map((hit) => hit.path))]).toEqual(['0/0.txt', '0/14.txt'])
  const few = await find(ground, { limit: 3, glob: '*39.txt' })
  expect(few.truncated).toBe(true)
  expect(few.hits.map((hit) => [hit.path, hit.line])).toEqual([
    ['4/39.txt', 1],
    ['4/39.txt', 2],
    ['4/39.txt', 3],
  ])
})

test('cuts long lines with a mark and bounds all text together: regex and output DoS', async () => {
  await using ground = openTestGround({ limits: { searchBytes: 20_000 } })
  ground.put('min.js', `hello ${'x'.repeat(1_000_000)}`)
  ground.put('zalgo', `hello o${'\u0301'.repeat(500_000)}`)
  const { hits } = await find(ground, {})
  expect(hits.map((hit) => hit.path)).toEqual(['min.js', 'zalgo'])
  for (const { text = '' } of hits) {
    expect(Buffer.byteLength(text)).toBeLessThan(4200)
    expect(text).toMatch(/omitted end of long line\]$/)
  }
  for (let i = 0; i < 20; i++) ground.put(`many/${i}`, `hello ${'y'.repeat(3000)}`)
  const many = await find(ground, { path: 'many' })
  expect(many.truncated).toBe(true)
  expect(many.hits.length).toBe(6)
})

test('copes with odd names and binary files', async () => {
  await using ground = openTestGround()
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
  for (const name of names) ground.put(name, 'hello\n')
  ground.put('binary', Buffer.concat([Buffer.from(`hello\n${'text\n'.repeat(50_000)}`), Buffer.from([0, 0])]))
  const found = await pathsOf(ground, { mode: 'files' })
  expect(found.sort()).toEqual([...names, 'binary'].sort())
  const { hits } = await find(ground, {})
  expect(hits.map((hit) => hit.path).sort()).toEqual([...names, 'binary'].sort())
  for (const name of names) expect(await pathsOf(ground, { path: name })).toEqual([name])
})

test('is ended by the signal of its call', async () => {
  await using ground = openTestGround()
  ground.put('a', 'hello')
  const stop = new AbortController()
  const { search } = ground.enter({}, { access: 'read', signal: () => stop.signal })
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
  await using ground = openTestGround()
  const program = ground.put('bin/rg', '#!/bin/sh\n')
  chmodSync(program, 0o755)
  const path = join(ground.project, 'bin')
  expect(await findRipgrep(path, async () => undefined)).toBe(program)
  expect(await findRipgrep(path, async () => '/nowhere/rg')).toBe(program)
  expect(await findRipgrep(path)).toMatch(/ripgrep.*rg(\.exe)?$/)
})
