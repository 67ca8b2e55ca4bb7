import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { makePlace } from '../support/command-line.ts'
import { toServer } from '../support/serve-stdio.ts'
import { fixtureTool, makeFixtureServer, unmarked } from '../support/upstreams.ts'
import { createClient, listUntil, textOf } from './connect.ts'

test.each(['legacy', 'modern'] as const)(
  'a %s client of the gateway finds the tools of servers in its first list, calls them, and is asked (MCP-1, MCP-2)',
  async (era) => {
    const server = makeFixtureServer([fixtureTool('echo'), fixtureTool('blocks')])
    const readonly = { ...server.file, tools: { readonly: ['blocks'] } }
    const place = makePlace({}, { 'mcp.json': { mcpServers: { it: readonly } } })
    const asked: string[] = []
    const client = createClient({
      era,
      onAsk: (message) => {
        asked.push(message)
        return { action: 'accept', content: { decision: 'allow_once' } }
      },
    })
    server.hold(true)
    await client.connect(toServer(place))
    onTestFinished(() => client.close())
    await expect.poll(server.asked).toContain('tools/list')
    const listing = client.listTools()
    // A list that waits for no server comes first.
    await Promise.race([listing, setTimeout(200)])
    server.hold(false)
    const names = (await listing).tools.map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining(['mcp__it__echo', 'mcp__it__blocks', 'mcp__read_resource']))
    const echoed = await client.callTool({ name: 'mcp__it__echo', arguments: { text: 'hi' } })
    expect(unmarked(textOf(echoed))).toBe('hi')
    expect(asked).toHaveLength(1)
    expect(asked[0]).toContain('Call echo of the MCP server it')
    const blocks = await client.callTool({ name: 'mcp__it__blocks', arguments: {} })
    expect(asked).toHaveLength(1)
    expect(blocks.content.slice(1, 4)).toEqual([
      { type: 'audio', data: 'UklGRg==', mimeType: 'audio/wav', _meta: { b: 2 } },
      {
        type: 'resource',
        resource: { uri: 'x:b', blob: 'AAAA', mimeType: 'application/x', _meta: { c: 3 } },
        annotations: { priority: 1 },
      },
      {
        type: 'resource_link',
        uri: 'handrail://mcp/it/x%3Al',
        name: 'l',
        title: 'L',
        icons: [{ src: 'x:i' }],
        size: 4,
        _meta: { 'handrail/resource': { server: 'it', uri: 'x:l' } },
      },
    ])
    expect(blocks.content[4]).toMatchObject({
      type: 'text',
      _meta: { 'handrail/block': { type: 'hologram', depth: 3 } },
    })
  },
)

test('a result that holds what the protocol does not have there comes through, at both views (MCP-2, MCP-3)', async () => {
  const server = makeFixtureServer([fixtureTool('misfits')])
  const own = { ...server.file, tools: { readonly: ['*'] } }
  const place = makePlace({}, { 'mcp.json': { mcpServers: { it: own } } })
  for (const [name, options] of [
    ['mcp__it__misfits', []],
    ['misfits', ['--server', 'it']],
  ] as const) {
    const client = createClient({ era: 'legacy' })
    await client.connect(toServer(place, options))
    onTestFinished(() => client.close())
    await listUntil(client, name)
    const { content, isError } = await client.callTool({ name, arguments: {} })
    expect([content.length, isError], JSON.stringify(content)).toEqual([3, undefined])
    expect(textOf({ content })).toContain('done')
    expect(content.map(({ _meta }) => _meta?.['handrail/block'])).toMatchObject([
      { annotations: { lastModified: '2025-01-01', priority: 5 } },
      { type: 'resource_link', size: '12' },
      { type: 'image', data: 'no base64!' },
    ])
  }
})

test('a client hears of servers that come while the gateway serves (MCP-1, REG-7)', async () => {
  const server = makeFixtureServer()
  const place = makePlace({}, { 'mcp.json': { mcpServers: {} } })
  const client = createClient({ era: 'legacy' })
  let changes = 0
  client.setNotificationHandler('notifications/tools/list_changed', () => void changes++)
  await client.connect(toServer(place))
  onTestFinished(() => client.close())
  await client.listTools()
  writeFileSync(join(place.home, 'mcp.json'), JSON.stringify({ mcpServers: { it: server.file } }))
  await vi.waitFor(() => expect(changes).toBeGreaterThan(0), { interval: 200 })
  await listUntil(client, 'mcp__it__echo')
})
