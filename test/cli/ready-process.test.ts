import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { constants } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { atEnd } from '../support/at-end.ts'
import {
  environmentOf,
  jsonOf,
  makePlace,
  program,
  startHandrail,
  startProgram,
  type Ended,
  type Place,
  type Running,
  type StartOptions,
} from '../support/command-line.ts'
import { runKept } from '../support/kept-commands.ts'
import { makeFolder } from '../support/project.ts'
import { findProcesses } from '../support/processes.ts'
import { firstOf, rounds } from '../support/rounds.ts'
import { openTerminal } from '../support/terminal.ts'

/** A place whose home is for who runs the test alone, as the launcher wants it. */
function makeOwn(
  own: Readonly<Record<string, unknown>> = {},
  files: Readonly<Record<string, string>> = {},
): Place {
  const place = makePlace({ 'a.txt': 'one\n', ...files }, { 'config.json': {}, ...own })
  chownSync(place.home, process.getuid?.() ?? 0, process.getgid?.() ?? 0)
  chmodSync(place.home, 0o700)
  return place
}

async function startServer(place: Place, ...more: string[]): Promise<Running> {
  const server = startHandrail(place, ['serve', '--port', '0', ...more])
  await server.saw('Ctrl-C stops')
  return server
}

type RunOptions = StartOptions & { readonly input?: string }

/** The command as a person types it. A server that runs is asked. */
function run(
  place: Place,
  argv: readonly string[],
  { input = '', ...options }: RunOptions = {},
): Promise<Ended> {
  const running = startHandrail(place, argv, options)
  running.child.stdin.end(input)
  return running.ended
}

/** The same in a process that asks no server: a kept one, or one whose Node was given an option. */
async function runAlone(
  place: Place,
  argv: readonly string[],
  { input = '', cwd = place.project, env }: RunOptions = {},
): Promise<Ended> {
  const kept = await runKept({ argv, cwd, env: { ...environmentOf(place), ...env }, input })
  if (kept !== undefined) return { ...kept, signal: null }
  const running = startProgram(place, ['--no-warnings', program, ...argv], { cwd, ...(env && { env }) })
  running.child.stdin.end(input)
  return running.ended
}

/** The processes that are ready for commands of this person. */
function readyFor(place: Place): number[] {
  const ready = findProcesses('ready/process.cjs')
  return findProcesses(`HOME=${place.user}\0`).filter((pid) => ready.includes(pid))
}

const read = ['call', 'code.read_file', 'path=a.txt']
const callsOf = async (place: Place, ...options: string[]) =>
  jsonOf<{ actor: string; outcome?: string; tool: string }[]>(
    await runAlone(place, ['evidence', 'list', '--json', ...options]),
  )

/** What differs from one run of a command to the next. */
function withoutIds({ stdout, stderr, code, signal }: Ended) {
  const strip = (text: string): string =>
    text
      .replaceAll(/[a-z]+_[0-9A-Za-z]{16,}|[0-9a-f]{64}|[0-9A-HJKMNP-TV-Z]{26}/g, '<id>')
      .replaceAll(/\d{4}-\d\d-\d\d[T ][\d:.]+Z?/g, '<time>')
      .replaceAll(/"(duration_ms)": ?[\d.]+/g, '"$1":0')
      .replaceAll(/\b\d+(\.\d+)? m?s\b/g, '<duration>')
  return { stdout: strip(stdout), stderr: strip(stderr), code, signal }
}

test('a command prints the same, whether a running server has a process ready for it or not', async () => {
  const rules = [{ effect: 'deny', resources: ['handrail:file:{project}/vault/**'] }]
  const place = makeOwn({ 'policy.json': { rules } }, { 'vault/key': 'x' })
  const server = await startServer(place)
  const commands: readonly (readonly [readonly string[], RunOptions?])[] = [
    [read],
    [[...read, '--json']],
    [['call', 'code.read_file', '-'], { input: '{"path": "a.txt"}' }],
    [['call', 'code.read_file', '-'], { input: '{' }],
    [['call', 'code.read_file', 'path=vault/key']],
    [['call', 'code.read_file', 'paht=a.txt']],
    [['call', 'code.write_file', 'path=b.txt', 'content=x']],
    [['call', 'code.write_file', 'path=b.txt', 'content=@-', '--approve', 'once'], { input: 'two\n' }],
    [['call', 'code.read_file', 'path=a.txt'], { cwd: join(place.project, 'vault') }],
    [[...read, '--project', join(place.project, 'vault')]],
    [[...read, '--bogus']],
    [['call', '--help']],
    [['tools']],
    [['tools', 'show', 'code.read_file'], { env: { FORCE_COLOR: '1' } }],
    [['approvals']],
    [['explain', 'code.read_file', 'path=vault/key']],
  ]
  const every = rounds({ usual: 3, long: 1 })
  for (const [argv, options] of commands.filter((_, index) => index % every === 0)) {
    const served = await run(place, argv, options)
    rmSync(join(place.project, 'b.txt'), { force: true })
    const alone = await runAlone(place, argv, options)
    expect(withoutIds(served), argv.join(' ')).toEqual(withoutIds(alone))
  }
  const verify = ['evidence', 'verify']
  // What was written last may be signed between the two.
  await vi.waitFor(async () =>
    expect(withoutIds(await run(place, verify))).toEqual(withoutIds(await runAlone(place, verify))),
  )
  expect(readyFor(place)).toHaveLength(1)
  server.child.kill('SIGTERM')
  expect((await server.ended).code).toBe(0)
  await expect.poll(() => readyFor(place)).toEqual([])
})

