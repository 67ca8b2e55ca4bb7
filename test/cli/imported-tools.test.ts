import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { handrail, jsonOf, makePlace, program, startProgram } from '../support/command-line.ts'
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
  expect(await said('evidence', 'replay', String(calls[0]?.session))).toContain('1 of 1 calls replayed')
  expect(await said('policy', 'test', files.cases)).toMatch(/^0 1 case: as expected/)
  expect(await said('policy', 'check', files.policy)).toBe('0 1 rule: no fault.\n')
  expect(await said('policy', 'shadow', files.policy)).toMatch(/now {2}allow by policy\/mine/)
  expect(await said('consent', 'give', 'mcp.it.echo')).toMatch(/^0 consent_/)
  expect(await said('tools', 'pause', 'mcp.it.echo')).toMatch(/^0 mcp.it.echo is paused/)
  expect(await said('tools', '--state', 'paused')).toContain('mcp.it.echo  (paused)')
  expect(server.asked()).toHaveLength(before)
})

test('serve says how many servers there are (MCP-1)', async () => {
  const { place } = await meet()
  const running = startProgram(place, [program, 'serve', '--port', '0', '--project', place.project])
  await running.saw('Ctrl-C stops')
  expect(running.output.stdout).toContain('servers    2 in mcp.json')
})
