import { createHash } from 'node:crypto'
import { setImmediate, setTimeout as delay } from 'node:timers/promises'
import type { Client, ElicitResult, StandardSchemaV1 } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import type { HttpOptions, HttpServer } from '../../src/mcp/server/http/serve-http.ts'
import { connect, startHttp, stdioServer, textOf, type Wire } from './connect.ts'
import { createDemoRuntime } from './demo-tools.ts'
import { fakeTool, type FakeRuntime, type FakeTool } from './fake-runtime.ts'
import {
  createModern,
  messagesOf,
  openLegacy,
  type Answer,
  type Message,
  type RawClient,
} from './raw-client.ts'

const ends: (() => PromiseLike<unknown>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})
const related = 'io.modelcontextprotocol/related-task'
const taking = { extensions: { 'io.modelcontextprotocol/tasks': {} } }
const asking = { elicitation: { form: {} } }

async function start(options: Partial<HttpOptions> = {}): Promise<HttpServer> {
  const server = await startHttp(options)
  ends.push(() => server.close())
  return server
}

/** Takes longer than a stateless client waits for, and then goes on. */
const slow: FakeTool = fakeTool({ name: 'demo.slow' }, async (input, { signal, ask, progress }) => {
  await delay(700, undefined, { signal })
  progress({ message: 'half way' })
  if (input['ask'] === true) return { content: [{ type: 'text', text: await ask('file a.txt') }] }
  if (input['wait'] === true) await delay(60_000, undefined, { signal })
  if (input['break'] === true) return { content: null as never }
  return { content: [{ type: 'text', text: 'slowly done' }] }
})
const call = (input: object = {}) => ({ name: 'demo__slow', arguments: input })
const outcomesOf = ({ ended }: FakeRuntime) => ended.map(({ outcome }) => outcome)

/** The task, when it is in one of these states. */
async function reach(client: RawClient, taskId: string, ...statuses: string[]): Promise<Answer> {
  for (;;) {
    const task = await client.ask('tasks/get', { taskId })
    if (statuses.includes(task.status)) return task
    await delay(20)
  }
}

