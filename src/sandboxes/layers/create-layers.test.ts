import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { startDirectly } from '../programs/launcher/start-directly.ts'
import type { Start } from '../programs/launcher/started.ts'
import { createLayers } from './create-layers.ts'

const isRoot = process.getuid?.() === 0
const user = isRoot
  ? { uid: 4_242, gid: 4_242, other: true }
  : { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0, other: false }

function makeFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'handrail-test-')))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  if (isRoot) chownSync(folder, user.uid, user.gid)
  chmodSync(folder, 0o755)
  return folder
}

/** Layers over a project, with a folder for temporary files of their own. */
function openProject({ start = startDirectly }: { start?: Start } = {}) {
  const [place, temporary] = [makeFolder(), makeFolder()]
  vi.stubEnv('TMPDIR', temporary)
  onTestFinished(() => void vi.unstubAllEnvs())
  const project = join(place, 'project')
  execFileSync('sh', ['-c', 'mkdir -p project/deep/er; echo a > project/a; echo x > project/deep/x'], {
    cwd: place,
  })
  if (isRoot) execFileSync('chown', ['-R', `${user.uid}:${user.gid}`, project])
  const started: string[] = []
  // What an earlier test of this process closes meanwhile does not count.
  const heldBefore = new Set(openNamespaces())
  const layers = createLayers({
    start: (request) => {
      started.push(basename(request.executable))
      return start(request)
    },
    close: () => Promise.resolve(),
  })
  onTestFinished(() => layers.close())
  const open = () => layers.open({ roots: [project], user }, 'overlay')
  const run = (layer: Awaited<ReturnType<typeof open>>, line: string) => {
    const script = `cd '${project}' && ${line}`
    const { executable, argv } = layer.wrap({ executable: '/bin/sh', argv: ['sh', '-c', script] })
    const ended = spawnSync(executable, argv.slice(1), { encoding: 'utf8' })
    return ended.stdout + ended.stderr
  }
  const made = () => started.filter((name) => name === 'unshare').length
  const isReady = (count?: number) =>
    vi.waitFor(() => {
      const now = {
        made: count && made(),
        folders: readdirSync(temporary).length,
        held: openNamespaces().filter((each) => !heldBefore.has(each)).length,
      }
      expect(now).toEqual({ made: count, folders: 1, held: 1 })
    })
  return {
    place,
    project,
    temporary,
    layers,
    open,
    run,
    /** How often namespaces were made. */
    made,
    /** Resolves when the layer of so many is there before its command, and nothing of another one. */
    isReady,
    /** Opens a layer and closes it. Resolves when the next one is ready. */
    warmUp: async () => {
      const layer = await open()
      await layer[Symbol.asyncDispose]()
      await isReady(2)
    },
  }
}

/** Namespaces of mounts that this process holds. */
/** The descriptors of namespaces that are open, each with what it leads to. */
function openNamespaces(): string[] {
  return descriptors().filter((each) => each.includes(' mnt:'))
}

function descriptors(): string[] {
  return readdirSync('/proc/self/fd').flatMap((name) => {
    const target = linkOf(name)
    return target === undefined ? [] : [`${name} ${target}`]
  })
}

