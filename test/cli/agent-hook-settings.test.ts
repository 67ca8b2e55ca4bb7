import { existsSync, lstatSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { handrail, makePlace, type Place } from '../support/command-line.ts'
import { openTerminal } from '../support/terminal.ts'

const files = {
  'claude-code': '.claude/settings.json',
  codex: '.codex/hooks.json',
  'gemini-cli': '.gemini/settings.json',
  copilot: '.copilot/hooks/handrail.json',
  cursor: '.cursor/hooks.json',
} as const

const agents = Object.keys(files) as (keyof typeof files)[]

const install = (place: Place, agent: string, ...more: string[]) =>
  handrail(place, ['hook', 'install', agent, '--yes', ...more])
const uninstall = (place: Place, agent: string, ...more: string[]) =>
  handrail(place, ['hook', 'uninstall', agent, '--yes', ...more])

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

test.each(agents)(
  'the hook of %s is installed once, shown before, and taken back as a whole',
  async (agent) => {
    const place = makePlace()
    const path = join(place.user, files[agent])
    const first = await install(place, agent)
    expect([first.code, first.stdout]).toEqual([0, expect.stringContaining(`hook ${agent}`)])
    const text = readFileSync(path, 'utf8')
    const { hooks } = JSON.parse(text) as { hooks: Record<string, unknown[]> }
    expect(Object.keys(hooks).length).toBeGreaterThan(2)
    for (const entries of Object.values(hooks)) expect(entries).toHaveLength(1)
    const second = await install(place, agent)
    expect([second.code, second.stdout, readFileSync(path, 'utf8')]).toEqual([0, '', text])
    expect(second.stderr).toContain('has the hook already')
    expect((await uninstall(place, agent)).code).toBe(0)
    expect(existsSync(path)).toBe(false)
    expect((await uninstall(place, agent)).stderr).toContain('has no hook of Handrail')
  },
)

test.each<[string, keyof typeof files, string]>([
  [
    'other settings',
    'claude-code',
    '{\n  "model": "opus",\n  "permissions": { "deny": ["Read(.env)"] }\n}\n',
  ],
  [
    'comments, tabs and trailing commas',
    'gemini-cli',
    '{\n\t// mine\n\t"ui": {\n\t\t"theme": "dark", /* really */\n\t},\n}\n',
  ],
  [
    'hooks of others',
    'claude-code',
    '{\n  "hooks": {\n    "PreToolUse": [\n      {\n        "matcher": "Bash",\n        "hooks": [\n          {\n            "type": "command",\n            "command": "other-handrail hook x"\n          }\n        ]\n      }\n    ]\n  }\n}\n',
  ],
  [
    'four spaces and no last line end',
    'cursor',
    '{\n    "version": 1,\n    "hooks": {\n        "stop": [\n            {\n                "command": "x"\n            }\n        ]\n    }\n}',
  ],
  [
    'line ends of Windows',
    'codex',
    '{\r\n  "hooks": {\r\n    "Stop": [\r\n      {\r\n        "hooks": []\r\n      }\r\n    ]\r\n  }\r\n}\r\n',
  ],
])('a settings file with %s is the same after install and uninstall', async (_, agent, before) => {
  const place = makePlace()
  const path = join(place.user, files[agent])
  write(path, before)
  expect((await install(place, agent)).code).toBe(0)
  const during = readFileSync(path, 'utf8')
  expect(during).toContain(`hook ${agent}`)
  expect((await install(place, agent)).stderr).toContain('has the hook already')
  expect((await uninstall(place, agent)).code).toBe(0)
  expect(readFileSync(path, 'utf8')).toBe(before)
})

test('an older form of the hook is replaced, and what a person put beside it stays', async () => {
  const place = makePlace()
  const path = join(place.user, files['claude-code'])
  const theirs = { type: 'command', command: './lint.sh' }
  const ours = { type: 'command', command: '/opt/old/handrail hook claude-code' }
  write(path, JSON.stringify({ hooks: { PreToolUse: [{ matcher: 'Bash', hooks: [ours, theirs] }] } }))
  await install(place, 'claude-code', '--fail-open', '--actor', 'ann')
  const { hooks } = JSON.parse(readFileSync(path, 'utf8')) as { hooks: Record<string, unknown[]> }
  expect(hooks['PreToolUse']).toEqual([
    { matcher: 'Bash', hooks: [theirs] },
    { matcher: '*', hooks: [expect.objectContaining({ onFailure: 'block' })] },
  ])
  expect(JSON.stringify(hooks)).toContain('hook claude-code --actor ann --fail-open')
  await uninstall(place, 'claude-code')
  expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({
    hooks: { PreToolUse: [{ matcher: 'Bash', hooks: [theirs] }] },
  })
})

test('a comment that a person writes before the hook stays when the hook goes, and no comma is left', async () => {
  const place = makePlace()
  const path = join(place.user, files['gemini-cli'])
  write(path, '{ "ui": {} // a, b\n}\n')
  await install(place, 'gemini-cli')
  const text = readFileSync(path, 'utf8').replace('"hooks"', '// mine, all mine\n  "hooks"')
  writeFileSync(path, text)
  expect((await uninstall(place, 'gemini-cli')).code).toBe(0)
  const left = readFileSync(path, 'utf8')
  expect(left).toContain('// a, b')
  expect(left).toContain('// mine, all mine')
  expect(JSON.parse(left.replaceAll(/\/\/.*/g, ''))).toEqual({ ui: {} })
})

test('the settings of a project are those that --project names, and a link stays one', async () => {
  const place = makePlace({ 'shared/settings.json': '{}\n' })
  const link = join(place.project, '.gemini/settings.json')
  mkdirSync(dirname(link))
  symlinkSync('../shared/settings.json', link)
  expect((await install(place, 'gemini-cli', '--project', '.')).code).toBe(0)
  expect(lstatSync(link).isSymbolicLink()).toBe(true)
  expect(readFileSync(join(place.project, 'shared/settings.json'), 'utf8')).toContain('BeforeTool')
  expect(existsSync(join(place.user, files['gemini-cli']))).toBe(false)
  expect((await install(place, 'copilot', '--project', place.project)).code).toBe(0)
  expect(statSync(join(place.project, '.github/hooks/handrail.json')).mode & 0o777).toBe(0o600)
})

test.each<[string, string | undefined, string]>([
  ['is not JSON', '{ "hooks": ', 'is not JSON'],
  ['is a list', '[]', 'not a JSON object'],
  ['has hooks that are a text', '{ "hooks": "none" }', '"hooks" is not an object'],
  ['has an event that is no list', '{ "hooks": { "PreToolUse": {} } }', '"hooks.PreToolUse" is not a list'],
  ['has hooks twice', '{ "hooks": {}, "hooks": {} }', '"hooks" stands there twice'],
  ['is a link that leads nowhere', undefined, 'cannot be read'],
])('a settings file that %s is left as it is, with a reason', async (_, text, reason) => {
  const place = makePlace()
  const path = join(place.user, files['claude-code'])
  if (text === undefined) {
    mkdirSync(dirname(path))
    symlinkSync('/nowhere/settings.json', path)
  } else write(path, text)
  for (const act of [install, uninstall]) {
    const ended = await act(place, 'claude-code')
    expect([ended.code, ended.stderr]).toEqual([2, expect.stringContaining(reason)])
    expect(ended.stderr).toContain('Nothing was changed')
  }
  if (text !== undefined) expect(readFileSync(path, 'utf8')).toBe(text)
})

test('an agent whose folder lies elsewhere gets its hook there', async () => {
  const place = makePlace()
  const env = { COPILOT_HOME: join(place.user, 'co'), CLAUDE_CONFIG_DIR: join(place.user, 'cl') }
  for (const agent of ['copilot', 'claude-code'])
    await handrail(place, ['hook', 'install', agent, '--yes'], { env })
  expect(existsSync(join(place.user, 'co/hooks/handrail.json'))).toBe(true)
  expect(existsSync(join(place.user, 'cl/settings.json'))).toBe(true)
})

test('a folder that cannot be made, an unknown agent, and a change that nobody can be asked about are refused', async () => {
  const place = makePlace()
  writeFileSync(join(place.user, '.claude'), 'a file')
  expect((await install(place, 'claude-code')).code).toBe(2)
  expect((await install(place, 'hal')).stderr).toContain('Name one of: claude-code, codex')
  const unasked = await handrail(place, ['hook', 'install', 'codex'])
  expect([unasked.code, unasked.stderr]).toEqual([2, expect.stringContaining('add --yes')])
  expect(unasked.stdout).toContain('+')
  expect(existsSync(join(place.user, files.codex))).toBe(false)
})

test('a person at the terminal sees the change and may say no', async () => {
  const place = makePlace()
  const terminal = openTerminal(place, ['hook', 'install', 'cursor'])
  await terminal.saw('preToolUse')
  await terminal.saw('Write that? yes / no: ')
  terminal.type('n\r')
  expect(await terminal.ended).toBe(3)
  expect(existsSync(join(place.user, files.cursor))).toBe(false)
})