describe.each<Wire>(['stdio', 'http'])('2025-11-25 over %s', (wire) => {
  const anything: StandardSchemaV1<Answer> = {
    '~standard': { version: 1, vendor: 'test', validate: (value) => ({ value: value as Answer }) },
  }
  async function open(onAsk?: (message: string) => ElicitResult | Promise<ElicitResult>): Promise<Client> {
    const connected = await connect(wire, { era: 'legacy', ...(onAsk && { onAsk }) })
    ends.push(() => connected[Symbol.asyncDispose]())
    return connected.client
  }
  const request = (client: Client, method: string, params: object = {}) =>
    client.request({ method, params: { ...params } }, anything)
  const begin = async (client: Client, name: string, more: object = {}) =>
    (await request(client, 'tools/call', { name, arguments: {}, task: {}, ...more })).task
  const outcomes = async (client: Client) =>
    (JSON.parse(textOf(await client.callTool({ name: 'demo__ended' }))) as { outcome: string }[]).map(
      ({ outcome }) => outcome,
    )

  test('a call that is asked for as a task is one, and gives its result when it is over (MCP-2)', async () => {
    const client = await open()
    expect(client.getServerCapabilities()?.tasks).toEqual({
      list: {},
      cancel: {},
      requests: { tools: { call: {} } },
    })
    const created = await request(client, 'tools/call', {
      name: 'demo__echo',
      arguments: { text: 'a' },
      task: { ttl: 90_000 },
    })
    expect(Object.keys(created)).toEqual(['task'])
    expect(created.task).toMatchObject({ status: 'working', ttl: 90_000, pollInterval: 1_000 })
    const { taskId } = created.task
    const result = await request(client, 'tasks/result', { taskId })
    expect(result).toMatchObject({ structuredContent: { text: 'a' }, _meta: { [related]: { taskId } } })
    expect(result._meta['handrail/call']).toMatchObject({ tool: 'demo.echo', outcome: 'ok' })
    expect(await request(client, 'tasks/get', { taskId })).toMatchObject({ taskId, status: 'completed' })
    expect(await request(client, 'tasks/result', { taskId })).toEqual(result)
  })

  test('the end is waited for, and progress comes by the token of the call (MCP-2, CALL-7)', async () => {
    const client = await open()
    const seen: unknown[] = []
    client.setNotificationHandler('notifications/progress', ({ params }) => {
      seen.push(params)
      void client.callTool({ name: 'demo__go' })
    })
    const { taskId } = await begin(client, 'demo__count', { _meta: { progressToken: 'mine' } })
    expect(textOf(await request(client, 'tasks/result', { taskId }))).toBe('counted')
    expect(seen).toEqual(
      [1, 2, 3].map((progress) => ({
        progressToken: 'mine',
        progress,
        total: 3,
        message: `step ${progress}`,
        _meta: { [related]: { taskId } },
      })),
    )
  })

  test('a person is asked while it runs, and what they say counts (MCP-2, PERM-3)', async () => {
    const told: string[] = []
    const client = await open(() => ({ action: 'accept', content: { decision: 'allow_once' } }))
    client.fallbackNotificationHandler = async ({ method, params }) => {
      if (method === 'notifications/tasks/status') told.push(String(params?.['status']))
    }
    const { taskId } = await begin(client, 'demo__write')
    expect(textOf(await request(client, 'tasks/result', { taskId }))).toBe('written: allow_once')
    await expect.poll(() => told).toEqual(['input_required', 'working', 'completed'])
  })

  // Over HTTP it may not have opened its stream yet.
  if (wire === 'stdio')
    test('a client that only looks is asked on its own stream (MCP-2, PERM-3)', async () => {
      const client = await open(() => ({ action: 'accept', content: { decision: 'allow_once' } }))
      const { taskId } = await begin(client, 'demo__write')
      await expect.poll(async () => (await request(client, 'tasks/get', { taskId })).status).toBe('completed')
    })

  test('cancelling it ends the call, whose end can still be asked for (MCP-2, SCHED-6)', async () => {
    const client = await open()
    const { taskId } = await begin(client, 'demo__wait')
    await expect
      .poll(async () => (await request(client, 'tasks/get', { taskId })).statusMessage)
      .toBe('waiting')
    expect(await request(client, 'tasks/cancel', { taskId })).toMatchObject({ taskId, status: 'cancelled' })
    await expect(request(client, 'tasks/cancel', { taskId })).rejects.toMatchObject({ code: -32602 })
    expect(textOf(await request(client, 'tasks/result', { taskId }))).toContain('TOOL.ABORTED')
    expect(await request(client, 'tasks/get', { taskId })).toMatchObject({ status: 'cancelled' })
    expect(await outcomes(client)).toEqual(['aborted'])
  })

  test('a call that fails makes it a failed one that says why, and an unknown one is refused (MCP-2)', async () => {
    const client = await open()
    const { taskId } = await begin(client, 'demo__none')
    const result = await request(client, 'tasks/result', { taskId })
    expect(result.isError).toBe(true)
    const { tasks } = await request(client, 'tasks/list')
    expect(tasks).toMatchObject([
      { taskId, status: 'failed', statusMessage: expect.stringContaining('There is no such tool.') },
    ])
    for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel'])
      await expect(request(client, method, { taskId: 'made-up' })).rejects.toMatchObject({ code: -32602 })
    await expect(request(client, 'tasks/list', { cursor: 'x' })).rejects.toMatchObject({ code: -32602 })
  })
})

