import { chmodSync, mkdirSync, symlinkSync } from 'node:fs'
import { join, relative } from 'node:path'
import { expect, test } from 'vitest'
import { findProgram } from './find-program.ts'
import { openTestGround, reasonOf, type TestGround } from '../host/open-test-ground.fixture.ts'

function putProgram(ground: TestGround, path: string): string {
  const place = ground.put(path, '#!/bin/sh\necho ran\n')
  chmodSync(place, 0o755)
  return place
}

test('finds a program by absolute path, from the working directory and in PATH, links resolved (FILE-7)', async () => {
  await using ground = openTestGround()
  const tool = putProgram(ground, 'bin/tool')
  symlinkSync(tool, join(ground.project, 'bin/alias'))
  const where = { cwd: ground.project, path: `/nowhere:${join(ground.project, 'bin')}` }
  for (const name of [tool, './bin/tool', 'bin/tool', 'tool', 'alias'])
    expect(findProgram(name, where)).toMatchObject({ path: tool, executable: true })
})

test('finds nothing in the working directory unless told to, and nothing that is no file', async () => {
  await using ground = openTestGround()
  putProgram(ground, 'ls')
  mkdirSync(join(ground.project, 'dir'))
  const where = { cwd: ground.project, path: `:.::${relative(process.cwd(), ground.project)}` }
  for (const name of ['ls', '', 'dir', './dir', 'a\0b', '..', '.'])
    expect([name, findProgram(name, where)]).toEqual([name, undefined])
})

test('prefers a program that may be started', async () => {
  await using ground = openTestGround()
  const plain = ground.put('one/tool', 'text')
  const tool = putProgram(ground, 'two/tool')
  const directories = ['one', 'two'].map((name) => join(ground.project, name))
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
  await using ground = openTestGround()
  putProgram(ground, 'ls')
  const { commands } = ground.enter({ executables: row.executables })
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
