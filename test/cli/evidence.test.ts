import { cpSync, existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Verification } from 'handrail/evidence'
import { expect, test } from 'vitest'
import { call, handrail, jsonOf, makePlace, type Place } from '../support/command-line.ts'

interface Listed {
  call: string
  tool: string
  outcome: string
  code?: string
  reason?: string
}
interface Shown {
  sequence: number
  hash: string
  record: { kind: string; input?: string; outcome?: string }
  input?: unknown
  operations?: unknown
  result?: unknown
}

const list = async (place: Place) => jsonOf<Listed[]>(await handrail(place, ['evidence', 'list', '--json']))
const verify = (place: Place, ...more: string[]) => handrail(place, ['evidence', 'verify', ...more])

/** A store with a read that worked, a write that was denied, and an unknown tool. */
async function makeCalls(): Promise<Place> {
  const place = makePlace({ 'a.txt': 'a\n' })
  await call(place, 'code.read_file', { path: 'a.txt' })
  await call(place, 'code.write_file --approve deny', { path: 'b.txt', content: 'b' })
  await call(place, 'code.no_such', {})
  return place
}

function edit(place: Place, ...statements: string[]): void {
  const db = new DatabaseSync(place.store)
  for (const statement of statements) db.exec(statement)
  db.close()
}

test('every call is listed, newest first, denied and unknown ones too; show has its begin and its end (EVID-1, EVID-2)', async () => {
  const place = await makeCalls()
  const calls = await list(place)
  expect(calls).toMatchObject([
    { tool: 'code.no_such', outcome: 'denied', code: 'POLICY.DENY_TOOL', reason: 'tool_not_available' },
    { tool: 'code.write_file', outcome: 'denied', code: 'POLICY.APPROVAL_DENIED', reason: 'denied' },
    { tool: 'code.read_file', outcome: 'ok' },
  ])
  const limited = await handrail(place, ['evidence', 'list', '--limit', '1'])
  expect(limited.stdout).toMatch(
    /^\S+Z {2}call_\w+ {2}denied {3}code\.no_such {2}POLICY\.DENY_TOOL .*\n1 call\n$/,
  )

  const read = calls.at(-1)?.call ?? ''
  const shown = jsonOf<Shown[]>(await handrail(place, ['evidence', 'show', read, '--json']))
  expect(shown).toMatchObject([
    {
      record: { kind: 'begin', tool: 'code.read_file', actor: 'user', role: 'main' },
      input: { path: 'a.txt' },
      operations: [{ kind: 'fs.read' }],
    },
    { record: { kind: 'end', outcome: 'ok' }, result: { data: { path: 'a.txt' } } },
  ])
  const page = await handrail(place, ['evidence', 'show', read])
  expect(page.stdout).toMatch(/^#\d+ begin\n[^]*\n#\d+ end\n/)
  const missing = await handrail(place, ['evidence', 'show', 'call_x'])
  expect([missing.code, missing.stdout]).toEqual([1, ''])
  expect(missing.stderr).toContain('the store has no call "call_x"')
})

test('without a store there is nothing to show, and nothing is made', async () => {
  const place = makePlace()
  const listed = await handrail(place, ['evidence', 'list', '--json'])
  expect([listed.code, listed.stdout]).toEqual([0, '[]\n'])
  expect(listed.stderr).toContain(`there is no store at "${place.store}" yet`)
  expect((await verify(place)).stdout).toBe(
    'The chain holds: 0 records of 0 calls.\nNo record is signed yet.\n',
  )
  expect((await handrail(place, ['evidence', 'show', 'call_x'])).code).toBe(1)
  expect(existsSync(place.home)).toBe(false)
})

test('verify says that the chain holds, then what was done to it: changed, removed, swapped, cut off (EVID-7)', async () => {
  const place = await makeCalls()
  const whole = await verify(place)
  expect(whole.code).toBe(0)
  expect(whole.stdout).toMatch(
    /^The chain holds: (\d+) records of 3 calls\.\nSigned: \1 records by key_[0-9a-f]{32}\.\n$/,
  )

  const cases: [string, string[], Partial<Verification['issue']>][] = [
    [
      'a changed text',
      [`UPDATE records SET text = replace(text, '"denied"', '"ok"') WHERE tenant = 'local' AND sequence = 5`],
      { sequence: 5, problem: 'changed' },
    ],
    [
      'a changed result',
      [`UPDATE records SET body = replace(body, 'a.txt', 'b.txt') WHERE tenant = 'local' AND sequence = 2`],
      { sequence: 2, problem: 'body_changed' },
    ],
    [
      'a removed record',
      ["DELETE FROM records WHERE tenant = 'local' AND sequence = 4"],
      { sequence: 4, problem: 'missing' },
    ],
    [
      'two swapped records',
      [
        "UPDATE records SET sequence = -4 WHERE tenant = 'local' AND sequence = 4",
        "UPDATE records SET sequence = 4 WHERE tenant = 'local' AND sequence = 7",
        "UPDATE records SET sequence = 7 WHERE tenant = 'local' AND sequence = -4",
      ],
      { sequence: 4, problem: 'reordered' },
    ],
    [
      'a cut-off end',
      ["DELETE FROM records WHERE tenant = 'local' AND sequence > 5"],
      { sequence: 6, problem: 'truncated' },
    ],
  ]
  for (const [what, statements, issue] of cases) {
    const tampered = makePlace()
    cpSync(place.home, tampered.home, { recursive: true })
    edit(tampered, ...statements)
    const found = await verify(tampered, '--json')
    expect([what, found.code, jsonOf<Verification>(found)]).toMatchObject([what, 1, { ok: false, issue }])
  }
})

test('verify names the record, the call and the problem in words (EVID-7)', async () => {
  const place = makePlace({ 'a.txt': 'a\n' })
  await call(place, 'code.read_file', { path: 'a.txt' })
  const [read] = await list(place)
  edit(place, `UPDATE records SET text = replace(text, '"user"', '"eve"') WHERE sequence = 1`)
  const { code, stdout } = await verify(place)
  expect(code).toBe(1)
  expect(stdout).toMatch(/^The chain is broken: The record 1 is not the one that was written/)
  expect(stdout).toContain(`changed: tenant "local", record 1, call ${read?.call ?? ''}\n`)
})

test('a hostile name in the evidence cannot drive the terminal', async () => {
  const place = makePlace()
  await call(place, 'a\u001b[2Jb\u202e\nc', {})
  const { stdout } = await handrail(place, ['evidence', 'list'])
  expect(stdout.split('\n')).toHaveLength(3)
  expect(stdout).toContain('a\\u{1b}[2Jb\\u{202e}\\nc')
})

test('runs are archived under the home, one folder for each session (EVID-4)', async () => {
  const place = makePlace({ 'a.txt': 'a\n' })
  const result = await call(place, 'code.read_file --json', { path: 'a.txt' })
  const { session } = jsonOf<{ metadata: { session: string } }>(result).metadata
  const run = join(place.home, 'runs', session)
  expect(readdirSync(run).sort()).toEqual(
    ['archive', 'deliverables', 'events.jsonl', 'logs', 'run.json', 'workspace'].sort(),
  )
  expect(readFileSync(join(run, 'logs', 'tools.jsonl'), 'utf8')).toContain('code.read_file')
})
