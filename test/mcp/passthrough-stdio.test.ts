import { expect, onTestFinished, test } from 'vitest'
import { handrail, jsonOf, makePlace, type Place } from '../support/command-line.ts'
import { toServer } from '../support/serve-stdio.ts'
import { fixtureTool, makeFixtureServer } from '../support/upstreams.ts'
import { createClient, textOf, type Era } from './connect.ts'

/** A person with two servers, whose policy lets one tool of the first be used, and another not. */
function makePerson() {
  const server = makeFixtureServer([fixtureTool('echo'), fixtureTool('failed')])
  const other = makeFixtureServer()
  const rules = [
    { id: 'mine', effect: 'allow', tools: ['mcp.it.*'] },
    { id: 'not', effect: 'deny', tools: ['mcp.it.failed'] },
  ]
  const place = makePlace(
    {},
    { 'mcp.json': { mcpServers: { it: server.file, other: other.file } }, 'policy.json': { rules } },
  )
  return { place, other }
}

async function speak(place: Place, era: Era) {
  const client = createClient({ era })
  await client.connect(toServer(place, ['--server', 'it']))
  onTestFinished(() => client.close())
  return client
}

test.each(['legacy', 'modern'] as const)(
  'one server is served on standard streams under its own names, governed and recorded (%s, MCP-3)',
  async (era) => {
    const { place, other } = makePerson()
    const client = await speak(place, era)
    expect(client.getServerVersion()).toMatchObject({ name: 'it' })
    const { tools } = await client.listTools()
    expect(tools.map(({ name, description }) => [name, description])).toEqual([
      ['echo', 'Does echo.'],
      ['failed', 'Does failed.'],
    ])
    const said = await client.callTool({ name: 'echo', arguments: { text: 'hi' } })
    expect(textOf(said)).toBe('hi')
    const denied = await client.callTool({ name: 'failed', arguments: {} })
    expect(denied.isError).toBe(true)
    expect(textOf(denied)).toContain('POLICY.DENY_TOOL')
    await client.close()
    const recorded = jsonOf<{ tool: string; outcome: string }[]>(
      await handrail(place, ['evidence', 'list', '--json']),
    )
    expect(recorded.map(({ tool, outcome }) => [tool, outcome])).toEqual([
      ['mcp.it.failed', 'denied'],
      ['mcp.it.echo', 'ok'],
    ])
    expect(other.asked()).toEqual([])
  },
)

test('a server that is not there is named, and so are those that are (MCP-3)', async () => {
  const { place } = makePerson()
  const unknown = await handrail(place, ['serve', '--stdio', '--server', 'its'])
  expect([unknown.code, unknown.stderr]).toEqual([
    2,
    expect.stringContaining('There is no MCP server "its". There are: it, other.') as string,
  ])
  const overHttp = await handrail(place, ['serve', '--server', 'it'])
  expect([overHttp.code, overHttp.stderr]).toEqual([2, expect.stringContaining('/mcp/<name>') as string])
})
