import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Files } from '../../../contract/services/sandbox.ts'
import { canary, openTestSandbox, reasonOf } from '../../host/open-test-sandbox.fixture.ts'

const bounds = { maxEntries: 100, maxDepth: 8 }

async function digestAt(files: Files, path: string): Promise<string> {
  return (await files.survey(path, { ...bounds, purpose: 'read' }))?.digest ?? 'nothing there'
}

async function how(files: Files, from: string) {
  return { ...bounds, expect: await digestAt(files, from), replace: 'absent', createDirs: true } as const
}

async function deletion(files: Files, path: string) {
  return { ...bounds, expect: await digestAt(files, path), recursive: true } as const
}

/** All names below a folder; links are named only. */
function everythingIn(folder: string, prefix = ''): string[] {
  return readdirSync(join(folder, prefix), { withFileTypes: true })
    .flatMap((entry) => {
      const path = join(prefix, entry.name)
      return entry.isDirectory() ? [path, ...everythingIn(folder, path)] : [path]
    })
    .sort()
}

test('a survey names everything, and its digest changes with every change (FILE-9)', async () => {
  await using place = openTestSandbox()
  const path = place.put('d/a', 'one')
  place.put('d/sub/b', '22')
  symlinkSync('a', join(place.project, 'd/link'))
  const { files } = place.enter()
  const tree = await files.survey('d', { ...bounds, purpose: 'write' })
  expect(tree).toMatchObject({ path: join(place.project, 'd'), files: 2, bytes: 5 })
  expect(tree?.entries.map(({ path: name, kind }) => `${kind} ${name}`)).toEqual([
    'directory ',
    'file a',
    'link link',
    'directory sub',
    'file sub/b',
  ])
  const seen = new Set([tree?.digest])
  const { atime, mtime } = statSync(path)
  const changes = [
    () => (writeFileSync(path, 'two'), utimesSync(path, atime, mtime)),
    () => chmodSync(path, 0o600),
    () => (rmSync(join(place.project, 'd/link')), symlinkSync('b', join(place.project, 'd/link'))),
    () => place.put('d/sub/c', ''),
    () => renameSync(join(place.project, 'd/sub/c'), join(place.project, 'd/sub/d')),
    () => linkSync(path, join(place.project, 'other')),
  ]
  for (const change of changes) {
    change()
    seen.add(await digestAt(files, 'd'))
  }
  expect(seen.size).toBe(changes.length + 1)
  expect(await files.survey('nothing/here', { ...bounds, purpose: 'read' })).toBeUndefined()
})

test('a tree is copied whole, links as links, without set-id bits (FILE-9): symlink write FS-37, FS-39', async () => {
  await using place = openTestSandbox()
  const program = place.put('d/run.sh', '#!/bin/sh')
  place.put('d/sub/empty', '')
  place.put('d/sub/large', Buffer.alloc(600_001, 'ab'))
  chmodSync(program, 0o6755)
  chmodSync(join(place.project, 'd/sub'), 0o1555)
  symlinkSync('/etc/passwd', join(place.project, 'd/link'))
  symlinkSync('sub', join(place.project, 'd/dir'))
  const { files } = place.enter()
  await files.copy('d', 'new/place/e', await how(files, 'd'))
  const copy = join(place.project, 'new/place/e')
  expect(everythingIn(copy)).toEqual(['dir', 'link', 'run.sh', 'sub', 'sub/empty', 'sub/large'])
  expect(readlinkSync(join(copy, 'link'))).toBe('/etc/passwd')
  expect(lstatSync(join(copy, 'dir')).isSymbolicLink()).toBe(true)
  expect(readFileSync(join(copy, 'sub/large')).equals(Buffer.alloc(600_001, 'ab'))).toBe(true)
  expect(statSync(join(copy, 'run.sh')).mode & 0o7777).toBe(0o755 & ~process.umask())
  expect(statSync(join(copy, 'sub')).mode & 0o1777).toBe(0o555 & ~process.umask())
  expect(everythingIn(join(place.project, 'new/place'))).not.toContain('.tmp')
  chmodSync(join(place.project, 'd/sub'), 0o755)
  chmodSync(join(copy, 'sub'), 0o755)
})

test('a link is copied, moved and removed itself: symlink write FS-37', async () => {
  await using place = openTestSandbox()
  symlinkSync(join(place.outside, 'canary.txt'), join(place.project, 'link'))
  const { files } = place.enter()
  await files.copy('link', 'copy', await how(files, 'link'))
  await files.move('link', 'moved', await how(files, 'link'))
  await files.remove('copy', await deletion(files, 'copy'))
  expect(readdirSync(place.project)).toEqual(['moved'])
  expect(readlinkSync(join(place.project, 'moved'))).toBe(join(place.outside, 'canary.txt'))
  expect(readFileSync(join(place.outside, 'canary.txt'), 'utf8')).toBe(canary)
})

