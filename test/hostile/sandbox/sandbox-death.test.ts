import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { codeTools } from 'handrail'
import { expect, test, vi } from 'vitest'
import { onBundle } from '../../support/command-line.ts'
import { findProcesses } from '../../support/processes.ts'
import { anyCommand, makeFolder, openRuntime } from '../../support/project.ts'
import { rounds } from '../../support/rounds.ts'

const times = rounds({ usual: 2, long: 20 })

/** Children in sessions of their own, forked twice, deaf to signals, with closed output, and one that gave up its environment. */
const scatter = `
trap "" TERM HUP INT
setsid sleep 300 &
(sleep 300 &)
(setsid sh -c 'trap "" TERM HUP; sleep 300 >/dev/null 2>&1 & exec sleep 300' >/dev/null 2>&1 &)
env -i sleep 301 >/dev/null 2>&1 &
setsid perl -e 'use POSIX; if (!fork()) { setsid(); if (!fork()) { close $_ for *STDIN, *STDOUT, *STDERR; exec "sleep", "300" } exit } wait; sleep 300' &
sleep 0.05
echo started > here
wait
sleep 300`

const left = (project: string) => findProcesses(`PWD=${project}`)

async function sawStart(project: string): Promise<void> {
  await vi.waitFor(() => expect(existsSync(join(project, 'here'))).toBe(true))
  expect(left(project).length).toBeGreaterThan(5)
}

test(`when Handrail is killed, nothing of its command is left, ${times} of ${times} times`, async () => {
  for (let round = 0; round < times; round++) {
    const project = makeFolder()
    const child = spawn(
      process.execPath,
      [onBundle, join(import.meta.dirname, 'sandbox-runner.ts'), project, 'sh', '-c', scatter],
      { stdio: 'ignore' },
    )
    await sawStart(project)
    child.kill('SIGKILL')
    await once(child, 'exit')
    await vi.waitFor(() => expect(left(project)).toEqual([]))
  }
})

test(`when a call is aborted, nothing of its command is left when the answer comes, ${times} of ${times} times`, async () => {
  for (let round = 0; round < times; round++) {
    const project = makeFolder()
    const runtime = await openRuntime({
      project,
      tools: [codeTools()],
      policy: anyCommand,
    })
    const ending = new AbortController()
    const answer = runtime
      .session()
      .call('code.run_command', { argv: ['sh', '-c', scatter] }, { signal: ending.signal })
    await sawStart(project)
    ending.abort()
    expect(await answer).toMatchObject({ outcome: 'aborted', data: { ended: 'abort', survivors: [] } })
    expect(left(project)).toEqual([])
  }
})

test('a program that ends leaves nothing behind in the background', async () => {
  const project = makeFolder()
  const runtime = await openRuntime({
    project,
    tools: [codeTools()],
    policy: anyCommand,
  })
  const result = await runtime.session().call('code.run_command', {
    argv: ['sh', '-c', 'setsid sleep 300 & (sleep 300 >/dev/null 2>&1 &); sleep 0.1; echo over'],
  })
  expect(result).toMatchObject({ ok: true, data: { exit_code: 0, survivors: [] } })
  expect(left(project)).toEqual([])
})
