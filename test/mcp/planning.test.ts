import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { planTools, userTools } from 'handrail/tools'
import { expect, onTestFinished, test } from 'vitest'
import { serveHttp } from '../../src/mcp/server/http/serve-http.ts'
import { openRuntime } from '../support/project.ts'
import { makeShop } from '../support/shop.ts'
import { textOf, type Era } from './connect.ts'

const eras = ['legacy', 'modern'] as const

/** A client of a gateway with these tools, whose person answers so; without an answer it has no way to ask one. */
async function speak(era: Era, answers?: Record<string, unknown>[]) {
  const shop = makeShop()
  const runtime = await openRuntime({ tools: [...shop.tools, planTools(), userTools()] })
  const server = await serveHttp({ runtime, port: 0, closeGraceMs: 100, log: () => {} })
  onTestFinished(() => server.close())
  const client = new Client(
    { name: 'test', version: '1.0.0' },
    {
      capabilities: answers === undefined ? {} : { elicitation: { form: {} } },
      versionNegotiation: { mode: era === 'legacy' ? 'legacy' : { pin: '2026-07-28' } },
    },
  )
  const asked: string[] = []
  if (answers !== undefined)
    client.setRequestHandler('elicitation/create', ({ params }) => {
      asked.push(params.message)
      const content = answers.shift()
      return content === undefined
        ? { action: 'decline' }
        : { action: 'accept', content: content as Record<string, string> }
    })
  await client.connect(new StreamableHTTPClientTransport(new URL(server.url)))
  onTestFinished(() => client.close())
  const call = async (name: string, input: Record<string, unknown> = {}) =>
    client.callTool({ name, arguments: input })
  const names = async () => (await client.listTools()).tools.map(({ name }) => name)
  return { asked, call, names, done: shop.done }
}

test.each(eras)('a model behind MCP asks the person at its client: %s (BI-1)', async (era) => {
  const { asked, call } = await speak(era, [{ chosen_1: 'SQLite' }])
  const input = { question: 'Which store?', options: [{ label: 'Postgres' }, { label: 'SQLite' }] }
  expect(textOf(await call('user__ask', input))).toBe('Which store?\n→ SQLite')
  expect(textOf(await call('user__ask', input))).toContain('The person declined to answer.')
  expect(asked[0]).toContain('Which store?')
})

test.each(eras)('a client that cannot ask its person gets an answer all the same: %s (BI-1)', async (era) => {
  const { call } = await speak(era)
  const result = await call('user__ask', { question: 'Which?' })
  expect([result.isError ?? false, result.structuredContent]).toEqual([
    false,
    { outcome: expect.stringMatching(/no_person|declined/) as string, answers: [] },
  ])
})

test.each(eras)(
  'plan mode behind MCP ends by the yes of the person at the client alone: %s (BI-4)',
  async (era) => {
    const { asked, call, names, done } = await speak(era, [
      { decision: 'deny' },
      { decision: 'allow_once' },
      { decision: 'allow_once' },
    ])
    await call('plan__enter')
    expect(await names()).not.toContain('shop__refund')
    expect((await call('shop__refund', { order: '1' })).isError).toBe(true)
    expect((await call('plan__exit', { plan: '# One' })).isError).toBe(true)
    expect((await call('plan__exit', { plan: '# Two' })).isError ?? false).toBe(false)
    expect(asked.map((message) => /# \w+/.exec(message)?.[0])).toEqual(['# One', '# Two'])
    expect(await names()).toContain('shop__refund')
    await call('shop__refund', { order: '1' })
    expect(done).toEqual(['1'])
  },
)
