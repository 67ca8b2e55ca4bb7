import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { fileDigest } from '../../kit/json/digest.ts'
import { openTestSandbox, reasonOf } from '../host/open-test-sandbox.fixture.ts'

const absent = { createDirs: true, expect: 'absent' } as const
const over = (content: string) => ({ createDirs: false, expect: { digest: fileDigest(content) } })

test('creates a file with its directories (FILE-5)', async () => {
  await using place = openTestSandbox()
  const stat = await place.enter().files.write('a/b/c.txt', Buffer.from('new'), absent)
  const path = join(place.project, 'a/b/c.txt')
  expect(readFileSync(path, 'utf8')).toBe('new')
  expect(stat).toMatchObject({ kind: 'file', size: 3, ino: statSync(path).ino })
  expect(stat.mode).toBe(0o666 & ~process.umask())
  expect(readdirSync(join(place.project, 'a/b'))).toEqual(['c.txt'])
})

test('gives what it makes to the owner of the folder, so that commands can go on with it (FILE-7)', async () => {
  await using place = openTestSandbox()
  const isRoot = process.getuid?.() === 0
  if (isRoot) chownSync(place.project, 65534, 65534)
  const { uid, gid } = statSync(place.project)
  await place.enter().files.write('a/b/c.txt', Buffer.from('new'), absent)
  for (const path of ['a', 'a/b', 'a/b/c.txt'])
    expect(statSync(join(place.project, path))).toMatchObject({ uid, gid })
  expect(uid).toBe(isRoot ? 65534 : process.getuid?.())
})

test('creates no directory that was not asked for', async () => {
  await using place = openTestSandbox()
  const work = place.enter().files.write('a/c.txt', Buffer.from('x'), { createDirs: false, expect: 'absent' })
  expect(await reasonOf(work)).toBe('file_not_found')
  expect(readdirSync(place.project)).toEqual([])
})

test('never overwrites where nothing was expected (FILE-5)', async () => {
  await using place = openTestSandbox()
  const path = place.put('a', 'old')
  expect(await reasonOf(place.enter().files.write('a', Buffer.from('new'), absent))).toBe('path_conflict')
  expect(readFileSync(path, 'utf8')).toBe('old')
})

test('lets one of many creators win and tells the others', async () => {
  await using place = openTestSandbox()
  const { files } = place.enter()
  const writes = Array.from({ length: 20 }, (_, i) => reasonOf(files.write('a', Buffer.from(`${i}`), absent)))
  const reasons = await Promise.all(writes)
  expect(reasons.filter((reason) => reason === 'done').length).toBe(1)
  expect(reasons.filter((reason) => reason === 'path_conflict').length).toBe(19)
  expect(readdirSync(place.project)).toEqual(['a'])
})

test('replaces what it expects and nothing else (FILE-6)', async () => {
  await using place = openTestSandbox()
  const path = place.put('a', 'one')
  const { files } = place.enter()
  await files.write('a', Buffer.from('two'), over('one'))
  expect(await reasonOf(files.write('a', Buffer.from('three'), over('one')))).toBe('stale_preview')
  expect(await reasonOf(files.write('gone', Buffer.from('x'), over('one')))).toBe('stale_preview')
  expect(readFileSync(path, 'utf8')).toBe('two')
  expect(readdirSync(place.project)).toEqual(['a'])
})

test('lets one of many changes of the same content win', async () => {
  await using place = openTestSandbox()
  place.put('a', 'old')
  const { files } = place.enter()
  const reasons = await Promise.all(
    Array.from({ length: 20 }, (_, i) => reasonOf(files.write('a', Buffer.from(`new ${i}`), over('old')))),
  )
  expect(reasons.filter((reason) => reason === 'done').length).toBe(1)
  expect(reasons.filter((reason) => reason === 'stale_preview').length).toBe(19)
})

test('keeps the mode of a file and drops its set-id bits: symlink write FS-39', async () => {
  await using place = openTestSandbox()
  const path = place.put('a.sh', 'one')
  chmodSync(path, 0o4751)
  const stat = await place.enter().files.write('a.sh', Buffer.from('two'), over('one'))
  expect(statSync(path).mode & 0o7777).toBe(0o751)
  expect(stat.mode).toBe(0o751)
})

