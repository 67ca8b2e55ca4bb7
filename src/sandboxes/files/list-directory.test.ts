import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openTestSandbox, reasonOf } from '../host/open-test-sandbox.fixture.ts'
import { rounds } from '../../../test/support/rounds.ts'

test('lists entries in name order, subdirectories after their name (FILE-2)', async () => {
  await using place = openTestSandbox()
  for (const path of ['b/z', 'b/a', 'a.txt', 'b.txt', 'Ü', '.hidden']) place.put(path, 'x')
  const { files } = place.enter()
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
  await using place = openTestSandbox()
  for (const name of ['a', 'b', 'c']) place.put(name, '')
  const { files } = place.enter()
  expect(await files.list('.', { recursive: true, limit: 3 })).toMatchObject({ truncated: false })
  const cut = await files.list('.', { recursive: true, limit: 2 })
  expect(cut.entries.map((entry) => entry.path)).toEqual(['a', 'b'])
  expect(cut.truncated).toBe(true)
})

test('names links and does not follow them, so that loops end: special files FS-64, glob FS-69', async () => {
  await using place = openTestSandbox()
  place.put('sub/a', 'x')
  symlinkSync('..', join(place.project, 'sub/loop'))
  symlinkSync(place.outside, join(place.project, 'dl'))
  const { entries } = await place.enter().files.list('.', { recursive: true, limit: 100 })
  expect(entries.map(({ path, kind }) => `${kind} ${path}`)).toEqual([
    'link dl',
    'directory sub',
    'file sub/a',
    'link sub/loop',
  ])
})

test('goes no deeper than it is told and says so', async () => {
  await using place = openTestSandbox()
  place.put('a/b/c/d', 'x')
  const { files } = place.enter()
  const { entries, truncated } = await files.list('.', { recursive: true, limit: 100, maxDepth: 2 })
  expect(entries.map((entry) => entry.path)).toEqual(['a', 'a/b'])
  expect(truncated).toBe(true)
})

test('survives a tree deeper than a path may be long', async () => {
  await using place = openTestSandbox()
  const long = Array(150).fill('a'.repeat(20)).join('/')
  execFileSync('/bin/sh', ['-c', `for i in 1 2; do mkdir -p ${long} && cd -P ${long}; done`], {
    cwd: place.project,
  })
  const { entries, truncated } = await place.enter().files.list('.', { recursive: true, limit: 1000 })
  expect(entries.length).toBe(64)
  expect(truncated).toBe(true)
  execFileSync('rm', ['-rf', join(place.project, 'a'.repeat(20))])
})

test('reads no more names of a huge directory than its bound: special files FS-63', async () => {
  await using place = openTestSandbox({ limits: { directoryNames: 50 } })
  for (let i = 0; i < 120; i++) place.put(`many/${i}`, '')
  const { entries, truncated } = await place.enter().files.list('many', { recursive: false, limit: 1000 })
  expect(entries.length).toBe(50)
  expect(truncated).toBe(true)
})

test('lists a directory only', async () => {
  await using place = openTestSandbox()
  place.put('a', 'x')
  const { files } = place.enter()
  expect(await reasonOf(files.list('a', { recursive: false, limit: 1 }))).toBe('not_a_directory')
  expect(await reasonOf(files.list('b', { recursive: false, limit: 1 }))).toBe('file_not_found')
})

test('skips what vanishes while it lists', async () => {
  await using place = openTestSandbox()
  const churn = `
    const { mkdirSync, rmSync, writeFileSync } = require('node:fs')
    process.stdout.write('ready')
    for (;;) for (const change of [(name) => { mkdirSync(name); writeFileSync(name + '/f', '') }, (name) => rmSync(name, { recursive: true })])
      for (let i = 0; i < 30; i++) change('d' + i)`
  const child = spawn(process.execPath, ['-e', churn], {
    cwd: place.project,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(child.stdout, 'data')
  const { files } = place.enter()
  const sizes = new Set<number>()
  // On a busy machine the other process may not get its turn for long.
  for (let i = 0; i < rounds({ usual: 100, long: 400 }) || sizes.size < 2; i++)
    sizes.add((await files.list('.', { recursive: true, limit: 100 })).entries.length)
  expect(child.exitCode).toBeNull()
  child.kill('SIGKILL')
  await once(child, 'exit')
})
