import { linkSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openTestGround, reasonOf } from '../host/open-test-ground.fixture.ts'

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
  await using ground = openTestGround()
  const { files } = ground.enter()
  expect(await reasonOf(files.read(path))).toBe('path_outside_roots')
  expect(await reasonOf(files.stat(path))).toBe('path_outside_roots')
  expect(await reasonOf(files.resolve(path, 'read'))).toBe('path_outside_roots')
})

test.each(['%2e%2e/outside/canary.txt', '~/.ssh/id_rsa', '．．／outside/canary.txt'])(
  'takes %j literally and finds nothing: path traversal FS-06, FS-08, FS-17',
  async (path) => {
    await using ground = openTestGround()
    const { files } = ground.enter()
    expect(await reasonOf(files.read(path))).toBe('file_not_found')
    expect(await files.stat(path)).toBeUndefined()
  },
)

test('refuses a neighbour whose name starts like a root', async () => {
  await using ground = openTestGround()
  mkdirSync(`${ground.project}-evil`)
  writeFileSync(`${ground.project}-evil/x`, 'x')
  const { files } = ground.enter()
  expect(await reasonOf(files.read(`${ground.project}-evil/x`))).toBe('path_outside_roots')
})

test('looks at nothing outside, not even at a link back inside', async () => {
  await using ground = openTestGround()
  ground.put('a.txt', 'a')
  const alias = join(ground.outside, 'alias')
  symlinkSync(ground.project, alias)
  const { files } = ground.enter()
  expect(await reasonOf(files.read(join(alias, 'a.txt')))).toBe('path_outside_roots')
})

test('reads nothing where there are no roots', async () => {
  await using ground = openTestGround()
  ground.put('a.txt', 'a')
  const { files } = ground.enter({ readRoots: [], writeRoots: [] })
  expect(await reasonOf(files.read('a.txt'))).toBe('path_outside_roots')
  const odd = ground.enter({ readRoots: ['', '.', '*', 'project'], writeRoots: [] })
  expect(await reasonOf(odd.files.read('a.txt'))).toBe('path_outside_roots')
})

test('refuses links that lead outside, also in chains and by relative targets: symlink FS-19, FS-21, FS-22', async () => {
  await using ground = openTestGround()
  symlinkSync('/etc/passwd', join(ground.project, 'link'))
  symlinkSync('../../../../../../../etc/passwd', join(ground.project, 'rel'))
  symlinkSync('b', join(ground.project, 'a'))
  symlinkSync('c', join(ground.project, 'b'))
  symlinkSync(join(ground.outside, 'canary.txt'), join(ground.project, 'c'))
  symlinkSync(ground.outside, join(ground.project, 'dl'))
  const { files } = ground.enter()
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
  await using ground = openTestGround()
  const file = ground.put('sub/file', 'inside')
  symlinkSync('sub/file', join(ground.project, 'in'))
  symlinkSync(join(ground.project, 'sub'), join(ground.project, 'dir'))
  const { files } = ground.enter()
  for (const path of ['in', 'dir/file', join(ground.project, 'dir/file')]) {
    expect(Buffer.from((await files.read(path)).bytes).toString()).toBe('inside')
    expect(await files.resolve(path, 'read')).toBe(file)
  }
})

test('follows a link from one root into another', async () => {
  await using ground = openTestGround()
  symlinkSync(ground.outside, join(ground.project, 'dl'))
  const { files } = ground.enter({ readRoots: [ground.project, ground.outside] })
  expect((await files.stat('dl/canary.txt'))?.kind).toBe('file')
})

test('resolves what does not exist yet, and refuses a dangling link to the outside: symlink write', async () => {
  await using ground = openTestGround()
  ground.put('sub/file', 'x')
  symlinkSync('sub', join(ground.project, 'dir'))
  symlinkSync(join(ground.outside, 'new.txt'), join(ground.project, 'out'))
  symlinkSync('sub/new.txt', join(ground.project, 'in'))
  const { files } = ground.enter()
  expect(await files.resolve('dir/x/y', 'write')).toBe(join(ground.project, 'sub/x/y'))
  expect(await files.resolve('in', 'write')).toBe(join(ground.project, 'sub/new.txt'))
  expect(await reasonOf(files.resolve('out', 'write'))).toBe('write_outside_allowed_roots')
  expect(await reasonOf(files.read('out'))).toBe('path_outside_roots')
})

test('answers a circle of links and a path through a file', async () => {
  await using ground = openTestGround()
  ground.put('file', 'x')
  symlinkSync('y', join(ground.project, 'x'))
  symlinkSync('x', join(ground.project, 'y'))
  const { files } = ground.enter()
  expect(await reasonOf(files.read('x'))).toBe('file_not_found')
  expect(await reasonOf(files.read('file/below'))).toBe('file_not_found')
  expect(await files.stat('file/below')).toBeUndefined()
})

test('reads the root itself through the link that names it, and its real path too', async () => {
  await using ground = openTestGround()
  ground.put('a.txt', 'a')
  const alias = join(ground.outside, 'alias')
  symlinkSync(ground.project, alias)
  const { files } = ground.enter({ readRoots: [alias] })
  for (const path of [join(alias, 'a.txt'), join(ground.project, 'a.txt')])
    expect((await files.read(path)).bytes.length).toBe(1)
})

test('follows a root that is another directory now', async () => {
  await using ground = openTestGround()
  ground.put('a.txt', 'old')
  const { files } = ground.enter()
  await files.read('a.txt')
  renameSync(ground.project, `${ground.project}.old`)
  ground.put('a.txt', 'newer')
  expect((await files.read('a.txt')).stat.size).toBe(5)
  rmSync(ground.project, { recursive: true })
  symlinkSync(`${ground.project}.old`, ground.project)
  expect((await files.read('a.txt')).stat.size).toBe(3)
})

test('does not take a root that a link inside another root leads outside: symlink', async () => {
  await using ground = openTestGround()
  symlinkSync(ground.outside, join(ground.project, 'deliverables'))
  const { files } = ground.enter({ writeRoots: [join(ground.project, 'deliverables')] })
  const bytes = Buffer.from('x')
  expect(await reasonOf(files.write('deliverables/x', bytes, { createDirs: true, expect: 'absent' }))).toBe(
    'write_outside_allowed_roots',
  )
})

test('shows a hard link as what it is, by device and inode: symlink FS-26', async () => {
  await using ground = openTestGround()
  linkSync(ground.put('secret.txt', 'x'), join(ground.project, 'alias'))
  const { files } = ground.enter()
  const [secret, alias] = [await files.stat('secret.txt'), await files.stat('alias')]
  expect([alias?.dev, alias?.ino]).toEqual([secret?.dev, secret?.ino])
})
