import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Replay } from 'handrail/replay'
import { expect, test } from 'vitest'
import { call, handrail, jsonOf, makePlace, type Place } from '../support/command-line.ts'

const replay = (place: Place, ...argv: string[]) => handrail(place, ['evidence', 'replay', ...argv])

/** Makes one call and gives the id of its session. */
async function sessionOf(place: Place, line: string, input: unknown): Promise<string> {
  const result = await call(place, `${line} --json`, input)
  return jsonOf<{ metadata: { session: string } }>(result).metadata.session
}

test('a run goes again as it went after its file is gone; nothing is written, in the project or the home (EVID-3)', async () => {
  const place = makePlace({ 'a.txt': 'old\n' })
  const session = await sessionOf(place, 'code.write_file --approve once', {
    path: 'a.txt',
    content: 'new\n',
    overwrite: true,
  })
  rmSync(join(place.project, 'a.txt'))
  const home = readdirSync(place.home, { recursive: true, encoding: 'utf8' }).sort()
  const store = readFileSync(place.store)
  const { code, stdout, stderr } = await replay(place, session)
  expect([code, stderr]).toEqual([0, ''])
  expect(stdout).toBe(`${session}: 1 of 1 call replayed\n\nNo divergence.\n`)
  expect(existsSync(join(place.project, 'a.txt'))).toBe(false)
  expect(readdirSync(place.home, { recursive: true, encoding: 'utf8' }).sort()).toEqual(home)
  expect(readFileSync(place.store).equals(store)).toBe(true)
})

test('the first call that goes another way is shown with what was recorded and what is now; exit code 1 (EVID-3, PERM-10)', async () => {
  const place = makePlace({ 'a.txt': 'a\n' })
  const session = await sessionOf(place, 'code.read_file', { path: 'a.txt' })
  const rules = [{ id: 'secret', effect: 'deny', tools: ['code.read_file'] }]
  writeFileSync(join(place.home, 'policy.json'), JSON.stringify({ rules }))
  const { code, stdout } = await replay(place, session)
  expect(code).toBe(1)
  expect(stdout).toMatch(
    new RegExp(
      [
        `^${session}: 0 of 1 call replayed\\n`,
        'call_\\w+ code.read_file goes another way now, the calls after it were not replayed:',
        '  decision    recorded  allow by defaults/readonly',
        '              now       deny by policy/secret',
        '  outcome     recorded  ok',
        '              now       denied POLICY.DENY_TOOL \\(rule_denied\\)\\n',
        'The policy is another one now: [\\w-]{43}, recorded [\\w-]{43}\\n$',
      ].join('\\n'),
    ),
  )
  const json = await replay(place, session, '--json', '--tenant', 'local')
  expect([json.code, jsonOf<Replay>(json)]).toMatchObject([
    1,
    {
      session,
      calls: 1,
      replayed: 0,
      divergence: { differences: [{ what: 'decision' }, { what: 'outcome' }] },
    },
  ])
})

test('what cannot be replayed is said, and is not a divergence (EVID-3)', async () => {
  const place = makePlace()
  const session = await sessionOf(place, 'code.read_file', { path: 7 })
  const { code, stdout } = await replay(place, session)
  expect(code).toBe(0)
  expect(stdout).toMatch(
    /: 0 of 1 call replayed\n\nNot replayed:\n {2}call_\w+ code\.read_file: its input or its key did not fit/,
  )
})

test('a session that is not there, or not in the tenant, and no session at all (EVID-3)', async () => {
  const place = makePlace({ 'a.txt': 'a\n' })
  const session = await sessionOf(place, 'code.read_file', { path: 'a.txt' })
  for (const [argv, says] of [
    [['ses_x'], 'the store has no session "ses_x"'],
    [[session, '--tenant', 'acme'], 'the store has no tenant "acme"'],
  ] as const) {
    const missing = await replay(place, ...argv)
    expect([missing.code, missing.stdout]).toEqual([1, ''])
    expect(missing.stderr).toContain(says)
  }
  const nothing = await replay(place)
  expect([nothing.code, nothing.stdout]).toEqual([2, ''])
  expect(nothing.stderr).toMatch(
    /Name a run or a session\..*\nUsage: handrail evidence replay <run \| session> \[options\]\n/,
  )
})
