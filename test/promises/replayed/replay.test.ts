import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Replay } from 'handrail/replay'
import { expect, test } from 'vitest'
import { handrail, jsonOf, makePlace, type Place } from '../../support/command-line.ts'
import { atEveryDoor, type Door } from '../doors/doors.ts'

const files = { 'a.txt': 'one\n', 'secret/k.txt': 'k\n' }
const policy = {
  rules: [{ id: 'no-secrets', effect: 'deny', resources: ['handrail:file:{project}/secret/**'] }],
}

/** Calls that read, change, fail and are denied, and their sessions in the order of the calls. */
async function record(door: Door): Promise<{ place: Place; sessions: string[] }> {
  const place = makePlace(files, { 'policy.json': policy })
  const at = door.at(place)
  await at.call('code.read_file', { path: 'a.txt' })
  await at.call('code.write_file', { path: 'a.txt', content: 'two\n', overwrite: true }, { approve: 'once' })
  await at.call('code.write_file', { path: 'b.txt', content: '' }, { approve: 'deny' })
  await at.call('code.read_file', { path: 'secret/k.txt' })
  await at.call('code.read_file', { path: 'missing.txt' })
  await at.end()
  const listed = jsonOf<{ session: string }[]>(await handrail(place, ['evidence', 'list', '--json']))
  return { place, sessions: listed.map(({ session }) => session).reverse() }
}

const replay = (place: Place, session: string) => handrail(place, ['evidence', 'replay', session, '--json'])

/** Everything below a folder, with its content. */
function contentOf(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8', withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
  return Object.fromEntries(files.map((path) => [path, readFileSync(path, 'latin1')]))
}

/** Promise 11: a run can be replayed from its evidence without touching the world. */
atEveryDoor((door) => {
  test('a run goes again as it went, though its project is gone, and touches nothing (EVID-3)', async () => {
    const { place, sessions } = await record(door)
    rmSync(join(place.project, 'a.txt'))
    rmSync(join(place.project, 'secret'), { recursive: true })
    writeFileSync(join(place.project, 'missing.txt'), 'here now\n')
    const before = [contentOf(place.project), contentOf(place.home)]
    expect(sessions).toHaveLength(5)
    for (const session of new Set(sessions)) {
      const again = await replay(place, session)
      const { calls, replayed, skipped, divergence } = jsonOf<Replay>(again)
      expect([again.code, again.stderr, divergence, skipped]).toEqual([0, '', undefined, []])
      expect(replayed).toBe(calls)
    }
    expect([contentOf(place.project), contentOf(place.home)]).toEqual(before)
  })

  test('the first call that would go another way now is reported, with what was and what would be (EVID-3, PERM-10)', async () => {
    const { place, sessions } = await record(door)
    const rules = [...policy.rules, { id: 'frozen', effect: 'deny', tools: ['code.write_file'] }]
    writeFileSync(join(place.home, 'policy.json'), JSON.stringify({ rules }))
    const diverged = []
    for (const session of new Set(sessions)) {
      const { divergence } = jsonOf<Replay>(await replay(place, session))
      if (divergence !== undefined) diverged.push(divergence)
    }
    expect(diverged[0]).toMatchObject({
      tool: 'code.write_file',
      differences: [
        { what: 'decision', recorded: 'ask by defaults/write', now: 'deny by policy/frozen' },
        { what: 'outcome', recorded: 'ok', now: 'denied POLICY.DENY_TOOL (rule_denied)' },
      ],
    })
    expect(readFileSync(join(place.project, 'a.txt'), 'utf8')).toBe('two\n')
  })
})
