import { readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { call, handrail, jsonOf, makePlace } from '../support/command-line.ts'
import { openTerminal } from '../support/terminal.ts'
import { fixtureTool, makeFixtureServer } from '../support/upstreams.ts'

test('sessions says who made calls, when and how many, and names each so that others take it (EVID-1)', async () => {
  const place = makePlace({ 'a.txt': 'one\n', 'tasks.json': '' })
  expect((await handrail(place, ['sessions'])).stdout).toBe('0 sessions\n')
  for (const who of ['--actor ann', '--actor bob', '--actor eve --tenant acme'])
    await call(place, `code.read_file ${who}`, { path: 'a.txt' })
  const list = async (...argv: string[]) => (await handrail(place, ['sessions', ...argv])).stdout
  const time = '\\d{4}-[^ ]+Z'
  const row = (who: string) => `${time}  ses_\\w+  ${who}  1 call since ${time}\n`
  expect(await list()).toMatch(
    new RegExp(`^${row('acme/eve')}${row('local/bob')}${row('local/ann')}3 sessions\n$`),
  )
  expect(await list('--tenant', 'local', '--actor', 'ann')).toMatch(
    new RegExp(`^${row('local/ann')}1 session\n$`),
  )
  expect(await list('--limit', '2')).toMatch(/eve[^]*bob[^]*\n2 sessions\n$/)
  const [newest] = jsonOf<{ session: string; calls: number }[]>(await handrail(place, ['sessions', '--json']))
  expect(newest).toMatchObject({ tenant: 'acme', actor: 'eve', role: 'main', calls: 1 })
  const end = newest?.session.slice(-6) ?? ''
  const calls = await handrail(place, ['evidence', 'list', '--session', end])
  expect(calls.stdout).toMatch(/ code\.read_file\n1 call\n$/)
  const missing = await handrail(place, ['evidence', 'list', '--session', 'ses_none'])
  expect([missing.code, missing.stderr]).toEqual([
    1,
    expect.stringContaining('"handrail sessions" shows the latest'),
  ])
  const none = await handrail(place, ['sessions', '--limit', '0'])
  expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('--limit is "0"')])
})

test('artifact lists what calls left, and gets one by digest, start, end, URI or "last" (OUT-1)', async () => {
  const server = makeFixtureServer([fixtureTool('huge')])
  const place = makePlace({}, { 'mcp.json': { mcpServers: { it: server.file } } })
  const left = await call(place, 'mcp.it.huge --approve once --json', { megabytes: 1 })
  const { artifacts } = jsonOf<{ artifacts: { uri: string; digest: string; bytes: number }[] }>(left)
  const [{ digest, uri, bytes } = { digest: '', uri: '', bytes: 0 }] = artifacts
  const hex = digest.replace('sha256:', '')
  const listed = await handrail(place, ['artifact'])
  expect(listed.stdout).toMatch(/ mcp\.it\.huge {2}\d+ bytes, text\/plain\n1 artifact\n$/)
  expect(listed.stdout).toContain(`  ${hex.slice(0, 12)}  call_`)
  for (const name of [digest, hex.slice(0, 12), hex.slice(-8), uri, 'last']) {
    const got = await handrail(place, ['artifact', 'get', name])
    expect([got.code, got.stderr]).toEqual([0, ''])
    expect(`sha256:${createHash('sha256').update(got.stdout).digest('hex')}`).toBe(digest)
  }
  const argv = ['artifact', 'get', 'last', '--output', 'out.txt']
  const written = await handrail(place, argv)
  expect([written.code, written.stdout, written.stderr]).toEqual([
    0,
    '',
    `handrail: "out.txt" has it (${bytes} bytes)\n`,
  ])
  const out = join(place.project, 'out.txt')
  expect([statSync(out).mode & 0o777, readFileSync(out).length]).toEqual([0o600, bytes])
  const again = await handrail(place, argv)
  expect([again.code, again.stderr]).toEqual([
    2,
    expect.stringContaining('it is there already. Name a new one.'),
  ])
  expect(readFileSync(out).length).toBe(bytes)
  for (const name of ['0000', 'zz', 'sha256:no'])
    expect((await handrail(place, ['artifact', 'get', name])).stderr).toContain(
      `the store has no artifact "${name}"`,
    )
  const other = await handrail(place, ['artifact', 'get', 'last', '--tenant', 'acme'])
  expect([other.code, other.stderr]).toEqual([1, expect.stringContaining('no tenant "acme"')])
  rmSync(join(place.home, 'artifacts', hex.slice(0, 2), hex))
  const gone = await handrail(place, ['artifact', 'get', 'last'])
  expect([gone.code, gone.stdout, gone.stderr]).toEqual([
    1,
    '',
    expect.stringContaining('is not kept any more'),
  ])
})

test('artifact get shows a terminal nothing but text, and writes every byte to a file', async () => {
  const place = makePlace()
  const argv = ['head', '-c', '300000', '/dev/zero']
  const left = await call(place, 'code.run_command --approve once --json', { argv })
  const { artifacts } = jsonOf<{ artifacts: { digest: string }[] }>(left)
  const digest = artifacts[0]?.digest ?? ''
  const terminal = openTerminal(place, ['artifact', 'get', digest])
  expect(await terminal.ended).toBe(2)
  expect(terminal.screen()).toBe(
    'handrail: invalid_usage: It is not text, and this is a terminal: add --output FILE.\n',
  )
  await handrail(place, ['artifact', 'get', digest, '-o', 'b'])
  expect(readFileSync(join(place.project, 'b'))).toEqual(Buffer.alloc(300_000))
})