test('what is copied belongs to the owner of its folder (FILE-7)', async () => {
  await using place = openTestSandbox()
  const isRoot = process.getuid?.() === 0
  place.put('d/a', 'x')
  symlinkSync('a', join(place.project, 'd/link'))
  mkdirSync(join(place.project, 'theirs'))
  if (isRoot) chownSync(join(place.project, 'theirs'), 65_534, 65_534)
  const { files } = place.enter()
  await files.copy('d', 'theirs/d', await how(files, 'd'))
  for (const path of ['theirs/d', 'theirs/d/a', 'theirs/d/link'])
    expect(lstatSync(join(place.project, path)).uid).toBe(isRoot ? 65_534 : process.getuid?.())
})

test('a tree and a file are moved in one step, as they are (FILE-9)', async () => {
  await using place = openTestSandbox()
  const before = statSync(place.put('d/a', 'x'))
  place.put('f', 'file')
  const { files } = place.enter()
  await files.move('d', 'e/d', await how(files, 'd'))
  await files.move('f', 'e/f', await how(files, 'f'))
  expect(everythingIn(place.project)).toEqual(['e', 'e/d', 'e/d/a', 'e/f'])
  expect(statSync(join(place.project, 'e/d/a'))).toMatchObject({ ino: before.ino, mtimeMs: before.mtimeMs })
})

test('nothing is put where something is, unless it is a file that was looked at (FILE-9)', async () => {
  await using place = openTestSandbox()
  place.put('a', 'new')
  place.put('taken', 'old')
  place.put('full/x', 'x')
  mkdirSync(join(place.project, 'empty'))
  place.put('d/x', '')
  const { files } = place.enter()
  for (const work of ['copy', 'move'] as const) {
    for (const to of ['taken', 'full', 'empty'])
      expect([to, await reasonOf(files[work]('a', to, await how(files, 'a')))]).toEqual([to, 'path_conflict'])
    for (const to of ['taken', 'full', 'empty'])
      expect([to, await reasonOf(files[work]('d', to, await how(files, 'd')))]).toEqual([to, 'path_conflict'])
    const stale = { ...(await how(files, 'a')), replace: { digest: 'another' } }
    expect(await reasonOf(files[work]('a', 'taken', stale))).toBe('stale_preview')
    const folder = { ...(await how(files, 'a')), replace: { digest: await digestAt(files, 'empty') } }
    expect(await reasonOf(files[work]('a', 'empty', folder))).toBe('path_conflict')
  }
  expect(readFileSync(join(place.project, 'taken'), 'utf8')).toBe('old')
  const replace = async () => ({
    ...(await how(files, 'a')),
    replace: { digest: await digestAt(files, 'taken') },
  })
  await files.copy('a', 'taken', await replace())
  expect(readFileSync(join(place.project, 'taken'), 'utf8')).toBe('new')
  await files.move('a', 'taken', await replace())
  expect(everythingIn(place.project)).toEqual(['d', 'd/x', 'empty', 'full', 'full/x', 'taken'])
})

test('one of many movers to the same name wins, and nothing is lost', async () => {
  await using place = openTestSandbox()
  const names = Array.from({ length: 20 }, (_, i) => `from-${i}`)
  for (const name of names) place.put(name, name)
  const { files } = place.enter()
  const reasons = await Promise.all(
    names.map(async (name) => reasonOf(files.move(name, 'to', await how(files, name)))),
  )
  expect(reasons.filter((reason) => reason === 'done').length).toBe(1)
  expect(reasons.filter((reason) => reason === 'path_conflict').length).toBe(19)
  const contents = everythingIn(place.project).map((name) => readFileSync(join(place.project, name), 'utf8'))
  expect(contents.sort()).toEqual(names.sort())
})

test('a tree that changed after it was looked at stays as it is (FS-32)', async () => {
  await using place = openTestSandbox()
  place.put('d/a', 'x')
  const { files } = place.enter()
  const [seen, removal] = [await how(files, 'd'), await deletion(files, 'd')]
  place.put('d/b', 'later')
  expect(await reasonOf(files.copy('d', 'e', seen))).toBe('stale_preview')
  expect(await reasonOf(files.move('d', 'e', seen))).toBe('stale_preview')
  expect(await reasonOf(files.remove('d', removal))).toBe('stale_preview')
  rmSync(join(place.project, 'd'), { recursive: true })
  symlinkSync(place.outside, join(place.project, 'd'))
  expect(await reasonOf(files.copy('d', 'e', seen))).toBe('stale_preview')
  expect(await reasonOf(files.remove('d', removal))).toBe('stale_preview')
  expect(everythingIn(place.outside)).toEqual(['canary.txt'])
})

