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
import type { Files } from '../../../contract/base/sandbox.ts'
import { canary, openTestGround, reasonOf } from '../../host/open-test-ground.fixture.ts'

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
  await using ground = openTestGround()
  const path = ground.put('d/a', 'one')
  ground.put('d/sub/b', '22')
  symlinkSync('a', join(ground.project, 'd/link'))
  const { files } = ground.enter()
  const tree = await files.survey('d', { ...bounds, purpose: 'write' })
  expect(tree).toMatchObject({ path: join(ground.project, 'd'), files: 2, bytes: 5 })
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
    () => (rmSync(join(ground.project, 'd/link')), symlinkSync('b', join(ground.project, 'd/link'))),
    () => ground.put('d/sub/c', ''),
    () => renameSync(join(ground.project, 'd/sub/c'), join(ground.project, 'd/sub/d')),
    () => linkSync(path, join(ground.project, 'other')),
  ]
  for (const change of changes) {
    change()
    seen.add(await digestAt(files, 'd'))
  }
  expect(seen.size).toBe(changes.length + 1)
  expect(await files.survey('nothing/here', { ...bounds, purpose: 'read' })).toBeUndefined()
})

test('a tree is copied whole, links as links, without set-id bits (FILE-9): symlink write FS-37, FS-39', async () => {
  await using ground = openTestGround()
  const program = ground.put('d/run.sh', '#!/bin/sh')
  ground.put('d/sub/empty', '')
  ground.put('d/sub/large', Buffer.alloc(600_001, 'ab'))
  chmodSync(program, 0o6755)
  chmodSync(join(ground.project, 'd/sub'), 0o1555)
  symlinkSync('/etc/passwd', join(ground.project, 'd/link'))
  symlinkSync('sub', join(ground.project, 'd/dir'))
  const { files } = ground.enter()
  await files.copy('d', 'new/place/e', await how(files, 'd'))
  const copy = join(ground.project, 'new/place/e')
  expect(everythingIn(copy)).toEqual(['dir', 'link', 'run.sh', 'sub', 'sub/empty', 'sub/large'])
  expect(readlinkSync(join(copy, 'link'))).toBe('/etc/passwd')
  expect(lstatSync(join(copy, 'dir')).isSymbolicLink()).toBe(true)
  expect(readFileSync(join(copy, 'sub/large')).equals(Buffer.alloc(600_001, 'ab'))).toBe(true)
  expect(statSync(join(copy, 'run.sh')).mode & 0o7777).toBe(0o755 & ~process.umask())
  expect(statSync(join(copy, 'sub')).mode & 0o1777).toBe(0o555 & ~process.umask())
  expect(everythingIn(join(ground.project, 'new/place'))).not.toContain('.tmp')
  chmodSync(join(ground.project, 'd/sub'), 0o755)
  chmodSync(join(copy, 'sub'), 0o755)
})

test('a link is copied, moved and removed itself: symlink write FS-37', async () => {
  await using ground = openTestGround()
  symlinkSync(join(ground.outside, 'canary.txt'), join(ground.project, 'link'))
  const { files } = ground.enter()
  await files.copy('link', 'copy', await how(files, 'link'))
  await files.move('link', 'moved', await how(files, 'link'))
  await files.remove('copy', await deletion(files, 'copy'))
  expect(readdirSync(ground.project)).toEqual(['moved'])
  expect(readlinkSync(join(ground.project, 'moved'))).toBe(join(ground.outside, 'canary.txt'))
  expect(readFileSync(join(ground.outside, 'canary.txt'), 'utf8')).toBe(canary)
})

test('what is copied belongs to the owner of its folder (FILE-7)', async () => {
  await using ground = openTestGround()
  const isRoot = process.getuid?.() === 0
  ground.put('d/a', 'x')
  symlinkSync('a', join(ground.project, 'd/link'))
  mkdirSync(join(ground.project, 'theirs'))
  if (isRoot) chownSync(join(ground.project, 'theirs'), 65_534, 65_534)
  const { files } = ground.enter()
  await files.copy('d', 'theirs/d', await how(files, 'd'))
  for (const path of ['theirs/d', 'theirs/d/a', 'theirs/d/link'])
    expect(lstatSync(join(ground.project, path)).uid).toBe(isRoot ? 65_534 : process.getuid?.())
})

