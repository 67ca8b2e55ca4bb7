import { createHash } from 'node:crypto'
import { StreamableHTTPClientTransport, type Client } from '@modelcontextprotocol/client'
import { defineTool, type RuntimeOptions } from 'handrail'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { HttpOptions } from '../../src/mcp/server/http/serve-http.ts'
import { makeFolder, openRuntime } from '../support/project.ts'
import { makeFixtureServer, openUpstreams } from '../support/upstreams.ts'
import { createClient, startHttp, type ClientOptions, type Era } from './connect.ts'

type Asking = Pick<ClientOptions, 'onAsk'>
type Callers = NonNullable<HttpOptions['tokens']>

/** A tool that says what it is for. */
const tool = (name: string, permission: 'readonly' | 'write' = 'readonly', description = `Is ${name}.`) =>
  defineTool({ name, description, permission, run: async () => name })

const digestOf = (token: string) => createHash('sha256').update(token).digest('hex')
const caller = (actor: string, more: Partial<Callers[number]> = {}) => ({
  id: actor,
  sha256: digestOf(actor),
  actor,
  ...more,
})

const four = [tool('a.first'), tool('a.second', 'write'), tool('b.third'), tool('b.fourth', 'write')]

async function openGateway(tokens: Callers, options: RuntimeOptions = {}) {
  const store = { path: `${makeFolder()}/store.db` }
  const runtime = await openRuntime({ tools: four, store, ...options })
  return { runtime, ...(await serve(tokens, { runtime })) }
}

async function serve(tokens: Callers, options: Pick<HttpOptions, 'runtime'>) {
  const server = await startHttp({ tokens, ...options })
  onTestFinished(() => server.close())
  return {
    server,
    /** A client of its own for each. */
    connect: async (actor: string, era: Era = 'legacy', more: Asking = {}): Promise<Client> => {
      const client = createClient({ era, ...more })
      const requestInit = { headers: { authorization: `Bearer ${actor}` } }
      await client.connect(new StreamableHTTPClientTransport(new URL(server.url), { requestInit }))
      onTestFinished(() => client.close())
      return client
    },
  }
}

/** What is listed for a client, in order. */
const listed = async (client: Client) =>
  (await client.listTools()).tools.map(({ name }) => name.replaceAll('__', '.'))

const everyCaller: Callers = [
  caller('main'),
  caller('twin'),
  caller('planner', { mode: 'plan' }),
  caller('sub', { role: 'sub' }),
  caller('narrow', { allowedTools: ['a.*'] }),
  caller('barred', { disallowedTools: ['a.first'] }),
  caller('other', { tenant: 'other' }),
]
const everyList: Record<string, string[]> = {
  main: ['a.first', 'a.second', 'b.fourth', 'b.third'],
  twin: ['a.first', 'a.second', 'b.fourth', 'b.third'],
  planner: ['a.first', 'b.third'],
  sub: [],
  narrow: ['a.first', 'a.second'],
  barred: ['a.second', 'b.fourth', 'b.third'],
  other: ['a.first', 'a.second', 'b.fourth', 'b.third', 'c.own'],
}

test.each(['legacy', 'modern'] as const)(
  'callers of many kinds that list in turn are each shown their own tools: %s (REG-3, POOL-2)',
  async (era) => {
    const { runtime, connect } = await openGateway(everyCaller)
    await runtime.register([tool('c.own')], { tenants: ['other'] })
    const stay = await Promise.all(everyCaller.map(({ actor }) => connect(actor, era)))
    for (let round = 0; round < 2; round++)
      for (const [at, { actor }] of everyCaller.entries()) {
        expect([actor, await listed(await connect(actor, era))]).toEqual([actor, everyList[actor]])
        expect([actor, stay[at] && (await listed(stay[at]))]).toEqual([actor, everyList[actor]])
      }
  },
)

