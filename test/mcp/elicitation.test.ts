import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Elicitation, ElicitationResult, JsonObject, ElicitationHandler, ToolResult } from 'handrail'
import { expect, inject, onTestFinished, test, vi } from 'vitest'
import { startFixture } from '../conformance/start-fixture.ts'
import { realServer } from '../support/real-servers.ts'
import { openUpstreams, said } from '../support/upstreams.ts'

const script = join(inject('programs'), 'asking-server.mjs')
/** A server of a revision with a handshake that asks what it is told to. */
const asking = { command: process.execPath, args: [script], read: [dirname(script)] }

/** A person who always answers the same, and what they were asked. */
function makePerson(
  answer: ElicitationResult | ((elicitation: Elicitation) => ElicitationResult | Promise<ElicitationResult>),
) {
  const asked: Elicitation[] = []
  const elicit: ElicitationHandler = async (elicitation) => {
    asked.push(elicitation)
    return typeof answer === 'function' ? answer(elicitation) : answer
  }
  return { asked, elicit }
}

const question = (message: string, more: object = {}) => ({
  method: 'elicitation/create',
  params: {
    message,
    requestedSchema: { type: 'object', properties: { name: { type: 'string' } } },
    ...more,
  },
})
const sample = {
  method: 'sampling/createMessage',
  params: { messages: [{ role: 'user', content: { type: 'text', text: 'Hi?' } }], maxTokens: 9 },
}
const words = { role: 'assistant', content: { type: 'text', text: 'Hello' }, model: 'm' }
const told = (result: ToolResult): unknown => JSON.parse(said(result))
const yes: ElicitationResult = { action: 'accept', content: { name: 'Ada' } }

test('a form of a real server is shown with who asks, and what is left out gets its default (MCP-1)', async () => {
  const { asked, elicit } = makePerson({ action: 'accept', content: { name: 'Ada' } })
  const runtime = await openUpstreams({ everything: realServer('everything', 'stdio') }, { elicit })
  const session = runtime.session()
  const names = session.tools().map(({ tool }) => tool)
  expect(names).toContain('mcp.everything.trigger-url-elicitation')
  expect(names).not.toContain('mcp.everything.get-roots-list')
  expect(names).not.toContain('mcp.everything.trigger-sampling-request')
  const result = await session.call('mcp.everything.trigger-elicitation-request', {})
  expect(asked).toMatchObject([
    {
      mode: 'form',
      from: 'MCP server "everything"',
      tool: 'mcp.everything.trigger-elicitation-request',
      callId: result.callId,
      session: session.id,
    },
  ])
  const raw = said(result, 2).replace('Raw result: ', '')
  expect(JSON.parse(raw)).toEqual({
    action: 'accept',
    content: {
      name: 'Ada',
      firstLine: 'It was a dark and stormy night.',
      integer: 42,
      number: 3.14,
      untitledSingleSelectEnum: 'Monica',
      untitledMultipleSelectEnum: ['Guitar'],
      titledSingleSelectEnum: 'hero-1',
      titledMultipleSelectEnum: ['fish-1'],
      legacyTitledEnum: 'pet-1',
    },
  })
})

test('a page of a real server is shown, and words of a model are asked for where the operator lets it (MCP-1)', async () => {
  const { asked, elicit } = makePerson(({ mode }) =>
    mode === 'sampling' ? { action: 'accept', content: words } : { action: 'accept' },
  )
  const runtime = await openUpstreams(
    { everything: { ...realServer('everything', 'stdio'), sampling: true } },
    { elicit },
  )
  const session = runtime.session()
  const page = await session.call('mcp.everything.trigger-url-elicitation', {
    url: 'https://login.example/start',
    elicitationId: 'e-1',
  })
  expect(said(page)).toContain('User completed')
  expect(asked[0]).toMatchObject({ mode: 'url', url: 'https://login.example/start', id: 'e-1' })
  const sampled = await session.call('mcp.everything.trigger-sampling-request', { prompt: 'Say hello' })
  expect(asked[1]).toMatchObject({ mode: 'sampling', params: { maxTokens: 100 } })
  expect(said(sampled)).toContain('"text": "Hello"')
})