test('a tree and a file are moved in one step, as they are (FILE-9)', async () => {
  await using ground = openTestGround()
  const before = statSync(ground.put('d/a', 'x'))
  ground.put('f', 'file')
  const { files } = ground.enter()
  await files.move('d', 'e/d', await how(files, 'd'))
  await files.move('f', 'e/f', await how(files, 'f'))
  expect(everythingIn(ground.project)).toEqual(['e', 'e/d', 'e/d/a', 'e/f'])
  expect(statSync(join(ground.project, 'e/d/a'))).toMatchObject({ ino: before.ino, mtimeMs: before.mtimeMs })
})

test('nothing is put where something is, unless it is a file that was looked at (FILE-9)', async () => {
  await using ground = openTestGround()
  ground.put('a', 'new')
  ground.put('taken', 'old')
  ground.put('full/x', 'x')
  mkdirSync(join(ground.project, 'empty'))
  ground.put('d/x', '')
  const { files } = ground.enter()
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
  expect(readFileSync(join(ground.project, 'taken'), 'utf8')).toBe('old')
  const replace = async () => ({
    ...(await how(files, 'a')),
    replace: { digest: await digestAt(files, 'taken') },
  })
  await files.copy('a', 'taken', await replace())
  expect(readFileSync(join(ground.project, 'taken'), 'utf8')).toBe('new')
  await files.move('a', 'taken', await replace())
  expect(everythingIn(ground.project)).toEqual(['d', 'd/x', 'empty', 'full', 'full/x', 'taken'])
})

test('one of many movers to the same name wins, and nothing is lost', async () => {
  await using ground = openTestGround()
  const names = Array.from({ length: 20 }, (_, i) => `from-${i}`)
  for (const name of names) ground.put(name, name)
  const { files } = ground.enter()
  const reasons = await Promise.all(
    names.map(async (name) => reasonOf(files.move(name, 'to', await how(files, name)))),
  )
  expect(reasons.filter((reason) => reason === 'done').length).toBe(1)
  expect(reasons.filter((reason) => reason === 'path_conflict').length).toBe(19)
  const contents = everythingIn(ground.project).map((name) =>
    readFileSync(join(ground.project, name), 'utf8'),
  )
  expect(contents.sort()).toEqual(names.sort())
})

test('a tree that changed after it was looked at stays as it is (FS-32)', async () => {
  await using ground = openTestGround()
  ground.put('d/a', 'x')
  const { files } = ground.enter()
  const [seen, removal] = [await how(files, 'd'), await deletion(files, 'd')]
  ground.put('d/b', 'later')
  expect(await reasonOf(files.copy('d', 'e', seen))).toBe('stale_preview')
  expect(await reasonOf(files.move('d', 'e', seen))).toBe('stale_preview')
  expect(await reasonOf(files.remove('d', removal))).toBe('stale_preview')
  rmSync(join(ground.project, 'd'), { recursive: true })
  symlinkSync(ground.outside, join(ground.project, 'd'))
  expect(await reasonOf(files.copy('d', 'e', seen))).toBe('stale_preview')
  expect(await reasonOf(files.remove('d', removal))).toBe('stale_preview')
  expect(everythingIn(ground.outside)).toEqual(['canary.txt'])
})

test('nothing outside the roots is copied, moved or removed, and nothing put there (FILE-9)', async () => {
  await using ground = openTestGround()
  ground.put('a', 'x')
  symlinkSync(ground.outside, join(ground.project, 'dl'))
  const { files } = ground.enter()
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
  const readOnly = ground.enter({ writeRoots: [join(ground.project, 'out')] })
  expect(await reasonOf(readOnly.files.move('a', 'out/a', a))).toBe('write_outside_allowed_roots')
  expect(await reasonOf(readOnly.files.remove('a', { ...bounds, expect: '', recursive: true }))).toBe(
    'write_outside_allowed_roots',
  )
  expect(everythingIn(ground.outside)).toEqual(['canary.txt'])
})

