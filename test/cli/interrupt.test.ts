import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  expectNoStack,
  handrail,
  jsonOf,
  makePlace,
  startHandrail,
  type Place,
} from '../support/command-line.ts'
import { ctrlC, openTerminal } from '../support/terminal.ts'

/** A command that tells its process id and then takes its time. */
const slow = ['call', 'code.run_command', '{"argv": ["sh", "-c", "echo $$ > pid; exec sleep 60"]}']

async function pidOf(place: Place): Promise<number> {
  const path = join(place.project, 'pid')
  for (;;) {
    const text = existsSync(path) ? readFileSync(path, 'utf8') : ''
    if (text.endsWith('\n')) return Number(text)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

const list = async (place: Place) => jsonOf(await handrail(place, ['evidence', 'list', '--json']))
const holds = {
  code: 0,
  stdout: expect.stringContaining(
    'The chain holds: 3 records of 1 calls.\nSigned: 3 records by key_',
  ) as string,
}

test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
  '%s during a call aborts it, ends its process tree, and leaves evidence (SCHED-6)',
  async (signal) => {
    const place = makePlace()
    const running = startHandrail(place, [...slow, '--approve', 'once'])
    const pid = await pidOf(place)
    running.child.kill(signal)
    // npm and a launcher hand the same signal on once more.
    running.child.kill(signal)
    const ended = await running.ended
    expectNoStack(ended)
    expect([ended.code, ended.signal]).toEqual([1, null])
    expect(ended.stderr).toContain('TOOL.ABORTED (aborted_by_user)')
    expect(isAlive(pid)).toBe(false)
    expect(await list(place)).toMatchObject([
      { outcome: 'aborted', code: 'TOOL.ABORTED', reason: 'aborted_by_user' },
    ])
    expect(await handrail(place, ['evidence', 'verify'])).toMatchObject(holds)
  },
)

test('Ctrl-C at a terminal does the same (SCHED-6)', async () => {
  const place = makePlace()
  const terminal = openTerminal(place, [...slow, '--approve', 'once'])
  const pid = await pidOf(place)
  terminal.type(ctrlC)
  expect(await terminal.ended).toBe(1)
  expect(terminal.screen()).toContain('TOOL.ABORTED (aborted_by_user)')
  expect(isAlive(pid)).toBe(false)
  expect(await handrail(place, ['evidence', 'verify'])).toMatchObject(holds)
})

test('a killed process leaves no call open: the next look ends it as unknown (EVID-1, CALL-4)', async () => {
  const place = makePlace()
  const keyed = [...slow, '--approve', 'once', '--key', 'k']
  const running = startHandrail(place, keyed)
  const pid = await pidOf(place)
  running.child.kill('SIGKILL')
  await running.ended
  process.kill(pid)
  expect(await list(place)).toMatchObject([
    { tool: 'code.run_command', outcome: 'unknown', code: 'IDEMPOTENCY.OUTCOME_UNKNOWN' },
  ])
  expect(await handrail(place, ['evidence', 'verify'])).toMatchObject(holds)
  const again = await handrail(place, keyed)
  expect(again.stderr).toContain('IDEMPOTENCY.OUTCOME_UNKNOWN (interrupted)')
  expect(again.code).toBe(1)
})