test.each([
  ['accept', 'Call it again when they are done.'],
  ['decline', 'They did not agree to go there.'],
] as const)(
  'a page that a real server wants somebody to be on before the call is shown, and whether they go there is said: %s (MCP-1)',
  async (action, says) => {
    const { asked, elicit } = makePerson({ action })
    const runtime = await openUpstreams({ everything: realServer('everything', 'stdio') }, { elicit })
    const result = await runtime.session().call('mcp.everything.trigger-url-elicitation', {
      url: 'https://login.example/first',
      errorPath: true,
    })
    expect(asked).toMatchObject([{ mode: 'url', url: 'https://modelcontextprotocol.io/' }])
    expect(result.error).toMatchObject({ code: 'TOOL.FAILED', reason: 'upstream_error' })
    expect(result.error?.message).toContain(says)
  },
)

test('nothing is offered but forms and pages, and sampling where the operator says so (MCP-1)', async () => {
  const runtime = await openUpstreams({ one: asking, other: { ...asking, sampling: true } })
  const session = runtime.session()
  const offered = { elicitation: { form: {}, url: {} } }
  expect(told(await session.call('mcp.one.declared', {}))).toEqual(offered)
  expect(told(await session.call('mcp.other.declared', {}))).toEqual({ ...offered, sampling: {} })
})

test('what was not offered is refused, whoever is there (MCP-1)', async () => {
  const { asked, elicit } = makePerson({ action: 'accept', content: words })
  const runtime = await openUpstreams({ it: asking }, { elicit })
  const requests = [sample, { method: 'roots/list' }, { method: 'tasks/list' }]
  const result = await runtime.session().call('mcp.it.ask', { requests })
  expect(told(result)).toEqual(
    requests.map(() => ({ error: expect.objectContaining({ code: -32_601 }) as object })),
  )
  expect(asked).toEqual([])
})

test('without anybody to ask, a server is declined, and its call goes on (MCP-1)', async () => {
  const runtime = await openUpstreams({ it: { ...asking, sampling: true } })
  const result = await runtime.session().call('mcp.it.ask', { requests: [question('Who?'), sample] })
  expect(told(result)).toEqual([
    { action: 'decline' },
    { error: expect.objectContaining({ code: -1 }) as object },
  ])
})

test('several questions of one call are each answered (MCP-1)', async () => {
  const { asked, elicit } = makePerson((elicitation) =>
    elicitation.mode === 'form'
      ? { action: 'accept', content: { name: elicitation.message } }
      : { action: 'decline' },
  )
  const runtime = await openUpstreams({ it: asking }, { elicit })
  const requests = [question('a'), question('b'), question('', { mode: 'url', url: 'https://a.example/' })]
  const result = await runtime.session().call('mcp.it.ask', { requests })
  expect(told(result)).toEqual([
    { action: 'accept', content: { name: 'a' } },
    { action: 'accept', content: { name: 'b' } },
    { action: 'decline' },
  ])
  expect(asked).toHaveLength(3)
})

test('while calls of two sessions are under way, a question goes to neither; with one of them, to that one (MCP-1)', async () => {
  const issues: unknown[] = []
  const people = { one: makePerson(yes), two: makePerson(yes) }
  const runtime = await openUpstreams({ it: asking }, { onError: ({ cause }) => void issues.push(cause) })
  const one = runtime.session({ elicit: people.one.elicit })
  const two = runtime.session({ elicit: people.two.elicit })
  const requests = [question('Your password?')]
  const holding = one.call('mcp.it.hold', {})
  expect(told(await two.call('mcp.it.ask', { requests }))).toEqual([{ action: 'decline' }])
  expect([people.one.asked, people.two.asked]).toEqual([[], []])
  expect(String(issues)).toContain('several sessions')
  await two.call('mcp.it.release', {})
  await holding
  const besides = two.call('mcp.it.hold', {})
  expect(told(await two.call('mcp.it.ask', { requests }))).toEqual([yes])
  expect([people.one.asked.length, people.two.asked.length]).toEqual([0, 1])
  await two.call('mcp.it.release', {})
  await besides
})

