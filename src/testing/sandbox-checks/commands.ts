import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { CommandOutcome, Commands } from '../../contract/services/sandbox.ts'
import { enterProject, refusedWith, type SandboxChecks, type SandboxUnderTest } from './sandbox-under-test.ts'

type Command = Parameters<Commands['run']>[0]

export const commandChecks: SandboxChecks = {
  'hands arguments over as they are': async (subject) => {
    const awkward = ["it's", '$(id)', '`id`', '"', '\\', 'a\nb', '; id', '*', '--', '', ' ', 'ü€😀']
    const outcome = await runScript(subject, 'printf "%s|" "$@"', { words: awkward })
    assert.equal(outcome.stdout.head, awkward.map((word) => `${word}|`).join(''))
  },

  'gives the exit code, both streams, and for a signal no exit code': async (subject) => {
    const failed = await runScript(subject, 'cat; echo bad >&2; exit 3', { stdin: 'good' })
    assert.deepEqual(
      [failed.exitCode, failed.signal, failed.stdout.head, failed.stderr.head, failed.ended],
      [3, null, 'good', 'bad\n', 'exit'],
    )
    const killed = await runScript(subject, 'kill -KILL $$')
    assert.deepEqual([killed.exitCode, killed.signal], [null, 'SIGKILL'])
  },

  'starts programs in the working directory that is asked for': async (subject) => {
    const { files } = enterProject(subject)
    const text = new TextEncoder().encode('here')
    await files.write('sub/a.txt', text, { createDirs: true, expect: 'absent' })
    assert.equal((await runScript(subject, 'cat a.txt', { cwd: 'sub' })).stdout.head, 'here')
  },

  'hands on the variables that it is given, and none of this process': async (subject) => {
    process.env['SANDBOX_CONTRACT'] = 'unwanted'
    try {
      const { stdout } = await runScript(subject, 'env', { env: { DECLARED: 'wanted' } })
      assert.match(stdout.head, /^DECLARED=wanted$/m)
      assert.doesNotMatch(stdout.head, /unwanted/)
    } finally {
      delete process.env['SANDBOX_CONTRACT']
    }
  },

  'ends a program with all that it started, at its time limit and at its abort': async (subject) => {
    const script = 'trap "" TERM; sleep 300 & sleep 300 & wait; sleep 300'
    const late = await runScript(subject, script, { timeoutMs: 500 })
    assert.deepEqual([late.ended, late.survivors], ['timeout', []])
    const abort = new AbortController()
    const onStart = () => abort.abort()
    const stopped = await runScript(subject, script, { signal: abort.signal, onStart })
    assert.deepEqual([stopped.ended, stopped.survivors], ['abort', []])
  },

  'starts no program for a call that may not': async (subject) => {
    const { commands } = enterProject(subject, {}, 'read')
    await assert.rejects(commands.run(shell(subject, 'true')), refusedWith('SANDBOX.CAPABILITY_BLOCKED'))
    const none = enterProject(subject, { executables: [] }).commands
    await assert.rejects(none.run(shell(subject, 'true')), refusedWith('SANDBOX.CAPABILITY_BLOCKED'))
  },

  'an isolated program reaches no file outside of its roots': async (subject) => {
    if (!enterProject(subject).commands.isolated) return
    const canary = join(subject.outside, 'canary.txt')
    const made = join(subject.outside, 'made')
    const outcome = await runScript(subject, 'cat "$1"; echo x > "$2"; echo x > inside', {
      words: [canary, made],
    })
    assert.doesNotMatch(outcome.stdout.head, /CANARY/)
    assert.deepEqual([existsSync(made), existsSync(join(subject.project, 'inside'))], [false, true])
    const { commands } = enterProject(subject, { writeRoots: [] })
    await commands.run(shell(subject, 'echo x > not-here'))
    assert.equal(existsSync(join(subject.project, 'not-here')), false)
  },
}

type Changes = Partial<Omit<Command, 'executable' | 'argv'>> & { words?: readonly string[] }

function runScript(
  subject: SandboxUnderTest,
  script: string,
  changes: Changes = {},
): Promise<CommandOutcome> {
  return enterProject(subject).commands.run(shell(subject, script, changes))
}

function shell(
  { project }: SandboxUnderTest,
  script: string,
  { words = [], ...changes }: Changes = {},
): Command {
  return {
    executable: '/bin/sh',
    argv: ['sh', '-c', script, 'sh', ...words],
    cwd: project,
    timeoutMs: 20_000,
    maxBytes: 64 * 1024,
    signal: new AbortController().signal,
    ...changes,
  }
}
