import {
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  realpathSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { Policy } from 'handrail'
import { expect, onTestFinished, test } from 'vitest'
import { call, handrail, jsonOf, makePlace, type Place } from '../support/command-line.ts'
import { startServer } from '../support/start-command.ts'

interface Report {
  project?: string
  rules: { id: string }[]
  mode?: string
  notes: { rule: string; became: string }[]
  added: number
  policy: string
  written: boolean
}

const permissions = {
  allow: ['Bash(echo ok:*)', 'Edit(/docs/**)', 'Unknown'],
  ask: ['Bash(git push *)'],
  deny: ['Read(./secret.txt)', 'Bash(rm *)'],
}

/** Writes settings where the project has them, or anywhere else. */
function writeSettings(
  place: Place,
  settings: unknown,
  path = join(place.project, '.claude', 'settings.json'),
): string {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, typeof settings === 'string' ? settings : JSON.stringify(settings))
  return path
}

const policyOf = (place: Place) => JSON.parse(readFileSync(join(place.home, 'policy.json'), 'utf8')) as Policy

test('the rules and what is not exactly the same are shown, and nothing is written (PERM-11)', async () => {
  const place = makePlace()
  const path = writeSettings(place, { permissions })
  const { code, stdout, stderr } = await handrail(place, ['policy', 'import', path])
  expect([code, stderr]).toEqual([0, ''])
  const project = realpathSync(place.project)
  expect(stdout).toContain(`5 rules, which hold in "${project}" alone:`)
  expect(stdout).toContain('"effect":"deny","commands":["rm *"]')
  expect(stdout).toContain('  allow Unknown – left out: no tool is called "Unknown".\n')
  expect(stdout).toContain('  deny Read(./secret.txt) – holds for more: ')
  expect(stdout).toContain(
    `Nothing was written. With --write, 5 rules would be added to "${place.home}/policy.json".`,
  )
  expect(readdirSync(place.user)).toEqual([])

  const report = jsonOf<Report>(await handrail(place, ['policy', 'import', path, '--json']))
  expect(report).toMatchObject({ project, added: 5, written: false, policy: join(place.home, 'policy.json') })
  expect(report.rules).toHaveLength(5)
  expect(report.notes.map(({ rule, became }) => [rule, became])).toEqual([
    ['Read(./secret.txt)', 'wider'],
    ['Unknown', 'left_out'],
  ])
})

test('with --write they decide about calls, beside what the policy said before; twice changes nothing (PERM-11)', async () => {
  const own: Policy = {
    mode: 'plan',
    network: { hosts: ['example.com'] },
    rules: [{ id: 'mine', effect: 'deny', tools: ['web.*'], reason: 'offline' }],
  }
  const place = makePlace({ 'secret.txt': 's', 'open.txt': 'o', 'docs/a.md': '' }, { 'policy.json': own })
  const path = writeSettings(place, { permissions: { ...permissions, defaultMode: 'acceptEdits' } })
  const written = await handrail(place, ['policy', 'import', path, '--write'])
  expect([written.code, written.stderr]).toEqual([0, ''])
  expect(written.stdout).toContain(`5 rules added to "${place.home}/policy.json".`)
  const { rules = [], ...rest } = policyOf(place)
  expect(rest).toEqual({ mode: 'plan', network: own.network })
  expect(rules[0]).toEqual(own.rules?.[0])
  expect(rules).toHaveLength(6)
  expect((await handrail(place, ['policy', 'check'])).stdout).toContain('6 rules: no issue.')

  const file = join(place.home, 'policy.json')
  const before = [readFileSync(file, 'utf8'), statSync(file).ino]
  const again = await handrail(place, ['policy', 'import', path, '--write'])
  expect(again.stdout).toContain(`"${file}" has them already. Nothing was changed.`)
  expect([readFileSync(file, 'utf8'), statSync(file).ino]).toEqual(before)
  expect(readdirSync(place.home)).toEqual(['.lock', 'policy.json'])

  const run = (argv: readonly string[]) => call(place, 'code.run_command --mode default', { argv })
  expect(await run(['echo', 'ok', 'then'])).toMatchObject({ code: 0 })
  expect(await run(['sh', '-c', 'echo ok && echo ok 2'])).toMatchObject({ code: 0 })
  expect(await run(['sh', '-c', 'echo ok && echo no'])).toMatchObject({ code: 3 })
  expect((await run(['sh', '-c', 'echo ok && rm open.txt'])).stderr).toContain('deny Bash(rm *)')
  expect(await call(place, 'code.read_file', { path: 'open.txt' })).toMatchObject({ code: 0 })
  expect(await call(place, 'code.read_file', { path: 'secret.txt' })).toMatchObject({ code: 3 })
  const write = (target: string) =>
    call(place, 'code.write_file --mode default', { path: target, content: 'x' })
  expect(await write('docs/b.md')).toMatchObject({ code: 0 })
  expect(await write('other.md')).toMatchObject({ code: 3 })
})

