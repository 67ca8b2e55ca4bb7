import { chmodSync, cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Verification } from 'handrail/evidence'
import { expect, test } from 'vitest'
import {
  call,
  handrail,
  jsonOf,
  makePlace,
  program,
  startProgram,
  type Place,
} from '../support/command-line.ts'

const evidence = (place: Place, ...argv: string[]) => handrail(place, ['evidence', ...argv])
const verify = async (place: Place) => jsonOf<Verification>(await evidence(place, 'verify', '--json'))

/** A store with a read, a denied write and an unknown tool. */
async function makeCalls(): Promise<Place> {
  const place = makePlace({ 'a.txt': 'a\n' })
  await call(place, 'code.read_file', { path: 'a.txt' })
  await call(place, 'code.write_file --approve deny', { path: 'b.txt', content: 'b' })
  await call(place, 'code.no_such', {})
  return place
}

function edit(place: Place, statement: string): void {
  const db = new DatabaseSync(place.store)
  db.exec(statement)
  db.close()
}

test('prune takes inputs and results away and keeps what proves them: chain, digests, signatures (EVID-7)', async () => {
  const place = await makeCalls()
  expect((await evidence(place, 'prune', '--older-than', '1d')).stdout).toBe('Nothing is that old.\n')
  expect(readFileSync(place.store, 'latin1')).toContain('"path":"a.txt"')
  const pruned = await evidence(place, 'prune', '--older-than', '1ms')
  expect([pruned.code, pruned.stdout]).toEqual([
    0,
    'local: 5 inputs and results were removed; their records stay.\n3 folders of old runs were removed.\n',
  ])
  const db = new DatabaseSync(place.store)
  expect(db.prepare('SELECT count(*) AS bodies FROM records WHERE body IS NOT NULL').get()).toEqual({
    bodies: 0,
  })
  db.close()
  expect(readFileSync(place.store, 'latin1')).not.toContain('"path":"a.txt"')
  const verified = await evidence(place, 'verify')
  expect(verified.stdout).toMatch(
    /^The chain holds: (\d+) records of 3 calls\.\nResults that are not here any more: 3\.\nSigned: \1 records by key_\w+\.\n$/,
  )
  const [note] = jsonOf<{ event: string; message: string }[]>(
    await evidence(place, 'list', '--notes', '--json'),
  )
  expect(note).toMatchObject({
    event: 'bodies_pruned',
    message: expect.stringMatching(/^5 inputs and results/) as string,
  })
  const [, , read] = jsonOf<{ call: string }[]>(await evidence(place, 'list', '--json'))
  const page = await evidence(place, 'show', read?.call ?? '')
  expect(page.stdout.match(/\(pruned\)/g)).toHaveLength(2)
  const wrong = await evidence(place, 'prune', '--older-than', 'soon')
  expect([wrong.code, wrong.stdout]).toEqual([2, ''])
})

test('the key that signs is rotated; old signatures stay good, and the old key vouches for the new one (EVID-7)', async () => {
  const place = await makeCalls()
  const before = await verify(place)
  const rotated = await evidence(place, 'rotate-key', '--json')
  const { old, new: next } = jsonOf<{ old: string; new: string }>(rotated)
  expect(before.signed?.keys).toEqual([old])
  await call(place, 'code.read_file', { path: 'a.txt' })
  expect(await verify(place)).toMatchObject({ ok: true, signed: { pending: 0, keys: [old, next].sort() } })
  expect(
    readdirSync(join(place.home, 'keys'))
      .filter((name) => name.startsWith('key_'))
      .sort(),
  ).toEqual([`${old}.pub`, `${next}.pub`].sort())
  const [note] = jsonOf<{ event: string; data: unknown }[]>(
    await evidence(place, 'list', '--notes', '--json'),
  )
  expect(note).toMatchObject({ event: 'key_rotated', data: { old, new: next } })
})

