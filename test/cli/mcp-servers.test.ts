import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { handrail, jsonOf, makePlace, type Place } from '../support/command-line.ts'
import { openTerminal } from '../support/terminal.ts'
import { makeFixtureServer } from '../support/upstreams.ts'

const written = `{
  // The servers of our team.
  "mcpServers": {
    "one": { "url": "https://one.example/mcp" }, // the first
  },
}
`

const textOf = ({ home }: Place): string => readFileSync(join(home, 'mcp.json'), 'utf8')

test('mcp add makes the file, shows the change first, and the server it adds can be called', async () => {
  const place = makePlace()
  const { command, args, read, write } = makeFixtureServer()
  const argv = ['mcp', 'add', 'it', '--read', read.join(','), '--write', write.join(','), '--yes']
  const added = await handrail(place, [...argv, '--', command, ...args])
  expect([added.code, added.stdout]).toEqual([0, expect.stringContaining('+    "it": {')])
  expect(statSync(join(place.home, 'mcp.json')).mode & 0o777).toBe(0o600)
  expect(JSON.parse(textOf(place))).toEqual({ mcpServers: { it: { command, args, read, write } } })
  const status = await handrail(place, ['mcp', 'status', '--json'])
  expect(jsonOf(status)).toMatchObject({ servers: [{ server: 'it', tools: ['mcp.it.echo'] }], faulty: [] })
})

test('mcp add and remove keep comments and layout, and leave the file as it was before', async () => {
  const place = makePlace({}, { 'mcp.json': written })
  const added = await handrail(place, ['mcp', 'add', 'two', 'https://two.example/mcp', '--yes'])
  expect(added.code, added.stderr).toBe(0)
  expect(textOf(place)).toContain('// The servers of our team.')
  expect(textOf(place)).toContain('"two": {\n      "url": "https://two.example/mcp"\n    }')
  const removed = await handrail(place, ['mcp', 'remove', 'two', '--yes'])
  expect([removed.code, removed.stdout]).toEqual([0, expect.stringContaining('-    "two": {')])
  for (const line of ['// The servers of our team.', '// the first', 'https://one.example/mcp'])
    expect(textOf(place)).toContain(line)
  expect(textOf(place)).not.toContain('two')
})

test('mcp add writes nothing without a yes, nor an entry or a file with a fault', async () => {
  const place = makePlace({}, { 'mcp.json': written })
  const terminal = openTerminal(place, ['mcp', 'add', 'two', 'https://two.example/mcp'])
  await terminal.saw('Write that? yes / no: ')
  terminal.type('n\n')
  expect(await terminal.ended).toBe(3)
  for (const [argv, message] of [
    [
      ['two', 'https://two.example/mcp'],
      'No person can be asked here. Look at the change above, and add --yes.',
    ],
    [
      ['one', 'https://two.example/mcp', '--yes'],
      'has a server "one" already. To take it out: handrail mcp remove one',
    ],
    [['two', 'https://', '--yes'], 'The server "two" cannot be used like this. Nothing was changed.'],
    [['two', 'htp://two.example/mcp', '--yes'], '"htp://two.example/mcp" is not an http or https URL'],
    [['two', '--yes'], 'Say what to start, after "--", or the URL'],
    [['two', '--env', 'A', 'https://two.example/mcp', '--yes'], '--env is for a server that is a program.'],
  ] as const) {
    const { code, stderr } = await handrail(place, ['mcp', 'add', ...argv])
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)])
  }
  const missing = await handrail(place, ['mcp', 'remove', 'ones', '--yes'])
  expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining('Did you mean "one"?')])
  expect(textOf(place)).toBe(written)
  const faulty = makePlace({}, { 'mcp.json': '{"mcpServers": {}, "mcpServers": {}}' })
  const refused = await handrail(faulty, ['mcp', 'add', 'two', 'https://two.example/mcp', '--yes'])
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('Mend it first.')])
  expect(textOf(faulty)).toBe('{"mcpServers": {}, "mcpServers": {}}')
})

test('mcp add writes no secret as it stands unless that is said, and shows none', async () => {
  const place = makePlace()
  const secret = 'ghp_0123456789abcdefghijABCDEFGHIJ012345'
  const add = (...argv: string[]) =>
    handrail(place, ['mcp', 'add', 'it', '--yes', ...argv, '--', 'it-server'])
  const refused = await add('--env', `GITHUB_TOKEN=${secret}`)
  expect([refused.code, refused.stdout]).toEqual([2, ''])
  expect(refused.stderr).toContain('a secret stands in this entry as it is. Put ${NAME} in its place')
  expect(existsSync(join(place.home, 'mcp.json'))).toBe(false)
  const kept = await add('--env', `GITHUB_TOKEN=${secret}`, '--keep-secrets')
  expect(kept.code).toBe(0)
  expect(textOf(place)).toContain(secret)
  const removed = await handrail(place, ['mcp', 'remove', 'it', '--yes'])
  expect(removed.stdout).toContain('-    "it": {')
  for (const { stdout, stderr } of [refused, kept, removed]) expect(stdout + stderr).not.toContain(secret)
  expect((await add('--env', 'GITHUB_TOKEN,LEVEL=info')).code).toBe(0)
  expect(JSON.parse(textOf(place))).toMatchObject({
    mcpServers: { it: { env: { GITHUB_TOKEN: '${GITHUB_TOKEN}', LEVEL: 'info' } } },
  })
})

