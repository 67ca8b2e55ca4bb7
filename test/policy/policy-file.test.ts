import { chmodSync, existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openOffice } from '../support/approved.ts'
import { handrail, jsonOf, makePlace, startHandrail, type Place } from '../support/command-line.ts'
import { openShop } from '../support/shop.ts'
import { rounds } from '../support/rounds.ts'

const policyVerb = (place: Place, ...argv: string[]) => handrail(place, ['policy', ...argv])
const policyOf = (place: Place): string => readFileSync(join(place.home, 'policy.json'), 'utf8')

/** Saves this text as a person does. */
function save(place: Place, text: string, ...argv: string[]) {
  const path = join(place.user, 'new.json')
  writeFileSync(path, text)
  return policyVerb(place, 'save', path, '--yes', '--as', 'ann', ...argv)
}

interface Version {
  readonly version: number
  readonly text: string
  readonly by?: string
  readonly reason?: string
}
const versions = async (place: Place): Promise<Version[]> =>
  jsonOf<Version[] & Record<string, unknown>>(await policyVerb(place, 'versions', '--json'))

/** A place with a call that a person allowed and one of a command, which was denied. */
async function makeOffice(own: Readonly<Record<string, unknown>> = {}) {
  const place = makePlace({}, own)
  const office = await openOffice(place, {}, (actor) => (actor === 'eve' ? 'deny' : 'allow_once'))
  await office.write('a.md')
  await office.write('b.md', { actor: 'eve' })
  return { place, office }
}

const denies = '{ "rules": [{ "id": "no", "effect": "deny", "tools": ["code.write_file"] }] }\n'
const allows = '// ours\n{ "rules": [{ "id": "yes", "effect": "allow", "tools": ["code.write_file"] }] }\n'

test('what would be decided otherwise is shown before a policy is saved, and each version is kept with who saved it', async () => {
  const { place } = await makeOffice({ 'policy.json': denies })
  const saved = await save(place, allows, '--reason', 'writing is fine')
  expect(saved.code).toBe(0)
  expect(saved.stdout).toContain('+// ours')
  expect(saved.stdout).toMatch(/ask by defaults\/write\n {2}would be {2}allow by policy\/yes – /)
  expect(saved.stdout).toContain('2 calls of the last seven days judged, 2 would be decided in another way.')
  expect(saved.stdout).toMatch(/Version 2 of .*policy\.json is saved/)
  expect(policyOf(place)).toBe(allows)
  writeFileSync(join(place.home, 'policy.json'), '{ "mode": "plan" }')
  expect(await versions(place)).toMatchObject([
    { version: 3, text: '{ "mode": "plan" }' },
    { version: 2, by: 'ann', reason: 'writing is fine', text: allows },
    { version: 1, text: denies },
  ])
  expect((await versions(place))[0]).not.toHaveProperty('by')
  expect((await policyVerb(place, 'versions', '2')).stdout).toContain('+// ours')
  const listed = (await policyVerb(place, 'versions')).stdout
  expect(listed).toMatch(/ {3}3 .* found in the file\n {3}2 .* ann: writing is fine\n/)
  const notes = (await handrail(place, ['evidence', 'list', '--notes'])).stdout
  expect(notes).toContain('ann saved version 2 of the policy file: writing is fine')
})

test('a version of before is put back with the same foresight, and a policy that got narrower is told as such', async () => {
  const { place } = await makeOffice({ 'policy.json': allows })
  await save(place, denies)
  const back = await policyVerb(place, 'restore', '1', '--yes', '--as', 'bob', '--json')
  expect(jsonOf(back)).toMatchObject({
    saved: true,
    version: 3,
    different: [
      { now: { effect: 'deny', rule: 'no' }, would: { effect: 'allow', rule: 'yes' } },
      { now: { effect: 'deny' }, would: { effect: 'allow' } },
    ],
  })
  expect(policyOf(place)).toBe(allows)
  expect((await versions(place))[0]).toMatchObject({ by: 'bob', reason: 'back to version 1' })
  const unknown = await policyVerb(place, 'restore', '9', '--yes')
  expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('no version "9"')])
})

test('what cannot be used, cases that fail and a person who is not there leave all as it was', async () => {
  const { place } = await makeOffice({ 'policy.json': denies })
  const faulty = await save(place, '{\n  "rules": [\n    { "effect": "maybe" }\n  ]\n}')
  expect([faulty.code, faulty.stderr]).toEqual([2, expect.stringContaining('line 3, /rules/0/effect')])
  const cases = join(place.user, 'cases.json')
  const expected = { tool: 'code.write_file', input: { path: 'a', content: '' }, expect: { effect: 'deny' } }
  writeFileSync(cases, JSON.stringify({ cases: [expected] }))
  const failing = await save(place, allows, '--cases', cases)
  expect([failing.code, failing.stdout]).toEqual([1, expect.stringContaining('✗ /cases/0 (code.write_file)')])
  writeFileSync(join(place.user, 'new.json'), allows)
  const unasked = await policyVerb(place, 'save', join(place.user, 'new.json'))
  expect([unasked.code, unasked.stderr]).toEqual([2, expect.stringContaining('add --yes')])
  expect(policyOf(place)).toBe(denies)
  expect((await versions(place)).map(({ version }) => version)).toEqual([1])
})