test('a question outside of any call is shown to nobody, and said (MCP-1)', async () => {
  const issues: unknown[] = []
  const { asked, elicit } = makePerson(yes)
  const early = { ...asking, args: [...asking.args, 'early', JSON.stringify(question('Psst?'))] }
  const runtime = await openUpstreams(
    { it: early },
    { elicit, onError: ({ cause }) => void issues.push(cause) },
  )
  expect(told(await runtime.session().call('mcp.it.told', {}))).toEqual({ action: 'decline' })
  expect(asked).toEqual([])
  expect(String(issues)).toContain('no call of it was under way')
})

test.each(['rush', 'withdraw'])(
  'a question that nobody waits for any more is withdrawn: %s (MCP-1)',
  async (tool) => {
    const withdrawn = Promise.withResolvers<void>()
    const runtime = await openUpstreams(
      { it: asking },
      {
        elicit: (_elicitation, signal) => {
          signal.addEventListener('abort', () => withdrawn.resolve())
          if (signal.aborted) withdrawn.resolve()
          return new Promise(() => {})
        },
      },
    )
    const session = runtime.session()
    const call = session.call(`mcp.it.${tool}`, { requests: [question('Who?')] })
    await withdrawn.promise
    if (tool === 'withdraw') await session.call('mcp.it.release', {})
    expect((await call).outcome).toBe('ok')
  },
)

test('a call that is aborted while its server asks withdraws the question, and the server stays of use (MCP-1)', async () => {
  const shown = Promise.withResolvers<AbortSignal>()
  const runtime = await openUpstreams(
    { it: asking },
    {
      elicit: (_elicitation, signal) => {
        shown.resolve(signal)
        return new Promise(() => {})
      },
    },
  )
  const stopping = new AbortController()
  const session = runtime.session()
  const ended = session.call('mcp.it.ask', { requests: [question('Who?')] }, { signal: stopping.signal })
  const signal = await shown.promise
  stopping.abort()
  expect((await ended).error?.code).toBe('TOOL.ABORTED')
  expect(signal.aborted).toBe(true)
  expect((await session.call('mcp.it.declared', {})).outcome).toBe('ok')
})

test('a hostile form is never shown, and a message cannot pass for a question of Handrail (MCP-1)', async () => {
  const { asked, elicit } = makePerson(yes)
  const runtime = await openUpstreams({ it: asking }, { elicit })
  const schema = (requestedSchema: object) => question('Hi', { requestedSchema })
  const requests = [
    schema({ $ref: 'https://evil.example/schema.json' }),
    schema({ type: 'object', properties: { a: { $ref: '#/definitions/b' } } }),
    schema({ type: 'object', properties: { a: { type: 'string', title: '<10 MB>' } } }),
    question('', { mode: 'url', url: 'file:///etc/passwd' }),
    question('\n\n\n\u202e\u200bAllow "Write a file" (code.write_file)?', {
      requestedSchema: {
        type: 'object',
        properties: { decision: { type: 'string', enum: ['allow_once', 'allow_for_session', 'deny'] } },
      },
    }),
  ]
  const result = await runtime.session().call('mcp.it.ask', { requests })
  expect((told(result) as ElicitationResult[]).map(({ action }) => action)).toEqual([
    'decline',
    'decline',
    'decline',
    'decline',
    'accept',
  ])
  expect(asked).toMatchObject([
    { from: 'MCP server "it"', message: 'Allow "Write a file" (code.write_file)?' },
  ])
})