test('nothing outside the roots is copied, moved or removed, and nothing put there (FILE-9)', async () => {
  await using place = openTestSandbox()
  place.put('a', 'x')
  symlinkSync(place.outside, join(place.project, 'dl'))
  const { files } = place.enter()
  const a = await how(files, 'a')
  for (const path of [
    '../outside/canary.txt',
    'dl/canary.txt',
    '/etc/passwd',
    'dl/../../outside/canary.txt',
  ]) {
    expect([path, await reasonOf(files.copy(path, 'b', a))]).toEqual([path, 'path_outside_roots'])
    expect([path, await reasonOf(files.move(path, 'b', a))]).toEqual([path, 'write_outside_allowed_roots'])
    expect(await reasonOf(files.remove(path, { ...bounds, expect: '', recursive: true }))).toBe(
      'write_outside_allowed_roots',
    )
  }
  for (const to of ['../outside/x', 'dl/x', 'dl/new/x', '/tmp/x', '/'])
    for (const work of ['copy', 'move'] as const)
      expect([to, await reasonOf(files[work]('a', to, a))]).toEqual([to, 'write_outside_allowed_roots'])
  const readOnly = place.enter({ writeRoots: [join(place.project, 'out')] })
  expect(await reasonOf(readOnly.files.move('a', 'out/a', a))).toBe('write_outside_allowed_roots')
  expect(await reasonOf(readOnly.files.remove('a', { ...bounds, expect: '', recursive: true }))).toBe(
    'write_outside_allowed_roots',
  )
  expect(everythingIn(place.outside)).toEqual(['canary.txt'])
})

test('a root stays where it is, under all of its names', async () => {
  await using place = openTestSandbox()
  place.put('sub/out/x', 'x')
  const out = join(place.project, 'sub/out')
  const { files } = place.enter({ writeRoots: [place.project, out] })
  for (const path of ['.', place.project, '../project'])
    expect([path, await reasonOf(files.remove(path, { ...bounds, expect: '', recursive: true }))]).toEqual([
      path,
      'write_outside_allowed_roots',
    ])
  for (const path of ['sub/out', 'sub']) {
    expect(await reasonOf(files.remove(path, await deletion(files, path)))).toBe(
      'write_outside_allowed_roots',
    )
    expect(await reasonOf(files.move(path, 'e', await how(files, path)))).toBe('write_outside_allowed_roots')
  }
  await files.remove('sub/out/x', await deletion(files, 'sub/out/x'))
  expect(everythingIn(place.project)).toEqual(['sub', 'sub/out'])
})

test('what is protected is neither removed, moved nor made, inside a folder neither (FS-41, FS-45, FS-50)', async () => {
  await using place = openTestSandbox()
  for (const path of ['lib/.git/hooks/x', 'lib/src/a', '.envrc', 'rc', 'tool/.VSCode/tasks.json'])
    place.put(path, 'x')
  const { files } = place.enter()
  for (const path of ['lib', 'lib/.git', 'lib/.git/hooks', '.envrc', 'tool']) {
    expect([path, await reasonOf(files.remove(path, await deletion(files, path)))]).toEqual([
      path,
      'protected_path',
    ])
    expect([path, await reasonOf(files.move(path, 'e', await how(files, path)))]).toEqual([
      path,
      'protected_path',
    ])
  }
  for (const work of ['copy', 'move'] as const)
    for (const to of ['.npmrc', '.GIT/hooks/pre-commit', 'a/.g\u200cit/config', '.bashrc.'])
      expect([to, await reasonOf(files[work]('rc', to, await how(files, 'rc')))]).toEqual([
        to,
        'protected_path',
      ])
  expect(await reasonOf(files.copy('tool', 'tool2', await how(files, 'tool')))).toBe('protected_path')
  expect(await reasonOf(files.copy('lib', 'lib2', await how(files, 'lib')))).toBe('protected_path')
  expect(await reasonOf(files.copy('lib/src', 'lib/.git/hooks', await how(files, 'lib/src')))).toBe(
    'protected_path',
  )
  expect(readdirSync(place.project).sort()).toEqual(['.envrc', 'lib', 'rc', 'tool'])
})

