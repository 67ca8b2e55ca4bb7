import { expect, onTestFinished, test } from 'vitest'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { makePlace } from '../support/command-line.ts'
import { startServer } from '../support/start-command.ts'
import { fixtureTool, makeFixtureServer } from '../support/upstreams.ts'
import { createClient, textOf, type ClientOptions } from '../mcp/connect.ts'

test('the log of serve tells once of a definition that is held, of a server that died, and of tools that nobody could be asked about (MCP-1, PERM-5)', async () => {
  const tools = ['echo', 'notify', 'asked', 'die'].map((name) => fixtureTool(name))
  const server = makeFixtureServer(tools)
  const own = { ...server.file, tools: { readonly: ['notify', 'die'] } }
  const place = makePlace({}, { 'mcp.json': { mcpServers: { it: own } } })
  const running = await startServer(place)
  const connect = async (onAsk?: ClientOptions['onAsk']) => {
    const client = createClient({ era: 'legacy', ...(onAsk !== undefined && { onAsk }) })
    await client.connect(new StreamableHTTPClientTransport(new URL(running.url)))
    onTestFinished(() => client.close())
    return (name: string, input = {}) => client.callTool({ name: `mcp__it__${name}`, arguments: input })
  }
  await expect.poll(server.asked).toContain('tools/list')
  // Nobody lists tools before the first call.
  const call = await connect()
  const rule =
    '{"effect":"allow","tools":["mcp.it.echo"]} under "rules" of policy.json, or for a day: handrail consent give mcp.it.echo'
  for (const text of ['a', 'b']) expect(textOf(await call('echo', { text }))).toContain(rule)
  const cancels = await connect(() => ({ action: 'cancel' }))
  expect(textOf(await cancels('asked'))).toContain('no person gave it: it was cancelled in the client')
  const declines = await connect(() => ({ action: 'decline' }))
  expect(textOf(await declines('asked'))).toContain('declined in the client')
  server.list([fixtureTool('echo', { description: 'Other words.' }), ...tools.slice(1)])
  await call('notify')
  await running.saw('mcp.it.echo is held, since its definition changed')
  await call('die')
  await running.saw('ended with exit code 3')
  const lines = running.output.stderr.split('\n').filter((line) => line !== '')
  expect(lines.map((line) => line.slice(0, 80)).toSorted()).toEqual([
    expect.stringContaining('fault mcp.it: Its program ended with exit code 3.'),
    expect.stringContaining('mcp.it.asked was declined in the client.'),
    expect.stringContaining('mcp.it.asked was not run, since no person could be asked.'),
    expect.stringContaining('mcp.it.echo is held, since its definition'),
    expect.stringContaining('mcp.it.echo was not run, since no person could be asked.'),
  ])
})
