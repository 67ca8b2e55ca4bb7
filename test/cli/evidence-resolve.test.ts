import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Verification } from 'handrail/evidence'
import { expect, test } from 'vitest'
import { call, handrail, jsonOf, makePlace, startHandrail, type Place } from '../support/command-line.ts'

/** Appends a line, says so, and then waits for ever. */
const append = {
  argv: ['sh', '-c', 'echo line >> log; echo there; exec sleep 600 2>/dev/null'],
}

const run = 'code.run_command --approve once --key k1'

/** A keyed call whose process is killed when the line is there, and the id of that call. */
async function killInTheMiddle(place: Place): Promise<string> {
  const running = startHandrail(place, [
    'call',
    'code.run_command',
    JSON.stringify(append),
    ...'--approve once --key k1'.split(' '),
  ])
  await expect.poll(() => lines(place)).toBe(1)
  running.child.kill('SIGKILL')
  await running.ended
  const [cutOff] = jsonOf<{ call: string; outcome: string }[]>(
    await handrail(place, ['evidence', 'list', '--json']),
  )
  expect(cutOff?.outcome).toBe('unknown')
  return cutOff?.call ?? ''
}

function lines(place: Place): number {
  try {
    return readFileSync(join(place.project, 'log'), 'utf8').split('\n').length - 1
  } catch {
    return 0
  }
}

const resolve = (place: Place, ...argv: string[]) => handrail(place, ['evidence', 'resolve', ...argv])

test('a call whose process was killed has an unknown outcome, and its key does nothing again (CALL-4, EVID-1)', async () => {
  const place = makePlace()
  const id = await killInTheMiddle(place)
  const again = await call(place, run, append)
  expect(again.code).toBe(1)
  expect(again.stderr).toContain('IDEMPOTENCY.OUTCOME_UNKNOWN (interrupted)')
  expect(again.stderr).toContain(`"handrail evidence resolve ${id}"`)
  const other = await call(place, run, { argv: ['true'] })
  expect(other.stderr).toContain('IDEMPOTENCY.CONFLICT (same_key_other_input)')
  expect(lines(place)).toBe(1)
  const verified = jsonOf<Verification>(
    await handrail(place, ['evidence', 'verify', '--tenant', 'local', '--json']),
  )
  expect(verified).toMatchObject({ ok: true, calls: 3, signed: { pending: 0 } })
})

const nothing = { head: '', tail: '', bytes: 0, truncated: false }
/** What the command would have returned. */
const result = {
  exit_code: 0,
  signal: null,
  ended: 'exit',
  duration_ms: 10,
  stdout: { ...nothing, head: 'there\n', bytes: 6 },
  stderr: nothing,
  survivors: [],
}

test('resolved as happened, the key gives what the person says from then on, if it fits the tool, and never runs the call (CALL-4, SCHEMA-3)', async () => {
  const place = makePlace()
  const id = await killInTheMiddle(place)
  const happened = (given: unknown) =>
    resolve(
      place,
      id,
      '--outcome',
      'happened',
      '--result',
      JSON.stringify(given),
      '--reason',
      'the line is in the log',
    )
  const unfit = await happened({ ...result, exit_code: 'zero' })
  expect([unfit.code, unfit.stdout]).toEqual([1, ''])
  expect(unfit.stderr).toMatch(
    /^handrail: The result does not fit the output schema of "code\.run_command": \/exit_code: .* Nothing was recorded; /,
  )
  const resolved = await happened(result)
  expect([resolved.code, resolved.stdout]).toEqual([
    0,
    `${id} happened. Its idempotency key gives the result from now on.\n`,
  ])
  const again = await call(place, `${run} --json`, append)
  expect([again.code, jsonOf(again)['data']]).toEqual([0, result])
  expect(lines(place)).toBe(1)

  const listed = await handrail(place, ['evidence', 'list'])
  expect(listed.stdout).toContain('IDEMPOTENCY.OUTCOME_UNKNOWN (interrupted), resolved: happened\n')
  const notes = await handrail(place, ['evidence', 'list', '--notes'])
  expect(notes.stdout).toMatch(/outcome_resolved {5}code\.run_command {2}the line is in the log {2}by \w+\n/)
  const twice = await resolve(place, id, '--outcome', 'not-happened')
  expect([twice.code, twice.stdout]).toEqual([1, ''])
  expect(twice.stderr).toContain(`The call "${id}" was resolved before, by `)
  expect((await handrail(place, ['evidence', 'verify'])).code).toBe(0)
})

test('resolved as not happened, the key is free and the call runs once more (CALL-4)', async () => {
  const place = makePlace()
  const id = await killInTheMiddle(place)
  expect((await resolve(place, id, '--outcome', 'not-happened', '--json')).code).toBe(0)
  const again = await call(place, run, { argv: ['sh', '-c', 'echo line >> log'] })
  expect([again.code, lines(place)]).toEqual([0, 2])
})

test('only an unknown outcome can be resolved; what is missing or wrong is said (CALL-4)', async () => {
  const place = makePlace({ 'a.txt': 'a\n' })
  await call(place, 'code.read_file', { path: 'a.txt' })
  const [read] = jsonOf<{ call: string }[]>(await handrail(place, ['evidence', 'list', '--json']))
  const id = read?.call ?? ''
  const cases: [argv: string[], code: number, says: string][] = [
    [[id, '--outcome', 'happened'], 1, `The outcome of the call "${id}" is known: ok.`],
    [['call_x', '--outcome', 'happened'], 1, 'the store has no call "call_x".'],
    [[id], 2, 'Say --outcome happened or --outcome not-happened.'],
    [[id, '--outcome', 'maybe'], 2, '--outcome is "maybe"'],
    [[id, '--outcome', 'happened', '--result', '{'], 2, '--result is not JSON'],
    [[id, '--outcome', 'not-happened', '--result', '1'], 2, 'What did not happen has no result'],
    [[], 2, 'Name a call.'],
  ]
  for (const [argv, code, says] of cases) {
    const found = await resolve(place, ...argv)
    expect([argv, found.code, found.stdout]).toEqual([argv, code, ''])
    expect(found.stderr).toContain(says)
  }
})