test('what the caller has counts, and not what the server was started with: variables, mask, principal, policy of now', async () => {
  const place = makeOwn({ 'config.json': { env: ['MARK'] }, 'policy.json': {} })
  await startServer(place, '--actor', 'gate', '--mode', 'plan')
  const mark = [
    'call',
    'code.run_command',
    '{"argv": ["printenv", "MARK"]}',
    '--approve',
    'once',
    '--actor',
    'ada',
  ]
  const markAs = (MARK: string) => ({ env: { MARK } })
  expect((await run(place, mark, markAs('first'))).stdout).toContain('first\n')
  const second = await run(place, mark, markAs('second'))
  expect(second.stdout).toContain('second\n')
  // What runs later may read how the process that it is in was started.
  for (const pid of readyFor(place))
    expect(readFileSync(`/proc/${pid}/environ`, 'utf8')).not.toContain('MARK')
  expect(withoutIds(await runAlone(place, mark, markAs('second')))).toEqual(withoutIds(second))
  expect((await run(place, [...read, '--tenant', 'local'])).code).toBe(0)
  const calls = await callsOf(place)
  expect(new Set(calls.map(({ actor }) => actor))).toEqual(new Set(['ada', 'user']))

  writeFileSync(join(place.home, 'policy.json'), '{ "rules": [{ "effect": "deny", "tools": ["code.*"] }] }')
  expect((await run(place, read)).code).toBe(3)
  writeFileSync(join(place.home, 'policy.json'), '{ "rules": [] }')
  expect((await run(place, read)).code).toBe(0)
  writeFileSync(
    join(place.project, 'handrail.json'),
    '{ "rules": [{ "effect": "deny", "tools": ["code.*"] }] }',
  )
  expect((await run(place, read)).code).toBe(3)
  expect(readyFor(place)).toHaveLength(1)
})

test('a folder that the configuration names is the one that its link leads to now', async () => {
  const [one, two] = [makeFolder({ f: 'one\n' }), makeFolder({ f: 'two\n' })]
  const now = join(makeFolder(), 'now')
  symlinkSync(one, now)
  const place = makeOwn({ 'config.json': { readRoots: [now] } })
  await startServer(place)
  const readOf = (folder: string) => run(place, ['call', 'code.read_file', `path=${folder}/f`])
  expect((await readOf(one)).stdout).toContain('one')
  rmSync(now)
  symlinkSync(two, now)
  expect((await readOf(two)).stdout).toContain('two')
  expect((await readOf(one)).stderr).toContain('path_outside_roots')
  expect(readyFor(place)).toHaveLength(1)
})

test('a command with another priority runs by itself, as what it starts would differ', async () => {
  const place = makeOwn()
  await startServer(place)
  const nice = startProgram(place, ['-n', '5', process.execPath, program, ...read], { command: 'nice' })
  nice.child.stdin.end()
  expect((await nice.ended).stdout).toBe('1\tone\n')
  // The one that was started for it was not what it is, and is gone.
  await expect.poll(() => readyFor(place)).toEqual([])
})

const mayMount = spawnSync('unshare', ['-m', 'true']).status === 0

test.skipIf(!mayMount)(
  'a command in a change root (chroot) reads the files there, and not those of the server',
  async () => {
    const place = makeOwn()
    const root = makeFolder()
    const inside = makeFolder({ 'a.txt': 'inside\n' })
    // All that is at the top is there too, but for the project.
    const script = `
    cd /
    for each in *; do
      if [ -L "$each" ]; then cp -P "$each" '${root}'; elif [ -d "$each" ]; then
        mkdir -p '${root}'/"$each"; mount --rbind "$each" '${root}'/"$each"; fi
    done
    mount --bind '${inside}' '${root}${place.project}'
    cd '${place.project}'
    : > '${place.user}/served'
    '${process.execPath}' '${program}' serve --port 0 > '${place.user}/served' & server=$!
    until grep -q 'Ctrl-C stops' '${place.user}/served'; do sleep 0.1; done
    set -- '${process.execPath}' '${program}' ${read.join(' ')}
    "$@" < /dev/null
    PATH="$PATH:/usr/sbin:/sbin" chroot '${root}' sh -c 'cd "$0"; exec "$@"' '${place.project}' "$@" < /dev/null
    kill $server; wait $server`
    const { stdout, stderr } = await startProgram(place, ['-m', 'sh', '-c', script], { command: 'unshare' })
      .ended
    expect({ stdout, stderr }).toEqual({ stdout: '1\tone\n1\tinside\n', stderr: '' })
  },
)

