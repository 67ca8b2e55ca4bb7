import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { expect, onTestFinished, test } from 'vitest'
import type { Exit } from '../programs/launcher/started.ts'
import { isGone } from '../programs/launcher/is-gone.ts'
import { killNow } from '../programs/launcher/kill-now.ts'
import { holdSandbox } from './hold-sandbox.ts'

test('a first process that bwrap has not told of yet ends with the sandbox', async () => {
  // As bwrap when it has started that one, which does not die with it yet.
  const bwrap = spawn('/bin/sh', ['-c', 'sleep 600 & echo $!; wait'], { stdio: ['ignore', 'pipe', 'ignore'] })
  const { pid = 0, stdout } = bwrap
  let end: Exit | undefined
  const exited = once(bwrap, 'exit').then(
    (): Exit => (end = { exitCode: null, signal: null, cpuMs: 0, lost: false }),
  )
  const [said] = (await once(stdout, 'data')) as [Buffer]
  const first = Number(said)
  onTestFinished(() => {
    for (const each of [pid, first]) killNow(each)
  })
  const hold = holdSandbox(
    {
      pid,
      stdout,
      stderr: new PassThrough(),
      stdin: undefined,
      pipes: [new PassThrough(), new PassThrough()],
      exited,
      exit: () => end,
      release: () => {},
    },
    { memoryBytes: 2 ** 30, metered: false },
  )
  expect(await hold.end()).toEqual([])
  expect(await isGone(first, 10_000)).toBe(true)
})
