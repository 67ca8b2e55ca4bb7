import { chmodSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { ArtifactSink, Commands } from '../../contract/services/sandbox.ts'
import { openTestSandbox, reasonOf, type TestSandbox } from './open-test-sandbox.fixture.ts'
import { memoryHeld } from '../../../test/support/memory-held.ts'

type Command = Parameters<Commands['run']>[0]

function run(place: TestSandbox, argv: readonly string[], options: Partial<Command> = {}) {
  const { commands } = place.enter()
  return commands.run({
    executable: argv[0] ?? '',
    argv,
    cwd: '.',
    timeoutMs: 10_000,
    maxBytes: 65_536,
    signal: new AbortController().signal,
    ...options,
  })
}

const shell = (script: string) => ['sh', '-c', script]

test('runs a program by argv and gives what it printed (FILE-7)', async () => {
  await using place = openTestSandbox()
  const outcome = await run(place, shell('echo out; echo err >&2; exit 3'))
  expect(outcome).toMatchObject({
    exitCode: 3,
    signal: null,
    ended: 'exit',
    survivors: [],
    stdout: { head: 'out\n', tail: '', bytes: 4, truncated: false },
    stderr: { head: 'err\n', tail: '', bytes: 4, truncated: false },
  })
  expect((await run(place, shell('kill -9 $$'))).signal).toBe('SIGKILL')
})

test('passes each argument byte for byte, without a shell', async () => {
  await using place = openTestSandbox()
  const odd = ['a b', '$(touch x)', `'"`, '', '*', '; ls', '\n', 'ü\u{1F600}']
  const script = 'process.stdout.write(JSON.stringify(process.argv.slice(1)))'
  const { stdout } = await run(place, [process.execPath, '-e', script, '--', ...odd])
  expect(JSON.parse(stdout.head)).toEqual(odd)
})

test('gives the environment that is allowed and nothing of its own (FILE-7)', async () => {
  await using place = openTestSandbox({ env: { PATH: '/usr/bin:/bin', ONLY: 'this' } })
  process.env['HANDRAIL_TEST_SECRET'] = 'secret'
  const { stdout } = await run(place, ['env'])
  delete process.env['HANDRAIL_TEST_SECRET']
  const names = stdout.head
    .trim()
    .split('\n')
    .map((line) => line.split('=')[0])
  expect(new Set(names)).toEqual(new Set(['HANDRAIL_CALL', 'ONLY', 'PATH']))
})

test('adds variables that the operator declared, and replaces none that all programs get', async () => {
  await using place = openTestSandbox({ env: { PATH: '/usr/bin:/bin' } })
  const env = { PATH: '/nowhere', OWN: 'a b', HANDRAIL_CALL: 'mine' }
  const { stdout } = await run(place, shell('echo "$PATH|$OWN"; test "$HANDRAIL_CALL" != mine'), { env })
  expect(stdout.head).toBe('/usr/bin:/bin|a b\n')
})

test('keeps another amount of stderr where it is asked to', async () => {
  await using place = openTestSandbox()
  const script = 'printf 1234567890; printf 1234567890 >&2'
  const { stdout, stderr } = await run(place, shell(script), { maxBytes: 10, maxStderrBytes: 4 })
  expect([stdout.truncated, stderr.truncated, stderr.head, stderr.tail]).toEqual([false, true, '12', '90'])
})

test('gives text on standard input, or nothing', async () => {
  await using place = openTestSandbox()
  expect((await run(place, ['cat'], { stdin: 'tëxt' })).stdout.head).toBe('tëxt')
  expect((await run(place, ['cat'])).stdout.head).toBe('')
  expect((await run(place, ['true'], { stdin: 'x'.repeat(1_000_000) })).exitCode).toBe(0)
})

test('starts in a directory inside the roots, in that very one', async () => {
  await using place = openTestSandbox()
  place.put('sub/a', 'x')
  symlinkSync('sub', join(place.project, 'in'))
  symlinkSync(place.outside, join(place.project, 'out'))
  expect((await run(place, ['pwd'], { cwd: 'in' })).stdout.head).toBe(`${join(place.project, 'sub')}\n`)
  for (const cwd of ['/', '..', 'out', '/proc/self/cwd', `${place.project}/../outside`])
    expect([cwd, await reasonOf(run(place, ['pwd'], { cwd }))]).toEqual([cwd, 'path_outside_roots'])
  expect(await reasonOf(run(place, ['pwd'], { cwd: 'nothing' }))).toBe('file_not_found')
  expect(await reasonOf(run(place, ['pwd'], { cwd: 'sub/a' }))).toBe('not_a_directory')
})

test('says why a program cannot be started', async () => {
  await using place = openTestSandbox()
  place.put('plain', 'text')
  chmodSync(place.put('script', '#!/nowhere/interpreter\n'), 0o755)
  expect(await reasonOf(run(place, ['nothing-like-this']))).toBe('command_not_found')
  expect(await reasonOf(run(place, ['']))).toBe('command_not_found')
  expect(await reasonOf(run(place, ['./plain']))).toBe('permission_denied')
  expect(await reasonOf(run(place, ['./script']))).toBe('command_not_found')
  expect(await reasonOf(run(place, ['echo', 'a\0b']))).toBe('invalid_input')
  expect(await reasonOf(run(place, ['echo', 'x'.repeat(3_000_000)]))).toBe('failed')
})

test('runs nothing for a call that may only read, and nothing that is aborted already', async () => {
  await using place = openTestSandbox()
  const { commands } = place.enter({}, { access: 'read' })
  const command = { executable: 'touch', argv: ['touch', 'x'], cwd: '.', timeoutMs: 1000, maxBytes: 10 }
  const signal = new AbortController().signal
  expect(await reasonOf(commands.run({ ...command, signal }))).toBe('undeclared_capability')
  expect(await reasonOf(run(place, ['touch', 'x'], { signal: AbortSignal.abort() }))).toBe('aborted_by_user')
  expect(await place.enter().files.stat('x')).toBeUndefined()
})

test('finds programs for a plan, which may only read', async () => {
  await using place = openTestSandbox()
  const { commands } = place.enter({}, { access: 'read' })
  expect(await commands.which('sh', '.')).toMatch(/^\/.*sh$/)
  expect(await commands.which('nothing-like-this', '.')).toBeUndefined()
  place.put('plain', 'text')
  expect(await commands.which('./plain', '.')).toBeUndefined()
})

test('keeps head and tail of a large output and hands the whole to the sink (FILE-7)', async () => {
  await using place = openTestSandbox()
  const script = 'i=0; while [ $i -lt 100 ]; do echo "line $i äöü€😀"; i=$((i+1)); done'
  for (let maxBytes = 301; maxBytes <= 330; maxBytes += 3) {
    const sink = collectingSink()
    const { stdout } = await run(place, shell(script), { maxBytes, sink })
    const whole = sink.whole()
    expect(stdout).toMatchObject({
      truncated: true,
      bytes: Buffer.byteLength(whole),
      artifact: { bytes: stdout.bytes },
    })
    expect(whole.endsWith('line 99 äöü€😀\n')).toBe(true)
    expect(whole.startsWith(stdout.head)).toBe(true)
    expect(whole.endsWith(stdout.tail)).toBe(true)
    for (const part of [stdout.head, stdout.tail])
      expect(Buffer.byteLength(part)).toBeGreaterThan(maxBytes / 2 - 4)
    expect(sink.names).toEqual(['stdout.txt'])
  }
})

test('opens no artifact for a small output', async () => {
  await using place = openTestSandbox()
  const sink = collectingSink()
  await run(place, shell('printf 12345; printf 12345 >&2'), { maxBytes: 5, sink })
  expect(sink.names).toEqual([])
})

test('takes no memory for 200 MB of output', async () => {
  await using place = openTestSandbox()
  const before = memoryHeld()
  const { stdout } = await run(place, shell('head -c 200000000 /dev/zero'), {
    maxBytes: 1000,
    timeoutMs: 30_000,
  })
  expect(stdout.bytes).toBe(200_000_000)
  expect(memoryHeld() - before).toBeLessThan(120_000_000)
})

test('hands out output while it comes, whole letters at a time', async () => {
  await using place = openTestSandbox()
  const chunks: string[] = []
  const script = `printf '\\303'; sleep 0.05; printf '\\244 a'; sleep 0.05; echo b >&2`
  await run(place, shell(script), { onOutput: ({ stream, text }) => chunks.push(`${stream}:${text}`) })
  expect(chunks).toEqual(['stdout:ä a', 'stderr:b\n'])
})

test('ends the program and fails where the sink or the observer fails', async () => {
  await using place = openTestSandbox()
  const sink = collectingSink()
  const work = run(place, shell('yes & yes'), {
    maxBytes: 10,
    sink,
    onOutput: () => {
      throw new Error('observer broke')
    },
  })
  await expect(work).rejects.toThrow('observer broke')
  expect(sink.abandoned).toBe(1)
})

test('closing the sandbox ends what still runs', async () => {
  const place = openTestSandbox()
  const { promise: ready, resolve } = Promise.withResolvers<void>()
  const running = run(place, shell('echo ready; sleep 60'), { onOutput: () => resolve() })
  await ready
  await place[Symbol.asyncDispose]()
  expect((await running).ended).toBe('abort')
})

function collectingSink(): ArtifactSink & { names: string[]; abandoned: number; whole(): string } {
  const pieces: Buffer[] = []
  const sink = {
    names: [] as string[],
    abandoned: 0,
    whole: () => Buffer.concat(pieces).toString(),
    open({ mimeType, name = '' }: { mimeType: string; name?: string }) {
      sink.names.push(name)
      return {
        write: (bytes: Uint8Array) => void pieces.push(Buffer.from(bytes)),
        finish: async () => ({ digest: 'sha256:test', bytes: Buffer.concat(pieces).length, mimeType, name }),
        abandon: async () => void sink.abandoned++,
      }
    },
  }
  return sink
}
