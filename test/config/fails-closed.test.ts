import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { call, handrail, makePlace } from '../support/command-line.ts'

const allowed = '{"rules": [{"effect": "allow", "tools": ["code.*"], "resources": ["*"]}]}'
const tool = '{"name": "own.say", "description": "Says it.", "command": "echo", "permission": "readonly"}'
const twice = (text: string) => text.replace(/^{/, '{"name": "own.say", ')

test('a name that stands twice in a file is an issue at its pointer, and nothing starts', async () => {
  const place = makePlace(
    { 'handrail.json': '{"rules": [], "sensitivePaths": ["a"], "rules": []}' },
    {
      'config.json': '{"limits": {"callsPerSession": 1, "callsPerSession": 9}}',
      'policy.json': '{"rules": [{"effect": "deny", "tools": ["a.b"], "effect": "allow"}]}',
      'mcp.json': '{"mcpServers": {"a": {"command": "a", "command": "b"}}}',
      'tools/say.json': twice(tool),
    },
  )
  for (const argv of [
    ['policy', 'check'],
    ['call', 'code.list_dir', '{}'],
  ]) {
    const { code, stdout, stderr } = await handrail(place, argv)
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain(
      'policy.json#/rules/0/effect: "effect" stands twice in this object. Keep one of them.',
    )
    expect(stderr).toContain('config.json#/limits/callsPerSession: ')
    expect(stderr).toContain('handrail.json#/rules: ')
  }
  for (const file of ['policy.json', 'config.json']) writeFileSync(join(place.home, file), '{}')
  writeFileSync(join(place.project, 'handrail.json'), '{}')
  const { stdout, stderr } = await handrail(place, ['tools'])
  expect(stdout).not.toContain('own.say')
  expect(stderr).toContain('/mcpServers/a/command: "command" stands twice')
  expect(stderr).toContain('/name: "name" stands twice')
  writeFileSync(join(place.home, 'gateway.json'), '{"tokens": [], "port": 1, "port": 2}')
  const served = await handrail(place, ['serve', '--port', '0'])
  expect([served.code, served.stdout]).toEqual([2, ''])
  expect(served.stderr).toContain('gateway.json#/port: "port" stands twice')
})

test('a link that leads nowhere is not a missing file', async () => {
  const place = makePlace()
  mkdirSync(place.home)
  const lead = (path: string) => symlinkSync('/nowhere/at/all', path)
  for (const path of ['config.json', 'policy.json', 'mcp.json', 'tools']) lead(join(place.home, path))
  lead(join(place.project, 'handrail.json'))
  const { code, stderr } = await handrail(place, ['policy', 'check'])
  expect(code).toBe(2)
  for (const path of ['config.json', 'policy.json'])
    expect(stderr).toContain(
      `${join(place.home, path)}#: The link "${join(place.home, path)}" leads nowhere.`,
    )
  expect(stderr).toContain('handrail.json#: The link ')
  for (const path of ['config.json', 'policy.json']) rmSync(join(place.home, path))
  rmSync(join(place.project, 'handrail.json'))
  const tools = await handrail(place, ['tools'])
  expect(tools.stderr).toContain('mcp.json')
  expect(tools.stderr.match(/leads nowhere/g)).toHaveLength(2)
  lead(join(place.home, 'gateway.json'))
  const served = await handrail(place, ['serve', '--port', '0'])
  expect([served.code, served.stdout]).toEqual([2, ''])
  expect(served.stderr).toContain('gateway.json#: The link')
  rmSync(place.home, { recursive: true })
  lead(place.home)
  expect((await handrail(place, ['policy', 'check'])).stderr).toContain(
    `The link "${place.home}" leads nowhere`,
  )
})

test('a file that is not a UTF-8 text says what it is instead', async () => {
  const place = makePlace(
    { 'handrail.json': Buffer.from('{"sensitivePaths": ["x"]}', 'utf16le') },
    { 'config.json': `\ufeff{}` },
  )
  writeFileSync(join(place.home, 'policy.json'), Buffer.from('{\n"mode": "pl\xffan"}', 'latin1'))
  writeFileSync(join(place.home, 'mcp.json'), Buffer.from('{"mcpServers": {"\xff": {}}}', 'latin1'))
  const { code, stderr } = await handrail(place, ['policy', 'check'])
  expect(code).toBe(2)
  expect(stderr).toContain('config.json#: The file begins with a byte order mark. Save it as UTF-8 without')
  expect(stderr).toContain('policy.json#: The file is not UTF-8 (line 2). Save it as UTF-8.')
  expect(stderr).toContain('handrail.json#: The file is not valid JSON')
  const utf16 = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('{}', 'utf16le')])
  writeFileSync(join(place.project, 'handrail.json'), utf16)
  for (const file of ['config.json', 'policy.json']) writeFileSync(join(place.home, file), '{}')
  expect((await handrail(place, ['policy', 'check'])).stderr).toContain('(it is UTF-16)')
  rmSync(join(place.project, 'handrail.json'))
  expect((await handrail(place, ['tools'])).stderr).toMatch(/mcp\.json#: The file is not UTF-8 \(line 1\)/)
})