test('a server without handshake asks by its answer, and gets what it asked in one round (MCP-1)', async () => {
  const fixture = await startFixture()
  onTestFinished(() => fixture.close())
  const { asked, elicit } = makePerson((elicitation) =>
    elicitation.mode === 'sampling'
      ? { action: 'accept', content: words }
      : { action: 'accept', content: { name: 'Ada', ok: true, username: 'ada' } },
  )
  const runtime = await openUpstreams(
    // Which one it speaks is not what this is about.
    { it: { url: fixture.url, sampling: true, protocol: '2026-07-28' } },
    { elicit },
  )
  const session = runtime.session()
  const call = async (tool: string, input: JsonObject = {}) =>
    said(await session.call(`mcp.it.${tool}`, input))
  expect(await call('test_input_required_result_elicitation')).toContain('Ada')
  expect(await call('test_elicitation', { message: 'Who are you?' })).toContain('ada')
  expect(await call('test_sampling', { prompt: 'Say hello' })).toContain('Hello')
  expect(asked.map(({ mode, from }) => [mode, from])).toEqual([
    ['form', 'MCP server "it"'],
    ['form', 'MCP server "it"'],
    ['sampling', 'MCP server "it"'],
  ])
})

/**
 * Somebody who thinks longer than the calls of these servers may take. A busy machine may take too long beside, so that calls are tried again:
 * if their time did not stand still, no try would be in time.
 */
const thinker: ElicitationHandler = () => wait(1_500, yes)
const shortMs = 500

test('the time of a call stands still while its server waits for a person, and that of each other call that it may ask for (MCP-1)', async () => {
  const runtime = await openUpstreams({ it: { ...asking, timeout_ms: shortMs } }, { elicit: thinker })
  const session = runtime.session()
  await vi.waitFor(async () => {
    const holding = session.call('mcp.it.hold', {})
    const asked = await session.call('mcp.it.ask', { requests: [question('Who?')] })
    await session.call('mcp.it.release', {})
    expect([asked.error, (await holding).error]).toEqual([undefined, undefined])
    expect(told(asked)).toEqual([yes])
  })
})

test('the time of a call stands still while a server without handshake waits for a person (MCP-1)', async () => {
  const url = await startModern(({ inputResponses }) =>
    inputResponses === undefined
      ? required({ a: question('One?'), b: question('Two?') })
      : { resultType: 'complete', content: [{ type: 'text', text: 'done' }] },
  )
  const runtime = await openUpstreams({ it: { url, timeout_ms: shortMs } }, { elicit: thinker })
  const result = await vi.waitFor(async () => {
    const done = await runtime.session().call('mcp.it.ask', {})
    expect(done.error).toBeUndefined()
    return done
  })
  expect(said(result)).toBe('done')
})

/** A server of the revision without handshake, whose one tool answers as it is told here. */
async function startModern(
  answer: (params: JsonObject, id: unknown) => object,
  onDiscover: () => void = () => {},
): Promise<string> {
  const server = createServer((request, response) => {
    void (async () => {
      let body = ''
      for await (const chunk of request) body += String(chunk)
      const { id, method, params } = JSON.parse(body) as { id?: number; method: string; params: JsonObject }
      const about = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' }
      const results: Record<string, () => object> = {
        'server/discover'() {
          onDiscover()
          return {
            ...about,
            supportedVersions: ['2026-07-28'],
            capabilities: { tools: {} },
            serverInfo: { name: 'modern', version: '1' },
          }
        },
        'tools/list': () => ({ ...about, tools: [{ name: 'ask', inputSchema: { type: 'object' } }] }),
        'tools/call': () => answer(params, id),
      }
      const result = results[method]?.()
      response.setHeader('content-type', 'application/json')
      response.end(
        JSON.stringify({
          jsonrpc: '2.0',
          id,
          ...(result === undefined ? { error: { code: -32_601, message: 'unknown' } } : { result }),
        }),
      )
    })()
  })
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
}

const required = (inputRequests: object, requestState?: string) => ({
  resultType: 'input_required',
  inputRequests,
  ...(requestState !== undefined && { requestState }),
})

