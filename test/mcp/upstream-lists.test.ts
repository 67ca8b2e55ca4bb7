import { setTimeout } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { fixtureTool, openUpstreams } from '../support/upstreams.ts'
import { startScripted, type Say } from '../support/scripted-server.ts'

const changed = { method: 'notifications/tools/list_changed' }
/** A change is followed after a second. */
const longerThanASecond = 1_200

/** A server that answers the lists of its tools one after the other by these, and the later ones as the last. */
async function openListing(lists: readonly ((say: Say) => Promise<readonly string[]>)[]) {
  let asked = 0
  const server = await startScripted(async ({ method }, say) => {
    if (method === 'tools/call') say(changed)
    if (method !== 'tools/list') return undefined
    const list = lists[Math.min(asked++, lists.length - 1)]
    return { tools: (await list?.(say))?.map((name) => fixtureTool(name)) }
  })
  const runtime = await openUpstreams({ it: { url: server.url, tools: { readonly: ['*'] } } })
  const names = () =>
    runtime.registry
      .view('local')
      .list()
      .map(({ definition: { name } }) => name)
      .filter((name) => name.startsWith('mcp.it.'))
  return { runtime, names, asked: () => asked }
}

test('tools that change while a server is met, and slow to list them, are taken over (MCP-1, REG-7)', async () => {
  const { names } = await openListing([
    async (say) => {
      say(changed)
      await setTimeout(longerThanASecond)
      return ['act']
    },
    async () => ['act', 'more'],
  ])
  await expect.poll(names).toEqual(['mcp.it.act', 'mcp.it.more'])
})

test('a list of tools that comes late takes no place of a newer one (MCP-1, REG-7)', async () => {
  const late = Promise.withResolvers<void>()
  const { runtime, names, asked } = await openListing([
    async () => ['act'],
    async () => {
      await late.promise
      return ['act', 'old']
    },
    async () => ['act', 'new'],
  ])
  const session = runtime.session()
  await session.call('mcp.it.act', {})
  await expect.poll(asked).toBe(2)
  await session.call('mcp.it.act', {})
  await setTimeout(longerThanASecond)
  late.resolve()
  await expect.poll(asked).toBe(3)
  await expect.poll(names).toEqual(['mcp.it.act', 'mcp.it.new'])
  await setTimeout(100)
  expect(names()).toEqual(['mcp.it.act', 'mcp.it.new'])
})