test('a root stays where it is, under all of its names', async () => {
  await using ground = openTestGround()
  ground.put('sub/out/x', 'x')
  const out = join(ground.project, 'sub/out')
  const { files } = ground.enter({ writeRoots: [ground.project, out] })
  for (const path of ['.', ground.project, '../project'])
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
  expect(everythingIn(ground.project)).toEqual(['sub', 'sub/out'])
})

test('what is protected is neither removed, moved nor made, inside a folder neither (FS-41, FS-45, FS-50)', async () => {
  await using ground = openTestGround()
  for (const path of ['lib/.git/hooks/x', 'lib/src/a', '.envrc', 'rc', 'tool/.VSCode/tasks.json'])
    ground.put(path, 'x')
  const { files } = ground.enter()
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
  expect(readdirSync(ground.project).sort()).toEqual(['.envrc', 'lib', 'rc', 'tool'])
})

test('a tree with a pipe in it, too large or too deep is left alone: special files FS-54', async () => {
  await using ground = openTestGround()
  ground.put('d/a', 'x')
  execFileSync('mkfifo', [join(ground.project, 'd/pipe')])
  mkdirSync(join(ground.project, 'deep/1/2/3/4/5/6/7/8'), { recursive: true })
  for (let i = 0; i < 101; i++) ground.put(`many/${i}`, '')
  const { files } = ground.enter()
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
  expect(existsSync(join(ground.project, 'd/a'))).toBe(true)
})

test('a folder does not go into itself', async () => {
  await using ground = openTestGround()
  ground.put('d/sub/a', 'x')
  symlinkSync('d/sub', join(ground.project, 'alias'))
  linkSync(join(ground.project, 'd/sub/a'), join(ground.project, 'hard'))
  const { files } = ground.enter()
  for (const work of ['copy', 'move'] as const) {
    for (const to of ['d', 'd/x', 'alias/x', 'd/sub/y/z'])
      expect([to, await reasonOf(files[work]('d', to, await how(files, 'd')))]).toEqual([to, 'path_conflict'])
    const same = { ...(await how(files, 'd/sub/a')), replace: { digest: await digestAt(files, 'hard') } }
    expect(await reasonOf(files[work]('d/sub/a', 'hard', same))).toBe('path_conflict')
  }
  expect(everythingIn(ground.project)).toEqual(['alias', 'd', 'd/sub', 'd/sub/a', 'hard'])
})

test('a folder with something in it goes only where that is asked for', async () => {
  await using ground = openTestGround()
  ground.put('d/a', 'x')
  mkdirSync(join(ground.project, 'empty'))
  const { files } = ground.enter()
  const gently = async (path: string) => ({ ...(await deletion(files, path)), recursive: false })
  expect(await reasonOf(files.remove('d', await gently('d')))).toBe('not_empty')
  await files.remove('empty', await gently('empty'))
  await files.remove('d', await deletion(files, 'd'))
  expect(readdirSync(ground.project)).toEqual([])
})

test('nothing is left of a copy that was ended, and nothing is done for a call that may only read', async () => {
  await using ground = openTestGround()
  truncateSync(ground.put('d/large', ''), 64 * 1024 * 1024)
  ground.put('d/a', 'x')
  const ending = new AbortController()
  const { files } = ground.enter({}, { access: 'write', signal: () => ending.signal })
  const work = reasonOf(files.copy('d', 'e', await how(files, 'd')))
  setTimeout(() => ending.abort(), 5)
  expect(await work).toBe('aborted_by_user')
  expect(readdirSync(ground.project)).toEqual(['d'])
  const reading = ground.enter({}, { access: 'read' }).files
  const a = await how(reading, 'd/a')
  expect(await reasonOf(reading.copy('d/a', 'b', a))).toBe('undeclared_capability')
  expect(await reasonOf(reading.move('d/a', 'b', a))).toBe('undeclared_capability')
  expect(await reasonOf(reading.remove('d/a', await deletion(reading, 'd/a')))).toBe('undeclared_capability')
})

test('no descriptor stays open, whatever happens', async () => {
  await using ground = openTestGround()
  ground.put('a/b', 'x')
  ground.put('c', 'x')
  const { files } = ground.enter()
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