test('a file of the home that was there at the last start and is gone stops the next one, until something stands there', async () => {
  const place = makePlace(
    { 'a.txt': 'hello\n' },
    { 'policy.json': '{"rules": [{"effect": "deny", "tools": ["code.read_file"]}]}', 'gateway.json': '{}' },
  )
  const read = () => call(place, 'code.read_file', { path: 'a.txt' })
  expect((await read()).code).toBe(3)
  rmSync(join(place.home, 'policy.json'))
  rmSync(join(place.home, 'gateway.json'))
  for (const argv of [
    ['call', 'code.read_file', '{"path": "a.txt"}'],
    ['policy', 'check'],
    ['serve', '--port', '0'],
  ]) {
    const { code, stdout, stderr } = await handrail(place, argv)
    expect([code, stdout]).toEqual([2, ''])
    for (const file of ['policy.json', 'gateway.json'])
      expect(stderr).toContain(`${join(place.home, file)}#: It is gone since the last start. Put it`)
  }
  writeFileSync(join(place.home, 'gateway.json'), '{"policy": {}}')
  expect((await read()).stdout).toContain('hello')
  rmSync(join(place.home, 'gateway.json'))
  expect((await read()).code).toBe(2)
  for (const file of ['policy.json', 'gateway.json']) writeFileSync(join(place.home, file), '{}')
  expect((await read()).stdout).toContain('hello')
})

test('comments and a comma after the last item may stand in every file, and no command loses them', async () => {
  const place = makePlace(
    { 'handrail.json': '{ /* ours */ "sensitivePaths": ["x",], }', 'a.txt': 'hello\n' },
    {
      'config.json': '// mine\n{"limits": {"callsPerSession": 5,},}',
      'policy.json': `// why\n${allowed}`,
      'gateway.json': '{"port": 7420, // as ever\n}',
      'mcp.json': '{"mcpServers": {/* none */},}',
      'tools/say.json': tool.replace('{', '{ // own\n'),
    },
  )
  const written = await call(place, 'code.write_file', { path: 'b.txt', content: 'b' })
  expect([written.code, written.stderr]).toEqual([0, ''])
  expect((await handrail(place, ['tools'])).stdout).toContain('own.say')
  const before = readFileSync(join(place.home, 'gateway.json'), 'utf8')
  const token = await handrail(place, ['token', 'desk', '--write'])
  expect([token.code, token.stdout]).toEqual([2, ''])
  expect(token.stderr).toContain('has comments, which would be lost. Nothing was changed. Leave out --write')
  expect(readFileSync(join(place.home, 'gateway.json'), 'utf8')).toBe(before)
})

test('a home that hangs on the current folder, or lies in the project, is refused', async () => {
  const place = makePlace()
  const inside = join(place.project, 'own')
  for (const [env, message] of [
    [{ HANDRAIL_HOME: 'own' }, 'HANDRAIL_HOME is "own", which is another folder wherever it is used.'],
    [{ HANDRAIL_HOME: inside }, `The home folder "${inside}" lies in the project`],
  ] as const) {
    const { code, stderr } = await handrail(place, ['tools'], { env })
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)])
  }
  expect((await handrail(place, ['tools', '--home', inside])).code).toBe(2)
  writeFileSync(inside, '')
  expect((await handrail(place, ['explain', 'code.list_dir', '{}', '--home', join(inside, 'x')])).code).toBe(
    2,
  )
  expect([existsSync(place.home), existsSync(join(place.project, 'own', 'store.db'))]).toEqual([false, false])
})
