import { chmodSync, lstatSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { layerContract, makeProject, openOver, user } from './layer-contract.fixture.ts'
import { openLayer } from './layer.ts'

layerContract('overlay')
layerContract('copy')

test('in a copy, a folder can be renamed by the system call, and what no program touched is no change', async () => {
  const project = makeProject()
  // Only root can copy what is closed to its owner.
  const shut = user.other ? 0o000 : 0o500
  mkdirSync(join(project, 'shut'))
  chmodSync(join(project, 'shut'), shut)
  const { layer, run } = await openOver(project, 'copy')
  await using _layer = layer
  run(`perl -e 'rename("other", "moved") or die "$!\\n"'`)
  const changes = await layer.read()
  expect(changes.map(({ path, kind }) => [path, kind])).toEqual([
    ['other', 'none'],
    ['moved', 'directory'],
    ['moved/z', 'file'],
  ])
  expect(lstatSync(join(project, 'shut')).mode & 0o777).toBe(shut)
})

test('a root with another file system in it is not layered, and why is said', async () => {
  await expect(openLayer({ roots: ['/'], user, launcher: undefined, way: 'overlay' })).rejects.toMatchObject({
    code: 'SANDBOX.UNAVAILABLE',
    message: expect.stringMatching(/lies in "\/"|is mounted at/),
  })
})
