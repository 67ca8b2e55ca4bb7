import { linkSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openTestSandbox, reasonOf } from '../host/open-test-sandbox.fixture.ts'

test.each([
  '../outside/canary.txt',
  'sub/../../outside/canary.txt',
  '/etc/passwd',
  '/proc/self/root/etc/passwd',
  '/proc/self/cwd',
  '/dev/fd/0',
  '/proc/self/fd/3',
  '//server/share/x',
  '\\\\?\\C:\\x',
])('refuses to read %j: path traversal FS-04, FS-11, FS-14, FS-15', async (path) => {
  await using place = openTestSandbox()
  const { files } = place.enter()
  expect(await reasonOf(files.read(path))).toBe('path_outside_roots')
  expect(await reasonOf(files.stat(path))).toBe('path_outside_roots')
  expect(await reasonOf(files.resolve(path, 'read'))).toBe('path_outside_roots')
})

test.each(['%2e%2e/outside/canary.txt', '~/.ssh/id_rsa', '．．／outside/canary.txt'])(
  'takes %j literally and finds nothing: path traversal FS-06, FS-08, FS-17',
  async (path) => {
    await using place = openTestSandbox()
    const { files } = place.enter()
    expect(await reasonOf(files.read(path))).toBe('file_not_found')
    expect(await files.stat(path)).toBeUndefined()
  },
)

test('refuses a neighbour whose name starts like a root', async () => {
  await using place = openTestSandbox()
  mkdirSync(`${place.project}-evil`)
  writeFileSync(`${place.project}-evil/x`, 'x')
  const { files } = place.enter()
  expect(await reasonOf(files.read(`${place.project}-evil/x`))).toBe('path_outside_roots')
})

test('looks at nothing outside, not even at a link back inside', async () => {
  await using place = openTestSandbox()
  place.put('a.txt', 'a')
  const alias = join(place.outside, 'alias')
  symlinkSync(place.project, alias)
  const { files } = place.enter()
  expect(await reasonOf(files.read(join(alias, 'a.txt')))).toBe('path_outside_roots')
})

test('reads nothing where there are no roots', async () => {
  await using place = openTestSandbox()
  place.put('a.txt', 'a')
  const { files } = place.enter({ readRoots: [], writeRoots: [] })
  expect(await reasonOf(files.read('a.txt'))).toBe('path_outside_roots')
  const odd = place.enter({ readRoots: ['', '.', '*', 'project'], writeRoots: [] })
  expect(await reasonOf(odd.files.read('a.txt'))).toBe('path_outside_roots')
})

test('refuses links that lead outside, also in chains and by relative targets: symlink FS-19, FS-21, FS-22', async () => {
  await using place = openTestSandbox()
  symlinkSync('/etc/passwd', join(place.project, 'link'))
  symlinkSync('../../../../../../../etc/passwd', join(place.project, 'rel'))
  symlinkSync('b', join(place.project, 'a'))
  symlinkSync('c', join(place.project, 'b'))
  symlinkSync(join(place.outside, 'canary.txt'), join(place.project, 'c'))
  symlinkSync(place.outside, join(place.project, 'dl'))
  const { files } = place.enter()
  for (const path of [
    'link',
    'rel',
    'a',
    'dl/canary.txt',
    'dl',
    'dl/nothing-there',
    'dl/../../outside/canary.txt',
  ])
    expect([path, await reasonOf(files.read(path))]).toEqual([path, 'path_outside_roots'])
  expect(await reasonOf(files.stat('dl/nothing-there'))).toBe('path_outside_roots')
  expect(await reasonOf(files.list('dl', { recursive: false, limit: 9 }))).toBe('path_outside_roots')
})

test('follows links that stay inside: symlink FS-24', async () => {
  await using place = openTestSandbox()
  const file = place.put('sub/file', 'inside')
  symlinkSync('sub/file', join(place.project, 'in'))
  symlinkSync(join(place.project, 'sub'), join(place.project, 'dir'))
  const { files } = place.enter()
  for (const path of ['in', 'dir/file', join(place.project, 'dir/file')]) {
    expect(Buffer.from((await files.read(path)).bytes).toString()).toBe('inside')
    expect(await files.resolve(path, 'read')).toBe(file)
  }
})

test('follows a link from one root into another', async () => {
  await using place = openTestSandbox()
  symlinkSync(place.outside, join(place.project, 'dl'))
  const { files } = place.enter({ readRoots: [place.project, place.outside] })
  expect((await files.stat('dl/canary.txt'))?.kind).toBe('file')
})

test('resolves what does not exist yet, and refuses a dangling link to the outside: symlink write', async () => {
  await using place = openTestSandbox()
  place.put('sub/file', 'x')
  symlinkSync('sub', join(place.project, 'dir'))
  symlinkSync(join(place.outside, 'new.txt'), join(place.project, 'out'))
  symlinkSync('sub/new.txt', join(place.project, 'in'))
  const { files } = place.enter()
  expect(await files.resolve('dir/x/y', 'write')).toBe(join(place.project, 'sub/x/y'))
  expect(await files.resolve('in', 'write')).toBe(join(place.project, 'sub/new.txt'))
  expect(await reasonOf(files.resolve('out', 'write'))).toBe('write_outside_allowed_roots')
  expect(await reasonOf(files.read('out'))).toBe('path_outside_roots')
})

test('answers a circle of links and a path through a file', async () => {
  await using place = openTestSandbox()
  place.put('file', 'x')
  symlinkSync('y', join(place.project, 'x'))
  symlinkSync('x', join(place.project, 'y'))
  const { files } = place.enter()
  expect(await reasonOf(files.read('x'))).toBe('file_not_found')
  expect(await reasonOf(files.read('file/below'))).toBe('file_not_found')
  expect(await files.stat('file/below')).toBeUndefined()
})

test('reads the root itself through the link that names it, and its real path too', async () => {
  await using place = openTestSandbox()
  place.put('a.txt', 'a')
  const alias = join(place.outside, 'alias')
  symlinkSync(place.project, alias)
  const { files } = place.enter({ readRoots: [alias] })
  for (const path of [join(alias, 'a.txt'), join(place.project, 'a.txt')])
    expect((await files.read(path)).bytes.length).toBe(1)
})

test('follows a root that is another directory now', async () => {
  await using place = openTestSandbox()
  place.put('a.txt', 'old')
  const { files } = place.enter()
  await files.read('a.txt')
  renameSync(place.project, `${place.project}.old`)
  place.put('a.txt', 'newer')
  expect((await files.read('a.txt')).stat.size).toBe(5)
  rmSync(place.project, { recursive: true })
  symlinkSync(`${place.project}.old`, place.project)
  expect((await files.read('a.txt')).stat.size).toBe(3)
})

test('does not take a root that a link inside another root leads outside: symlink', async () => {
  await using place = openTestSandbox()
  symlinkSync(place.outside, join(place.project, 'deliverables'))
  const { files } = place.enter({ writeRoots: [join(place.project, 'deliverables')] })
  const bytes = Buffer.from('x')
  expect(await reasonOf(files.write('deliverables/x', bytes, { createDirs: true, expect: 'absent' }))).toBe(
    'write_outside_allowed_roots',
  )
})

test('shows a hard link as what it is, by device and inode: symlink FS-26', async () => {
  await using place = openTestSandbox()
  linkSync(place.put('secret.txt', 'x'), join(place.project, 'alias'))
  const { files } = place.enter()
  const [secret, alias] = [await files.stat('secret.txt'), await files.stat('alias')]
  expect([alias?.dev, alias?.ino]).toEqual([secret?.dev, secret?.ino])
})