test('a key that is open to others, missing or broken does not sign; calls go on, and verify tells what is not signed (EVID-7)', async () => {
  const place = await makeCalls()
  const key = join(place.home, 'keys', 'signing.key')
  const good = readFileSync(key)
  const states: [what: () => void, says: RegExp][] = [
    [
      () => chmodSync(key, 0o644),
      /The records of "local" are not signed\. The signing key ".*" is open to others/,
    ],
    [
      () => writeFileSync(key, 'broken\n', { mode: 0o600 }),
      /The records of "local" are not signed\. The signing key ".*" is not an Ed25519 key/,
    ],
  ]
  for (const [index, [change, says]] of states.entries()) {
    change()
    const read = await call(place, 'code.read_file', { path: 'a.txt' })
    expect([read.code, read.stderr]).toEqual([0, expect.stringMatching(says)])
    expect(await verify(place)).toMatchObject({ ok: true, signed: { pending: 2 * (index + 1) } })
    chmodSync(key, 0o600)
  }
  writeFileSync(key, good)
  await call(place, 'code.read_file', { path: 'a.txt' })
  expect(await verify(place)).toMatchObject({ ok: true, signed: { pending: 0 } })
  // Without its file a new key is made, and what the lost one signed stays good by its public part.
  rmSync(key)
  await call(place, 'code.read_file', { path: 'a.txt' })
  const found = await verify(place)
  expect(found).toMatchObject({ ok: true, signed: { pending: 0 } })
  expect(found.signed?.keys).toHaveLength(2)
})

test('a store whose chain is broken is only read: every command says why, and nothing is written (EVID-7)', async () => {
  const place = await makeCalls()
  edit(place, 'DELETE FROM records WHERE sequence = 9')
  const before = readFileSync(place.store)
  const write = await call(place, 'code.write_file --approve once', { path: 'c.txt', content: 'c' })
  expect(write.code).toBe(1)
  expect(write.stderr).toContain('takes no records: the chain of the tenant "local" does not hold')
  expect(readdirSync(place.project)).toEqual(['a.txt'])
  const read = await call(place, 'code.read_file', { path: 'a.txt' })
  expect([read.code, read.stdout]).toEqual([1, ''])
  expect(read.stderr).toContain('takes no records')
  for (const argv of [['list'], ['list', '--notes'], ['export'], ['rebuild-archive']]) {
    const shown = await evidence(place, ...argv)
    expect([argv, shown.code]).toEqual([argv, 0])
    expect(shown.stderr).toContain('takes no records')
  }
  for (const argv of [['rotate-key'], ['prune', '--older-than', '1ms'], ['import', place.store]]) {
    const refused = await evidence(place, ...argv)
    expect([argv, refused.code, refused.stdout]).toEqual([argv, 1, ''])
    expect(refused.stderr).toContain('PROVIDER.UNAVAILABLE (store_read_only)')
  }
  const verified = await evidence(place, 'verify')
  expect([verified.code, verified.stderr]).toEqual([1, ''])
  expect(verified.stdout).toMatch(/^The chain is broken: .*\n {2}truncated: tenant "local", record 9\n$/)
  expect(readFileSync(place.store).equals(before)).toBe(true)
})

test('a store that is gone, set back or replaced is noticed by what was signed before (EVID-7)', async () => {
  const place = await makeCalls()
  const early = makePlace()
  cpSync(place.home, early.home, { recursive: true })
  await call(place, 'code.read_file', { path: 'a.txt' })
  cpSync(early.store, place.store)
  expect(await verify(place)).toMatchObject({ ok: false, issue: { problem: 'truncated', sequence: 10 } })
  rmSync(place.store)
  const gone = await evidence(place, 'verify')
  expect(gone.code).toBe(1)
  expect(gone.stdout).toContain('a signature says that it ends at 11')
  await call(place, 'code.read_file', { path: 'a.txt' })
  expect(await verify(place)).toMatchObject({ ok: false })
})

