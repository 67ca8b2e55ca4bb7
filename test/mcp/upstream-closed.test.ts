import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { mcpTools } from 'handrail/mcp'
import { expect, test } from 'vitest'
import { makeFolder, openRuntime } from '../support/project.ts'
import { startScripted } from '../support/scripted-server.ts'
import { makeFixtureServer } from '../support/upstreams.ts'

function makeFile(servers: object) {
  const path = join(makeFolder(), 'mcp.json')
  const write = (mcpServers: object) => writeFileSync(path, JSON.stringify({ mcpServers }))
  write(servers)
  return { feed: mcpTools({ path, follow: true }), write }
}

test('a server that is taken away while it waits to be met is never connected to (MCP-1)', async () => {
  const mute = await Promise.all(
    Array.from({ length: 8 }, () => startScripted(() => new Promise<undefined>(() => {}))),
  )
  const waiting = await startScripted(() => undefined)
  const hanging = Object.fromEntries(mute.map(({ url }, index) => [`mute_${index}`, { url }]))
  const { feed, write } = makeFile({ ...hanging, waiting: { url: waiting.url } })
  const runtime = await openRuntime({ feeds: [feed], onError: () => {} })
  write({ ...hanging, last: makeFixtureServer().file })
  await expect.poll(() => runtime.registry.find('mcp.last.echo') !== undefined).toBe(true)
  expect(waiting.heard).toEqual([])
  expect(runtime.registry.find('mcp.waiting.act')).toBeUndefined()
})

test('a call that was allowed after its server was taken away does not bring the server back (MCP-1)', async () => {
  const server = await startScripted(() => undefined)
  const { feed, write } = makeFile({ it: { url: server.url } })
  const runtime = await openRuntime({
    feeds: [feed],
    onError: () => {},
    approve: async () => {
      write({})
      await expect.poll(() => runtime.registry.find('mcp.it.act')).toBeUndefined()
      return { decision: 'allow_once' }
    },
  })
  await runtime.settled(120_000)
  const before = server.heard.filter(({ method }) => method === 'initialize').length
  const { error } = await runtime.session().call('mcp.it.act')
  expect([error?.reason, server.calls()]).toEqual(['upstream_down', []])
  expect(server.heard.filter(({ method }) => method === 'initialize')).toHaveLength(before)
})
