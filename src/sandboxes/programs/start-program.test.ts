import { once } from 'node:events'
import { PassThrough, Readable } from 'node:stream'
import { expect, test } from 'vitest'
import type { Launcher } from './launcher/create-launcher.ts'
import { startProgram } from './start-program.ts'

test('a program that ended before it was given its input counts as started, and ends as it did', async () => {
  const stdin = new PassThrough()
  stdin.destroy()
  await once(stdin, 'close')
  const exit = { exitCode: 3, signal: null, cpuMs: 0, lost: false }
  const launcher: Launcher = {
    start: async () => ({
      pid: 1,
      stdin,
      stdout: Readable.from([]),
      stderr: Readable.from([]),
      pipes: [],
      exited: Promise.resolve(exit),
      exit: () => exit,
      release: () => {},
    }),
    close: async () => {},
  }
  const request = { executable: '/bin/false', argv: ['false'], cwd: '/', env: {}, launcher }
  const started = await startProgram({ ...request, stdin: new PassThrough() })
  expect(await started.exited).toEqual(exit)
})