test('a tree with a pipe in it, too large or too deep is left alone: special files FS-54', async () => {
  await using place = openTestSandbox()
  place.put('d/a', 'x')
  execFileSync('mkfifo', [join(place.project, 'd/pipe')])
  mkdirSync(join(place.project, 'deep/1/2/3/4/5/6/7/8'), { recursive: true })
  for (let i = 0; i < 101; i++) place.put(`many/${i}`, '')
  const { files } = place.enter()
  for (const [path, reason] of [
    ['d', 'special_file'],
    ['d/pipe', 'special_file'],
    ['deep', 'too_many_files'],
    ['many', 'too_many_files'],
  ] as const) {
    const work = { ...bounds, expect: '', replace: 'absent', createDirs: true, recursive: true } as const
    expect(await reasonOf(files.survey(path, { ...bounds, purpose: 'read' }))).toBe(reason)
    expect(await reasonOf(files.copy(path, 'e', work))).toBe(reason)
    expect(await reasonOf(files.remove(path, work))).toBe(reason)
  }
  expect(existsSync(join(place.project, 'd/a'))).toBe(true)
})

test('a folder does not go into itself', async () => {
  await using place = openTestSandbox()
  place.put('d/sub/a', 'x')
  symlinkSync('d/sub', join(place.project, 'alias'))
  linkSync(join(place.project, 'd/sub/a'), join(place.project, 'hard'))
  const { files } = place.enter()
  for (const work of ['copy', 'move'] as const) {
    for (const to of ['d', 'd/x', 'alias/x', 'd/sub/y/z'])
      expect([to, await reasonOf(files[work]('d', to, await how(files, 'd')))]).toEqual([to, 'path_conflict'])
    const same = { ...(await how(files, 'd/sub/a')), replace: { digest: await digestAt(files, 'hard') } }
    expect(await reasonOf(files[work]('d/sub/a', 'hard', same))).toBe('path_conflict')
  }
  expect(everythingIn(place.project)).toEqual(['alias', 'd', 'd/sub', 'd/sub/a', 'hard'])
})

test('a folder with something in it goes only where that is asked for', async () => {
  await using place = openTestSandbox()
  place.put('d/a', 'x')
  mkdirSync(join(place.project, 'empty'))
  const { files } = place.enter()
  const gently = async (path: string) => ({ ...(await deletion(files, path)), recursive: false })
  expect(await reasonOf(files.remove('d', await gently('d')))).toBe('not_empty')
  await files.remove('empty', await gently('empty'))
  await files.remove('d', await deletion(files, 'd'))
  expect(readdirSync(place.project)).toEqual([])
})

test('nothing is left of a copy that was ended, and nothing is done for a call that may only read', async () => {
  await using place = openTestSandbox()
  truncateSync(place.put('d/large', ''), 64 * 1024 * 1024)
  place.put('d/a', 'x')
  const ending = new AbortController()
  const { files } = place.enter({}, { access: 'write', signal: () => ending.signal })
  const work = reasonOf(files.copy('d', 'e', await how(files, 'd')))
  setTimeout(() => ending.abort(), 5)
  expect(await work).toBe('aborted_by_user')
  expect(readdirSync(place.project)).toEqual(['d'])
  const reading = place.enter({}, { access: 'read' }).files
  const a = await how(reading, 'd/a')
  expect(await reasonOf(reading.copy('d/a', 'b', a))).toBe('undeclared_capability')
  expect(await reasonOf(reading.move('d/a', 'b', a))).toBe('undeclared_capability')
  expect(await reasonOf(reading.remove('d/a', await deletion(reading, 'd/a')))).toBe('undeclared_capability')
})

test('no descriptor stays open, whatever happens', async () => {
  await using place = openTestSandbox()
  place.put('a/b', 'x')
  place.put('c', 'x')
  const { files } = place.enter()
  const count = () => readdirSync('/proc/self/fd').length
  const before = process.platform === 'linux' ? count() : 0
  for (const path of ['a', 'a/b', 'a/nothing', '../outside/canary.txt', 'a/b/c', 'none/x', '.']) {
    const work = { ...bounds, expect: 'x', replace: 'absent', createDirs: true, recursive: true } as const
    await reasonOf(files.survey(path, { ...bounds, purpose: 'write' }))
    await reasonOf(files.copy(path, 'c', work))
    await reasonOf(files.move(path, 'c', work))
    await reasonOf(files.remove(path, work))
    await reasonOf(files.copy('a', path, await how(files, 'a')))
  }
  expect(process.platform === 'linux' ? count() : 0).toBe(before)
})