test('a call in a ready process clears away what a killed process left, as each command does when it starts', async () => {
  const place = makeOwn()
  await startServer(place)
  const env = { TMPDIR: join(place.user, 'tmp') }
  const [space = ''] = /\d+/.exec(readlinkSync('/proc/self/ns/pid')) ?? []
  const left = join(env.TMPDIR, `handrail-${space}-${2 ** 22 + 1}-1-left`)
  for (const _ of [1, 2]) {
    mkdirSync(left, { recursive: true })
    expect((await run(place, read, { env })).code).toBe(0)
    expect(existsSync(left)).toBe(false)
  }
  expect(readyFor(place)).toHaveLength(1)
})

test('budgets and tools that were paused hold for commands in a ready process and alone together', async () => {
  const budgets = [{ id: 'two', unit: 'calls', limit: 2, windowMs: 86_400_000 }]
  const place = makeOwn({ 'policy.json': { budgets } })
  await startServer(place)
  const codes = [await run(place, read), await runAlone(place, read), await run(place, read)]
  expect(codes.map(({ code }) => code)).toEqual([0, 0, 3])
  expect(codes[2]?.stderr).toContain('QUOTA.BUDGET_EXCEEDED')
})

/** Starts a command that says in a file that it began, and then takes its time. */
async function startSlow(place: Place): Promise<Running> {
  const script = 'echo began >> began; while [ ! -e go ]; do sleep 0.05; done; echo went >> went'
  const argv = [
    'call',
    'code.run_command',
    JSON.stringify({ argv: ['sh', '-c', script] }),
    '--approve',
    'once',
  ]
  rmSync(join(place.project, 'began'), { force: true })
  const running = startHandrail(place, argv)
  await expect.poll(() => existsSync(join(place.project, 'began'))).toBe(true)
  return running
}

/** Commands of a call land while it runs, so that a test sees them there. */
const onHost = { 'config.json': { sandbox: 'host' }, 'policy.json': {} }