describe('2025-11-25 request by request', () => {
  const begin = async (client: RawClient, name: string) =>
    (await client.ask('tools/call', { name, arguments: {}, task: {} })).task.taskId
  /** The first request of the server that a response carries. */
  async function firstRequest(response: Response): Promise<Message> {
    for await (const message of messagesOf(response)) if (message.id !== undefined) return message
    throw new Error('The response ended.')
  }

  /** The next request of the server on a stream, which stays open. */
  async function nextRequest(stream: AsyncGenerator<Message>): Promise<Message> {
    for (;;) {
      const { value } = (await stream.next()) as { value: Message }
      if (value.id !== undefined) return value
    }
  }

  test('a question waits for a request that waits for the end, and is put again to the next one (MCP-2, PERM-3)', async () => {
    const client = await openLegacy(await start(), { capabilities: asking })
    const taskId = await begin(client, 'demo__write')
    await reach(client, taskId, 'input_required')
    const lost = new AbortController()
    const first = await firstRequest(await client.send('tasks/result', { taskId }, lost.signal))
    expect(first).toMatchObject({
      method: 'elicitation/create',
      params: { _meta: { [related]: { taskId } } },
    })
    lost.abort()
    const again = messagesOf(await client.send('tasks/result', { taskId }))
    const { value: second } = (await again.next()) as { value: Message }
    expect(second).toMatchObject({ method: 'elicitation/create' })
    expect(second.id).not.toBe(first.id)
    await client.answer(second.id, { action: 'accept', content: { decision: 'allow_once' } })
    const { value: end } = (await again.next()) as { value: Message }
    expect(end.result?.content[0]?.text).toBe('written: allow_once')
    expect(await reach(client, taskId, 'completed')).not.toHaveProperty('statusMessage')
  })

  test('a question that was lost with the stream of the session is put to the next request that waits (MCP-2, PERM-3)', async () => {
    const client = await openLegacy(await start(), { capabilities: asking })
    const lost = new AbortController()
    const stream = messagesOf(await client.listen(lost.signal))
    const taskId = await begin(client, 'demo__write')
    const first = await nextRequest(stream)
    lost.abort()
    // There is one at a time, so the server knows when it takes another one.
    await expect.poll(async () => (await client.listen()).status).toBe(200)
    const again = messagesOf(await client.send('tasks/result', { taskId }))
    const { value: second } = (await again.next()) as { value: Message }
    expect(second).toMatchObject({ method: 'elicitation/create', params: first.params ?? {} })
    expect(second.id).not.toBe(first.id)
    await client.answer(second.id, { action: 'accept', content: { decision: 'allow_once' } })
    const { value: end } = (await again.next()) as { value: Message }
    expect(end.result?.content[0]?.text).toBe('written: allow_once')
  })

  test('a question on the stream of the session is not put again as long as that is open (MCP-2, PERM-3)', async () => {
    const client = await openLegacy(await start(), { capabilities: asking })
    const stream = messagesOf(await client.listen())
    const taskId = await begin(client, 'demo__write')
    const { id } = await nextRequest(stream)
    const waiting = client.send('tasks/result', { taskId })
    for (let i = 0; i < 5; i++) await client.ask('tasks/get', { taskId })
    await client.answer(id, { action: 'accept', content: { decision: 'allow_once' } })
    const { value: end } = (await messagesOf(await waiting).next()) as { value: Message }
    expect(end.result?.content[0]?.text).toBe('written: allow_once')
  })

  test('a client that refuses the question has said no (MCP-2, PERM-5)', async () => {
    const server = await start()
    const client = await openLegacy(server, { capabilities: asking })
    const taskId = await begin(client, 'demo__write')
    const stream = messagesOf(await client.send('tasks/result', { taskId }))
    const { value: question } = (await stream.next()) as { value: Message }
    await client.answer(question.id, { action: 'decline' })
    const { value: end } = (await stream.next()) as { value: Message }
    expect(end.result).toMatchObject({ isError: true })
  })

  test('a task goes on when its client is gone, and the session stays for it (MCP-2)', async () => {
    const gate = Promise.withResolvers<void>()
    const long = fakeTool({ name: 'demo.long' }, async () => {
      await gate.promise
      return { content: [{ type: 'text', text: 'at last' }] }
    })
    const server = await start({ runtime: createDemoRuntime([long]), sessionIdleMs: 100 })
    const begun = async () => {
      const client = await openLegacy(server)
      return { client, taskId: await begin(client, 'demo__long') }
    }
    // A busy machine may be slower than a session is kept.
    const { client, taskId } = await vi.waitFor(begun)
    const idle = await openLegacy(server)
    await expect.poll(async () => (await idle.send('ping', {})).status, { interval: 400 }).toBe(404)
    gate.resolve()
    expect((await client.ask('tasks/result', { taskId })).content[0]?.text).toBe('at last')
  })

  test('no session sees the tasks of another (MCP-2)', async () => {
    const server = await start()
    const [mine, other] = [await openLegacy(server), await openLegacy(server)]
    const taskId = await begin(mine, 'demo__wait')
    for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel'])
      await expect(other.ask(method, { taskId })).rejects.toMatchObject({ code: -32602 })
    expect((await other.ask('tasks/list')).tasks).toEqual([])
    expect((await mine.ask('tasks/list')).tasks).toMatchObject([{ taskId, status: 'working' }])
  })

  test('a hundred are kept, and one more is refused before its call begins (MCP-2)', async () => {
    const runtime = createDemoRuntime()
    const client = await openLegacy(await start({ runtime }))
    for (let count = 0; count < 100; count++) await begin(client, 'demo__wait')
    await expect(begin(client, 'demo__wait')).rejects.toMatchObject({
      code: -32600,
      message: expect.stringContaining('100 are kept at most'),
    })
    expect(runtime.started).toHaveLength(100)
    expect((await client.ask('tools/call', { name: 'demo__echo', arguments: {} })).isError).toBeUndefined()
  })
})

