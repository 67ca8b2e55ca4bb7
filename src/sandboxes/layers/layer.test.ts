import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { openLayer, type LayeredChange } from './layer.ts'

const user =
  process.getuid?.() === 0
    ? { uid: 4_242, gid: 4_242, other: true }
    : { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0, other: false }

function makeProject(): string {
  const project = mkdtempSync(join(tmpdir(), 'handrail-test-'))
  onTestFinished(() => rmSync(project, { recursive: true, force: true }))
  mkdirSync(join(project, 'deep/er'), { recursive: true })
  mkdirSync(join(project, 'other'))
  for (const name of ['a', 'b', 'c', 'deep/x', 'deep/er/y', 'other/z'])
    writeFileSync(join(project, name), name)
  symlinkSync('a', join(project, 'link'))
  if (user.other) {
    execFileSync('chown', ['-hR', `${user.uid}:${user.gid}`, project])
    // A group that the user of the sandbox is not in.
    execFileSync('chgrp', ['-R', '7777', join(project, 'deep')])
  }
  return project
}

/** Everything below a folder with its kind, mode and content. */
function listing(folder: string): string[] {
  const script = `find . ! -name '.' -printf '%P %y %m %l\\n' -exec sh -c '[ -f "$1" ] && ! [ -L "$1" ] && cat "$1" && echo' sh {} \\;`
  return execFileSync('sh', ['-c', script], { cwd: folder, encoding: 'utf8' }).split('\n').toSorted()
}

async function openOver(project: string) {
  const layer = await openLayer({ roots: [project], user, launcher: undefined })
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
  'for i in $(seq 300); do mkdir -p many/$((i % 7)); echo $i > many/$((i % 7))/$i; done',
  'rm -rf ./*; echo only > one',
  'mkdir "a b"; printf x > "$(printf "new\\nline")"; printf y > "a b/ü"',
]

test.each(lines)('a layer says what a command changed, and the files stay: %s', async (line) => {
  const [project, plain] = [makeProject(), makeProject()]
  const before = listing(project)
  const untouched = listing(plain)
  execFileSync('sh', ['-c', line], { cwd: plain, ...(user.other && { uid: user.uid, gid: user.gid }) })
  const { layer, run } = await openOver(project)
  await using _layer = layer
  run(line)
  const changes = await layer.read()
  expect(listing(project)).toEqual(before)
  // Done to the other project by what was read alone, it makes the same of it.
  const copy = makeProject()
  expect(listing(copy)).toEqual(untouched)
  for (const change of changes) redo(copy, change)
  expect(listing(copy)).toEqual(listing(plain))
})

/** Does to a project what a change says. */
function redo(project: string, { path: name, kind, mode, after, target = '' }: LayeredChange): void {
  const at = join(project, name)
  if (kind === 'none' || kind === 'link' || kind === 'file') rmSync(at, { recursive: true, force: true })
  if (kind === 'link') symlinkSync(target, at)
  if (kind === 'directory') mkdirSync(at, { recursive: true })
  if (kind === 'file') cpSync(after, at)
  if (kind === 'file' || kind === 'directory') chmodSync(at, mode)
}

test('what was opened for writing and left as it was is no change', async () => {
  const { layer, run } = await openOver(makeProject())
  await using _layer = layer
  run('touch -r a stamp; chmod 600 a; chmod 644 a; touch -r stamp a; rm stamp; mv b x; mv x b; touch -r a b')
  expect((await layer.read()).map(({ path: name, kind, had }) => [name, kind, had])).toEqual([])
})

test('nothing is left of a layer, also if the command closed its folders', async () => {
  const project = makeProject()
  const temporary = mkdtempSync(join(tmpdir(), 'handrail-test-'))
  onTestFinished(() => rmSync(temporary, { recursive: true }))
  chmodSync(temporary, 0o755)
  vi.stubEnv('TMPDIR', temporary)
  onTestFinished(() => void vi.unstubAllEnvs())
  const { layer, run } = await openOver(project)
  run('mkdir closed; echo a > closed/a; chmod 000 closed; chmod 000 deep')
  await layer[Symbol.asyncDispose]()
  expect(readdirSync(temporary)).toEqual([])
})

test('a root with another file system in it is not layered, and why is said', async () => {
  await expect(openLayer({ roots: ['/'], user, launcher: undefined })).rejects.toMatchObject({
    code: 'SANDBOX.UNAVAILABLE',
    message: expect.stringMatching(/lies in "\/"|is mounted at/),
  })
})