test("the person's own settings hold in every project, with their mode; those of a project in no other (PERM-11)", async () => {
  const place = makePlace({ 'a/secret.txt': 's', 'b/secret.txt': 's' })
  const [first, second] = ['a', 'b'].map((name) => join(place.project, name))
  const read = async (project: string | undefined) =>
    (await call(place, `code.read_file --project ${project}`, { path: 'secret.txt' })).code
  const settings = { permissions: { deny: ['Read(secret.txt)'], defaultMode: 'plan' } }
  const ofProject = writeSettings(place, settings, join(first ?? '', '.claude', 'settings.json'))
  await handrail(place, ['policy', 'import', ofProject, '--write'])
  expect([await read(first), await read(second), policyOf(place).mode]).toEqual([3, 0, undefined])
  const ofPerson = writeSettings(place, settings, join(place.user, '.claude', 'settings.json'))
  const report = jsonOf<Report>(await handrail(place, ['policy', 'import', ofPerson, '--write', '--json']))
  expect(report).toMatchObject({ added: 1, mode: 'plan', written: true })
  expect(report).not.toHaveProperty('project')
  expect([await read(first), await read(second), policyOf(place).mode]).toEqual([3, 3, 'plan'])
  writeSettings(place, { permissions: { defaultMode: 'acceptEdits' } }, ofPerson)
  await handrail(place, ['policy', 'import', ofPerson, '--write'])
  expect(policyOf(place).mode).toBe('plan')
})

test('settings that lie anywhere else are those of the project at hand (PERM-11)', async () => {
  const place = makePlace()
  const path = writeSettings(place, { permissions }, join(place.user, 'shared.json'))
  const report = jsonOf<Report>(await handrail(place, ['policy', 'import', path, '--json']))
  expect(report.project).toBe(realpathSync(place.project))
})

test('a server that runs takes them (PERM-11, AUTH-5)', async () => {
  const place = makePlace({ 'secret.txt': 's' }, { 'policy.json': {} })
  const server = await startServer(place)
  const client = new Client({ name: 'test', version: '1.0.0' })
  await client.connect(new StreamableHTTPClientTransport(new URL(server.url)))
  onTestFinished(() => client.close())
  const read = async () =>
    (await client.callTool({ name: 'code__read_file', arguments: { path: 'secret.txt' } })).isError === true
  expect(await read()).toBe(false)
  const { code } = await handrail(place, [
    'policy',
    'import',
    writeSettings(place, { permissions }),
    '--write',
  ])
  expect(code).toBe(0)
  await server.saw('version 2 of the policy is in force')
  expect(await read()).toBe(true)
})

test('the policy is made for its owner only; a link to it and its permissions stay (PERM-11)', async () => {
  const place = makePlace()
  const path = writeSettings(place, { permissions })
  const file = join(place.home, 'policy.json')
  await handrail(place, ['policy', 'import', path, '--write'])
  expect([statSync(file).mode & 0o777, statSync(place.home).mode & 0o777]).toEqual([0o600, 0o700])

  const linked = makePlace({}, { 'real.json': {} })
  const target = join(linked.home, 'real.json')
  const link = join(linked.home, 'policy.json')
  symlinkSync(target, link)
  const mode = statSync(target).mode & 0o777
  await handrail(linked, ['policy', 'import', writeSettings(linked, { permissions }), '--write'])
  expect(lstatSync(link).isSymbolicLink()).toBe(true)
  expect(policyOf(linked).rules).toHaveLength(5)
  expect(statSync(target).mode & 0o777).toBe(mode)
})

test('rules that contradict those of the policy are refused, and nothing is written (PERM-11)', async () => {
  const place = makePlace(
    {},
    { 'policy.json': { rules: [{ id: 'mine', effect: 'allow', commands: ['rm *'] }] } },
  )
  const path = writeSettings(place, { permissions }, join(place.user, '.claude', 'settings.json'))
  const before = readFileSync(join(place.home, 'policy.json'), 'utf8')
  const { code, stdout, stderr } = await handrail(place, ['policy', 'import', path, '--write'])
  expect([code, stdout]).toEqual([2, ''])
  expect(stderr).toContain('With these rules, the policy would have issues. Nothing was written:')
  expect(stderr).toContain(
    `${place.home}/policy.json#/rules/2: "deny Bash(rm *)" says deny where "mine" says allow`,
  )
  expect(readFileSync(join(place.home, 'policy.json'), 'utf8')).toBe(before)
  expect(readdirSync(place.home)).toEqual(['policy.json'])
})

test('a policy or configuration that has issues already is left as it is (PERM-11)', async () => {
  for (const own of [
    { 'policy.json': '{ "rules": [' },
    { 'policy.json': { rule: [] } },
    { 'config.json': { colour: 'red' } },
  ]) {
    const place = makePlace({}, own)
    const { code, stderr } = await handrail(place, [
      'policy',
      'import',
      writeSettings(place, { permissions }),
      '--write',
    ])
    expect(code).toBe(2)
    expect(stderr).toContain(`${place.home}/${Object.keys(own)[0]}#`)
    expect(readdirSync(place.home)).toEqual(Object.keys(own))
  }
})

test.each<[unknown, string]>([
  ['{ "permissions": ', 'The file is not valid JSON'],
  ['', 'The file is empty'],
  ['[]', '#: It is not an object.'],
  [{ permissions: [] }, '#/permissions: It is not an object.'],
  [{ permissions: { allow: 'Bash' } }, '#/permissions/allow: It is not a list of texts.'],
  [{ permissions: { deny: ['Bash', 7] } }, '#/permissions/deny/1: It is not text.'],
])('settings that cannot be read are refused with their place: %j (PERM-11)', async (settings, message) => {
  const place = makePlace()
  const path = writeSettings(place, settings)
  const { code, stdout, stderr } = await handrail(place, ['policy', 'import', path, '--write'])
  expect([code, stdout]).toEqual([2, ''])
  expect(stderr).toContain(path)
  expect(stderr).toContain(message)
  expect(readdirSync(place.user)).toEqual([])
})

test('a file that is not there, and no file at all, are bad usage (PERM-11)', async () => {
  const place = makePlace()
  const missing = await handrail(place, ['policy', 'import', 'none.json'])
  expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining('There is no such file.')])
  const none = await handrail(place, ['policy', 'import'])
  expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('Name a file')])
})