test('a signal to who asked aborts the call as it does alone, and so does their end; a process that is killed is a clear error', async () => {
  const place = makeOwn(onHost)
  await startServer(place)
  const signals = firstOf(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  for (const name of signals) {
    const running = await startSlow(place)
    running.child.kill(name)
    const { code, signal, stderr } = await running.ended
    expect([code, signal]).toEqual([128 + constants.signals[name], null])
    expect(stderr).toContain('TOOL.ABORTED (aborted_by_user)')
  }
  const gone = await startSlow(place)
  gone.child.kill('SIGKILL')
  await gone.ended
  await expect
    .poll(async () => (await callsOf(place)).map(({ outcome }) => outcome))
    .toEqual([...signals, 'SIGKILL'].map(() => 'aborted'))

  const cut = await startSlow(place)
  for (const pid of readyFor(place)) process.kill(pid, 'SIGKILL')
  const { code, stdout, stderr } = await cut.ended
  expect([code, stdout]).toEqual([1, ''])
  expect(stderr).toMatch(/^handrail: process_ended: .* ended in the middle of it/)
  expect((await run(place, read)).stdout).toContain('one')
  expect((await callsOf(place)).map(({ outcome }) => outcome)).toContain('unknown')
  // Nothing began twice.
  expect(readFileSync(join(place.project, 'began'), 'utf8')).toBe('began\n')
  expect(existsSync(join(place.project, 'went'))).toBe(false)
})

test('a server that ends leaves a call to its end, and one that is killed a socket that no command waits at', async () => {
  const place = makeOwn(onHost)
  const server = await startServer(place)
  const running = await startSlow(place)
  server.child.kill('SIGKILL')
  await server.ended
  writeFileSync(join(place.project, 'go'), '')
  expect((await running.ended).code).toBe(0)
  expect(readFileSync(join(place.project, 'went'), 'utf8')).toBe('went\n')
  await expect.poll(() => readyFor(place)).toEqual([])
  expect(existsSync(join(place.home, 'serve.sock'))).toBe(true)
  expect((await run(place, read)).stdout).toContain('one')
})

test('commands at the same time have a process each, and what one does not read of its input stays there for the next', async () => {
  const place = makeOwn(onHost)
  await startServer(place)
  const slow = await startSlow(place)
  const ends = await Promise.all([1, 2, 3, 4, 5].map(() => run(place, read)))
  expect(ends.map(({ stdout }) => stdout)).toEqual(ends.map(() => '1\tone\n'))
  writeFileSync(join(place.project, 'go'), '')
  expect((await slow.ended).code).toBe(0)
  expect(readyFor(place).length).toBeLessThanOrEqual(4)

  const script = `'${process.execPath}' '${program}' call code.read_file path=a.txt; cat`
  const running = startProgram(place, ['-c', script], { command: 'sh' })
  running.child.stdin.end('left\n')
  expect((await running.ended).stdout).toBe('1\tone\nleft\n')
})

test('a program that only knows the socket gets nothing run, and another version of Handrail runs by itself', async () => {
  const place = makeOwn()
  await startServer(place)
  const hostile = `
    const { describePlace } = require(${JSON.stringify(join(dirname(program), 'ready', 'ask.cjs'))})
    const command = { asks: 'command', form: 3, place: describePlace(), argv: ${JSON.stringify(read)}, cwd: process.cwd(), env: process.env, started: {}, umask: 18, terminals: [null, null, null] }
    const socket = require('node:net').connect(${JSON.stringify(join(place.home, 'serve.sock'))})
    socket.pipe(process.stdout)
    socket.write(JSON.stringify(command) + '\\n')`
  const { stdout } = await startProgram(place, ['-e', hostile]).ended
  expect(stdout).toMatch(/^serve-[0-9a-f]{32}\.proof\n$/)
  expect(await callsOf(place)).toEqual([])
  expect(readyFor(place)).toEqual([])

  const other = join(place.user, 'other')
  cpSync(join(dirname(program)), join(other, 'bin'), { recursive: true })
  cpSync(join(dirname(program), '..', 'package.json'), join(other, 'package.json'))
  symlinkSync(join(dirname(program), '..', 'dist'), join(other, 'dist'))
  const running = startProgram(place, [join(other, 'bin', 'handrail.cjs'), ...read])
  running.child.stdin.end()
  expect((await running.ended).stdout).toContain('one')
  // The one that was started for it was not where it is, and is gone.
  await expect.poll(() => readyFor(place)).toEqual([])
  const env = { NODE_OPTIONS: '--stack-trace-limit=3' }
  expect((await run(place, read, { env })).stdout).toContain('one')
  expect(readyFor(place)).toHaveLength(1)
  expect((await run(place, read)).stdout).toContain('one')
  expect(readyFor(place)).toHaveLength(2)
})

interface Forged {
  readonly what: string
  readonly says: string
  readonly mode?: number
  readonly owner?: number
}

test.each<Forged>([
  // Only root can make one for another user.
  ...(process.getuid?.() === 0 ? [{ what: 'of another user', says: 'forged\n', owner: 65_534 }] : []),
  { what: 'that anybody could have made', says: 'forged\n', mode: 0o666 },
  { what: 'that ends at once', says: '' },
  { what: 'that wants another proof', says: '../policy.json\n' },
  { what: 'that has the proof and ends', says: `serve-${'0'.repeat(32)}.proof\n` },
])('a socket $what runs nothing: the command runs by itself, once', async ({ says, mode = 0o600, owner }) => {
  const place = makeOwn()
  const server = createServer((socket) => {
    socket.on('error', () => {})
    if (says === '') socket.destroy()
    else socket.write(says)
    socket.once('data', () => socket.destroy())
  })
  await new Promise<void>((resolve) => {
    server.listen(join(place.home, 'serve.sock'), () => resolve())
  })
  atEnd(() => void server.close())
  chmodSync(join(place.home, 'serve.sock'), mode)
  if (owner !== undefined) chownSync(join(place.home, 'serve.sock'), owner, owner)
  expect(await run(place, read)).toMatchObject({ code: 0, stdout: '1\tone\n', stderr: '' })
  expect(await callsOf(place)).toHaveLength(1)
  expect(readdirSync(place.home).filter((name) => name.endsWith('.proof'))).toEqual([])
})

test('a person at the terminal is asked by the ready process as by the command alone, and their yes is for this call', async () => {
  const place = makeOwn()
  await startServer(place)
  for (const [typed, code] of [
    ['once\n', 0],
    ['no\n', 3],
    ['\x03', 130],
  ] as const) {
    const terminal = openTerminal(place, ['call', 'code.write_file', `path=${code}.txt`, 'content=hello'])
    await terminal.saw('? yes / no:')
    expect(readyFor(place)).toHaveLength(1)
    terminal.type(typed)
    expect(await terminal.ended).toBe(code)
  }
  expect((await callsOf(place)).map(({ outcome }) => outcome)).toEqual(
    expect.arrayContaining(['ok', 'denied', 'aborted']),
  )
})
