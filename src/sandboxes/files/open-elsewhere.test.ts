import { constants, closeSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { portablePaths } from './open-elsewhere.ts'
import { openTestSandbox } from '../host/open-test-sandbox.fixture.ts'

test('resolves links and holds what they lead to', async () => {
  await using place = openTestSandbox()
  const file = place.put('sub/a', 'x')
  symlinkSync('sub', join(place.project, 'dir'))
  using held = portablePaths.openPath(join(place.project, 'dir/a'))
  expect(held.real).toBe(file)
  const descriptor = held.open(constants.O_RDONLY)
  expect(readFileSync(descriptor, 'utf8')).toBe('x')
  closeSync(descriptor)
})

test('holds a link in a directory as a link', async () => {
  await using place = openTestSandbox()
  symlinkSync(place.outside, join(place.project, 'link'))
  using directory = portablePaths.openPath(place.project)
  using link = portablePaths.openEntry(directory, 'link')
  expect(link.stat.isSymbolicLink()).toBe(true)
})

test('refuses to open another file than the one it looked at: TOCTOU race', async () => {
  await using place = openTestSandbox()
  const file = place.put('a', 'x')
  using held = portablePaths.openPath(file)
  renameSync(file, `${file}.old`)
  writeFileSync(file, 'other')
  expect(() => held.open(constants.O_RDONLY)).toThrow('ESTALE')
  rmSync(file)
  symlinkSync(join(place.outside, 'canary.txt'), file)
  expect(() => held.open(constants.O_RDONLY)).toThrow('ELOOP')
})
