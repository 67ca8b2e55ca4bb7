import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { createPublisher, listFiles, makeCaplet, writeArchive, writePackage } from '../../support/caplets.ts'
import { expectNoStack, handrail, makePlace, type Place } from '../../support/command-line.ts'
import { makeFolder } from '../../support/project.ts'
import { makeTar, type TarEntry } from '../../support/tar.ts'

const publisher = createPublisher()
const tool = { name: 'demo.tool', description: 'Is a tool.', command: 'true', output: 'text' }
const manifest = { format: 1, tool, read: ['project'], write: [], tests: [] }
const good = { 'a.txt': 'one', 'lib/b.txt': 'two' }
const signed = publisher.sign({ ...manifest, files: listFiles(good) })
const entries: readonly TarEntry[] = Object.entries(good).map(([name, content]) => ({ name, content }))

function trusting(): Place {
  return makePlace({}, { 'config.json': { caplets: { publishers: { acme: publisher.key } } } })
}

async function install(place: Place, path: string) {
  const ended = await handrail(place, ['caplet', 'install', path])
  expectNoStack(ended)
  return ended
}

test('a package that is right is taken, so that those below are refused for what is wrong with them (NEXT-4)', async () => {
  const { code, stdout } = await install(trusting(), writePackage(signed, entries))
  expect([code, stdout]).toEqual([0, expect.stringContaining('signed by acme')])
})

/** Entries beside the right ones, and what is said of them. */
const stray: readonly (readonly [string, TarEntry, string])[] = [
  ['a path out', { name: '../out.txt', content: 'x' }, 'not in its manifest'],
  ['an absolute path', { name: '/tmp/handrail-out.txt', content: 'x' }, 'not in its manifest'],
  ['a link', { name: 'link', type: '2', link: '/etc/passwd' }, '"link" is a symlink'],
  [
    'a link under the name of a file',
    { name: 'a.txt', type: '2', link: '/etc/passwd' },
    '"a.txt" is a symlink',
  ],
  ['a hard link', { name: 'hard', type: '1', link: 'a.txt' }, '"hard" is a link'],
  ['a device', { name: 'null', type: '3' }, 'is a character-device'],
  ['a block device', { name: 'disk', type: '4' }, 'is a block-device'],
  ['a FIFO', { name: 'pipe', type: '6' }, 'is a fifo'],
  ['a folder', { name: 'lib/', type: '5' }, 'is a directory'],
  ['a file twice', { name: 'a.txt', content: 'one' }, 'is there twice'],
  ['a file that no manifest names', { name: 'more.txt', content: 'x' }, 'not in its manifest'],
  ['a twin of another case', { name: 'A.TXT', content: 'one' }, 'not in its manifest'],
  ['a second manifest', { name: 'caplet.json', content: '{}' }, 'not in its manifest'],
]

test.each(stray)('%s in a package is refused, and nothing is installed (NEXT-4)', async (_, entry, says) => {
  const place = trusting()
  for (const all of [
    [...entries, entry],
    [entry, ...entries],
  ]) {
    const { code, stderr } = await install(place, writePackage(signed, all))
    expect([code, stderr]).toEqual([2, expect.stringContaining('invalid_caplet')])
    if (all[0] !== entry) expect(stderr).toContain(says)
  }
  expect(readdirSync(join(place.home, 'caplets'))).toEqual([])
  expect(existsSync(join(place.home, 'out.txt'))).toBe(false)
})

/** Files that a publisher signed and that no package may have. */
const paths = [
  '../a',
  '/a',
  'a/../b',
  'a//b',
  './a',
  'a/',
  '.hidden',
  'a\\b',
  'caplet.json',
  'Caplet.JSON',
  'a\u0000b',
  'con.',
  '',
  'ü',
]

test('a signed manifest with such a path, a twin, or a file inside a file is refused (NEXT-4)', async () => {
  const place = trusting()
  const lists = [
    ...paths.map((path) => ({ [path]: 'x' })),
    { 'a.txt': 'x', 'A.txt': 'x' },
    { a: 'x', 'a/b': 'x' },
    { a: 'x', 'A/b': 'x' },
  ]
  for (const files of lists) {
    const caplet = publisher.sign({ ...manifest, files: listFiles(files) })
    const all = Object.entries(files).map(([name, content]) => ({ name, content }))
    const { code, stderr } = await install(place, writePackage(caplet, all))
    expect([files, code, stderr]).toEqual([files, 2, expect.stringContaining('invalid_caplet')])
  }
  expect(readdirSync(join(place.home, 'caplets'))).toEqual([])
})

