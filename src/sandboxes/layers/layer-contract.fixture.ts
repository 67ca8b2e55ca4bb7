import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { LayerWay } from './layer-namespace.ts'
import { openLayer } from './layer.ts'

export const user =
  process.getuid?.() === 0
    ? { uid: 4_242, gid: 4_242, other: true }
    : { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0, other: false }

/** Files, folders and a link of the user of the sandbox. */
export function makeProject(): string {
  const project = mkdtempSync(join(tmpdir(), 'handrail-test-'))
  onTestFinished(() => removeClosed(project))
  mkdirSync(join(project, 'deep/er'), { recursive: true })
  mkdirSync(join(project, 'other'))
  for (const name of ['a', 'b', 'c', 'deep/x', 'deep/er/y', 'other/z'])
    writeFileSync(join(project, name), name)
  symlinkSync('a', join(project, 'link'))
  for (const path of readdirSync(project, { recursive: true, encoding: 'utf8' }))
    lutimesSync(join(project, path), 1_600_000_000, 1_600_000_000)
  if (user.other) {
    execFileSync('chown', ['-hR', `${user.uid}:${user.gid}`, project])
    // A group that the user of the sandbox is not in.
    execFileSync('chgrp', ['-R', '7777', join(project, 'deep')])
  }
  return project
}

/** Removes a folder, also if what is in it is closed to its owner. */
function removeClosed(folder: string): void {
  execFileSync('chmod', ['-R', 'u+rwX', folder])
  rmSync(folder, { recursive: true, force: true })
}

/** Everything below a folder with its kind, mode and content. */
function listing(folder: string): unknown[] {
  return [...factsBelow(folder)].map(([path, { kind, facts }]) => [
    ...facts,
    kind === 'file' ? readFileSync(join(folder, path), 'utf8') : '',
  ])
}

/** A layer over a project, and what runs a line of a shell in it. */
export async function openOver(project: string, way: LayerWay) {
  const layer = await openLayer({ roots: [project], user, launcher: undefined, way })
  return {
    layer,
    run: (line: string) => {
      const { executable, argv } = layer.wrap({
        executable: '/bin/sh',
        argv: ['sh', '-c', `cd ${project} && ${line}`],
      })
      const ended = spawnSync(executable, argv.slice(1), {
        encoding: 'utf8',
      })
      expect(ended.stderr).toBe('')
      return ended.stdout
    },
  }
}

const lines = [
  'echo more >> a',
  'echo new > new; mkdir -p n/m; echo q > n/m/q',
  'rm b; rm -r deep',
  'mv deep moved; mv a renamed',
  'rm -r deep; mkdir deep; echo again > deep/x',
  'rm -r deep; echo file > deep',
  'rm c; mkdir c; echo in > c/in',
  'rm link; ln -s b link; ln -s /etc out',
  'chmod 755 a; chmod 700 deep; mkdir closed; echo k > closed/k; chmod 500 closed',
  'touch -d "2001-01-01" a; : > b; cp a b2; ln a hard',
  'mkdir -p many/0 many/1 many/2 many/3 many/4 many/5 many/6; for i in $(seq 300); do echo $i > many/$((i % 7))/$i; done',
  'rm -rf ./*; echo only > one',
  'mkdir "a b"; printf x > "$(printf "new\\nline")"; printf y > "a b/ü"',
]

/** Everything below a folder with its owner and the year of its time. */
function owners(folder: string): string[] {
  return execFileSync('find', ['.', '!', '-name', '.', '-printf', '%P %U %TY\\n'], {
    cwd: folder,
    encoding: 'utf8',
  })
    .split('\n')
    .toSorted()
}

/** Everything below a folder, in the order of paths, with what tells whether it is the same. */
function factsBelow(folder: string) {
  const paths = execFileSync('find', ['.', '-mindepth', '1', '-printf', '%P\\0'], {
    cwd: folder,
    encoding: 'utf8',
  })
  const facts = paths
    .split('\0')
    .filter(Boolean)
    .toSorted()
    .map((path) => {
      const stat = lstatSync(join(folder, path))
      const kind = stat.isFile() ? 'file' : stat.isSymbolicLink() ? 'link' : 'directory'
      const target = kind === 'link' ? readlinkSync(join(folder, path)) : ''
      const size = kind === 'file' ? stat.size : 0
      return [
        path,
        { kind, facts: [path, kind, stat.mode & 0o777, size, target], mtimeMs: stat.mtimeMs },
      ] as const
    })
  return new Map(facts)
}

