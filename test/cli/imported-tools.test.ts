import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { handrail, jsonOf, makePlace } from '../support/command-line.ts'
import { startServer } from '../support/start-command.ts'
import { fixtureTool, makeFixtureServer } from '../support/upstreams.ts'

/** A person with two servers, of whom one was met, and one is down. */
async function meet() {
  const server = makeFixtureServer([fixtureTool('echo'), fixtureTool('fetch')])
  const down = makeFixtureServer()
  down.break(true)
  const place = makePlace({}, { 'mcp.json': { mcpServers: { it: server.file, down: down.file } } })
  const called = await handrail(place, ['call', 'mcp.it.echo', '{"text":"hi"}', '--approve', 'once'])
  expect(called.code, called.stderr).toBe(0)
  // A call connects to the server of its tool, and to no other.
  expect(called.stderr).not.toContain('mcp.down')
  return { place, server }
}

test('lists the tools of servers that were met, without connecting, and names those that never were (MCP-1)', async () => {
  const { place, server } = await meet()
  const before = server.asked().length
  const listed = await handrail(place, ['tools'])
  expect(listed.stdout).toContain('mcp.it.echo')
  expect(listed.stdout).toContain('never met: "down" ("handrail mcp status" connects to MCP servers)')
  const json = await handrail(place, ['tools', '--group', 'mcp.it', '--json'])
  expect(jsonOf<{ tool: string }[]>(json).map(({ tool }) => tool)).toEqual(['mcp.it.echo', 'mcp.it.fetch'])
  expect(server.asked()).toHaveLength(before)
})

test('every command that takes a tool knows those of servers that were met, and connects to none for it (MCP-1)', async () => {
  const { place, server } = await meet()
  const before = server.asked().length
  const calls = jsonOf<{ call: string; session: string }[]>(
    await handrail(place, ['evidence', 'list', '--json']),
  )
  const policy = { rules: [{ id: 'mine', effect: 'allow', tools: ['mcp.it.*'] }] }
  const cases = { cases: [{ name: 'one', tool: 'mcp.it.echo', input: {}, expect: { effect: 'ask' } }] }
  const files = { policy: join(place.home, 'other.json'), cases: join(place.home, 'cases.json') }
  writeFileSync(files.policy, JSON.stringify(policy))
  writeFileSync(files.cases, JSON.stringify(cases))
  const said = async (...words: string[]): Promise<string> => {
    const { code, stdout, stderr } = await handrail(place, words)
    return `${code} ${stdout}${stderr}`
  }
  expect(await said('explain', 'mcp.it.echo', '{}')).toMatch(/^0 mcp.it.echo: ask/)
  expect(await said('explain', '--call', String(calls[0]?.call))).toContain(
    'Now, under the same policy, the same',
  )
  expect(await said('evidence', 'replay', String(calls[0]?.session))).toContain('1 of 1 call replayed')
  expect(await said('policy', 'test', files.cases)).toMatch(/^0 1 case: as expected/)
  expect(await said('policy', 'check', files.policy)).toBe('0 1 rule: no issue.\n')
  expect(await said('policy', 'shadow', files.policy)).toMatch(/now {2}allow by policy\/mine/)
  expect(await said('consent', 'give', 'mcp.it.echo')).toMatch(/^0 consent_/)
  expect(await said('tools', 'pause', 'mcp.it.echo')).toMatch(/^0 mcp.it.echo is paused/)
  expect(await said('tools', '--state', 'paused')).toContain('mcp.it.echo  (paused)')
  expect(server.asked()).toHaveLength(before)
})

test('a tenant has the tools of its own servers there, and of no other (MCP-1, MCP-3)', async () => {
  const server = makeFixtureServer([fixtureTool('echo')])
  const mcpServers = { it: { ...server.file, tenants: ['acme', 'bolt'] } }
  const place = makePlace(
    {},
    { 'mcp.json': { mcpServers }, 'policy.json': { tenants: { acme: {}, bolt: {}, other: {} } } },
  )
  const said = async (...words: string[]): Promise<string> => {
    const { code, stdout, stderr } = await handrail(place, words)
    return `${code} ${stdout}${stderr}`
  }
  const tool = 'mcp.it.echo'
  expect(await said('call', tool, '{}', '--approve', 'once', '--tenant', 'acme')).toMatch(/^0 /)
  const test = async (...cases: object[]): Promise<string> => {
    const path = join(place.home, 'cases.json')
    writeFileSync(path, JSON.stringify({ cases }))
    return said('policy', 'test', path)
  }
  const none = { effect: 'deny', rule: 'tool_not_available' }
  const own = ['acme', 'bolt'].map((tenant) => ({ tool, principal: { tenant }, expect: { effect: 'ask' } }))
  const others = ['local', 'other'].map((tenant) => ({ tool, principal: { tenant }, expect: none }))
  expect(await test(...own, ...others)).toMatch(/^0 4 cases: as expected/)
  const missing = await test({ tool, principal: { tenant: 'other' }, expect: { effect: 'ask' } })
  expect(missing).toContain('There is no tool "mcp.it.echo" here for the tenant "other"')
  expect(await said('explain', tool, '{}', '--tenant', 'bolt')).toMatch(/^0 mcp.it.echo: ask/)
  expect(await said('explain', tool, '{}', '--tenant', 'other')).toContain('tool_not_available')
  const [call] = jsonOf<{ call: string }[]>(
    await handrail(place, ['evidence', 'list', '--json', '--tenant', 'acme']),
  )
  expect(await said('explain', '--call', String(call?.call))).toContain(
    'Now, under the same policy, the same',
  )
  const rules = [{ id: 'mine', effect: 'deny', tools: ['mcp.it.*'] }]
  const path = join(place.home, 'other.json')
  writeFileSync(path, JSON.stringify({ tenants: { acme: {}, bolt: {} }, rules }))
  expect(await said('policy', 'check', path)).toContain('1 rule, 2 tenants: no issue.')
  expect(await said('policy', 'shadow', path)).toMatch(/now {2}deny by policy\/mine/)
})

test('serve says how many servers there are, those of single tenants too (MCP-1)', async () => {
  const { place } = await meet()
  const { output } = await startServer(place)
  expect(output.stdout).toContain('servers    2 in mcp.json')
})
