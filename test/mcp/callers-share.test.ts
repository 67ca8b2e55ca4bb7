import { createHash } from 'node:crypto'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { codeTools, createRuntime, defineTool, jobTools } from 'handrail'
import { createMetrics } from 'handrail/telemetry'
import { expect, test } from 'vitest'
import { serveHttp } from '../../src/mcp/server/http/serve-http.ts'
import { atEnd, keepOpen } from '../support/at-end.ts'
import { makeFolder } from '../support/project.ts'
import { textOf } from './connect.ts'

const tokenOf = (id: string) => `hr_token-of-${id}`
const callerOf = (id: string) => ({
  id,
  sha256: createHash('sha256').update(tokenOf(id)).digest('hex'),
  actor: id,
  tenant: id,
})
const metrics = createMetrics()
const waiting: PromiseWithResolvers<void>[] = []
const logged: string[] = []

/** Runs until the test lets it end. */
const wait = defineTool({
  name: 'demo.wait',
  description: 'Waits.',
  permission: 'readonly',
  limits: { concurrency: 20 },
  async run() {
    const gate = Promise.withResolvers<void>()
    waiting.push(gate)
    await gate.promise
    return 'done'
  },
})

/** A gateway for two tenants. */
const gateway = keepOpen(async () => {
  const runtime = await createRuntime({
    project: makeFolder(),
    tools: [codeTools(), jobTools(), wait],
    sandbox: 'host',
    policy: {
      tenants: { ann: {}, bob: {}, cid: {} },
      rules: [{ effect: 'allow', tools: ['code.run_command'], commands: ['sleep *'] }],
    },
    observers: [metrics.observer],
    store: 'memory',
  })
  atEnd(() => runtime.close())
  const server = await serveHttp({
    runtime,
    port: 0,
    closeGraceMs: 50,
    log: (line) => void logged.push(line),
    metrics,
    tokens: [
      ...['ann', 'bob', 'cid'].map(callerOf),
      { ...callerOf('prometheus'), tenant: 'bob', metrics: true },
    ],
    maxSessions: 6,
    maxRequests: 8,
  })
  atEnd(() => server.close())
  return new URL(server.url)
})

async function connect(id: string): Promise<Client> {
  const client = new Client({ name: id, version: '1.0.0' })
  const headers = { authorization: `Bearer ${tokenOf(id)}` }
  await client.connect(new StreamableHTTPClientTransport(gateway(), { requestInit: { headers } }))
  return client
}

test("a caller that opens more sessions than there are ends its own ones, not another one's with its job (MCP-3)", async () => {
  const ann = await connect('ann')
  const started = await ann.callTool({
    name: 'code__run_command',
    arguments: { argv: ['sleep', '600'], background: true },
  })
  expect(textOf(started as never)).toContain('job_')
  const bobs: Client[] = []
  for (let i = 0; i < 10; i++) bobs.push(await connect('bob'))
  const jobs = await ann.callTool({ name: 'job__list', arguments: {} })
  expect(textOf(jobs as never)).toMatch(/running/)
  await expect(bobs[0]?.listTools()).rejects.toThrow(/no such session/)
  await Promise.all([ann, ...bobs].map((client) => client.close()))
})

test('a session with a job that runs makes room only where each of its caller has one, which is logged (MCP-3)', async () => {
  const startJob = async () => {
    const cid = await connect('cid')
    const sleep = { argv: ['sleep', '600'], background: true }
    await cid.callTool({ name: 'code__run_command', arguments: sleep })
    return cid
  }
  const isThere = async (cid: Client) =>
    /running/.test(textOf((await cid.callTool({ name: 'job__list', arguments: {} })) as never))
  const [first, idle, second] = [await startJob(), await connect('cid'), await startJob()]
  const third = await startJob()
  await expect(idle.listTools()).rejects.toThrow(/no such session/)
  for (const cid of [first, second, third]) expect(await isThere(cid)).toBe(true)
  expect(logged.join()).not.toContain('made room')
  await connect('cid')
  await expect(isThere(first)).rejects.toThrow(/no such session/)
  for (const cid of [second, third]) expect(await isThere(cid)).toBe(true)
  expect(logged.join()).toContain('made room')
})

test('a caller whose requests take all of its places is told so, and another one is served (MCP-3)', async () => {
  const bob = await connect('bob')
  const call = () => bob.callTool({ name: 'demo__wait', arguments: {} })
  const calls = Promise.allSettled(Array.from({ length: 9 }, call))
  // The stream of the session takes a place too, as soon as it is open.
  const refused = () => bob.listTools().catch((error: unknown) => String(error))
  await expect.poll(refused).toMatch(/8 requests of this caller are open/)
  const ann = await connect('ann')
  expect((await ann.listTools()).tools.map(({ name }) => name)).toContain('demo__wait')
  for (const gate of waiting) gate.resolve()
  expect((await calls).filter(({ status }) => status === 'fulfilled')).toHaveLength(waiting.length)
  expect((await bob.listTools()).tools.length).toBeGreaterThan(1)
  await Promise.all([ann, bob].map((client) => client.close()))
})

test('the metrics of all tenants are for a token that says so (EVID-5, MCP-3)', async () => {
  const read = (id: string) =>
    fetch(new URL('/metrics', gateway()), { headers: { authorization: `Bearer ${tokenOf(id)}` } })
  const refused = await read('bob')
  expect([refused.status, await refused.text()]).toEqual([403, expect.stringContaining('handrail token')])
  const shown = await read('prometheus')
  expect([shown.status, await shown.text()]).toEqual([200, expect.stringContaining('tenant="ann"')])
})
