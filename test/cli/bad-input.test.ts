import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { call, handrail, jsonOf, makePlace, type Ended } from '../support/command-line.ts'

interface Wire {
  error: {
    code: string
    reason: string
    message: string
    issues?: { pointer: string }[]
    data?: { nearest: string[] }
  }
}

const errorOf = (ended: Ended) => jsonOf<Wire>(ended).error

test('malformed JSON is bad usage with the place of the issue; the call is not made', async () => {
  const place = makePlace()
  const { code, stdout, stderr } = await handrail(place, ['call', 'code.read_file', '{"path": }'])
  expect([code, stdout]).toEqual([2, ''])
  expect(stderr).toMatch(
    /^handrail: invalid_usage: The input is not valid JSON at line 1, column 10: expected a value.*single quotes/,
  )
  expect(existsSync(place.home)).toBe(false)
})

test('wrong types and unknown fields give every issue at once with its pointer (SCHEMA-3)', async () => {
  const place = makePlace()
  const input = '{"path": 1, "max_lines": "many", "colour": "red", "__proto__": {"admin": true}}'
  const ended = await handrail(place, ['call', 'code.read_file', input, '--json'])
  expect(ended.code).toBe(1)
  const error = errorOf(ended)
  expect([error.code, error.reason]).toEqual(['SCHEMA.VALIDATION_FAILED', 'invalid_input'])
  expect(error.issues?.map((issue) => issue.pointer).sort()).toEqual(
    ['/__proto__', '/colour', '/max_lines', '/path'].sort(),
  )
  for (const odd of ['[1]', 'null', '"x"', '7']) {
    const refused = await handrail(place, ['call', 'code.read_file', odd, '--json'])
    expect([odd, refused.code, refused.stdout]).toEqual([odd, 2, ''])
    expect(refused.stderr).toContain('The input is JSON, but not an object.')
  }
})

test('an unknown tool offers the nearest names (REG-8)', async () => {
  const ended = await call(makePlace(), 'code.raed_file --json', {})
  expect(ended.code).toBe(3)
  expect(errorOf(ended)).toMatchObject({ code: 'POLICY.DENY_TOOL', reason: 'tool_not_available' })
  expect(errorOf(ended).data?.nearest[0]).toBe('code.read_file')
})

test.each([
  ['a name of Object', '__proto__'],
  ['a method of Object', 'constructor'],
  ['a look-alike with a Cyrillic letter', 'c\u043ede.read_file'],
  ['a look-alike with an invisible letter', 'code.read\u200b_file'],
  ['a name of 10,000 characters', 'code.'.repeat(2000)],
  ['a path', '../../etc/passwd'],
])('%s is an unknown tool, said in one short line (REG-8)', async (_, name) => {
  const { code, stdout, stderr } = await call(makePlace(), name, {})
  expect([code, stdout]).toEqual([3, ''])
  expect(stderr).toMatch(/^POLICY\.DENY_TOOL \(tool_not_available\): There is no tool /)
  expect(stderr.trimEnd().split('\n')).toHaveLength(1)
  expect(stderr.length).toBeLessThan(400)
})

test('a hostile path is refused and named', async () => {
  const place = makePlace()
  const nul = await call(place, 'code.read_file --json', { path: 'a\0b' })
  expect([nul.code, errorOf(nul).code]).toEqual([3, 'SANDBOX.CAPABILITY_BLOCKED'])
  const long = await call(place, 'code.read_file', { path: 'x'.repeat(10_000) })
  expect(long.code).toBe(1)
  expect(long.stderr.length).toBeLessThan(2_000)
})

test('every issue of every configuration file comes at once, with file and pointer', async () => {
  const place = makePlace(
    { 'handrail.json': JSON.stringify({ allowedTools: ['*'] }) },
    {
      'config.json': { writeRoot: ['/srv'], limits: { callsPerSession: 0, repeats: 3 } },
      'policy.json': { rules: [{ effect: 'permit' }, { effect: 'allow', resources: ['/srv/**'] }] },
    },
  )
  for (const argv of [['tools'], ['serve', '--port', '0'], ['call', 'code.list_dir', '{}']]) {
    const { code, stdout, stderr } = await handrail(place, argv)
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(/^handrail: invalid_configuration: The configuration cannot be used/)
    for (const [file, pointer] of [
      [join(place.home, 'config.json'), '/writeRoot'],
      [join(place.home, 'config.json'), '/limits/callsPerSession'],
      [join(place.home, 'config.json'), '/limits/repeats'],
      [join(place.home, 'policy.json'), '/rules/0/effect'],
      [join(place.project, 'handrail.json'), '/allowedTools'],
    ])
      expect(stderr).toContain(`${file}#${pointer}: `)
  }
  expect(existsSync(place.store)).toBe(false)
})

test('a resource pattern that could never match is an issue', async () => {
  const place = makePlace({}, { 'policy.json': { rules: [{ effect: 'allow', resources: ['/srv/**'] }] } })
  const { code, stderr } = await handrail(place, ['tools'])
  expect(code).toBe(2)
  expect(stderr).toContain('policy.json#/rules/0/resources/0: "/srv/**" starts with none of handrail:file:')
})