test('writes the file that a link inside points to and keeps the link: symlink write', async () => {
  await using place = openTestSandbox()
  const path = place.put('sub/file', 'one')
  symlinkSync('sub/file', join(place.project, 'link'))
  symlinkSync('sub/new', join(place.project, 'dangling'))
  const { files } = place.enter()
  await files.write('link', Buffer.from('two'), over('one'))
  await files.write('dangling', Buffer.from('made'), absent)
  expect(readFileSync(path, 'utf8')).toBe('two')
  expect(readFileSync(join(place.project, 'sub/new'), 'utf8')).toBe('made')
  expect(lstatSync(join(place.project, 'link')).isSymbolicLink()).toBe(true)
})

test('refuses to write through links that lead outside (FILE-9): symlink write', async () => {
  await using place = openTestSandbox()
  symlinkSync(join(place.outside, 'canary.txt'), join(place.project, 'file'))
  symlinkSync(join(place.outside, 'new.txt'), join(place.project, 'dangling'))
  symlinkSync(place.outside, join(place.project, 'dir'))
  const { files } = place.enter()
  for (const path of ['file', 'dangling', 'dir/new.txt', 'dir/a/b', '../outside/x', '/etc/x'])
    for (const expected of [absent, over('CANARY')])
      expect([path, await reasonOf(files.write(path, Buffer.from('x'), expected))]).toEqual([
        path,
        'write_outside_allowed_roots',
      ])
  expect(readdirSync(place.outside)).toEqual(['canary.txt'])
})

test('refuses to write where only reading is allowed (FILE-9)', async () => {
  await using place = openTestSandbox()
  mkdirSync(join(place.project, 'out'))
  const { files } = place.enter({ writeRoots: [join(place.project, 'out')] })
  expect(await reasonOf(files.write('a', Buffer.from('x'), absent))).toBe('write_outside_allowed_roots')
  expect(await reasonOf(files.write('out/a', Buffer.from('x'), absent))).toBe('done')
  const none = place.enter({ writeRoots: [] })
  expect(await reasonOf(none.files.write('out/b', Buffer.from('x'), absent))).toBe(
    'write_outside_allowed_roots',
  )
})

test('writes nothing for a call that may only read', async () => {
  await using place = openTestSandbox()
  const { files } = place.enter({}, { access: 'read' })
  await expect(files.write('a', Buffer.from('x'), absent)).rejects.toMatchObject({
    code: 'SANDBOX.CAPABILITY_BLOCKED',
    reason: 'undeclared_capability',
  })
  expect(await files.resolve('a', 'write')).toBe(join(place.project, 'a'))
})

test('writes regular files only', async () => {
  await using place = openTestSandbox()
  place.put('file', 'x')
  mkdirSync(join(place.project, 'dir'))
  const { files } = place.enter({ writeRoots: [place.project, '/dev'] })
  expect(await reasonOf(files.write('dir', Buffer.from('x'), absent))).toBe('not_a_file')
  expect(await reasonOf(files.write('file/x', Buffer.from('x'), absent))).toBe('not_a_directory')
  expect(await reasonOf(files.write('/dev/null', Buffer.from('x'), absent))).toBe('special_file')
})

test('leaves the old content to a hard link', async () => {
  await using place = openTestSandbox()
  linkSync(place.put('a', 'one'), join(place.project, 'other'))
  await place.enter().files.write('a', Buffer.from('two'), over('one'))
  expect(readFileSync(join(place.project, 'other'), 'utf8')).toBe('one')
})

test('writes nothing when the call is aborted', async () => {
  await using place = openTestSandbox()
  const { files } = place.enter({}, { access: 'write', signal: () => AbortSignal.abort() })
  expect(await reasonOf(files.write('a', Buffer.from('x'), absent))).toBe('aborted_by_user')
  expect(existsSync(join(place.project, 'a'))).toBe(false)
})

test('writes odd names', async () => {
  await using place = openTestSandbox()
  const { files } = place.enter()
  const name = `-rf $(x) 'q' "d" \n ü ${'n'.repeat(200)}`
  await files.write(name, Buffer.from('x'), absent)
  expect(readdirSync(place.project)).toEqual([name])
})
