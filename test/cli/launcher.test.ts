import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import {
  environmentOf,
  expectNoStack,
  handrail,
  makePlace,
  packageRoot,
  program,
  startProgram,
  type Place,
} from '../support/command-line.ts'
import { ctrlC } from '../support/terminal.ts'

/**
 * A Node that says it is version 20, by the one thing that the launcher looks at. Where the machine's own Node is older than 24, that
 * one is used instead, so that the launcher is also read and run by an old one.
 */
function oldNode(place: Place): string {
  const own = spawnSync('/usr/bin/node', ['--version'], { encoding: 'utf8' }).stdout ?? ''
  const major = Number(/^v(\d+)\./.exec(own)?.[1] ?? Number.NaN)
  if (major >= 20 && major < 24) return '/usr/bin/node'
  const pretend = join(place.user, 'pretend.mjs')
  writeFileSync(pretend, `Object.defineProperty(process, 'version', { value: 'v20.20.2' })\n`)
  const script = join(place.user, 'node20')
  writeFileSync(script, `#!/bin/sh\nexec '${process.execPath}' --import '${pretend}' "$@"\n`, { mode: 0o755 })
  return script
}

/** A copy of the package without the `node` package beside it: the launcher and a command line that tells what it runs on. */
function bareInstall(place: Place): string {
  const root = join(place.user, 'installed', 'handrail')
  mkdirSync(join(root, 'dist', 'cli'), { recursive: true })
  cpSync(join(packageRoot, 'bin'), join(root, 'bin'), { recursive: true })
  writeFileSync(join(root, 'package.json'), '{"type": "module"}')
  writeFileSync(
    join(root, 'dist', 'cli', 'main.cjs'),
    'exports.runMain = (argv) => console.log(process.execPath, JSON.stringify(argv))',
  )
  return join(root, 'bin', 'handrail.cjs')
}

/** A folder with a `node` that only says that it is this version. */
function folderWithNode(place: Place, name: string, version: string): string {
  const folder = join(place.user, name)
  mkdirSync(folder)
  writeFileSync(join(folder, 'node'), `#!/bin/sh\necho ${version}\n`)
  chmodSync(join(folder, 'node'), 0o755)
  return folder
}

test('an old Node starts the new one that lies beside the package, and hands on input, output and exit code', async () => {
  const place = makePlace({ 'a.txt': 'through the launcher\n' })
  const node = oldNode(place)
  const read = ['call', 'code.read_file', '-']
  const result = await handrail(place, read, { command: node, input: '{"path": "a.txt"}' })
  expect(result).toMatchObject({ code: 0, stdout: '1\tthrough the launcher\n', stderr: '' })
  const denied = await handrail(place, ['call', 'code.write_file', '{"path": "b", "content": ""}'], {
    command: node,
  })
  expect(denied.code).toBe(3)
})

test('Ctrl-C at a terminal reaches the server through the launcher and ends it cleanly', async () => {
  const place = makePlace()
  const line = `exec '${oldNode(place)}' '${program}' serve --port 0`
  const terminal = startProgram(place, ['-q', '-e', '-c', line, '/dev/null'], { command: 'script' })
  await terminal.saw('Ctrl-C stops.')
  terminal.child.stdin.write(ctrlC)
  const ended = await terminal.ended
  expectNoStack(ended)
  expect([ended.code, ended.stdout.includes('handrail: stopping')]).toEqual([0, true])
})

test('a launcher that is killed leaves no server behind, and takes no port with it', async () => {
  const place = makePlace()
  const running = startProgram(place, [program, 'serve', '--port', '0'], { command: oldNode(place) })
  await running.saw('Ctrl-C stops.')
  const url = /MCP at (\S+)/.exec(running.output.stdout)?.[1] ?? ''
  running.child.kill('SIGKILL')
  await vi.waitFor(() => expect(fetch(url)).rejects.toThrow(), { interval: 50 })
  await running.ended
  expect(running.output.stdout).toContain('handrail: stopping')
})

test('without a Node beside the package it takes the first new one on the PATH, never one from a relative folder', async () => {
  const place = makePlace()
  const bare = bareInstall(place)
  const good = folderWithNode(place, 'good', 'v24.0.0')
  writeFileSync(
    join(good, 'node'),
    `#!/bin/sh\n[ "$1" = --version ] && echo v25.1.0 && exit\nexec '${process.execPath}' "$@"\n`,
  )
  const old = folderWithNode(place, 'old', 'v22.1.0')
  const strange = folderWithNode(place, 'strange', 'hello')
  writeFileSync(join(place.project, 'node'), `#!/bin/sh\ntouch '${place.user}/taken'\necho v99.0.0\n`, {
    mode: 0o755,
  })
  const { PATH = '', ...rest } = environmentOf(place)
  const path = ['.', '', old, strange, good].join(':')
  const running = startProgram(place, [bare, 'tools', '--json'], {
    command: oldNode(place),
    env: { ...rest, PATH: `${path}:${PATH}` },
  })
  const ended = await running.ended
  expect(ended).toMatchObject({ code: 0, stdout: `${process.execPath} ["tools","--json"]\n`, stderr: '' })
  expect(existsSync(join(place.user, 'taken'))).toBe(false)
})

