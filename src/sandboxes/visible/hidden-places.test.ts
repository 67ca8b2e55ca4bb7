import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { findHiddenPlaces } from './hidden-places.ts'

const sensitive = [
  '.env',
  'deep/in/.env.local',
  'x/SERVER.KEY',
  'x/a.pem',
  'x/.ENV/inner/a.txt',
  '.hidden/b.key',
  'ignored/c.pem',
  'own/secret',
]
const open = ['a.txt', 'x/env', 'x/a.pem.txt', 'deep/key', 'other/own/secret']

/** A folder with these files, and as many more. */
function makeTree(more: number): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'handrail-')))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const fill = Array.from({ length: more }, (_, index) => `fill/${index}.txt`)
  for (const path of [...sensitive, ...open, ...fill, '.gitignore']) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), path === '.gitignore' ? 'ignored\n' : '')
  }
  symlinkSync('/etc', join(folder, 'away'))
  return folder
}

test.each([
  ['a small folder, by walking it', 0],
  ['a large folder, by ripgrep', 1_000],
])(
  'finds what globs name in %s, letter case aside, hidden and ignored files too (FILE-8)',
  async (_, more) => {
    const place = makeTree(more)
    const { files, folders } = await findHiddenPlaces({
      globs: [
        ...['.env', '.env.*', '*.pem', '*.key'].flatMap((name) => [`**/${name}`, `**/${name}/**`]),
        `${place}/own/*`,
      ],
      places: [place],
      home: '/home/nobody',
      path: process.env['PATH'] ?? '',
      signals: [],
    })
    const expected = new Set(sensitive.map((path) => join(place, path)))
    expect(new Set(files)).toEqual(expected)
    expect(folders).toEqual([])
  },
)

test('hides a plain place as a whole, and a root inside one (FILE-8)', async () => {
  const place = makeTree(0)
  const find = (globs: readonly string[]) =>
    findHiddenPlaces({
      globs,
      places: [place],
      home: place,
      path: process.env['PATH'] ?? '',
      signals: [],
    })
  expect(await find(['~/deep', '~/deep/**', '~/nothing', '~/nothing/**'])).toEqual({
    files: [],
    folders: [join(place, 'deep')],
  })
  expect(await find([`${place}/own/**`])).toEqual({ files: [], folders: [join(place, 'own')] })
  expect(await find([dirname(place), `${dirname(place)}/**`])).toMatchObject({ folders: [dirname(place)] })
})
