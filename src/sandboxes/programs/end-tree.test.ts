import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import type { Commands } from '../../contract/services/sandbox.ts'
import { findTree, identifyTree } from '../files/find-tree.ts'
import { openTestSandbox, type TestSandbox } from '../host/open-test-sandbox.fixture.ts'
import { createLauncher } from './launcher/create-launcher.ts'
import { runProgram } from './run-program.ts'

const linux = process.platform === 'linux'

/** As in a runtime. */
const launcher = createLauncher()
afterAll(() => launcher.close())

function runScript(
  place: TestSandbox,
  script: string,
  options: Partial<Parameters<Commands['run']>[0]> = {},
) {
  return place.enter().commands.run({
    executable: '/bin/sh',
    argv: ['sh', '-c', script],
    cwd: '.',
    timeoutMs: 120_000,
    maxBytes: 10_000,
    signal: new AbortController().signal,
    ...options,
  })
}

/** The same with a time limit within which the script gets as far as to write `pids`; on a busy machine that is a longer one. */
async function runToLimit(place: TestSandbox, script: string) {
  for (let timeoutMs = 300; ; timeoutMs *= 2) {
    const outcome = await runScript(place, script, { timeoutMs })
    if (existsSync(join(place.project, 'pids'))) return outcome
  }
}

/** How long the programs of these tests sleep: nothing waits for that. */
const sleepMs = 600_000

/** Ids that the script left in `pids`, those that live. */
function livePids(place: TestSandbox): number[] {
  const pids = readFileSync(join(place.project, 'pids'), 'utf8').trim().split(/\s+/).map(Number)
  expect(pids.length).toBeGreaterThan(0)
  return pids.filter((pid) => {
    try {
      process.kill(pid, 0)
      return !linux || !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
    } catch {
      return false
    }
  })
}

test('ends a program at its time limit and says so: process control', async () => {
  await using place = openTestSandbox({ launcher })
  const outcome = await runToLimit(place, 'echo partial; echo $$ > pids; sleep 600')
  expect(outcome).toMatchObject({ ended: 'timeout', exitCode: null, signal: 'SIGTERM', survivors: [] })
  expect(outcome.stdout.head).toBe('partial\n')
  expect(outcome.durationMs).toBeLessThan(sleepMs)
  expect(livePids(place)).toEqual([])
})

test('kills what does not listen, within the grace: process control PR-03', async () => {
  await using place = openTestSandbox({ launcher })
  const script =
    'trap "" TERM INT HUP; echo $$ > pids; (trap "" TERM; echo $$ >> pids; while :; do sleep 0.05; done) & while :; do sleep 0.05; done'
  const outcome = await runToLimit(place, script)
  expect(outcome).toMatchObject({ ended: 'timeout', signal: 'SIGKILL', survivors: [] })
  expect(outcome.durationMs).toBeLessThan(sleepMs)
  expect(livePids(place)).toEqual([])
})

test('lets a program end by itself within the grace: process control', async () => {
  await using place = openTestSandbox({ launcher })
  const script = 'trap "echo cleaned up; exit 7" TERM; echo $$ > pids; while :; do sleep 0.02; done'
  const outcome = await runToLimit(place, script)
  expect(outcome).toMatchObject({ ended: 'timeout', exitCode: 7 })
  expect(outcome.stdout.head).toBe('cleaned up\n')
})

test('ends a program when its call is aborted: process control', async () => {
  await using place = openTestSandbox({ launcher })
  const stop = new AbortController()
  const outcome = await runScript(place, 'echo $$ > pids; echo ready; sleep 600', {
    signal: stop.signal,
    onOutput: () => stop.abort(),
  })
  expect(outcome).toMatchObject({ ended: 'abort', survivors: [] })
  expect(livePids(place)).toEqual([])
})

test('ends what a program leaves in the background, and does not wait for it: process control', async () => {
  await using place = openTestSandbox({ launcher })
  const script =
    'sleep 600 & echo $! > pids; (sleep 600 & echo $! >> pids); nohup sleep 600 & echo $! >> pids; echo done'
  const outcome = await runScript(place, script)
  expect(outcome).toMatchObject({ ended: 'exit', exitCode: 0, survivors: [] })
  expect(outcome.stdout.head).toBe('done\n')
  expect(outcome.durationMs).toBeLessThan(sleepMs)
  expect(livePids(place)).toEqual([])
})

