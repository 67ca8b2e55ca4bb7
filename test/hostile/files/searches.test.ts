import { chmodSync, existsSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { keepOpen } from '../../support/at-end.ts'
import { makeFolder } from '../../support/project.ts'
import { atOpenEntrances, type Entrance } from '../../support/sandbox-entrances.ts'

const canary = 'canary-of-the-host-3318'

/** Input that ripgrep would take for options, were it ever to see it as such. `{P}` is a program that leaves a mark. */
const flags: readonly (readonly [id: string, input: Readonly<Record<string, unknown>>])[] = [
  ['SR-02', { query: '--pre=sh' }],
  ['SR-02', { query: '--pre={P}' }],
  ['SR-02', { query: '--pre', glob: '{P}' }],
  ['SR-02', { query: '--files' }],
  ['SR-02', { query: '-f/etc/passwd' }],
  ['SR-02', { query: '--' }],
  ['SR-02', { query: '-uuu' }],
  ['SR-02', { query: '--hostname-bin={P}' }],
  ['SR-02', { query: '--search-zip' }],
  ['SR-02', { query: '--no-config=x --pre={P}' }],
  ['SR-02', { query: '-e x\n--pre={P}' }],
  ['SR-05', { query: 'a', glob: '--pre={P}' }],
  ['SR-05', { query: 'a', glob: '--pre' }],
  ['SR-05', { query: 'a', glob: '-f/etc/passwd' }],
  ['SR-05', { query: 'a', glob: '*\0--pre={P}' }],
  ['SR-05', { query: 'a', glob: '!x --pre={P}' }],
  ['SR-05', { query: 'a', path: '--pre={P}' }],
  ['SR-05', { query: 'a', path: '--follow' }],
  ['SR-05', { query: 'a', type: 'all --pre={P}' }],
  ['SR-05', { query: 'a', type: '--pre={P}' }],
  ['SR-05', { query: 'a', type: 'sh\0--pre={P}' }],
]

/** The same of globs alone. */
const globs = ['--pre={P}', '-f/etc/passwd', '--follow', '--', '*\0--pre={P}', '--files-from={P}']

/** Patterns that would cost too much, or that ripgrep does not take. */
const refused: readonly (readonly [id: string, query: string])[] = [
  ['SR-17', '(a{1000}){1000}'],
  ['SR-17', '((a{100}){100}){100}'],
  ['SR-17', `${'(a?'.repeat(300)}${')'.repeat(300)}{1000}`],
  ['SR-17', String.raw`\p{L}{5000}{20}`],
  ['SR-18', 'a(?=b)'],
  ['SR-18', '(?<!a)b'],
  ['SR-18', String.raw`(a)\1`],
  ['SR-18', '(?>a+)b'],
  ['SR-18', '(?P<x'],
]

/** Patterns that take others for ever, and have an answer here. */
const answered: readonly (readonly [id: string, query: string])[] = [
  ['SR-17', '^(a+)+$'],
  ['SR-17', '(a|aa)+b'],
  ['SR-17', '(.*)*b'],
  ['SR-17', 'a{1,1000}'],
  ['SR-18', String.raw`\(\?=b\)`],
]

const files = {
  'a.txt': `${'a'.repeat(60)}\n--pre=sh\n`,
  rc: '--pre=./p\n',
  '.ripgreprc': '--pre=./p\n--follow\n',
  '.rgignore': '',
}

atOpenEntrances(
  {
    files,
    configuration: { readRoots: ['/usr'] },
    env: { RIPGREP_CONFIG_PATH: 'rc', RIPGREP_OPTIONS: '--pre=./p' },
  },
  (at) => {
    const place = keepOpen(() => plant(at()))

    test.each(flags)('%s %j runs nothing and reads nothing else', async (_id, input) => {
      const { fill, mark } = place()
      for (const mode of ['content', 'files', 'count']) {
        const filled = JSON.parse(fill(JSON.stringify({ ...input, mode }))) as Record<string, unknown>
        const { ok, code, text } = await at().call('code.search', filled)
        expect(ok ? 'answered' : code).toMatch(/answered|TOOL\.FAILED|SCHEMA\.VALIDATION_FAILED/)
        expect(text).not.toMatch(new RegExp(`${canary}|root:|nobody:`))
      }
      expect(existsSync(mark)).toBe(false)
    })

    test.each(globs)('SR-05 glob %j runs nothing and finds nothing else', async (pattern) => {
      const { fill, mark } = place()
      const { text } = await at().call('code.glob', { pattern: fill(pattern) })
      expect(text).not.toMatch(/canary\.txt|passwd$/m)
      expect(existsSync(mark)).toBe(false)
    })

    test('SR-02 what looks like an option is searched as text', async () => {
      expect((await at().call('code.search', { query: '--pre=sh' })).text).toContain('a.txt')
      expect((await at().call('code.search', { query: '-+pre', glob: '*.txt' })).text).toContain('--pre=sh')
    })

    test('SR-08 neither a variable nor a file of the project configures the search', async () => {
      const { text } = await at().call('code.search', { query: '.', mode: 'files' })
      expect(text).toContain('a.txt')
      expect(text).not.toContain('canary')
      expect(existsSync(place().mark)).toBe(false)
    })

    test.each([
      '/etc',
      '/etc/passwd',
      '..',
      '{OUT}',
      'away',
      'away/canary.txt',
      '/proc/self/root/etc',
      '/usr/../etc',
    ])('SR-11 a search in %j is refused', async (path) => {
      for (const tool of ['code.search', 'code.glob']) {
        const input = tool === 'code.glob' ? { pattern: '**' } : { query: '.' }
        const answer = await at().call(tool, { ...input, path: place().fill(path) })
        expect(answer).toMatchObject({ ok: false, reason: 'path_outside_roots' })
      }
    })

    test.each(['followSymlinks', 'follow_symlinks', 'follow', 'no_ignore', 'hidden', 'pre', 'flags', 'env'])(
      'SR-14 there is no option %j',
      async (option) => {
        for (const [tool, input] of [
          ['code.search', { query: 'canary' }],
          ['code.glob', { pattern: '**' }],
        ] as const)
          expect(await at().call(tool, { ...input, [option]: true })).toMatchObject({
            ok: false,
            reason: 'invalid_input',
          })
      },
    )

    test('SR-14 no link is followed', async () => {
      expect((await at().call('code.search', { query: canary })).text).toContain('No match')
      expect((await at().call('code.search', { query: canary, glob: 'away/**' })).text).toContain('No match')
    })

    test.each(refused)('%s %j is refused', async (_id, query) => {
      const answer = await at().call('code.search', { query })
      expect(answer).toMatchObject({ ok: false, reason: 'invalid_pattern' })
    })

    test.each(answered)('%s %j is answered', async (_id, query) => {
      expect(await at().call('code.search', { query })).toMatchObject({ ok: true })
    })

    test.each([
      `${'*a'.repeat(12)}b`,
      `${'*'.repeat(60)}b`,
      `${'{a,'.repeat(8)}b${'}'.repeat(8)}`,
      `${'[!b]'.repeat(60)}*b`,
      `${'**/'.repeat(40)}b`,
    ])('FS-67 glob %j against many of one letter has an answer', async (pattern) => {
      for (const [tool, input] of [
        ['code.glob', { pattern }],
        ['code.search', { query: 'x', glob: pattern }],
      ] as const) {
        const { ok, reason } = await at().call(tool, input)
        expect(ok ? 'answered' : reason).toMatch(/^(?:answered|invalid_pattern)$/)
      }
    })

    test('SR-19 everything below /usr is cut at the bound, and the answer says so', async () => {
      const { ok, text } = await at().call('code.search', { query: '.', path: '/usr', limit: 1_000 })
      expect({ ok, text: text.includes('More matches follow') }).toEqual({ ok: true, text: true })
      expect(text.length).toBeLessThan(100_000)
      const names = await at().call('code.glob', { pattern: '**', path: '/usr/share' })
      // A slow disk may need longer than a call may take.
      expect(names.ok ? 'answered' : names.reason).toMatch(/^(?:answered|timed_out)$/)
    })
  },
)

/** A program of the attacker, a file of sixty letters, and a link to a folder outside. */
function plant({ project }: Entrance) {
  const away = makeFolder({ 'canary.txt': canary })
  chmodSync(away, 0o755)
  const mark = join(project, 'mark')
  writeFileSync(join(project, 'p'), `#!/bin/sh\ntouch ${mark}\ncat "$1"\n`, { mode: 0o755 })
  writeFileSync(join(project, 'a'.repeat(60)), 'x')
  symlinkSync(away, join(project, 'away'))
  return { mark, fill: (text: string) => text.replaceAll('{P}', './p').replaceAll('{OUT}', away) }
}