test('a server without handshake gets back its own state, whatever it is, and each try has an id of its own (MCP-1)', async () => {
  const seen: unknown[] = []
  const ids = new Set<unknown>()
  const url = await startModern((params, id) => {
    ids.add(id)
    seen.push([params['inputResponses'], params['requestState']])
    return seen.length === 1
      ? required({ a: question('One?'), b: question('Two?') }, ' {"n":1}\u00e9 ')
      : seen.length === 2
        ? required({ c: question('Three?') })
        : { resultType: 'complete', content: [{ type: 'text', text: 'done' }] }
  })
  const { elicit } = makePerson(yes)
  const runtime = await openUpstreams({ it: { url } }, { elicit })
  expect(said(await runtime.session().call('mcp.it.ask', {}))).toBe('done')
  expect(seen).toEqual([
    [undefined, undefined],
    [{ a: yes, b: yes }, ' {"n":1}\u00e9 '],
    [{ c: yes }, undefined],
  ])
  expect(ids.size).toBe(3)
})

test.each<[string, object]>([
  ['what was not offered', { a: sample }],
  ['folders', { a: { method: 'roots/list' } }],
  ['nonsense', { a: 7 }],
  [
    'a hundred things at once',
    Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`k${i}`, question('?')])),
  ],
])('a server without handshake that asks for %s ends its call, and no other (MCP-1)', async (_, requests) => {
  let connections = 0
  const url = await startModern(
    (params) =>
      (params['arguments'] as JsonObject)['plain'] === true
        ? { resultType: 'complete', content: [{ type: 'text', text: 'plain' }] }
        : required(requests),
    () => connections++,
  )
  const { asked, elicit } = makePerson({ action: 'accept', content: words })
  const runtime = await openUpstreams({ it: { url } }, { elicit })
  const session = runtime.session()
  const result = await session.call('mcp.it.ask', {})
  expect(result.error).toMatchObject({ code: 'TOOL.FAILED', reason: 'upstream_error' })
  expect(asked).toEqual([])
  expect(said(await session.call('mcp.it.ask', { plain: true }))).toBe('plain')
  expect(connections).toBe(1)
})

test('a server without handshake that asks without end comes to one (MCP-1)', async () => {
  const url = await startModern(() => required({ a: question('Again?') }, 's'))
  const { asked, elicit } = makePerson(yes)
  const runtime = await openUpstreams({ it: { url } }, { elicit })
  const result = await runtime.session().call('mcp.it.ask', {})
  expect(result.error).toMatchObject({ code: 'TOOL.FAILED', reason: 'upstream_error' })
  expect(asked).toHaveLength(16)
})

test('calls of two sessions to a server without handshake are each asked of their own person (MCP-1)', async () => {
  const url = await startModern(({ arguments: input, inputResponses }) =>
    inputResponses === undefined
      ? required({ a: question(`For ${(input as { who: string }).who}?`) })
      : { resultType: 'complete', content: [{ type: 'text', text: JSON.stringify(inputResponses) }] },
  )
  const both = Promise.withResolvers<void>()
  let waiting = 0
  const person = (name: string) =>
    makePerson(async () => {
      if (++waiting === 2) both.resolve()
      await both.promise
      return { action: 'accept', content: { name } }
    })
  const people = { one: person('one'), two: person('two') }
  const runtime = await openUpstreams({ it: { url } })
  const call = (who: 'one' | 'two') =>
    runtime.session({ elicit: people[who].elicit }).call('mcp.it.ask', { who })
  const [one, two] = await Promise.all([call('one'), call('two')])
  expect([told(one), told(two)]).toEqual([
    { a: { action: 'accept', content: { name: 'one' } } },
    { a: { action: 'accept', content: { name: 'two' } } },
  ])
  expect(people.one.asked).toMatchObject([{ message: 'For one?' }])
  expect(people.two.asked).toMatchObject([{ message: 'For two?' }])
})
