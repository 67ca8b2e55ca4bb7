import { chmodSync, linkSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { atEnd, keepOpen } from '../../support/at-end.ts'
import { makeFolder } from '../../support/project.ts'
import { atOpenEntrances, type Entrance } from '../../support/sandbox-entrances.ts'

const canary = 'canary-of-the-host-7391'

/** Each is a way to a file or folder by its path. */
const uses: Readonly<Record<string, (path: string) => [tool: string, input: Record<string, unknown>]>> = {
  read: (path) => ['code.read_file', { path }],
  list: (path) => ['code.list_dir', { path, recursive: true }],
  search: (path) => ['code.search', { query: '.', path }],
  glob: (path) => ['code.glob', { pattern: '**', path }],
  edit: (path) => ['code.edit_file', { path, edits: [{ old: 'canary', new: 'x' }] }],
  folder: (path) => ['code.run_command', { argv: ['ls', '-R'], cwd: path }],
}
const writes: typeof uses = {
  write: (path) => ['code.write_file', { path, content: 'x', overwrite: true }],
  create: (path) => ['code.edit_file', { path, edits: [{ old: '', new: 'x' }], create_if_missing: true }],
}

/** Paths that lead outside: `{OUT}` is a folder there, `{UP}` its name beside the project, `{WS}` the project. */
const outside: readonly (readonly [id: string, path: string])[] = [
  ['FS-04', 'sub/../../{UP}/canary.txt'],
  ['FS-04', '../{UP}/canary.txt'],
  ['FS-04', './././../{UP}/./canary.txt'],
  ['FS-04', 'missing/../../{UP}/canary.txt'],
  ['FS-04', 'sub/file/../../../{UP}/canary.txt'],
  ['FS-04', 'sub//..//..//{UP}//canary.txt'],
  ['FS-04', '{WS}/../{UP}/canary.txt'],
  ['FS-04', '{OUT}/canary.txt'],
  ['FS-04', '{OUT}'],
  ['FS-04', '..'],
  ['FS-04', '/'],
  ['FS-04', '{WS}-evil/canary.txt'],
  ['FS-04', '{WS}-evil/../{UP}/canary.txt'],
  ['FS-04', '/../../../../../../..{OUT}/canary.txt'],
  ['FS-04', '/etc/passwd'],
  ['FS-04', '/tmp'],
  ['FS-04', 'file.txt\0/../../{UP}/canary.txt'],
  ['FS-04', '{OUT}/canary.txt\0.png'],
  ['FS-04', `${'a/../'.repeat(30)}../{UP}/canary.txt`],
  ['FS-11', '/proc/self/root/etc/passwd'],
  ['FS-11', '/proc/self/root{OUT}/canary.txt'],
  ['FS-11', '/proc/self/root{WS}/sub/file'],
  ['FS-11', '/proc/self/cwd/../{UP}/canary.txt'],
  ['FS-11', '/proc/thread-self/root/etc/passwd'],
  ['FS-11', '/proc/1/root/etc/passwd'],
  ['FS-11', '/proc/self/environ'],
  ['FS-11', '/proc/self/mem'],
  ['FS-14', '/dev/fd/0'],
  ['FS-14', '/dev/stdin'],
  ['FS-14', '/proc/self/fd/3'],
  ['FS-14', '/proc/self/fd/../fd/0'],
  ['FS-14', '/proc/self/map_files'],
  ['FS-15', String.raw`\\?\C:\x`],
  ['FS-15', String.raw`\\.\pipe\x`],
  ['FS-15', String.raw`\\server\share\x`],
  ['FS-15', '//server/share/x'],
  ['FS-15', '//{OUT}/canary.txt'],
  ['FS-15', '///etc/passwd'],
]

/** Names that mean something else to somebody; here they are names of files that are not there. */
const literal: readonly (readonly [id: string, path: string])[] = [
  ['FS-06', '%2e%2e/{UP}/canary.txt'],
  ['FS-06', '..%2f{UP}%2fcanary.txt'],
  ['FS-06', '%252e%252e/{UP}/canary.txt'],
  ['FS-06', '..%c0%af{UP}/canary.txt'],
  ['FS-06', String.raw`\u002e\u002e/{UP}/canary.txt`],
  ['FS-06', 'file://{OUT}/canary.txt'],
  ['FS-08', '~/.ssh/id_rsa'],
  ['FS-08', '~root/.profiles'],
  ['FS-08', '$HOME/.ssh/id_rsa'],
  ['FS-08', '${HOME}/.ssh/id_rsa'],
  ['FS-08', '$(echo ..)/{UP}/canary.txt'],
  ['FS-08', '{..,sub}/{UP}/canary.txt'],
  ['FS-08', '*/../{UP}/canary.txt'],
  ['FS-15', String.raw`..\{UP}\canary.txt`],
  ['FS-15', String.raw`C:\Windows\x`],
  ['FS-17', '．．／{UP}/canary.txt'],
  ['FS-17', '．．/{UP}/canary.txt'],
  ['FS-17', '‥/{UP}/canary.txt'],
  ['FS-17', '․․/{UP}/canary.txt'],
  ['FS-17', '..∕{UP}∕canary.txt'],
  ['FS-17', '..⁄{UP}⁄canary.txt'],
  ['FS-17', '.\u200b./{UP}/canary.txt'],
  ['FS-17', '..\u2028/{UP}/canary.txt'],
  ['FS-17', '... /{UP}/canary.txt'],
  ['FS-17', '.../{UP}/canary.txt'],
  ['FS-17', '..;/{UP}/canary.txt'],
  ['FS-17', ' ../{UP}/canary.txt'],
]

/** Names of Windows that mean nothing elsewhere. */
const ofWindows = ['file.txt:payload.exe', 'CON', 'NUL.txt', 'aux', 'com1.log', 'sub/LPT9', 'name.', 'name ']

/** Links in the project, and what they point at. */
const links: readonly (readonly [id: string, name: string, target: string])[] = [
  ['FS-19', 'link', '/etc/passwd'],
  ['FS-19', 'to-canary', '{OUT}/canary.txt'],
  ['FS-19', 'to-twin', '{WS}-evil/canary.txt'],
  ['FS-19', 'to-environ', '/proc/self/environ'],
  ['FS-19', 'to-cwd', '/proc/self/cwd/../{UP}/canary.txt'],
  ['FS-19', 'to-input', '/dev/stdin'],
  ['FS-19', 'to-device', '/dev/zero'],
  ['FS-19', 'to-nothing', '{OUT}/not-there.txt'],
  ['FS-21', 'rel', '../../../../etc/passwd'],
  ['FS-21', 'sub/rel', '../../{UP}/canary.txt'],
  ['FS-21', 'long', `${'sub/../'.repeat(50)}../{UP}/canary.txt`],
  ['FS-22', 'a', 'b'],
  ['FS-22', 'b', 'sub/c'],
  ['FS-22', 'sub/c', '{OUT}/canary.txt'],
  ['FS-22', 'by-folder', 'sub/../away/canary.txt'],
  ['FS-69', 'away', '{OUT}'],
  ['FS-69', 'up', '..'],
  ['FS-69', 'root', '/'],
]

/** What lies behind a link to a folder outside. */
const behind: readonly (readonly [id: string, path: string])[] = [
  ['FS-22', 'away/canary.txt'],
  ['FS-22', 'away/deep/canary.txt'],
  ['FS-22', 'away/not-there.txt'],
  ['FS-22', 'up/{UP}/canary.txt'],
  ['FS-22', 'root{OUT}/canary.txt'],
  ['FS-22', 'root/proc/self/root{OUT}/canary.txt'],
  ['FS-22', 'away/back/../canary.txt'],
]

/** What leads to the content of `sub/file`. */
const inside: readonly (readonly [id: string, path: string])[] = [
  ['FS-04', 'sub/file'],
  ['FS-04', './sub/../sub/file'],
  ['FS-04', 'sub//file'],
  ['FS-04', '{WS}/sub/file'],
  ['FS-04', '{WS}/../{NAME}/sub/file'],
  ['FS-04', '../{NAME}/sub/file'],
  ['FS-06', '%2e%2e/file'],
  ['FS-08', '~/file'],
  ['FS-17', '．．/file'],
  ['FS-17', '..name/file'],
  ['FS-24', 'in'],
  ['FS-24', 'in-absolute'],
  ['FS-24', 'in-chain'],
  ['FS-24', 'in-folder/file'],
  ['FS-24', 'in-folder/../sub/file'],
  ['FS-24', 'root{WS}/sub/file'],
  ['FS-26', 'hard-link'],
]

const inner = ['sub', '%2e%2e', '~', '．．', '..name'].map(
  (folder) => [`${folder}/file`, 'the inner text\n'] as const,
)

atOpenEntrances({ files: Object.fromEntries(inner) }, (at) => {
  const place = keepOpen(() => plant(at()))

  test.each([...outside, ...links.map(([id, name]) => [id, name] as const), ...behind])(
    '%s %j leads outside and is refused',
    async (_id, path) => {
      const { fill, attempt, outside: look } = place()
      const before = look()
      for (const [use, outcome] of await attempt({ ...uses, ...writes }, fill(path)))
        expect(`${use}: ${outcome}`).toMatch(/: (?:path_outside_roots|write_outside_allowed_roots)$/)
      expect(look()).toEqual(before)
    },
  )

  test.each(literal)('%s %j is a name like any other, and nothing is there', async (_id, path) => {
    const { fill, attempt } = place()
    for (const [use, outcome] of await attempt(uses, fill(path)))
      expect(`${use}: ${outcome}`).toBe(`${use}: file_not_found`)
  })

  test.runIf(process.platform !== 'win32').each(ofWindows)(
    'FS-16 %j is a name like any other where Windows is not',
    async (path) => {
      const { call } = at()
      expect(await call('code.write_file', { path, content: 'plain' })).toMatchObject({ ok: true })
      expect((await call('code.read_file', { path })).text).toContain('plain')
    },
  )

  test.each(inside)('%s %j stays inside and is read', async (_id, path) => {
    const { fill } = place()
    const { ok, text } = await at().call('code.read_file', { path: fill(path) })
    expect({ ok, text }).toEqual({ ok: true, text: expect.stringContaining('the inner text') })
  })

  describe('FS-69', () => {
    test.each([
      ['away/*', '.'],
      ['away/**/*.txt', '.'],
      ['*/canary.txt', '.'],
      ['**/canary.txt', '.'],
      ['../{UP}/*', '.'],
      ['{OUT}/*', '.'],
      ['{OUT}/**', 'sub'],
      ['sub/../../{UP}/*', '.'],
      ['root{OUT}/*', '.'],
      ['{away,sub}/*', '.'],
      ['[a]way/*', '.'],
    ])('glob %j in %j finds nothing outside', async (glob, path) => {
      const { fill } = place()
      for (const [tool, input] of [
        ['code.glob', { pattern: fill(glob), path }],
        ['code.search', { query: 'canary', glob: fill(glob), path }],
        ['code.search', { query: '.', glob: fill(glob), path, mode: 'files' }],
      ] as const) {
        const { seen } = await at().call(tool, input)
        const data = seen.slice(seen.indexOf('\n{') + 1).replaceAll(fill(glob), '')
        expect(data).not.toMatch(/canary|deep|passwd/)
      }
    })

    test('a recursive list names links, and does not enter them', async () => {
      const { seen } = await at().call('code.list_dir', { recursive: true, limit: 1_000 })
      expect(seen).toContain('away@')
      expect(seen).not.toMatch(/canary\.txt|passwd/)
    })

    test('globs that stay inside find what is there', async () => {
      for (const pattern of ['sub/*', '**/file', '{sub,away}/*', 's[u]b/f?le', '/sub/*'])
        expect((await at().call('code.glob', { pattern })).text).toContain('sub/file')
    })
  })
})

/** Plants links and their targets, and tells what is outside. */
function plant({ project, call }: Entrance) {
  const away = makeFolder({ 'canary.txt': canary, 'deep/canary.txt': canary })
  const twin = `${project}-evil`
  mkdirSync(twin)
  atEnd(() => rmSync(twin, { recursive: true }))
  writeFileSync(join(twin, 'canary.txt'), canary)
  // Whoever is kept out is so by Handrail, not by permissions.
  for (const folder of [away, join(away, 'deep'), twin]) chmodSync(folder, 0o777)
  const fill = (text: string) =>
    text
      .replaceAll('{OUT}', away)
      .replaceAll('{UP}', basename(away))
      .replaceAll('{NAME}', basename(project))
      .replaceAll('{WS}', project)
  const within = [
    ['in', 'sub/file'],
    ['in-absolute', '{WS}/sub/file'],
    ['in-chain', 'in'],
    ['in-folder', './sub/../sub'],
  ] as const
  for (const [name, target] of [...within, ...links.map(([, ...link]) => link)])
    symlinkSync(fill(target), join(project, name))
  symlinkSync(project, join(away, 'back'))
  linkSync(join(project, 'sub/file'), join(project, 'hard-link'))
  return {
    fill,
    outside: () => [away, join(away, 'deep'), twin].map((folder) => readdirSync(folder).toSorted()),
    attempt: async (ways: typeof uses, path: string) => {
      const outcomes: [use: string, outcome: string][] = []
      for (const [use, toCall] of Object.entries(ways)) {
        const { ok, reason, seen } = await call(...toCall(path))
        outcomes.push([use, seen.includes(canary) ? 'leaks' : ok ? seen : (reason ?? seen)])
      }
      return outcomes
    },
  }
}