test('with no new Node anywhere it says which it needs and how to get it, exit code 2', async () => {
  const place = makePlace()
  const only = folderWithNode(place, 'only', 'v22.1.0')
  const running = startProgram(place, [bareInstall(place), 'tools'], {
    command: oldNode(place),
    env: { PATH: `${only}:/usr/bin:/bin` },
  })
  const { code, stdout, stderr } = await running.ended
  expect([code, stdout]).toEqual([2, ''])
  expect(stderr).toMatch(
    /^handrail: node_too_old: Handrail needs Node 24 or later; this is v2\d\..*npm install node@24\n$/,
  )
})

test('the launcher is plain JavaScript that an old Node can read', () => {
  const text = readFileSync(program, 'utf8')
  expect(text).toMatch(/^#!\/usr\/bin\/env node\n/)
  // An import of what an old Node does not have would fail before anything is said, and each one is what a hook waits for.
  expect(text).not.toMatch(/^import /m)
})

interface CompiledInstall {
  readonly folder: string
  readonly file: string
  /** The word, said by a run; with words before its command. */
  say(this: void, before?: readonly string[]): Promise<string>
}

/** Words before a command, for whom the modes of files count. */
const asOther = process.getuid?.() === 0 ? ['setpriv', '--reuid=65534', '--clear-groups'] : []

/** A package whose command line says a word, with what its first run compiled; and the same place with another word. */
async function compiledInstall(): Promise<CompiledInstall> {
  const place = makePlace()
  const bare = bareInstall(place)
  const main = join(bare, '..', '..', 'dist', 'cli', 'main.cjs')
  // As long and as old, so that only what is kept can tell one from the other.
  const write = (word: string) => {
    writeFileSync(main, `exports.runMain = () => console.log('${word}')`)
    utimesSync(main, 1000, 1000)
  }
  const say = async (before: readonly string[] = []) => {
    const [command, ...argv] = [...before, process.execPath, bare, 'tools']
    const { code, stdout } = await startProgram(place, argv, { command }).ended
    expect(code).toBe(0)
    return stdout.trim()
  }
  write('kept')
  expect(await say()).toBe('kept')
  write('news')
  const folder = join(bare, '..', '..', 'dist', 'compiled')
  const [name = ''] = readdirSync(folder)
  return { folder, file: join(folder, name), say }
}

test('a command runs what an earlier run of it compiled, until its file changes', async () => {
  const { file, say } = await compiledInstall()
  expect(await say()).toBe('kept')
  utimesSync(join(file, '..', '..', 'cli', 'main.cjs'), 2000, 2000)
  expect(await say()).toBe('news')
  expect(await say()).toBe('news')
})

test('what takes the place of a program while it runs is never taken for what ran', async () => {
  const { file, say } = await compiledInstall()
  const main = join(file, '..', '..', 'cli', 'main.cjs')
  const upgrade = `require('node:fs').cpSync(__filename + '.next', __filename)`
  const running = `exports.runMain = () => { ${upgrade}; console.log('runs') }`
  writeFileSync(`${main}.next`, `exports.runMain = () => console.log('next')`.padEnd(running.length))
  writeFileSync(main, running)
  expect([await say(), await say()]).toEqual(['runs', 'next'])
})

test.each<[string, (file: string, folder: string) => void]>([
  ['a file that all can write', (file) => chmodSync(file, 0o646)],
  ['a file that a group can write', (file) => chmodSync(file, 0o664)],
  ['a folder that all can write', (_, folder) => chmodSync(folder, 0o757)],
  ['a folder that a group can write', (_, folder) => chmodSync(folder, 0o775)],
  ['a link', (file) => linkAway(file)],
  ['a folder that is a link', (_, folder) => linkAway(folder)],
  // Only who may give files away can try it.
  [
    'a file of somebody else',
    (file) => (process.getuid?.() === 0 ? chownSync(file, 65534, 65534) : chmodSync(file, 0o646)),
  ],
])('what others could have compiled is never run: %s', async (_, change) => {
  const { folder, file, say } = await compiledInstall()
  change(file, folder)
  expect(await say()).toBe('news')
})

test.each(['file', 'folder'] as const)(
  'a program starts for who cannot read what another user kept of it: a %s of theirs alone',
  async (which) => {
    const { say, ...kept } = await compiledInstall()
    chmodSync(kept[which], 0)
    expect(await say(asOther)).toBe('news')
  },
)

test('a kept file that is not whole is compiled anew', async () => {
  const { file, say } = await compiledInstall()
  writeFileSync(file, readFileSync(file).subarray(0, 10))
  expect([await say(), await say()]).toEqual(['news', 'news'])
})

function linkAway(path: string): void {
  renameSync(path, `${path}-away`)
  symlinkSync(`${path}-away`, path)
}