test('an export whose reader has seen enough ends in silence', async () => {
  const place = await makeCalls()
  // More than a pipe holds.
  edit(place, `UPDATE records SET body = '"' || hex(zeroblob(100000)) || '"' WHERE sequence = 2`)
  const piped = startProgram(
    place,
    ['-c', `'${process.execPath}' '${program}' evidence export | head -c 20`],
    {
      command: 'sh',
    },
  )
  const { code, stdout, stderr } = await piped.ended
  expect([code, stdout, stderr]).toEqual([0, '{"handrail":"evidenc', ''])
})

test('a tenant or a session that is not there is no empty success (EVID-7)', async () => {
  const place = await makeCalls()
  for (const verb of [
    ['list'],
    ['verify'],
    ['export'],
    ['prune', '--older-than', '1d'],
    ['rebuild-archive'],
    ['show', 'call_x'],
  ]) {
    const found = await evidence(place, ...verb, '--tenant', 'acme')
    expect([verb, found.code, found.stdout]).toEqual([verb, 1, ''])
    expect(found.stderr).toContain('the store has no tenant "acme". It has: "local".')
  }
  for (const verb of ['export', 'rebuild-archive']) {
    const found = await evidence(place, verb, '--session', 'ses_x')
    expect([verb, found.code, found.stdout]).toEqual([verb, 1, ''])
    expect(found.stderr).toContain('the store has no session "ses_x"')
  }
})

test('tools that were paused and enabled again have their envelopes, and so does everything else that is not a call (EVID-8)', async () => {
  const place = makePlace({ 'a.txt': 'a\n' })
  await handrail(place, ['tools', 'pause', 'code.read_file', '--reason', 'too slow'])
  const paused = await call(place, 'code.read_file', { path: 'a.txt' })
  await handrail(place, ['tools', 'enable', 'code.read_file'])
  await call(place, 'code.read_file', { path: 'a.txt' })
  expect(paused.code).toBe(3)
  const notes = jsonOf<{ event: string; tool?: string; actor: string }[]>(
    await evidence(place, 'list', '--notes', '--json'),
  )
  expect(notes.map(({ event, tool = '' }) => `${event} ${tool}`)).toEqual([
    'tool_enabled code.read_file',
    'tool_paused code.read_file',
    ...Array<string>(5).fill('tool_registered '),
  ])
  expect(notes.every(({ actor }) => actor !== '')).toBe(true)
  const page = await evidence(place, 'list', '--notes')
  expect(page.stdout).toMatch(
    /^\S+Z {2}tool_enabled .*code\.read_file[^\n]*\n\S+Z {2}tool_paused .*too slow[^\n]*\n(\S+Z {2}tool_registered .* tools? of "builtin\.\w+"\n){5}7 notes\n$/,
  )
  expect(await verify(place)).toMatchObject({ ok: true, calls: 2 })
})

test('the archive of a run is written again from the store as it was written live (EVID-4)', async () => {
  const place = await makeCalls()
  const live = readLogs(place)
  expect(Object.keys(live)).toHaveLength(5)
  for (const run of readdirSync(join(place.home, 'runs')))
    rmSync(join(place.home, 'runs', run, 'logs'), { recursive: true })
  const rebuilt = await evidence(place, 'rebuild-archive')
  expect([rebuilt.code, rebuilt.stdout]).toEqual([
    0,
    expect.stringMatching(/^Written again: 3 calls of 3 sessions\.\n/),
  ])
  expect(readLogs(place)).toEqual(live)
})

/** Every log of every run, by its path. */
function readLogs({ home }: Place): Record<string, string> {
  const runs = join(home, 'runs')
  const names = readdirSync(runs, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /logs\/\w+\.jsonl$/.test(name),
  )
  return Object.fromEntries(names.sort().map((name) => [name, readFileSync(join(runs, name), 'utf8')]))
}