test('a configuration that is not JSON, no file, or not readable is named', async () => {
  const place = makePlace({}, { 'config.json': '{"tmp": true;}' })
  mkdirSync(join(place.home, 'policy.json'))
  execFileSync('mkfifo', [join(place.project, 'handrail.json')])
  const { code, stderr } = await handrail(place, ['tools'])
  expect(code).toBe(2)
  expect(stderr).toMatch(
    /config\.json#: The file is not valid JSON at line 1, column 13: expected "," or "}"\./,
  )
  expect(stderr).toContain('policy.json#: It is not a file.')
  expect(stderr).toContain('handrail.json#: It is not a file.')
})

test.each<[string, readonly string[]]>([
  ['config.json', ['tools']],
  ['policy.json', ['policy', 'check']],
  ['mcp.json', ['mcp', 'status']],
  ['mcp.json', ['tools']],
  ['gateway.json', ['serve', '--port', '0']],
  ['tools/a.json', ['tools', 'check']],
])('of a file that is not JSON the place is shown and none of its text: %s, %j', async (name, argv) => {
  const text = '{"a": {\n  "env": { "TOKEN": hunter2-hunter2 }\n} }'
  const { stdout, stderr } = await handrail(makePlace({}, { [name]: text }), argv)
  const said = stdout + stderr
  expect(said).toMatch(/not valid JSON at line 2, column 21: expected a value/)
  expect(said).toContain(name.split('/').at(-1))
  expect(said).not.toMatch(/hunter|TOKEN/)
})

test('a project that links its configuration to a device without end is refused at once', async () => {
  const place = makePlace()
  symlinkSync('/dev/zero', join(place.project, 'handrail.json'))
  const { code, stderr } = await handrail(place, ['tools'])
  expect(code).toBe(2)
  expect(stderr).toContain('handrail.json#: It is not a file.')
})

test('roots that are not there, or not absolute, are all named', async () => {
  const roots = { readRoots: ['/no/such/place', 'relative'], writeRoots: ['~/none'] }
  const { code, stderr } = await handrail(makePlace({}, { 'config.json': roots }), ['tools'])
  expect(code).toBe(2)
  expect(stderr).toContain('/readRoots/0: The root "/no/such/place" does not exist.')
  expect(stderr).toContain('/readRoots/1: The root "relative" is not an absolute path.')
  expect(stderr).toContain('/writeRoots/0: The root "~/none" does not exist.')
})

test('a project that allows something is not listened to, and that is said', async () => {
  const rules = [{ id: 'mine', effect: 'allow', tools: ['*'] }]
  const place = makePlace({ 'handrail.json': JSON.stringify({ rules }) })
  const { code, stderr } = await call(place, 'code.write_file', { path: 'a', content: '' })
  expect(code).toBe(3)
  expect(stderr).toContain(
    'handrail: handrail.json: rule "mine" allows something; a project can only tighten',
  )
})

test.each([
  ['is missing', (project: string) => join(project, 'none'), 'does not exist'],
  ['is a file', (project: string) => join(project, 'a.txt'), 'is not a folder'],
])('a project folder that %s is exit code 2, and nothing is made', async (_, pick, message) => {
  const place = makePlace({ 'a.txt': '' })
  const project = pick(place.project)
  for (const argv of [['tools'], ['call', 'code.list_dir', '{}'], ['serve', '--port', '0']]) {
    const { code, stderr } = await handrail(place, [...argv, '--project', project])
    expect(code).toBe(2)
    expect(stderr).toMatch(/^handrail: project_missing: .*(Create it|Name a)/)
    expect(stderr).toContain(`"${project}" ${message}`)
  }
  expect(existsSync(place.store)).toBe(false)
})

test('a store from a newer version is left alone, by every command that needs it', async () => {
  const place = makePlace({ 'a.txt': 'a' })
  await call(place, 'code.read_file', { path: 'a.txt' })
  const version = (set?: number) => {
    const db = new DatabaseSync(place.store)
    if (set !== undefined) db.exec(`PRAGMA user_version = ${set}`)
    const row = db.prepare(
      'SELECT user_version, (SELECT count(*) FROM records) AS records FROM pragma_user_version',
    )
    const found = row.get()
    db.close()
    return { ...found }
  }
  const before = version(99)
  for (const argv of [
    ['call', 'code.list_dir', '{}'],
    ['tools'],
    ['explain', 'code.list_dir', '{}'],
    ['evidence', 'list'],
    ['serve', '--port', '0'],
  ]) {
    const { code, stdout, stderr } = await handrail(place, argv)
    expect([argv[0], code, stdout]).toEqual([argv[0], 2, ''])
    expect(stderr).toMatch(/^handrail: store_newer: .*version 99.*Update Handrail/)
    expect(stderr).toContain(place.store)
  }
  expect(version()).toEqual(before)
})

test('a store that is none is named and left as it is', async () => {
  const place = makePlace({}, { 'store.db': 'this is not a database, but somebody needs it\n'.repeat(40) })
  for (const argv of [
    ['call', 'code.list_dir', '{}'],
    ['evidence', 'verify'],
  ]) {
    const { code, stderr } = await handrail(place, argv)
    expect(code).toBe(2)
    expect(stderr).toMatch(
      /^handrail: store_unusable: The store ".*store\.db" cannot be used: .*choose another path/,
    )
  }
})

test('a home that cannot be made is named', async () => {
  const place = makePlace({ 'a.txt': '' })
  const { code, stderr } = await handrail(place, [
    'call',
    'code.list_dir',
    '{}',
    '--home',
    join(place.project, 'a.txt', 'home'),
  ])
  expect(code).toBe(2)
  expect(stderr).toMatch(/^handrail: /)
  expect(stderr).toContain(join(place.project, 'a.txt', 'home'))
})