const importFrom = (place: Place, ...argv: string[]) => handrail(place, ['mcp', 'import', ...argv, '--yes'])

test('mcp import takes over the servers of each program from where it keeps them', async () => {
  const one = { command: 'one-server', args: ['a'] }
  const home = (path: string, content: string): Place => {
    const place = makePlace()
    mkdirSync(dirname(join(place.user, path)), { recursive: true })
    writeFileSync(join(place.user, path), content)
    return place
  }
  const json = (field: string, server: object) =>
    `// by hand\n${JSON.stringify({ [field]: { one: server }, x: 1 })}`
  const toml = [
    'model = "x"',
    '[mcp_servers.one]',
    'command = "one-server"',
    'args = ["a"]',
    'env_vars = ["TOKEN"]',
    'enabled_tools = ["read"]',
    '[mcp_servers.two]',
    'url = "https://two.example/mcp"',
    'bearer_token_env_var = "TWO_TOKEN"',
  ].join('\n')
  for (const [name, path, content, wanted] of [
    ['claude-desktop', '.config/Claude/claude_desktop_config.json', json('mcpServers', one), { one }],
    [
      'claude-code',
      '.claude.json',
      json('mcpServers', { type: 'stdio', ...one }),
      { one: { type: 'stdio', ...one } },
    ],
    [
      'cursor',
      '.cursor/mcp.json',
      json('mcpServers', { ...one, env: { A_KEY: '${env:A_KEY}' } }),
      { one: { ...one, env: { A_KEY: '${A_KEY}' } } },
    ],
    ['vscode', '.config/Code/User/mcp.json', json('servers', one), { one }],
    [
      'gemini-cli',
      '.gemini/settings.json',
      json('mcpServers', {
        httpUrl: 'https://one.example/mcp',
        headers: { 'X-Api-Key': '$ONE' },
        includeTools: ['a'],
      }),
      {
        one: { url: 'https://one.example/mcp', headers: { 'X-Api-Key': '${ONE}' }, tools: { allow: ['a'] } },
      },
    ],
    [
      'codex',
      '.codex/config.toml',
      toml,
      {
        one: { ...one, env: { TOKEN: '${TOKEN}' }, tools: { allow: ['read'] } },
        two: { url: 'https://two.example/mcp', headers: { Authorization: 'Bearer ${TWO_TOKEN}' } },
      },
    ],
  ] as const) {
    const place = home(path, content)
    const { code, stderr } = await importFrom(place, name)
    expect(code, stderr).toBe(0)
    expect(JSON.parse(textOf(place)), name).toEqual({ mcpServers: wanted })
  }
})

test('mcp import leaves out what cannot be used here and says why, keeps what is there, and writes no secret', async () => {
  const secret = 'ghp_0123456789abcdefghijABCDEFGHIJ012345'
  const theirs = {
    one: { command: 'another' },
    asks: { command: 'a', env: { KEY: '${input:key}' } },
    folder: { command: 'a', args: ['${workspaceFolder}'] },
    faulty: { command: 7 },
    open: { command: 'a', args: ['--token', secret] },
    hub: { command: 'hub-server', env: { GITHUB_TOKEN: secret }, autoApprove: ['x'] },
  }
  const place = makePlace({ 'their.json': JSON.stringify({ mcpServers: theirs }) }, { 'mcp.json': written })
  const ended = await importFrom(place, 'claude-code', '--file', 'their.json')
  expect(ended.code).toBe(1)
  for (const text of [
    '"one" is in ',
    '"asks" is left out: it has "${input:key}"',
    '"folder" is left out: it has "${workspaceFolder}"',
    '"faulty" is left out: ',
    '"open" is left out: a secret stands in it',
    '"autoApprove" of "hub" means nothing here',
    'the secret GITHUB_TOKEN of "hub" is not taken over',
    '1 server of Claude Code taken over',
  ])
    expect(ended.stderr).toContain(text)
  expect(textOf(place)).toContain('// The servers of our team.')
  expect(textOf(place)).toContain('"GITHUB_TOKEN": "${GITHUB_TOKEN}"')
  expect(textOf(place)).not.toMatch(/another|asks|folder|faulty|open/)
  expect(textOf(place) + ended.stdout + ended.stderr).not.toContain(secret)
  const kept = await importFrom(place, 'claude-code', '--file', 'their.json', '--keep-secrets')
  expect(kept.stderr).toContain('"open" is taken over with a secret as it stands.')
  expect(textOf(place)).toContain(secret)
  expect(kept.stdout + kept.stderr).not.toContain(secret)
})

test('mcp import refuses a program that it does not know, and a file that cannot be read', async () => {
  const place = makePlace({ 'bad.toml': 'a = = 1', 'none.json': '{}', 'twice.json': '{"a": 1, "a": 2}' })
  for (const [argv, message] of [
    [['emacs'], '"emacs" is not a program whose servers are known here. Name one of: claude-desktop, '],
    [['cursor'], 'cannot be read: there is no such file or folder.'],
    [['codex', '--file', 'bad.toml'], '"bad.toml" cannot be read: '],
    [['cursor', '--file', 'none.json'], '"none.json" has no servers of Cursor: there is no "mcpServers".'],
    [['cursor', '--file', 'twice.json'], '"twice.json" cannot be read. Nothing was changed.'],
  ] as const) {
    const { code, stderr } = await importFrom(place, ...argv)
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)])
  }
  expect(existsSync(join(place.home, 'mcp.json'))).toBe(false)
})