test.runIf(linux).each([
  [
    'a session of its own',
    'setsid sh -c "echo \\$\\$ >> pids; sleep 600" & until [ -s pids ]; do sleep 0.01; done',
  ],
  [
    'a daemon by double fork',
    '(setsid sh -c "echo \\$\\$ >> pids; exec sleep 600" >/dev/null 2>&1 </dev/null &) ; until [ -s pids ]; do sleep 0.01; done',
  ],
  [
    'a cleared environment',
    '(setsid env -i sh -c "echo \\$\\$ >> pids; exec sleep 600" </dev/null &) ; until [ -s pids ]; do sleep 0.01; done',
  ],
  [
    'a deaf daemon',
    `(setsid sh -c "trap '' TERM; echo \\$\\$ >> pids; while :; do sleep 1; done" >/dev/null 2>&1 &); until [ -s pids ]; do sleep 0.01; done`,
  ],
  [
    'a child of a daemon',
    '(setsid sh -c "env -i sleep 600 & echo \\$! >> pids; wait" >/dev/null 2>&1 &); until [ -s pids ]; do sleep 0.01; done',
  ],
  [
    'a deaf child of a daemon that ends before it, without a mark of its own',
    `(setsid sh -c 'env -i sh -c "trap \\"\\" TERM; echo \\$\\$ >> pids; while :; do sleep 1; done" & wait' >/dev/null 2>&1 &); until [ -s pids ]; do sleep 0.01; done`,
  ],
  ['a stopped process', 'sleep 600 & echo $! > pids; kill -STOP $!'],
])('ends %s: process control', async (_, script) => {
  await using place = openTestSandbox({ launcher })
  const outcome = await runScript(place, script)
  expect(outcome).toMatchObject({ ended: 'exit', survivors: [] })
  expect(livePids(place)).toEqual([])
  expect(outcome.durationMs).toBeLessThan(sleepMs)
})

test.runIf(linux)('ends what a program left behind that had ended before anybody looked at it', async () => {
  await using place = openTestSandbox({ launcher })
  await runScript(place, 'true')
  const busy = setInterval(() => {
    const until = performance.now() + 100
    while (performance.now() < until);
  })
  onTestFinished(() => clearInterval(busy))
  const left = 'setsid env -i sh -c "echo \\$\\$ >> pids; exec sleep 600" </dev/null'
  const outcome = await runScript(place, `(${left} &); until [ -s pids ]; do :; done`)
  expect(outcome).toMatchObject({ ended: 'exit', survivors: [] })
  expect(livePids(place)).toEqual([])
})

test.runIf(linux)('ends a tree that keeps growing: process control', async () => {
  await using place = openTestSandbox({ launcher })
  const script =
    'trap "" TERM; grow() { while :; do (trap "" TERM; sleep 0.2) & sleep 0.02; done; }; echo $$ > pids; grow & echo $! >> pids; grow'
  const outcome = await runToLimit(place, script)
  expect(outcome).toMatchObject({ ended: 'timeout', survivors: [] })
  expect(livePids(place)).toEqual([])
})

test.runIf(linux)('leaves the processes of others alone: process control', async () => {
  await using place = openTestSandbox({ launcher })
  const stranger = spawn('sleep', ['600'], { stdio: 'ignore', detached: true })
  await once(stranger, 'spawn')
  const other = runScript(place, 'until [ -e over ]; do sleep 0.02; done; echo still here')
  await runScript(place, 'sleep 600 &', {})
  await runScript(place, 'sleep 600', { timeoutMs: 100 })
  expect(stranger.exitCode ?? stranger.signalCode).toBeNull()
  place.put('over', '')
  expect((await other).stdout.head).toBe('still here\n')
  stranger.kill('SIGKILL')
  await once(stranger, 'exit')
})

test.runIf(linux)(
  'leaves others alone that write to where the program turned its output: process control',
  async () => {
    await using place = openTestSandbox({ launcher })
    const stranger = spawn('sleep', ['600'], { stdio: 'ignore', detached: true })
    await once(stranger, 'spawn')
    for (let i = 0; i < 10; i++) {
      const younger = runScript(place, 'exec >/dev/null 2>&1; sleep 0.2; exit 5')
      await runScript(place, 'exec >/dev/null 2>&1; sleep 0.05')
      expect((await younger).exitCode).toBe(5)
    }
    expect(stranger.exitCode ?? stranger.signalCode).toBeNull()
    stranger.kill('SIGKILL')
    await once(stranger, 'exit')
  },
)

test.runIf(linux)('does not mistake a process that got the number of an ended leader', async () => {
  const stranger = spawn('sleep', ['600'], { stdio: 'ignore', detached: true })
  await once(stranger, 'spawn')
  const pid = stranger.pid ?? 0
  const tree = identifyTree({ pid }, 'HANDRAIL_CALL=none')
  // What it writes to is shared with half of the machine.
  expect(tree.outputs).toEqual([])
  expect(findTree(tree)).toEqual([pid])
  expect(findTree({ ...tree, startedAt: (tree.startedAt ?? 0) - 1, seen: new Map() })).toEqual([])
  stranger.kill('SIGKILL')
  await once(stranger, 'exit')
  expect(findTree(tree)).toEqual([])
})

test('runs a program of the operator (HOOK-3)', async () => {
  const env = { PATH: process.env['PATH'] ?? '' }
  const request = { cwd: '/', env, timeoutMs: 10_000 }
  expect(await runProgram({ ...request, argv: ['cat'], stdin: '{"a":1}' })).toEqual({
    exitCode: 0,
    stdout: '{"a":1}',
    stderr: '',
    timedOut: false,
    truncated: false,
  })
  expect(await runProgram({ ...request, argv: ['sh', '-c', 'sleep 600'], timeoutMs: 200 })).toMatchObject({
    exitCode: null,
    timedOut: true,
  })
  expect(await runProgram({ ...request, argv: ['sh', '-c', 'echo 123456789'], maxBytes: 4 })).toMatchObject({
    stdout: '129\n',
    truncated: true,
  })
  await expect(runProgram({ ...request, argv: ['nothing-like-this'] })).rejects.toMatchObject({
    reason: 'command_not_found',
  })
})
