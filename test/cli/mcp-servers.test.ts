import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
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
  await terminal.saw('Write that? [y/n] ')
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
