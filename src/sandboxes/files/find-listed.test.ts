import { expect, onTestFinished, test, vi } from 'vitest'
import { startDirectly } from '../programs/launcher/start-directly.ts'
import { findListed } from './find-listed.ts'

// The options of ps are the same on macOS, which has no other way to look.
test('processes are found by their group, their parents and an earlier look, and no others (FILE-7)', async () => {
  const script = 'setsid sh -c "sleep 300 & wait" & sleep 300 & wait'
  const started = await startDirectly({
    executable: '/bin/sh',
    argv: ['sh', '-c', script],
    cwd: '/',
    env: { PATH: process.env['PATH'] ?? '' },
  })
  const seen = new Map<number, string>()
  const look = () => findListed(started.pid, seen) ?? []
  onTestFinished(() => {
    for (const pid of seen.keys()) process.kill(pid, 'SIGKILL')
  })
  // The leader, one in its group, and two that left it.
  await vi.waitFor(() => expect(look()).toHaveLength(4))
  expect(seen.has(process.pid)).toBe(false)
  process.kill(started.pid, 'SIGKILL')
  await started.exited
  expect(look()).toHaveLength(3)
  for (const pid of seen.keys()) process.kill(pid, 'SIGKILL')
  await vi.waitFor(() => expect(look()).toEqual([]))
})