test('a policy in gateway.json is changed in its place, and a link stays a link', async () => {
  const gateway = '{\n  // who may connect\n  "tokens": [],\n  "policy": { "rules": [] }\n}\n'
  const place = makePlace({}, { 'gateway.json': gateway.replace('"tokens": [],', '"port": 7421,') })
  const saved = await save(place, '{ "mode": "plan" }')
  expect([saved.code, saved.stderr]).toEqual([0, ''])
  expect(readFileSync(join(place.home, 'gateway.json'), 'utf8')).toBe(
    '{\n  // who may connect\n  "port": 7421,\n  "policy": { "mode": "plan" }\n}\n',
  )
  expect(existsSync(join(place.home, 'policy.json'))).toBe(false)

  const linked = makePlace({}, { 'elsewhere.json': denies })
  symlinkSync('elsewhere.json', join(linked.home, 'policy.json'))
  chmodSync(join(linked.home, 'elsewhere.json'), 0o640)
  expect((await save(linked, allows)).code).toBe(0)
  expect(readFileSync(join(linked.home, 'elsewhere.json'), 'utf8')).toBe(allows)
})

test('a waiting call is allowed as a rule: its rule goes into the file, comments stay, and the next call is not asked about', async () => {
  const { place, office } = await makeOffice({ 'policy.json': '{\n  // ours\n  "rules": []\n}\n' })
  const input = { path: 'a.md', content: 'z', overwrite: true }
  const session = office.as()
  const step = await session.step([{ id: '1', tool: 'code.write_file', input }])
  const allowed = await handrail(place, ['approvals', 'allow', 'last', '--as-rule', '--yes', '--as', 'bob'])
  expect([allowed.code, allowed.stderr]).toEqual([0, ''])
  expect(allowed.stdout).toMatch(
    /1 other call would have been let through unasked:\n.* bot: allowed by ann\n/,
  )
  expect(allowed.stdout).toContain('Version 2 of the policy has it')
  expect(policyOf(place)).toContain('// ours')
  expect(JSON.parse(policyOf(place).replace('// ours', ''))).toMatchObject({
    rules: [{ effect: 'allow', resources: [`handrail:file:${place.project}/a.md`] }],
  })
  expect(await session.resume(step)).toMatchObject({ results: [{ ok: true }] })
  expect(await handrail(place, ['call', 'code.write_file', JSON.stringify(input)])).toMatchObject({ code: 0 })
})

test('no rule is made of a call of another program, of one that several people decide about, or of a secret, and nothing is decided', async () => {
  const place = makePlace()
  const shop = await openShop(place.store)
  await shop.runtime.session().step([{ id: '1', tool: 'shop.refund', input: { order: '1' } }])
  const asRule = () => handrail(place, ['approvals', 'allow', 'last', '--as-rule', '--yes', '--as', 'bob'])
  const foreign = await asRule()
  expect([foreign.code, foreign.stderr]).toEqual([1, expect.stringContaining('"shop.refund" is not here')])
  const office = await openOffice(place)
  await office.as().step([
    {
      id: '2',
      tool: 'code.run_command',
      input: { argv: ['echo', 'ghp_abcdefghijklmnopqrstuvwxyz0123456789'] },
    },
  ])
  expect((await asRule()).stderr).toContain('would have to name a secret')
  await office.as().step([{ id: '3', tool: 'code.write_file', input: { path: 'a', content: '' } }])
  writeFileSync(
    join(place.home, 'policy.json'),
    JSON.stringify({ approvers: [{ tools: ['code.*'], needed: 2 }] }),
  )
  expect((await asRule()).stderr).toContain('2 people')
  const waiting = jsonOf<{ state: string }[] & Record<string, unknown>>(
    await handrail(place, ['approvals', 'list', '--json']),
  )
  expect(waiting.map(({ state }) => state)).toEqual(['waiting', 'waiting', 'waiting'])
})

test('whoever is killed while they save leaves the whole of the old policy or of the new one, and its author is known', async () => {
  const place = makePlace({}, { 'policy.json': denies })
  await versions(place)
  const path = join(place.user, 'new.json')
  let saved = 0
  for (let round = 0; round < rounds({ usual: 2, long: 60 }); round++) {
    const before = policyOf(place)
    const text = `{ "rules": [${' '.repeat(200_000)}] } // ${round}`
    writeFileSync(path, text)
    const running = startHandrail(place, ['policy', 'save', path, '--yes', '--as', 'ann'])
    await running.saw('calls of the last seven days judged')
    if (round % 2 === 0) await running.saw('is saved')
    running.child.kill('SIGKILL')
    await running.ended
    const after = policyOf(place)
    expect([before, text]).toContain(after)
    const [newest] = await versions(place)
    expect(newest?.text).toBe(after)
    if (after !== text) continue
    saved++
    expect(newest?.by).toBe('ann')
  }
  expect(saved).toBeGreaterThan(0)
})
