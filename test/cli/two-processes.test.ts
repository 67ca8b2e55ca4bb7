import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createClient } from '../mcp/connect.ts'
import { handrail, makePlace, type Place } from '../support/command-line.ts'
import { rounds } from '../support/rounds.ts'
import { toServer } from '../support/serve-stdio.ts'

/** `handrail serve --stdio`, running for the whole test, as its client sees it. */
async function serve(place: Place, ...options: string[]) {
  const client = createClient({ era: 'legacy' })
  let told = 0
  client.setNotificationHandler('notifications/tools/list_changed', () => void told++)
  await client.connect(toServer(place, options))
  onTestFinished(() => client.close())
  return {
    told: () => told,
    names: async () => (await client.listTools()).tools.map(({ name }) => name),
    async call(name: string, input: Record<string, unknown>) {
      const { content, isError } = await client.callTool({ name, arguments: input })
      const text = content.map((block) => ('text' in block ? String(block.text) : '')).join('\n')
      return isError === true ? text : 'ok'
    },
  }
}

const read = ['code__read_file', { path: 'a.txt' }] as const
const write = ['code__write_file', { path: 'b.txt', content: '', overwrite: true }] as const

test('a tool that is paused at a terminal is gone from a server that runs with its next answer, until it is enabled (REG-2, REG-7)', async () => {
  const place = makePlace({ 'a.txt': 'a' })
  const server = await serve(place)
  expect(await server.call(...read)).toBe('ok')
  await handrail(place, ['tools', 'pause', 'code.read_file', '--reason', 'audit'])
  expect(await server.call(...read)).toContain('POLICY.DENY_TOOL (paused): "code__read_file" cannot be used')
  expect(await server.names()).not.toContain('code__read_file')
  await handrail(place, ['tools', 'deprecate', 'code.read_file', '--reason', 'Use code.search.'])
  expect(await server.call(...read)).toBe('ok')
  await handrail(place, ['tools', 'deprecate', 'code.read_file', '--reason', 'Use code.search.', '--removed'])
  expect(await server.call(...read)).toContain('Use code__search.')
  await handrail(place, ['tools', 'enable', 'code.read_file'])
  expect(await server.call(...read)).toBe('ok')
  expect(await server.names()).toContain('code__read_file')
})

test('a client hears within a second that its tools changed, by another process or by the policy, and once (REG-7)', async () => {
  const place = makePlace({}, { 'policy.json': {} })
  const server = await serve(place)
  expect(await server.names()).toContain('code__read_file')
  await handrail(place, ['tools', 'pause', 'code.read_file'])
  await expect.poll(server.told).toBe(1)
  await handrail(place, ['tools', 'pause', 'code.search'])
  await expect.poll(server.told).toBe(2)
  expect(await server.names()).not.toContain('code__search')
  writeFileSync(join(place.home, 'policy.json'), JSON.stringify({ mode: 'plan' }))
  await handrail(place, ['tools', 'enable', 'code.search'])
  await expect.poll(server.told).toBe(3)
  expect(await server.names()).toContain('code__search')
  // A second notice of an earlier change would have come before that answer.
  expect(server.told()).toBe(3)
})

test('what is paused for one tenant is so in its server, and in no other (REG-3)', async () => {
  const place = makePlace({ 'a.txt': 'a' }, { 'policy.json': { tenants: { acme: {}, zeta: {} } } })
  const acme = await serve(place, '--tenant', 'acme')
  const zeta = await serve(place, '--tenant', 'zeta')
  await handrail(place, ['tools', 'pause', 'code.read_file', '--tenant', 'acme'])
  expect(await acme.call(...read)).toContain('(paused)')
  expect(await zeta.call(...read)).toBe('ok')
})

test('a consent that is given at a terminal counts in a server that runs, until it is revoked (AUTH-3)', async () => {
  const place = makePlace()
  const server = await serve(place, '--actor', 'ann')
  expect(await server.call(...write)).toContain('(no_callback)')
  const given = await handrail(place, ['consent', 'give', 'code.write_file', '--actor', 'ann'])
  expect(await server.call(...write)).toBe('ok')
  await handrail(place, ['consent', 'revoke', given.stdout.split(' ')[0] ?? ''])
  expect(await server.call(...write)).toContain('(no_callback)')
})

test('two servers and a terminal spend one budget, and none overdraws it (AUTH-4)', async () => {
  const budgets = [{ id: 'five', unit: 'calls', limit: 5 }]
  const place = makePlace({ 'a.txt': 'a' }, { 'policy.json': { budgets } })
  const [one, two] = await Promise.all([serve(place), serve(place)])
  const answers = await Promise.all(
    [one, two, one, two, one, two, one, two].map((server) => server.call(...read)),
  )
  expect(answers.filter((answer) => answer === 'ok')).toHaveLength(5)
  const last = await handrail(place, ['call', 'code.read_file', '{"path":"a.txt"}'])
  expect([last.code, last.stderr]).toEqual([
    3,
    expect.stringContaining('QUOTA.BUDGET_EXCEEDED (calls): The budget "five" has 0 of 5 calls left'),
  ])
})

test('commands that change the same file at the same time lose no change of another', async () => {
  const place = makePlace()
  const names = Array.from({ length: rounds({ usual: 4, long: 40 }) }, (_, index) => `client${index}`)
  const made = await Promise.all(
    names.flatMap((name) => [
      handrail(place, ['token', name, '--write']),
      handrail(place, ['a2a', 'keys', '--add']),
      handrail(place, ['mcp', 'add', name, '--yes', '--', 'node', '-v']),
    ]),
  )
  const read = (file: string) => Object(JSON.parse(readFileSync(join(place.home, file), 'utf8')))
  const tokens: { id: string }[] = read('gateway.json').tokens
  expect(tokens.map(({ id }) => id).toSorted()).toEqual(names.toSorted())
  expect(read('a2a-keys.json').keys).toHaveLength(names.length + 1)
  // What a person saw before their yes is not written over either: the command is refused.
  const added = names.filter((_, index) => made[index * 3 + 2]?.code === 0)
  expect(Object.keys(read('mcp.json').mcpServers).toSorted()).toEqual(added.toSorted())
  expect(added.length).toBeGreaterThan(0)
})
