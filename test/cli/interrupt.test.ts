import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import {
  expectNoStack,
  handrail,
  jsonOf,
  makePlace,
  startHandrail,
  type Place,
} from '../support/command-line.ts'
import { findProcesses } from '../support/processes.ts'
import { ctrlC, openTerminal } from '../support/terminal.ts'

/** A command that says when it has started, and then takes its time. */
const slow = ['call', 'code.run_command', '{"argv": ["sh", "-c", "echo started > here; exec sleep 60"]}']

async function sawStart(place: Place): Promise<void> {
  while (!existsSync(join(place.project, 'here'))) await new Promise((resolve) => setTimeout(resolve, 20))
  expect(findProcesses(`PWD=${place.project}`)).not.toEqual([])
}

/** Whatever runs in the project knows it as its working directory. */
const left = (place: Place) => findProcesses(`PWD=${place.project}`)

const list = async (place: Place) => jsonOf(await handrail(place, ['evidence', 'list', '--json']))
const holds = {
  code: 0,
  stdout: expect.stringMatching(
    /^The chain holds: \d+ records of 1 call\.\nSigned: \d+ records by key_/,
  ) as string,
}

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const)(
  '%s during a call aborts it, ends its process tree, and leaves evidence; the exit code is %i (SCHED-6)',
  async (signal, code) => {
    const place = makePlace()
    const running = startHandrail(place, [...slow, '--approve', 'once'])
    await sawStart(place)
    running.child.kill(signal)
    // npm and a launcher hand the same signal on once more.
    running.child.kill(signal)
    const ended = await running.ended
    expectNoStack(ended)
    expect([ended.code, ended.signal]).toEqual([code, null])
    expect(ended.stderr).toContain('TOOL.ABORTED (aborted_by_user)')
    expect(left(place)).toEqual([])
    expect(await list(place)).toMatchObject([
      { outcome: 'aborted', code: 'TOOL.ABORTED', reason: 'aborted_by_user' },
    ])
    expect(await handrail(place, ['evidence', 'verify'])).toMatchObject(holds)
  },
)

test('Ctrl-C at a terminal does the same (SCHED-6)', async () => {
  const place = makePlace()
  const terminal = openTerminal(place, [...slow, '--approve', 'once'])
  await sawStart(place)
  terminal.type(ctrlC)
  expect(await terminal.ended).toBe(130)
  expect(terminal.screen()).toContain('TOOL.ABORTED (aborted_by_user)')
  expect(left(place)).toEqual([])
  expect(await handrail(place, ['evidence', 'verify'])).toMatchObject(holds)
})

test('a killed process leaves no call open: the next look ends it as unknown (EVID-1, CALL-4)', async () => {
  const place = makePlace()
  const keyed = [...slow, '--approve', 'once', '--key', 'k']
  const running = startHandrail(place, keyed)
  await sawStart(place)
  running.child.kill('SIGKILL')
  await running.ended
  await vi.waitFor(() => expect(left(place)).toEqual([]))
  expect(await list(place)).toMatchObject([
    { tool: 'code.run_command', outcome: 'unknown', code: 'IDEMPOTENCY.OUTCOME_UNKNOWN' },
  ])
  expect(await handrail(place, ['evidence', 'verify'])).toMatchObject(holds)
  const again = await handrail(place, keyed)
  expect(again.stderr).toContain('IDEMPOTENCY.OUTCOME_UNKNOWN (interrupted)')
  expect(again.code).toBe(1)
})
