import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openTestGround, reasonOf } from '../host/open-test-ground.fixture.ts'

test('lists entries in name order, subdirectories after their name (FILE-2)', async () => {
  await using ground = openTestGround()
  for (const path of ['b/z', 'b/a', 'a.txt', 'b.txt', 'Ü', '.hidden']) ground.put(path, 'x')
  const { files } = ground.enter()
  const flat = await files.list('.', { recursive: false, limit: 100 })
  expect(flat.entries.map((entry) => entry.path)).toEqual(['.hidden', 'a.txt', 'b', 'b.txt', 'Ü'])
  const deep = await files.list('.', { recursive: true, limit: 100 })
  expect(deep.entries.map((entry) => entry.path)).toEqual([
    '.hidden',
    'a.txt',
    'b',
    'b/a',
    'b/z',
    'b.txt',
    'Ü',
  ])
  expect(deep.entries[1]).toEqual({ path: 'a.txt', kind: 'file', size: 1 })
  expect(deep.truncated).toBe(false)
})

test('stops at the limit and says so', async () => {
  await using ground = openTestGround()
  for (const name of ['a', 'b', 'c']) ground.put(name, '')
  const { files } = ground.enter()
  expect(await files.list('.', { recursive: true, limit: 3 })).toMatchObject({ truncated: false })
  const cut = await files.list('.', { recursive: true, limit: 2 })
  expect(cut.entries.map((entry) => entry.path)).toEqual(['a', 'b'])
  expect(cut.truncated).toBe(true)
})

test('names links and does not follow them, so that loops end: special files FS-64, glob FS-69', async () => {
  await using ground = openTestGround()
  ground.put('sub/a', 'x')
  symlinkSync('..', join(ground.project, 'sub/loop'))
  symlinkSync(ground.outside, join(ground.project, 'dl'))
  const { entries } = await ground.enter().files.list('.', { recursive: true, limit: 100 })
  expect(entries.map(({ path, kind }) => `${kind} ${path}`)).toEqual([
    'link dl',
    'directory sub',
    'file sub/a',
    'link sub/loop',
  ])
})

test('goes no deeper than it is told and says so', async () => {
  await using ground = openTestGround()
  ground.put('a/b/c/d', 'x')
  const { files } = ground.enter()
  const { entries, truncated } = await files.list('.', { recursive: true, limit: 100, maxDepth: 2 })
  expect(entries.map((entry) => entry.path)).toEqual(['a', 'a/b'])
  expect(truncated).toBe(true)
})

test('survives a tree deeper than a path may be long', async () => {
  await using ground = openTestGround()
  const long = Array(150).fill('a'.repeat(20)).join('/')
  execFileSync('/bin/sh', ['-c', `for i in 1 2; do mkdir -p ${long} && cd -P ${long}; done`], {
    cwd: ground.project,
  })
  const { entries, truncated } = await ground.enter().files.list('.', { recursive: true, limit: 1000 })
  expect(entries.length).toBe(64)
  expect(truncated).toBe(true)
  execFileSync('rm', ['-rf', join(ground.project, 'a'.repeat(20))])
})

test('reads no more names of a huge directory than its bound: special files FS-63', async () => {
  await using ground = openTestGround({ limits: { directoryNames: 50 } })
  for (let i = 0; i < 120; i++) ground.put(`many/${i}`, '')
  const { entries, truncated } = await ground.enter().files.list('many', { recursive: false, limit: 1000 })
  expect(entries.length).toBe(50)
  expect(truncated).toBe(true)
})

test('lists a directory only', async () => {
  await using ground = openTestGround()
  ground.put('a', 'x')
  const { files } = ground.enter()
  expect(await reasonOf(files.list('a', { recursive: false, limit: 1 }))).toBe('not_a_directory')
  expect(await reasonOf(files.list('b', { recursive: false, limit: 1 }))).toBe('file_not_found')
})

test('skips what vanishes while it lists', async () => {
  await using ground = openTestGround()
  const churn = `
    const { mkdirSync, rmSync, writeFileSync } = require('node:fs')
    process.stdout.write('ready')
    for (;;) for (const change of [(name) => { mkdirSync(name); writeFileSync(name + '/f', '') }, (name) => rmSync(name, { recursive: true })])
      for (let i = 0; i < 30; i++) change('d' + i)`
  const child = spawn(process.execPath, ['-e', churn], {
    cwd: ground.project,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(child.stdout, 'data')
  const { files } = ground.enter()
  const sizes = new Set<number>()
  for (let i = 0; i < 400; i++)
    sizes.add((await files.list('.', { recursive: true, limit: 100 })).entries.length)
  expect(sizes.size).toBeGreaterThan(1)
  expect(child.exitCode).toBeNull()
  child.kill('SIGKILL')
  await once(child, 'exit')
})