test('tools of one name that two tenants have each for themselves are told apart (REG-3)', async () => {
  const tenants = ['north', 'south']
  const { runtime, connect } = await openGateway(tenants.map((tenant) => caller(tenant, { tenant })))
  for (const tenant of tenants)
    await runtime.register([tool('a.own', 'readonly', `Of the ${tenant}.`)], { tenants: [tenant] })
  for (const tenant of [...tenants, ...tenants]) {
    const { tools } = await (await connect(tenant)).listTools()
    expect(tools.find(({ name }) => name === 'a__own')?.description).toBe(`Of the ${tenant}.`)
  }
})

test('what is hidden is in no list from then on, and comes back: by the policy, by its state, and for good (REG-7, POOL-2)', async () => {
  const { runtime, connect } = await openGateway([caller('ann'), caller('bob', { tenant: 'other' })])
  const before = await Promise.all([connect('ann'), connect('bob'), connect('ann', 'modern')])
  const whole = ['a.first', 'a.second', 'b.fourth', 'b.third']
  const expectLists = async (ann: string[], bob = ann): Promise<void> => {
    const after = await Promise.all([connect('ann'), connect('bob'), connect('ann', 'modern')])
    for (const [first, second, third] of [before, after])
      expect(await Promise.all([first, second, third].map(listed))).toEqual([ann, bob, ann])
  }
  await expectLists(whole)
  await runtime.reload({ disallowedTools: ['a.*'] })
  await expectLists(['b.fourth', 'b.third'])
  await runtime.reload({ disallowedTools: [] })
  await expectLists(whole)
  await runtime.setToolState('a.first', 'paused', { by: 'ops', tenant: 'other' })
  await expectLists(whole, whole.slice(1))
  await runtime.setToolState('a.first', 'enabled', { by: 'ops', tenant: 'other' })
  await expectLists(whole)
  await runtime.register([tool('c.late')])
  await expectLists([...whole, 'c.late'])
  await runtime.remove(['c.late', 'b.third'])
  await expectLists(whole.slice(0, 3))
})

test('a deprecated tool says so in the lists of its tenant, and in no other (REG-3)', async () => {
  const { runtime, connect } = await openGateway([caller('ann'), caller('bob', { tenant: 'other' })])
  await runtime.setToolState('a.first', 'deprecated', { by: 'ops', tenant: 'other', reason: 'Take b.third.' })
  const wordOf = async (actor: string) =>
    (await (await connect(actor)).listTools()).tools.find(({ name }) => name === 'a__first')?.description
  for (let round = 0; round < 2; round++) {
    expect(await wordOf('ann')).toBe('Is a__first.')
    expect(await wordOf('bob')).toBe('Is a__first.\nDeprecated: Take b__third.')
  }
})

test('tools of a server that failed are in no list until it is back (MCP-1)', async () => {
  const server = makeFixtureServer()
  const store = { path: `${makeFolder()}/store.db` }
  await (await openUpstreams({ it: server.file }, { store })).close()
  const runtime = await openUpstreams({ it: server.file }, { store, tools: four, onError: () => {} })
  const { connect } = await serve([caller('ann')], { runtime })
  const first = await connect('ann')
  const expectListed = async (isThere: boolean): Promise<void> => {
    for (const client of [first, await connect('ann')])
      expect((await listed(client)).includes('mcp.it.echo')).toBe(isThere)
  }
  await expectListed(true)
  server.break(true)
  await runtime.session().call('mcp.it.echo', { text: '1' })
  await expectListed(false)
  server.break(false)
  await vi.waitFor(() => expectListed(true))
})

test('a client that can be asked calls what was listed last, however it began (MCP-2, REG-7)', async () => {
  const { runtime, connect } = await openGateway([caller('ann')])
  const onAsk = () => ({ action: 'accept' as const, content: { decision: 'allow_once' } })
  const client = await connect('ann', 'legacy', { onAsk })
  await client.listResources()
  expect(await client.callTool({ name: 'b__fourth' })).toMatchObject({ content: [{ text: 'b.fourth' }] })
  await runtime.register([tool('c.late', 'write')])
  expect(await listed(client)).toContain('c.late')
  expect(await client.callTool({ name: 'c__late' })).toMatchObject({ content: [{ text: 'c.late' }] })
})
