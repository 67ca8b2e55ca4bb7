import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { Files } from '../../../contract/services/sandbox.ts'
import { openTestSandbox, reasonOf } from '../../host/open-test-sandbox.fixture.ts'

const bounds = { maxEntries: 100, maxDepth: 8 }
const otherSystem = '/dev/shm'
const hasOther = existsSync(otherSystem) && statSync(otherSystem).dev !== statSync(tmpdir()).dev
const canMount = spawnSync('unshare', ['-m', 'true']).status === 0

/** A folder in another file system than the project. */
function makeElsewhere(): string {
  const folder = mkdtempSync(join(otherSystem, 'handrail-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

async function how(files: Files, from: string) {
  const tree = await files.survey(from, { ...bounds, purpose: 'read' })
  return { ...bounds, expect: tree?.digest ?? '', replace: 'absent', createDirs: true } as const
}

test.runIf(hasOther)(
  'a tree is moved into another file system whole, with its modes and times, without set-id bits (FILE-9, FS-39)',
  async () => {
    await using place = openTestSandbox()
    const elsewhere = makeElsewhere()
    const program = place.put('d/run.sh', 'program')
    place.put('d/sub/a', 'a')
    symlinkSync('../run.sh', join(place.project, 'd/sub/link'))
    chmodSync(program, 0o4751)
    chmodSync(join(place.project, 'd/sub'), 0o700)
    utimesSync(program, 1_000_000_000, 1_000_000_000)
    const roots = [place.project, elsewhere]
    const { files } = place.enter({ readRoots: roots, writeRoots: roots })
    const to = join(elsewhere, 'deep/d')
    await files.move('d', to, await how(files, 'd'))
    expect(readdirSync(place.project)).toEqual([])
    expect(readdirSync(join(elsewhere, 'deep'))).toEqual(['d'])
    expect(statSync(join(to, 'run.sh'))).toMatchObject({ mtimeMs: 1_000_000_000_000 })
    expect(statSync(join(to, 'run.sh')).mode & 0o7777).toBe(0o751)
    expect(statSync(join(to, 'sub')).mode & 0o777).toBe(0o700)
    expect(readlinkSync(join(to, 'sub/link'))).toBe('../run.sh')
    expect(readFileSync(join(to, 'sub/a'), 'utf8')).toBe('a')
    await files.move(to, 'back', await how(files, to))
    expect(readdirSync(join(place.project, 'back')).sort()).toEqual(['run.sh', 'sub'])
    writeFileSync(join(elsewhere, 'taken'), 'taken')
    expect(
      await reasonOf(files.move('back/run.sh', join(elsewhere, 'taken'), await how(files, 'back/run.sh'))),
    ).toBe('path_conflict')
    expect(readdirSync(elsewhere).sort()).toEqual(['deep', 'taken'])
  },
)

test.runIf(hasOther)(
  'a move that ends in the middle has everything at its target, and says what is left',
  async () => {
    await using place = openTestSandbox()
    const elsewhere = makeElsewhere()
    for (const path of ['d/a', 'd/b', 'd/c']) place.put(path, path)
    const roots = [place.project, elsewhere]
    const to = join(elsewhere, 'd')
    const { files } = place.enter(
      { readRoots: roots, writeRoots: roots },
      {
        access: 'write',
        signal: () =>
          existsSync(join(place.project, 'd/a')) ? new AbortController().signal : AbortSignal.abort(),
      },
    )
    await expect(files.move('d', to, await how(files, 'd'))).rejects.toMatchObject({
      reason: 'aborted_by_user',
      message: expect.stringMatching(/is a whole copy of "d"; of the old one was removed 1 of 4/),
    })
    expect(readdirSync(to)).toEqual(['a', 'b', 'c'])
    expect(readdirSync(join(place.project, 'd'))).toEqual(['b', 'c'])
  },
)

test('a deletion that meets a change in the middle stops there, and says how far it came (FILE-9)', async () => {
  await using place = openTestSandbox()
  for (const path of ['d/a', 'd/b', 'd/c']) place.put(path, path)
  let changed = false
  const { files } = place.enter(
    {},
    {
      access: 'write',
      signal: () => {
        if (!existsSync(join(place.project, 'd/a')) && !changed) {
          changed = true
          place.put('d/b', 'somebody else works here')
        }
        return new AbortController().signal
      },
    },
  )
  const { expect: digest } = await how(files, 'd')
  await expect(files.remove('d', { ...bounds, expect: digest, recursive: true })).rejects.toMatchObject({
    code: 'TOOL.FAILED',
    reason: 'partly_done',
    data: { done: 1, left: 3, rest: 'd' },
  })
  expect(readdirSync(join(place.project, 'd'))).toEqual(['b', 'c'])
  expect(readFileSync(join(place.project, 'd/b'), 'utf8')).toBe('somebody else works here')
})

test.runIf(canMount)(
  'nothing goes through a mount, one of the same file system neither (FILE-9)',
  async () => {
    await using place = openTestSandbox()
    place.put('d/a', 'x')
    mkdirSync(join(place.project, 'd/mounted'))
    const source = (name: string) => JSON.stringify(new URL(name, import.meta.url).href)
    const script = `
    import { createHostSandbox } from ${source('../../host/create-host-sandbox.ts')}
    const project = ${JSON.stringify(place.project)}
    const sandbox = createHostSandbox({ project, env: { PATH: process.env.PATH }, home: '/' })
    const { files } = sandbox.enter({ readRoots: [project], writeRoots: [project], executables: [] }, { access: 'write' })
    const attempt = (work) => work.then((got) => got === undefined ? 'done' : got, (error) => error.reason ?? String(error))
    const how = { maxEntries: 99, maxDepth: 9, expect: 'x', replace: 'absent', createDirs: true, recursive: true }
    console.log(JSON.stringify([
      await attempt(files.survey('d', { ...how, purpose: 'read' })),
      await attempt(files.remove('d', how)),
      await attempt(files.copy('d', 'e', how)),
      await attempt(files.move('d', 'e', how)),
    ]))`
    const mount = `mount --bind ${place.outside} ${place.project}/d/mounted && exec "$0" --input-type=module -e "$1"`
    const child = spawnSync('unshare', ['-m', 'sh', '-c', mount, process.execPath, script], {
      encoding: 'utf8',
    })
    expect(child.stderr).toBe('')
    expect(JSON.parse(child.stdout)).toEqual(Array(4).fill('special_file'))
    expect(readdirSync(place.outside)).toEqual(['canary.txt'])
    expect(lstatSync(join(place.project, 'd/a')).isFile()).toBe(true)
  },
)
