import { chmodSync, existsSync, lstatSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'
import { keepOpen } from '../../support/at-end.ts'
import { makeFolder } from '../../support/project.ts'
import { atOpenEntrances } from '../../support/sandbox-entrances.ts'
import { makeTar, type TarEntry } from '../../support/tar.ts'

const canary = 'canary-of-the-host-1197\n'

/** Entries that lead out of the folder they are unpacked in, are no files, or have more rights: `{OUT}` is a folder outside, `{UP}` its name beside the project. */
const hostile: readonly (readonly [id: string, what: string, entries: readonly TarEntry[]])[] = [
  [
    'AR-01',
    'a way up',
    [
      { name: '../escape.txt', content: 'x' },
      { name: '../../../escape.txt', content: 'x' },
    ],
  ],
  ['AR-01', 'a way up to the canary', [{ name: '../../{UP}/canary.txt', content: 'evil' }]],
  [
    'AR-01',
    'a way up behind a folder',
    [
      { name: 'a/', type: '5', mode: 0o755 },
      { name: 'a/../../../{UP}/canary.txt', content: 'evil' },
    ],
  ],
  [
    'AR-02',
    'an absolute name',
    [
      { name: '/tmp/abs.txt', content: 'x' },
      { name: '{OUT}/canary.txt', content: 'evil' },
    ],
  ],
  [
    'AR-02',
    'another absolute name',
    [
      { name: '//{OUT}/canary.txt', content: 'evil' },
      { name: '/etc/abs.txt', content: 'x' },
    ],
  ],
  [
    'AR-02',
    'a link, and a file behind it',
    [
      { name: 'away', type: '2', link: '{OUT}' },
      { name: 'away/canary.txt', content: 'evil' },
      { name: 'away/new.txt', content: 'evil' },
    ],
  ],
  [
    'AR-02',
    'a link in the place of a file',
    [
      { name: 'f', type: '2', link: '{OUT}/canary.txt' },
      { name: 'f', content: 'evil' },
    ],
  ],
  [
    'AR-02',
    'a hard link',
    [
      { name: 'h', type: '1', link: '{OUT}/canary.txt' },
      { name: 'h', content: 'evil' },
    ],
  ],
  [
    'AR-05',
    'devices',
    [
      { name: 'null', type: '3', mode: 0o666 },
      { name: 'disk', type: '4', mode: 0o666 },
    ],
  ],
  ['AR-05', 'a FIFO', [{ name: 'fifo', type: '6', mode: 0o666 }]],
  [
    'AR-05',
    'set-id files',
    [
      { name: 'su', content: '#!/bin/sh\nid\n', mode: 0o4755 },
      { name: 'sg', content: 'x', mode: 0o2755 },
    ],
  ],
  ['AR-05', 'a set-id folder', [{ name: 'd/', type: '5', mode: 0o7777 }]],
  [
    'AR-05',
    'protected files',
    [
      { name: '../.npmrc', content: 'evil' },
      { name: '../.git/hooks/pre-commit', content: 'evil', mode: 0o755 },
    ],
  ],
]

/** Once as tar does it by itself, and once as it does it for somebody who trusts the archive. */
const unpack = 'tar -xf a.tar -C into; tar -xPpf a.tar --same-owner -C into'

atOpenEntrances({ files: { 'into/keep': '', '.npmrc': 'good\n' } }, (at) => {
  const place = keepOpen(() => {
    const away = makeFolder({ 'canary.txt': canary })
    for (const path of [away, join(away, 'canary.txt')]) chmodSync(path, 0o777)
    return { away, fill: (text: string) => text.replaceAll('{OUT}', away).replaceAll('{UP}', basename(away)) }
  })

  test.each(hostile)(
    '%s %s in an archive does nothing outside, and makes nothing that has rights',
    async (...[, , entries]) => {
      const { project, run } = at()
      const { away, fill } = place()
      const archive = entries.map((entry) => ({
        ...entry,
        name: fill(entry.name),
        link: fill(entry.link ?? ''),
      }))
      writeFileSync(join(project, 'a.tar'), makeTar(archive), { mode: 0o644 })
      await run('sh', '-c', unpack)
      expect(readdirSync(away)).toEqual(['canary.txt'])
      expect(readFileSync(join(away, 'canary.txt'), 'utf8')).toBe(canary)
      for (const path of ['/tmp/abs.txt', '/etc/abs.txt', join(project, '../escape.txt'), '/escape.txt'])
        expect([path, existsSync(path)]).toEqual([path, false])
      for (const path of below(join(project, 'into'))) {
        const stat = lstatSync(path)
        const device = stat.isCharacterDevice() || stat.isBlockDevice()
        const rights = stat.isFile() ? stat.mode & 0o6000 : 0
        expect({ path, device, rights, root: stat.uid === 0 }).toEqual({
          path,
          device: false,
          rights: 0,
          root: false,
        })
      }
      expect(readFileSync(join(project, '.npmrc'), 'utf8')).toBe('good\n')
      expect(existsSync(join(project, '.git/hooks/pre-commit'))).toBe(false)
    },
  )

  test('AR-01 what stays inside is unpacked, and runs', async () => {
    const { project, run } = at()
    const entries = [
      { name: 'good/', type: '5', mode: 0o755 },
      { name: 'good/run.sh', content: '#!/bin/sh\necho good\n', mode: 0o755 },
      { name: 'good/link', type: '2', link: 'run.sh' },
    ] as const
    writeFileSync(join(project, 'good.tar'), makeTar(entries))
    const { ok, text } = await run('sh', '-c', 'tar -xf good.tar -C into && into/good/link')
    expect({ ok, text }).toEqual({ ok: true, text: expect.stringContaining('good') })
  })
})

/** Every path below a folder, without following links. */
function below(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    return entry.isDirectory() ? [path, ...below(path)] : [path]
  })
}
