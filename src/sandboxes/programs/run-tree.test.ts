import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { startDirectly } from './launcher/start-directly.ts'
import type { Exit, Start } from './launcher/started.ts'
import { runTree } from './run-tree.ts'

test('how a program ended that was ended is told, however late what started it hears of that', async () => {
  const start: Start = async (request) => {
    const started = await startDirectly(request)
    let told: Exit | undefined
    const exited = started.exited.then(async (exit) => {
      await wait(300)
      return (told = exit)
    })
    return { ...started, exited, exit: () => told }
  }
  const outcome = await runTree({
    executable: '/bin/sleep',
    argv: ['sleep', '600'],
    cwd: '/',
    env: {},
    timeoutMs: 1,
    maxBytes: 100,
    graceMs: 10_000,
    signals: [],
    launcher: { start, close: async () => {} },
  })
  expect(outcome).toMatchObject({ ended: 'timeout', signal: 'SIGTERM', survivors: [] })
})