describe('2026-07-28', () => {
  async function open(options: Partial<HttpOptions> = {}, capabilities: object = taking) {
    const runtime = createDemoRuntime([slow])
    const server = await start({ runtime, ...options })
    return { runtime, server, client: createModern(server, { capabilities }) }
  }

  test('a call that takes long becomes a task, where the client takes tasks (MCP-2)', async () => {
    const { client } = await open()
    const task = await client.ask('tools/call', call())
    expect(task).toMatchObject({
      resultType: 'task',
      status: 'working',
      ttlMs: 3_600_000,
      pollIntervalMs: 1_000,
    })
    expect(task).not.toHaveProperty('content')
    const { taskId } = task
    const over = await reach(client, taskId, 'completed')
    expect(over).toMatchObject({ resultType: 'complete', taskId, result: { resultType: 'complete' } })
    expect(over.result.content[0]?.text).toBe('slowly done')
    expect(over.result._meta['handrail/call']).toMatchObject({ tool: 'demo.slow', outcome: 'ok' })
  })

  test('a call that is soon over is answered, as one of a client that takes no tasks is (MCP-2)', async () => {
    const { client, server } = await open()
    const quick = await client.ask('tools/call', { name: 'demo__echo', arguments: {}, task: { ttl: 1 } })
    expect(quick).toMatchObject({ resultType: 'complete', structuredContent: { text: null } })
    const plain = createModern(server)
    const { content, resultType } = await plain.ask('tools/call', call())
    expect([resultType, content[0]?.text]).toEqual(['complete', 'slowly done'])
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel'])
      await expect(plain.ask(method, { taskId: 'x' })).rejects.toMatchObject({
        code: -32021,
        data: { requiredCapabilities: taking },
      })
    for (const method of ['tasks/list', 'tasks/result'])
      await expect(client.ask(method, { taskId: 'x' })).rejects.toMatchObject({ code: -32601 })
  })

  test('a task outlives the request that made it; before, the call ends with it (MCP-2, SCHED-6)', async () => {
    const { client, runtime } = await open()
    const gone = new AbortController()
    // However busy the machine is, the time does not come when the call would be a task.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const early = client.send('tools/call', call({ wait: true }), gone.signal)
    while (runtime.started.length === 0) await setImmediate()
    gone.abort()
    await expect(early).rejects.toThrow()
    while (runtime.ended.length === 0) await setImmediate()
    expect(outcomesOf(runtime)).toEqual(['aborted'])
    vi.useRealTimers()
    const { taskId } = await client.ask('tools/call', call())
    await reach(client, taskId, 'completed')
    expect(outcomesOf(runtime)).toEqual(['aborted', 'ok'])
  })

  test('what a task needs is brought by tasks/update, whatever else comes with it (MCP-2, PERM-3)', async () => {
    const { client } = await open({}, { ...taking, ...asking })
    const { taskId } = await client.ask('tools/call', call({ ask: true }))
    const { inputRequests = {} } = await reach(client, taskId, 'input_required')
    const [key = ''] = Object.keys(inputRequests)
    expect(inputRequests[key]).toMatchObject({ method: 'elicitation/create' })
    const update = (inputResponses: object) => client.ask('tasks/update', { taskId, inputResponses })
    const answer = { action: 'accept', content: { decision: 'allow_once' } }
    expect(await update({ made_up: answer, approval: answer })).toMatchObject({ resultType: 'complete' })
    expect((await client.ask('tasks/get', { taskId })).inputRequests).toEqual(inputRequests)
    await update({ [key]: answer })
    expect((await reach(client, taskId, 'completed')).result.content[0]?.text).toBe('allow_once')
    expect(await update({ [key]: answer })).not.toHaveProperty('status')
    await expect(client.ask('tasks/update', { taskId })).rejects.toMatchObject({ code: -32602 })
  })

  test('a person who is asked before it is one is asked on the request, and it may become one after (MCP-2, PERM-3)', async () => {
    const runtime = createDemoRuntime([
      fakeTool({ name: 'demo.first' }, async (_input, { ask, signal }) => {
        const said = await ask('file a.txt')
        await delay(700, undefined, { signal })
        return { content: [{ type: 'text', text: said }] }
      }),
    ])
    const client = createModern(await start({ runtime }), { capabilities: { ...taking, ...asking } })
    const first = { name: 'demo__first', arguments: {} }
    const pause = await client.ask('tools/call', first)
    expect(pause.resultType).toBe('input_required')
    const inputResponses = { approval: { action: 'accept', content: { decision: 'allow_once' } } }
    const { requestState } = pause
    const task = await client.ask('tools/call', { ...first, requestState, inputResponses })
    expect(task.resultType).toBe('task')
    expect((await reach(client, task.taskId, 'completed')).result.content[0]?.text).toBe('allow_once')
  })

  test('cancelling it ends the call; what is over stays as it is (MCP-2, SCHED-6)', async () => {
    const { client, runtime } = await open()
    const { taskId } = await client.ask('tools/call', call({ wait: true }))
    await expect.poll(async () => (await client.ask('tasks/get', { taskId })).statusMessage).toBe('half way')
    const acknowledged = await client.ask('tasks/cancel', { taskId })
    expect(acknowledged.resultType).toBe('complete')
    expect(acknowledged).not.toHaveProperty('taskId')
    await expect.poll(() => outcomesOf(runtime)).toEqual(['aborted'])
    expect(await client.ask('tasks/cancel', { taskId })).toMatchObject({ resultType: 'complete' })
    const over = await client.ask('tasks/get', { taskId })
    expect(over.status).toBe('cancelled')
    expect(over).not.toHaveProperty('result')
  })

  test('a call that is denied or fails completes it with a result that is an error; only what breaks here fails it (MCP-2)', async () => {
    const logged: string[] = []
    const { client } = await open({ log: (line) => logged.push(line) })
    const denied = await client.ask('tools/call', call({ ask: true }))
    const { result } = await reach(client, denied.taskId, 'completed')
    expect(result.isError).toBe(true)
    const broken = await client.ask('tools/call', call({ break: true }))
    const over = await reach(client, broken.taskId, 'failed')
    expect(over).toMatchObject({ error: { code: -32603 } })
    expect(over.error.message).toBe('Handrail failed on this request; its log has the cause.')
    expect(logged.join('\n')).toContain('TypeError')
  })

  test('nobody but the caller who made it finds it, whoever knows its id (MCP-2, AUTH-6)', async () => {
    const token = (id: string) => ({ id, sha256: createHash('sha256').update(id).digest('hex'), actor: id })
    const { server } = await open({ tokens: [token('anna'), token('bert')] })
    const [anna, bert] = ['anna', 'bert'].map((each) =>
      createModern(server, { capabilities: taking, token: each }),
    ) as [RawClient, RawClient]
    const { taskId } = await anna.ask('tools/call', call({ wait: true }))
    expect(taskId).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    for (const method of ['tasks/get', 'tasks/cancel'])
      await expect(bert.ask(method, { taskId })).rejects.toMatchObject({
        code: -32602,
        data: { reason: 'unknown_task' },
      })
    await expect(bert.ask('tasks/update', { taskId, inputResponses: {} })).rejects.toMatchObject({
      code: -32602,
    })
    expect((await anna.ask('tasks/get', { taskId })).status).toBe('working')
  })

  test('the caller is remembered as long as one is kept, and a request about it names it in its header (MCP-2)', async () => {
    const { client, server, runtime } = await open({ sessionIdleMs: 100 })
    const { taskId } = await client.ask('tools/call', call())
    await expect.poll(() => outcomesOf(runtime)).toEqual(['ok'])
    await delay(300)
    expect((await client.ask('tasks/get', { taskId })).status).toBe('completed')
    const body = { jsonrpc: '2.0', id: 1, method: 'tasks/get', params: { taskId } }
    const answer = await fetch(server.url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tasks/get',
        'mcp-name': 'another',
      },
      body: JSON.stringify({
        ...body,
        params: {
          taskId,
          _meta: {
            'io.modelcontextprotocol/protocolVersion': '2026-07-28',
            'io.modelcontextprotocol/clientCapabilities': taking,
          },
        },
      }),
    })
    expect([answer.status, ((await answer.json()) as Message).error?.code]).toEqual([400, -32020])
  })

  test('who listens for a task hears how it stands whenever that changes, and so does nobody else (MCP-2)', async () => {
    const { client, server } = await open({}, { ...taking, ...asking })
    const { taskId } = await client.ask('tools/call', call({ ask: true }))
    const other = await client.ask('tools/call', call())
    const gone = new AbortController()
    ends.push(async () => gone.abort())
    const notifications = { taskIds: [taskId, 'made-up', 5] }
    const stream = messagesOf(await client.send('subscriptions/listen', { notifications }, gone.signal))
    const next = async () => ((await stream.next()) as { value: Message }).value
    expect((await next()).params).toMatchObject({ notifications: { taskIds: [taskId] } })
    const seen: Answer[] = []
    for (let said = ''; said !== 'completed'; said = String(seen.at(-1)?.status)) {
      const { method, params } = await next()
      expect(method).toBe('notifications/tasks')
      // It is what tasks/get would say.
      seen.push(params as unknown as Answer)
      const [key] = Object.keys(seen.at(-1)?.inputRequests ?? {})
      if (key === undefined) continue
      const inputResponses = { [key]: { action: 'accept', content: { decision: 'allow_once' } } }
      await client.ask('tasks/update', { taskId, inputResponses })
    }
    expect(seen.at(-1)).toMatchObject({ taskId, result: { content: [{ text: 'allow_once' }] } })
    expect(seen.map(({ status }) => status)).toContain('input_required')
    expect(seen.some((task) => task.taskId === other.taskId)).toBe(false)
    const refused = createModern(server).ask('subscriptions/listen', { notifications })
    await expect(refused).rejects.toMatchObject({ code: -32021 })
  })

  test('where no more can be kept, a call is answered on its request (MCP-2)', async () => {
    const { client } = await open()
    const tasks = await Promise.all(
      Array.from({ length: 100 }, () => client.ask('tools/call', call({ wait: true }))),
    )
    expect(new Set(tasks.map(({ taskId }) => taskId)).size).toBe(100)
    expect(await client.ask('tools/call', call())).toMatchObject({ resultType: 'complete' })
  })

  test('no more become tasks than can be kept, however many begin while there is room (MCP-2, MCP-3)', async () => {
    const gate = Promise.withResolvers<void>()
    const gated = fakeTool({ name: 'demo.gated' }, async () => {
      await gate.promise
      return { content: [{ type: 'text', text: 'through' }] }
    })
    const { client } = await open({ runtime: createDemoRuntime([gated]) })
    let came = 0
    const answers = await Promise.all(
      Array.from({ length: 103 }, async () => {
        const { resultType } = await client.ask('tools/call', { name: 'demo__gated', arguments: {} })
        if (++came === 100) gate.resolve()
        return resultType
      }),
    )
    expect(answers.filter((each) => each === 'task')).toHaveLength(100)
    expect(answers.filter((each) => each === 'complete')).toHaveLength(3)
  })
})