/** Undefined for one that is closed by now. */
function linkOf(descriptor: string): string | undefined {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`)
  } catch {
    return undefined
  }
}

test('a layer is ready for the second command, and for each one after it', async () => {
  const { open, run, made, warmUp, isReady } = openProject()
  await warmUp()
  for (const round of [2, 3, 4]) {
    expect(made()).toBe(round)
    const layer = await open()
    expect(made()).toBe(round)
    expect(run(layer, 'echo more >> a; cat a')).toBe('a\nmore\n')
    expect((await layer.read()).map(({ path }) => path)).toEqual(['a'])
    await layer[Symbol.asyncDispose]()
    await isReady(round + 1)
  }
})

test('what changed below the root after a layer was made, its command sees', async () => {
  const { project, open, run, made, warmUp } = openProject()
  await warmUp()
  const line =
    'echo b > a; echo n > new; rm deep/x; echo y > deep/er/y; mv deep moved; ln -s a link; mkdir deep; chmod 700 moved'
  execFileSync('sh', ['-c', line], { cwd: project })
  if (isRoot) execFileSync('chown', ['-hR', `${user.uid}:${user.gid}`, project])
  await using layer = await open()
  expect(made()).toBe(2)
  const list = `find . -mindepth 1 -printf '%P %y %m %l\\n' | sort; cat a new moved/er/y link`
  expect(run(layer, list)).toBe(execFileSync('sh', ['-c', list], { cwd: project, encoding: 'utf8' }))
  expect(await layer.read()).toEqual([])
})

test.each([
  [
    'another folder',
    ({ place, project }: { place: string; project: string }) => {
      renameSync(project, join(place, 'before'))
      mkdirSync(project)
    },
  ],
  [
    'a folder that was removed and made again',
    ({ project }: { place: string; project: string }) => {
      execFileSync('sh', ['-c', 'rm -r ./*'], { cwd: project })
      rmdirSync(project)
      mkdirSync(project)
    },
  ],
  ['a folder with other permissions', ({ project }: { project: string }) => chmodSync(project, 0o700)],
])('a layer that lies over %s is not used', async (_what, change) => {
  const { place, project, open, run, made, warmUp } = openProject()
  await warmUp()
  change({ place, project })
  if (isRoot) chownSync(project, user.uid, user.gid)
  const names = () => readdirSync(place, { recursive: true, encoding: 'utf8' }).toSorted()
  const before = names()
  await using layer = await open()
  expect(made()).toBe(3)
  expect(run(layer, 'echo evil > made; stat -c %a .')).toBe(
    `${(statSync(project).mode & 0o777).toString(8)}\n`,
  )
  expect((await layer.read()).map(({ path }) => path)).toEqual(['made'])
  expect(names()).toEqual(before)
})

test.skipIf(!isRoot)('a layer that does not lie over its root any more is not used', async () => {
  const { project, open, run, made, warmUp } = openProject()
  await warmUp()
  const held = readdirSync('/proc/self/fd').find((name) => linkOf(name)?.startsWith('mnt:'))
  execFileSync('nsenter', [`--mount=/proc/${process.pid}/fd/${held}`, 'umount', project])
  await using layer = await open()
  expect(made()).toBe(3)
  run(layer, 'echo evil > made')
  expect(readdirSync(project).toSorted()).toEqual(['a', 'deep'])
})

test.skipIf(!isRoot)('a layer from before something was mounted is not used', async () => {
  const { place, open, run, made, warmUp } = openProject()
  const mounted = join(place, 'mounted')
  mkdirSync(mounted)
  await warmUp()
  execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', mounted])
  onTestFinished(() => void execFileSync('umount', [mounted]))
  writeFileSync(join(mounted, 'seen'), '')
  await using layer = await open()
  expect(made()).toBe(3)
  expect(run(layer, `ls ${mounted}`)).toBe('seen\n')
})

test('two commands at the same moment have a layer each', async () => {
  const { open, run, warmUp } = openProject()
  await warmUp()
  const layers = await Promise.all([open(), open(), open()])
  for (const [at, layer] of layers.entries()) run(layer, `echo ${at} > mine${at}`)
  const seen = await Promise.all(layers.map((layer) => layer.read()))
  expect(seen.map((changes) => changes.map(({ path }) => path))).toEqual([['mine0'], ['mine1'], ['mine2']])
  await Promise.all(layers.map((layer) => layer[Symbol.asyncDispose]()))
})

test('where the next layer could not be made, its command has one made for it', async () => {
  let isBroken = false
  const { open, run, made } = openProject({
    async start(request) {
      const started = await startDirectly(request)
      if (isBroken) process.kill(started.pid, 'SIGKILL')
      return started
    },
  })
  const first = await open()
  isBroken = true
  await first[Symbol.asyncDispose]()
  await vi.waitFor(() => expect(made()).toBe(2))
  isBroken = false
  await using layer = await open()
  expect(run(layer, 'cat a')).toBe('a\n')
})

test('nothing is left of layers when they are closed, neither files nor descriptors, whenever that is', async () => {
  const before = new Set(descriptors())
  for (const wait of ['no wait', 'a turn', 'until it is ready']) {
    const { layers, open, run, temporary, isReady } = openProject()
    for (let round = 0; round < 5; round++) {
      const layer = await open()
      run(layer, 'for i in 1 2 3; do echo $i > new$i; done; mkdir shut; echo x > shut/x; chmod 000 shut')
      await layer[Symbol.asyncDispose]()
    }
    if (wait === 'a turn') await new Promise((resolve) => setImmediate(resolve))
    if (wait === 'until it is ready') await isReady()
    await layers.close()
    expect({ wait, left: readdirSync(temporary) }).toEqual({ wait, left: [] })
    await vi.waitFor(() => expect(descriptors().filter((each) => !before.has(each))).toEqual([]))
    expect(readFileSync('/proc/self/mountinfo', 'utf8')).not.toContain(temporary)
  }
})