/** What is another thing in a folder than in one that was the same: removals first, with what is in a folder that is gone left out. */
function differences(before: string, after: string): unknown[] {
  const [was, is] = [factsBelow(before), factsBelow(after)]
  const gone = [...was.keys()].filter((path) => {
    const left = is.get(path)
    return left === undefined || (was.get(path)?.kind === 'directory') !== (left.kind === 'directory')
  })
  const tops = gone.filter((path) => !gone.some((other) => path.startsWith(`${other}/`)))
  const made = [...is].flatMap(([path, left]) => {
    const had = was.get(path)
    const isOther =
      JSON.stringify(had?.facts) !== JSON.stringify(left.facts) ||
      (left.kind === 'file' && had?.mtimeMs !== left.mtimeMs)
    return isOther ? [left.facts] : []
  })
  return [...tops.map((path) => [path, 'none', 0, 0, '']), ...made]
}

/** For the rest of the test, a folder for temporary files of its own. */
function useTemporary(): string {
  const folder = mkdtempSync(join(tmpdir(), 'handrail-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  chmodSync(folder, 0o755)
  vi.stubEnv('TMPDIR', folder)
  onTestFinished(() => void vi.unstubAllEnvs())
  return folder
}

/** Declares the tests that every kind of layer must pass. */
export function layerContract(way: LayerWay): void {
  describe(`as ${way}`, () => {
    declareChanges(way)
    declareHostile(way)
    declareLanding(way)
  })
}

/** What a command did is said, and lands, as it was. */
function declareChanges(way: LayerWay): void {
  test.each(lines)('a layer says what a command changed, and the files stay: %s', async (line) => {
    const [project, plain] = [makeProject(), makeProject()]
    const before = listing(project)
    execFileSync('sh', ['-c', line], { cwd: plain, ...(user.other && { uid: user.uid, gid: user.gid }) })
    const { layer, run } = await openOver(project, way)
    await using _layer = layer
    run(line)
    const changes = await layer.read()
    expect(listing(project)).toEqual(before)
    // What is said of it is what the command did to the other project.
    const said = changes.map(({ path, kind, mode, size, target = '' }) => [path, kind, mode, size, target])
    expect(said).toEqual(differences(project, plain))
  })

  test.each(lines)('what a command changed lands as if it had run without a layer: %s', async (line) => {
    const [project, plain] = [makeProject(), makeProject()]
    execFileSync('sh', ['-c', line], { cwd: plain, ...(user.other && { uid: user.uid, gid: user.gid }) })
    const { layer, run } = await openOver(project, way)
    await using _layer = layer
    run(line)
    const { leftOut } = await layer.land(await layer.read(), {})
    expect(leftOut).toEqual([])
    expect(listing(project)).toEqual(listing(plain))
    expect(owners(project)).toEqual(owners(plain))
  })

  test('what was opened for writing and left as it was is no change', async () => {
    const { layer, run } = await openOver(makeProject(), way)
    await using _layer = layer
    run(
      'touch -r a stamp; chmod 600 a; chmod 644 a; touch -r stamp a; rm stamp; mv b x; mv x b; touch -r a b',
    )
    expect((await layer.read()).map(({ path: name, kind, had }) => [name, kind, had])).toEqual([])
  })
}

/** A layer is what a hostile command left. */
function declareHostile(way: LayerWay): void {
  test('nothing is left of a layer, also if the command closed its folders', async () => {
    const project = makeProject()
    const temporary = useTemporary()
    const { layer, run } = await openOver(project, way)
    run('mkdir closed; echo a > closed/a; chmod 000 closed; chmod 000 deep')
    await layer[Symbol.asyncDispose]()
    expect(readdirSync(temporary)).toEqual([])
  })

  test('a link that the layer replaced by a folder leads to nothing of what it led to', async () => {
    const project = makeProject()
    writeFileSync(join(project, '.env'), 'secret')
    symlinkSync('.', join(project, 'self'))
    symlinkSync('/root', join(project, 'out'))
    const { layer, run } = await openOver(project, way)
    await using _layer = layer
    run('rm self out; mkdir self out; echo x > self/.env; touch out/x')
    expect((await layer.read()).map(({ path, kind, had }) => [path, kind, had])).toEqual([
      ['out', 'none', 'link'],
      ['self', 'none', 'link'],
      ['out', 'directory', 'none'],
      ['out/x', 'file', 'none'],
      ['self', 'directory', 'none'],
      ['self/.env', 'file', 'none'],
    ])
  })

  test.each([
    ['names that are not text', `touch "$(printf 'a\\377')"`, 'not UTF-8'],
    ['more folders than are read', `d=$(printf 'd/%.0s' $(seq 200)); mkdir -p $d`, 'folders deep'],
  ])('a layer with %s is refused as a whole, and nothing of it is left', async (_what, line, why) => {
    const project = makeProject()
    const temporary = useTemporary()
    const { layer, run } = await openOver(project, way)
    run(line)
    await expect(layer.read()).rejects.toMatchObject({
      reason: 'file_limit',
      message: expect.stringContaining(why),
    })
    await layer[Symbol.asyncDispose]()
    expect(readdirSync(temporary)).toEqual([])
  })
}

/** Nothing lands but what was read, over what the command knew. */
function declareLanding(way: LayerWay): void {
  test('what is not landed is dropped: the files stay as they were, and nothing is left of it', async () => {
    const project = makeProject()
    const temporary = useTemporary()
    const before = listing(project)
    const { layer, run } = await openOver(project, way)
    run('echo more >> a; rm -r deep; echo new > new; chmod 700 b; ln -sf b link')
    expect(await layer.read()).not.toEqual([])
    await layer[Symbol.asyncDispose]()
    expect(listing(project)).toEqual(before)
    expect(readdirSync(temporary)).toEqual([])
  })

  test.each<[what: string, meanwhile: (project: string) => void]>([
    ['a file that it changed', (project) => writeFileSync(join(project, 'a'), 'of another')],
    ['a file that it removed', (project) => writeFileSync(join(project, 'b'), 'of another')],
    ['a name that it made', (project) => writeFileSync(join(project, 'new'), 'of another')],
    ['a folder that it wrote in', (project) => rmSync(join(project, 'other'), { recursive: true })],
  ])('nothing lands if another program changed %s', async (_what, meanwhile) => {
    const project = makeProject()
    const { layer, run } = await openOver(project, way)
    await using _layer = layer
    run('echo more >> a; rm b; echo new > new; echo in > other/in')
    const changes = await layer.read()
    meanwhile(project)
    const before = listing(project)
    await expect(layer.land(changes, {})).rejects.toMatchObject({
      reason: expect.stringMatching(/^(?:stale_preview|path_conflict)$/),
    })
    expect(listing(project)).toEqual(before)
  })

  test('a pipe is left out, and no set-id bit lands', async () => {
    const project = makeProject()
    const { layer, run } = await openOver(project, way)
    await using _layer = layer
    run('mkfifo pipe; cp a tool; chmod 6755 tool; mkdir shared; chmod 2775 shared')
    const { leftOut } = await layer.land(await layer.read(), {})
    expect(leftOut).toEqual([join(project, 'pipe')])
    const modes = ['tool', 'shared'].map((name) => lstatSync(join(project, name)).mode & 0o7777)
    expect(modes).toEqual([0o755, 0o775])
    expect(readdirSync(project)).not.toContain('pipe')
  })

  test('the digest is of what would land: one more byte, mode or name is another one', async () => {
    const { layer, run } = await openOver(makeProject(), way)
    await using _layer = layer
    const digests = new Set<string>()
    const steps = ['echo a > new', 'echo b > new', 'chmod 755 new', 'mv new other', 'ln -s a to', 'rm c']
    for (const step of steps) {
      run(step)
      digests.add(await layer.digest(await layer.read()))
      digests.add(await layer.digest(await layer.read()))
    }
    expect(digests.size).toBe(steps.length)
  })

  test('of a changed file no more is read than was asked for, and nothing of what is no file', async () => {
    const { layer, run } = await openOver(makeProject(), way)
    await using _layer = layer
    run('printf 12345 > a; rm link; ln -s b link')
    const changes = await layer.read()
    const read = (path: string, bytes: number) => {
      const change = changes.find((each) => each.path === path && each.kind !== 'none')
      if (change === undefined) throw new Error(`${path} is no change`)
      return layer.contents(change, bytes)?.length
    }
    expect([read('a', 5), read('a', 4), read('link', 5)]).toEqual([5, undefined, undefined])
  })
}
