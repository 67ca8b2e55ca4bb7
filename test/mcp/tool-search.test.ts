import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { expect, onTestFinished, test } from 'vitest'
import { serveHttp } from '../../src/mcp/server/http/serve-http.ts'
import { openDeferredShop } from '../support/deferred-shop.ts'
import { textOf, type Era } from './connect.ts'

const eras: readonly Era[] = ['legacy', 'modern']

test.each(eras)(
  'behind MCP a client lists few tools, searches, hears that its list changed, and calls what it found: %s (POOL-8)',
  async (era) => {
    const runtime = await openDeferredShop({ policy: { rules: [{ effect: 'deny', tools: ['mail.*'] }] } })
    const server = await serveHttp({ runtime, port: 0, closeGraceMs: 100, log: () => {} })
    onTestFinished(() => server.close())
    const client = new Client(
      { name: 'test', version: '1.0.0' },
      { versionNegotiation: { mode: era === 'legacy' ? 'legacy' : { pin: '2026-07-28' } } },
    )
    const heard: string[] = []
    client.setNotificationHandler('notifications/tools/list_changed', () => void heard.push('tools'))
    await client.connect(new StreamableHTTPClientTransport(new URL(server.url)))
    onTestFinished(() => client.close())
    const list = async () => (await client.listTools()).tools
    const before = await list()
    expect(before.map(({ name }) => name)).toEqual(['shop__look', 'tools__search'])
    if (era === 'modern') await client.listen({ toolsListChanged: true })
    const found = await client.callTool({
      name: 'tools__search',
      arguments: { query: 'ship a parcel, email' },
    })
    expect(textOf(found)).toContain('shop__ship(order_id?)')
    expect(textOf(found)).not.toContain('mail')
    await expect.poll(() => heard.length).toBeGreaterThan(0)
    const after = await list()
    expect(JSON.stringify(after.slice(0, 2))).toBe(JSON.stringify(before))
    expect(after.map(({ name }) => name)).toContain('shop__ship')
    expect(textOf(await client.callTool({ name: 'shop__ship', arguments: {} }))).toContain('shop.ship ran')
    // A client that does not list again may call by name, decided as any other call.
    expect(textOf(await client.callTool({ name: 'shop__refund', arguments: {} }))).toContain(
      'shop.refund ran',
    )
    expect((await client.callTool({ name: 'mail__send', arguments: {} })).isError).toBe(true)
  },
)