test('a manifest that was altered, or signed for something else, is refused before its files are read (NEXT-4)', async () => {
  const place = trusting()
  const stranger = createPublisher()
  const altered: readonly unknown[] = [
    { ...signed, manifest: { ...signed.manifest, write: ['project'] } },
    { ...signed, manifest: { ...signed.manifest, publisher: stranger.key } },
    { ...signed, signature: `${'A'.repeat(86)}` },
    { manifest: signed.manifest },
    { ...stranger.sign(manifest), manifest: signed.manifest },
    { ...signed, more: true },
    { ...publisher.sign({ ...manifest, files: [], format: 2 }) },
    { ...publisher.sign({ ...manifest, files: [], hooks: [] }) },
  ]
  for (const caplet of altered) {
    // What follows the manifest would be refused too, in other words.
    const path = writePackage(caplet, [{ name: '../out', content: 'x' }])
    const { code, stderr } = await install(place, path)
    expect([code, stderr]).toEqual([2, expect.stringContaining('invalid_caplet')])
    expect(stderr).not.toContain('../out')
  }
  const twice = `{"manifest":{},${JSON.stringify(signed).slice(1)}`
  const { stderr } = await install(
    place,
    writeArchive(gzipSync(makeTar([{ name: 'caplet.json', content: twice }]))),
  )
  expect(stderr).toContain('stands twice')
})

test('files that are not what the manifest says are refused: other bytes, size, mode, or missing (NEXT-4)', async () => {
  const place = trusting()
  const [first, second] = entries as [TarEntry, TarEntry]
  for (const all of [
    [{ ...first, content: 'One' }, second],
    [{ ...first, content: 'one more' }, second],
    [{ ...first, mode: 0o755 }, second],
    [first],
    [],
  ]) {
    const { code, stderr } = await install(place, writePackage(signed, all))
    expect([code, stderr]).toEqual([2, expect.stringContaining('invalid_caplet')])
  }
  expect(readdirSync(join(place.home, 'caplets'))).toEqual([])
})

test('what is cut off, no archive, or unpacks to more than it says is refused (NEXT-4)', async () => {
  const place = trusting()
  const whole = readFileSync(writePackage(signed, entries))
  const tar = gunzipSync(whole)
  const zeros = Buffer.alloc(64 * 1024 * 1024)
  const bombs = [
    whole.subarray(0, whole.length - 20),
    whole.subarray(0, 30),
    gzipSync(tar.subarray(0, 700)),
    gzipSync(tar.subarray(0, tar.length - 1024 - 700)),
    Buffer.from('no archive'),
    Buffer.alloc(0),
    gzipSync(Buffer.concat([tar.subarray(0, tar.length - 1024), zeros])),
    gzipSync(zeros),
    gzipSync(makeTar([{ name: 'caplet.json', content: ' '.repeat(2 * 1024 * 1024) }])),
    gzipSync(makeTar([{ name: 'other.json', content: '{}' }])),
    readFileSync(
      writePackage(
        publisher.sign({ ...manifest, files: [{ path: 'a', size: 67_108_865, sha256: '0'.repeat(64) }] }),
        [],
      ),
    ),
    readFileSync(
      writePackage(
        publisher.sign({
          ...manifest,
          files: Array.from({ length: 1001 }, (_, index) => ({
            path: `f${index}`,
            size: 0,
            sha256: '0'.repeat(64),
          })),
        }),
        [],
      ),
    ),
  ]
  for (const [index, bytes] of bombs.entries()) {
    const { code, stderr } = await install(place, writeArchive(bytes))
    expect([index, code, stderr]).toEqual([index, 2, expect.stringContaining('invalid_caplet')])
  }
  const none = await install(place, join(place.project, 'none.tgz'))
  expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('There is no such file.')])
  expect(readdirSync(join(place.home, 'caplets'))).toEqual([])
})

test('an author packs no link, and no name that could be more than one (NEXT-4)', async () => {
  const place = trusting()
  const linking = makeCaplet({ tool })
  symlinkSync('/etc/passwd', join(linking, 'users'))
  const named = makeCaplet({ tool }, { 'a b.txt': 'x' })
  const loose = makeFolder()
  writeFileSync(join(loose, 'caplet.json'), '')
  for (const folder of [linking, named, loose, join(loose, 'none')]) {
    const ended = await handrail(place, ['caplet', 'pack', folder])
    expectNoStack(ended)
    expect([ended.code, ended.stderr]).toEqual([2, expect.stringContaining('invalid_caplet')])
  }
})