test('a tool says that it can be a task where the revision asks for that, and only there (MCP-2)', async () => {
  const server = await start()
  const marksOf = async (client: RawClient) =>
    new Set((await client.ask('tools/list')).tools.map(({ execution }) => JSON.stringify(execution)))
  expect(await marksOf(await openLegacy(server))).toEqual(new Set(['{"taskSupport":"optional"}']))
  for (const client of [await openLegacy(server, { revision: '2025-06-18' }), createModern(server)])
    expect(await marksOf(client)).toEqual(new Set([undefined]))
})

test('2026-07-28 over stdio has them too (MCP-2)', async () => {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: stdioServer,
    stderr: 'ignore',
  })
  ends.push(() => transport.close())
  const answers = new Map<unknown, (message: Message) => void>()
  transport.onmessage = (message) => {
    // Whoever reads messages reads JSON.
    if ('id' in message) answers.get(message.id)?.(message as Message)
  }
  await transport.start()
  const ask = async (method: string, params: object): Promise<Answer> => {
    const { promise, resolve } = Promise.withResolvers<Message>()
    const id = answers.size
    answers.set(id, resolve)
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': taking,
    }
    await transport.send({ jsonrpc: '2.0', id, method, params: { ...params, _meta } })
    const { result, error } = await promise
    if (result === undefined) throw new Error(error?.message)
    return result
  }
  const task = await ask('tools/call', { name: 'demo__wait', arguments: {} })
  expect(task).toMatchObject({ resultType: 'task', status: 'working' })
  const { taskId } = task
  expect(await ask('tasks/cancel', { taskId })).toMatchObject({ resultType: 'complete' })
  expect(await ask('tasks/get', { taskId })).toMatchObject({ status: 'cancelled' })
})

test('closing lets a task end, and aborts what takes too long (MCP-2)', async () => {
  const runtime = createDemoRuntime([slow])
  const server = await start({ runtime, closeGraceMs: 2_000 })
  const client = createModern(server, { capabilities: taking })
  const legacy = await openLegacy(server)
  await client.ask('tools/call', call())
  await legacy.ask('tools/call', { ...call({ wait: true }), task: {} })
  await server.close()
  expect(runtime.ended.map(({ outcome }) => outcome)).toEqual(['ok', 'aborted'])
})

test('closing lets a call end that became a task meanwhile (MCP-2)', async () => {
  const runtime = createDemoRuntime([slow])
  const server = await start({ runtime, closeGraceMs: 20_000 })
  const asked = createModern(server, { capabilities: taking }).ask('tools/call', call())
  await expect.poll(() => runtime.started).toEqual(['demo.slow'])
  await server.close()
  expect((await asked).resultType).toBe('task')
  expect(outcomesOf(runtime)).toEqual(['ok'])
})
