import { chmodSync, mkdirSync, symlinkSync } from 'node:fs'
import { join, relative } from 'node:path'
import { expect, test } from 'vitest'
import { findProgram } from './find-program.ts'
import { openTestSandbox, reasonOf, type TestSandbox } from '../host/open-test-sandbox.fixture.ts'

function putProgram(place: TestSandbox, path: string): string {
  const file = place.put(path, '#!/bin/sh\necho ran\n')
  chmodSync(file, 0o755)
  return file
}

test('finds a program by absolute path, from the working directory and in PATH, links resolved (FILE-7)', async () => {
  await using place = openTestSandbox()
  const tool = putProgram(place, 'bin/tool')
  symlinkSync(tool, join(place.project, 'bin/alias'))
  const where = { cwd: place.project, path: `/nowhere:${join(place.project, 'bin')}` }
  for (const name of [tool, './bin/tool', 'bin/tool', 'tool', 'alias'])
    expect(findProgram(name, where)).toMatchObject({ path: tool, executable: true })
})

test('finds nothing in the working directory unless told to, and nothing that is not a file', async () => {
  await using place = openTestSandbox()
  putProgram(place, 'ls')
  mkdirSync(join(place.project, 'dir'))
  const where = { cwd: place.project, path: `:.::${relative(process.cwd(), place.project)}` }
  for (const name of ['ls', '', 'dir', './dir', 'a\0b', '..', '.'])
    expect([name, findProgram(name, where)]).toEqual([name, undefined])
})

test('prefers a program that may be started', async () => {
  await using place = openTestSandbox()
  const plain = place.put('one/tool', 'text')
  const tool = putProgram(place, 'two/tool')
  const directories = ['one', 'two'].map((name) => join(place.project, name))
  expect(findProgram('tool', { cwd: '/', path: directories.join(':') })?.path).toBe(tool)
  expect(findProgram('tool', { cwd: '/', path: directories[0] ?? '' })).toMatchObject({
    path: plain,
    executable: false,
  })
})

test.each([
  { executables: ['*'], ls: 'done', here: 'done' },
  { executables: [], ls: 'executable_blocked', here: 'executable_blocked' },
  { executables: ['ls'], ls: 'done', here: 'executable_blocked' },
  { executables: ['l*'], ls: 'done', here: 'executable_blocked' },
  { executables: ['cat', 'true'], ls: 'executable_blocked', here: 'executable_blocked' },
  { executables: ['/bin/ls'], ls: 'done', here: 'executable_blocked' },
  { executables: ['/usr/bin/*', '/bin/*'], ls: 'done', here: 'executable_blocked' },
  { executables: ['/**/project/ls'], ls: 'executable_blocked', here: 'done' },
])('lets $executables start ls: $ls, and a file of that name in the project: $here', async (row) => {
  await using place = openTestSandbox()
  putProgram(place, 'ls')
  const { commands } = place.enter({ executables: row.executables })
  const run = (executable: string) =>
    reasonOf(
      commands.run({
        executable,
        argv: [executable],
        cwd: '.',
        timeoutMs: 5000,
        maxBytes: 1000,
        signal: new AbortController().signal,
      }),
    )
  expect([await run('ls'), await run('./ls')]).toEqual([row.ls, row.here])
})
