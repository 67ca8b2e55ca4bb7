import { setTimeout as delay } from 'node:timers/promises'
import type { Client, ElicitResult } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connect, textOf, type Era, type Wire } from './connect.ts'

const ways: readonly { wire: Wire; era: Era }[] = [
  { wire: 'stdio', era: 'legacy' },
  { wire: 'stdio', era: 'modern' },
  { wire: 'http', era: 'legacy' },
  { wire: 'http', era: 'modern' },
]

describe.each(ways)('$wire, $era', ({ wire, era }) => {
  const ends = new AsyncDisposableStack()
  /** Cannot ask its person. */
  let client: Client
  /** Can, and the person is `answer`. */
  let asking: Client
  let answer: (message: string) => ElicitResult | Promise<ElicitResult>

  beforeAll(async () => {
    client = ends.use(await connect(wire, { era })).client
    asking = ends.use(await connect(wire, { era, onAsk: (message) => answer(message) })).client
    await client.listTools()
  })
  afterAll(() => ends.disposeAsync())

  test('lists tools with names that every client takes, and never permissions (MCP-2, NAME-5, REG-5)', async () => {
    const { tools } = await client.listTools()
    expect(tools.find((tool) => tool.name === 'demo__echo')).toEqual({
      name: 'demo__echo',
      title: 'Title of demo.echo',
      description: 'Does demo__echo.',
      inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
      outputSchema: {
        type: 'object',
        properties: { text: { type: ['string', 'null'] } },
        required: ['text'],
      },
      annotations: { readOnlyHint: true },
      ...(era === 'legacy' && { execution: { taskSupport: 'optional' } }),
    })
    for (const { name } of tools) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
  })

  test('gives data as structured content that fits the output schema, and as text (MCP-2, OUT-1)', async () => {
    const result = await client.callTool({ name: 'demo__echo', arguments: { text: 'grüß dich' } })
    expect(result.structuredContent).toEqual({ text: 'grüß dich' })
    expect(textOf(result)).toBe('{"text":"grüß dich"}')
    expect(result._meta?.['handrail/call']).toMatchObject({ tool: 'demo.echo', outcome: 'ok' })
  })

  test('sends progress in order while a call runs (CALL-7)', async () => {
    const seen: unknown[] = []
    const result = await client.callTool(
      { name: 'demo__count' },
      {
        onprogress: (progress) => {
          seen.push(progress)
          void client.callTool({ name: 'demo__go' })
        },
      },
    )
    expect(textOf(result)).toBe('counted')
    expect(seen).toEqual([
      { progress: 1, total: 3, message: 'step 1' },
      { progress: 2, total: 3, message: 'step 2' },
      { progress: 3, total: 3, message: 'step 3' },
    ])
  })

  test('aborts the call that a client cancels, and no other (SCHED-6)', async () => {
    const cancel = new AbortController()
    const other = client.callTool({ name: 'demo__count' }, { onprogress: () => {} })
    const waiting = client.callTool(
      { name: 'demo__wait' },
      { signal: cancel.signal, onprogress: () => cancel.abort('enough') },
    )
    await expect(waiting).rejects.toThrow('enough')
    for (let i = 0; i < 3; i++) await client.callTool({ name: 'demo__go' })
    expect(textOf(await other)).toBe('counted')
    await expect.poll(() => endOf('demo.wait', client)).toBe('aborted')
  })

  test.each([
    ['allow_once', 'written: allow_once'],
    ['allow_for_session', 'written: allow_for_session'],
    ['deny', 'denied, no reason'],
    ['whatever', 'denied, the client accepted without a known decision'],
  ])('asks the person in the client, who says %s (PERM-3)', async (decision, outcome) => {
    const asked: string[] = []
    answer = (message) => {
      asked.push(message)
      return { action: 'accept', content: { decision } }
    }
    const result = await asking.callTool({ name: 'demo__write' })
    expect(textOf(result)).toContain(outcome)
    expect(result.isError ?? false).toBe(!outcome.startsWith('written'))
    expect(asked).toHaveLength(1)
    expect(asked[0]).toContain(
      'Allow "Write a file" (demo.write)?\nChanges a.txt\n-old\n+new\ufffd[2K\nAsked because: It writes.',
    )
    expect(asked[0]).toContain('Scope: file a.txt')
  })

  test.each(['decline', 'cancel'] as const)('takes %s in the client as a no (PERM-5)', async (action) => {
    answer = () => ({ action })
    const result = await asking.callTool({ name: 'demo__write' })
    expect(result.isError).toBe(true)
    expect(textOf(result)).toMatch(/^POLICY\.APPROVAL_DENIED \(denied, (declined|cancelled) in the client\)/)
  })

  test('asks for each of several calls at a time its own question (PERM-3)', async () => {
    let asked = 0
    answer = async () => {
      const decision = asked++ % 2 === 0 ? 'allow_once' : 'deny'
      await delay(10)
      return { action: 'accept', content: { decision } }
    }
    const calls = Array.from({ length: 6 }, () => asking.callTool({ name: 'demo__write' }))
    const results = await Promise.all(calls)
    expect(results.filter((result) => textOf(result) === 'written: allow_once')).toHaveLength(3)
    expect(results.filter((result) => result.isError === true)).toHaveLength(3)
  })

  test('lets the pipeline know that nobody can be asked (PERM-5)', async () => {
    const result = await client.callTool({ name: 'demo__write' })
    expect(textOf(result)).toContain('no_callback')
  })

  test('goes on sending progress after the person said yes (CALL-7, PERM-3)', async () => {
    const seen: (string | undefined)[] = []
    answer = () => ({ action: 'accept', content: { decision: 'allow_once' } })
    await asking.callTool(
      { name: 'demo__write', arguments: { wait: true } },
      {
        onprogress: ({ message }) => {
          seen.push(message)
          if (message === 'writing') void asking.callTool({ name: 'demo__go' })
        },
      },
    )
    expect(seen.at(-1)).toBe('writing')
  })

  test('answers an unknown tool with a result that the model can act on (REG-8)', async () => {
    const result = await client.callTool({ name: 'demo__ecko' })
    expect(result.isError).toBe(true)
    expect(textOf(result)).toContain('tool_not_available')
    expect(textOf(result)).toContain('Did you mean "demo__echo"')
    expect(await endOf('demo__ecko', client)).toBe('denied')
  })

  test('finds a tool by its canonical name too, which models read in messages (NAME-5)', async () => {
    const result = await client.callTool({ name: 'demo.echo', arguments: { text: 'a' } })
    expect(result.structuredContent).toEqual({ text: 'a' })
  })

  test('takes an idempotency key from the metadata of a call (CALL-4)', async () => {
    const result = await client.callTool({
      name: 'demo__key',
      _meta: { 'handrail/idempotency_key': 'order-7' },
    })
    expect(textOf(result)).toBe('order-7')
  })

  test('refuses malformed params with -32602 (MCP-2)', async () => {
    await expect(client.callTool({ name: 'demo__echo', arguments: 5 as never })).rejects.toMatchObject({
      code: -32602,
    })
    await expect(client.request({ method: 'tools/list', params: { cursor: 'x' } })).rejects.toMatchObject({
      code: -32602,
    })
  })
})

/** How the last call of a tool ended, as the pipeline saw it. */
async function endOf(tool: string, client: Client): Promise<string | undefined> {
  const ended = JSON.parse(textOf(await client.callTool({ name: 'demo__ended' }))) as {
    tool: string
    outcome: string
  }[]
  return ended.findLast((call) => call.tool === tool)?.outcome
}
