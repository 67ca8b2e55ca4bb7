import { createHash } from 'node:crypto'
import { request } from 'node:http'
import { expect, test } from 'vitest'
import { makePlace } from '../../support/command-line.ts'
import { connectRaw, post, serveRaw, type RawAnswer, type RawClient } from '../../support/raw-client.ts'
import { startScripted, type Script } from '../../support/scripted-server.ts'
import { fixtureTool, openUpstreams } from '../../support/upstreams.ts'

const allowAll = { rules: [{ id: 'all', effect: 'allow', tools: ['mcp.*'] }] }
const text = (said: string) => ({ content: [{ type: 'text', text: said }] })
const eras = ['legacy', 'modern'] as const

/** A server whose calls say what they are for all the time, and answer once so many of them are at work. */
function gossiping(atOnce: number): Script {
  const all = Promise.withResolvers<void>()
  let count = 0
  return async ({ method, params, id }, say) => {
    if (method === 'logging/setLevel') return {}
    if (method !== 'tools/call') return undefined
    const { who } = Object(params['arguments']) as { who: string }
    const { progressToken } = Object(params['_meta']) as { progressToken?: number }
    const tell = (progress: number): void => {
      if (progressToken !== undefined)
        say({ method: 'notifications/progress', params: { progressToken, progress, message: `for ${who}` } })
      say({ method: 'notifications/message', params: { level: 'error', data: `for ${who}` } })
    }
    tell(1)
    count++
    if (count >= atOnce) all.resolve()
    await all.promise
    tell(2)
    say({ id: 1_000 + Number(id), result: text(`for ${who}`) })
    return text(`for ${who}`)
  }
}

/** Who is spoken of in what a client got. */
function spokenOf({ messages }: RawAnswer): string[] {
  const found = JSON.stringify(messages).matchAll(/for ([a-z]\d)/g)
  return [...new Set([...found].map(([, who = '']) => who))]
}

/** What clients got, for the message of a test that fails. */
function show(answers: readonly RawAnswer[]): string {
  return answers.map(({ messages }) => JSON.stringify(messages)).join('\n')
}

/** A server that a busy machine connects to late is listed late. */
async function untilListed({ url, name }: { url: string; name: string }): Promise<void> {
  const { ask } = await connectRaw(url, 'modern')
  await expect
    .poll(async () => JSON.stringify((await ask({ id: 1, method: 'tools/list' })).messages))
    .toContain(`"${name}"`)
}

/** A gateway in front of two servers of a script, one to be called at `/mcp`, one at a view of its own; and the name of the tool there. */
async function serveViews(makeScript: () => Script, own: Readonly<Record<string, unknown>>) {
  const servers = { all: await startScripted(makeScript()), it: await startScripted(makeScript()) }
  const mcpServers = { all: { url: servers.all.url }, it: { url: servers.it.url } }
  const url = await serveRaw(makePlace({}, { 'mcp.json': { mcpServers }, ...own }))
  const views = [
    { url, name: 'mcp__all__act', server: servers.all, isBare: false },
    { url: `${url}/it`, name: 'act', server: servers.it, isBare: true },
  ]
  await Promise.all(views.map((view) => untilListed(view)))
  return views
}

test.each(eras)(
  'what belongs to one client reaches no other, though all use the same ids and tokens at once: %s (CVE-2026-25536, MCP-3)',
  async (era) => {
    const count = 8
    const _meta = { progressToken: 1, 'io.modelcontextprotocol/logLevel': 'debug' }
    for (const view of await serveViews(() => gossiping(count), { 'policy.json': allowAll })) {
      const { url, name, isBare } = view
      const clients = await Promise.all(Array.from({ length: count }, () => connectRaw(url, era)))
      await Promise.all(clients.map(({ ask }) => ask({ id: 1, method: 'tools/list' })))
      const answers = await Promise.all(
        clients.map(({ ask }, n) =>
          ask({ id: 1, method: 'tools/call', params: { name, arguments: { who: `c${n}` }, _meta } }),
        ),
      )
      expect([name, answers.map(spokenOf)], show(answers)).toEqual([name, clients.map((_, n) => [`c${n}`])])
      for (const { messages } of answers) {
        expect(messages.filter(({ id }) => id !== undefined)).toHaveLength(1)
        // What a server logs says of no call: it goes where there is only one whose it can be.
        const logs = messages.filter(({ method }) => method === 'notifications/message')
        if (isBare && era === 'legacy') expect(logs).not.toHaveLength(0)
        const progress = messages.filter(({ method }) => method === 'notifications/progress')
        expect(progress.length).toBeGreaterThan(0)
      }
    }
  },
)

/** A server with two calls at work, of which one asks something. */
function asksTheFirst(): Script {
  const both = Promise.withResolvers<void>()
  const done = Promise.withResolvers<void>()
  let count = 0
  return async ({ id, method, params }, say) => {
    if (method === 'POST') done.resolve()
    if (method !== 'tools/call') return undefined
    const { who } = Object(params['arguments']) as { who: string }
    count++
    if (count === 2) both.resolve()
    await both.promise
    const requestedSchema = { type: 'object', properties: {} }
    if (who === 'c0')
      say({ id: 77, method: 'elicitation/create', params: { message: 'for c0', requestedSchema } })
    // Somebody says something to the question, be it for a person or without one.
    await done.promise
    return text(`for ${who} ${String(id)}`)
  }
}

test.each(eras)(
  'what a server asks for one client is asked of no other: %s (CVE-2026-25536, MCP-3)',
  async (era) => {
    const capabilities = { elicitation: { form: {} } }
    for (const { url, name } of await serveViews(asksTheFirst, { 'policy.json': allowAll })) {
      const clients = await Promise.all([0, 1].map(() => connectRaw(url, era, { capabilities })))
      await Promise.all(clients.map(({ ask }) => ask({ id: 1, method: 'tools/list' })))
      const answers = await Promise.all(
        clients.map(({ ask }, n) =>
          ask({ id: 1, method: 'tools/call', params: { name, arguments: { who: `c${n}` } } }, (message) => {
            if (message.method === 'elicitation/create')
              void ask({ id: Number(message.id), result: { action: 'decline' } })
          }),
        ),
      )
      expect([name, answers.slice(1).map(spokenOf)], show(answers)).toEqual([name, [['c1']]])
    }
  },
)

test('a client cancels and answers nothing of another one, though it knows the ids (CVE-2026-25536, MCP-3)', async () => {
  const capabilities = { elicitation: { form: {} } }
  for (const { url, name, server } of await serveViews(() => () => undefined, {})) {
    const victim = await connectRaw(url, 'legacy', { capabilities })
    const attacker = await connectRaw(url, 'legacy', { capabilities })
    await victim.ask({ id: 1, method: 'tools/list' })
    const asked = Promise.withResolvers<number>()
    const waiting = victim.ask({ id: 1, method: 'tools/call', params: { name } }, ({ id, method }) => {
      if (method === 'elicitation/create') asked.resolve(Number(id))
    })
    const id = await asked.promise
    await attacker.ask({ id, result: { action: 'accept', content: { decision: 'allow_once' } } })
    await attacker.ask({ method: 'notifications/cancelled', params: { requestId: 1 } })
    await attacker.ask({ method: 'notifications/cancelled', params: { requestId: id } })
    // Whatever the attacker did is done by now: its own requests are answered in their order.
    expect((await attacker.ask({ id: 1, method: 'ping' })).messages).toMatchObject([{ id: 1, result: {} }])
    expect(server.calls()).toHaveLength(0)
    await victim.ask({ id, result: { action: 'accept', content: { decision: 'deny' } } })
    const { messages } = await waiting
    expect(JSON.stringify(messages.at(-1))).toContain('POLICY.APPROVAL_DENIED')
    expect(server.calls()).toHaveLength(0)
  }
})

test('a session of one view is none of another, and no spelling of a path leads to a server of another tenant (MCP-3)', async () => {
  const [own, foreign] = [await startScripted(() => undefined), await startScripted(() => undefined)]
  const mcpServers = {
    it: { url: own.url, tenants: ['local'] },
    'it-private': { url: foreign.url, tenants: ['acme'] },
  }
  const place = makePlace(
    {},
    { 'mcp.json': { mcpServers }, 'policy.json': { ...allowAll, tenants: { acme: {}, local: {} } } },
  )
  const url = await serveRaw(place)
  const client = await connectRaw(`${url}/it`, 'legacy')
  const headers = { 'mcp-session-id': String(client.session) }
  const list = { id: 1, method: 'tools/list' }
  expect((await client.ask(list)).status).toBe(200)
  expect((await post(url, list, { headers })).status).toBe(404)
  const spellings = [
    '/mcp/it-private',
    '/mcp/it%2dprivate',
    '/mcp/it-privat%65',
    '/mcp/it/../it-private',
    '/mcp/it/%2e%2e/it-private',
    '/mcp/it%2f..%2fit-private',
    '/mcp//it-private',
    '/mcp/./it-private',
    '/mcp/it-private/',
    '/mcp/IT-PRIVATE',
    '/mcp/it-private?x=1',
    '/mcp/it;it-private',
    '/mcp/it-private%00',
    '//mcp/it-private',
    '/mcp\\it-private',
  ]
  const before = foreign.heard.length
  for (const path of spellings)
    for (const more of [{}, headers] as Record<string, string>[])
      expect([path, await statusAt(url, path, more)]).toEqual([path, 404])
  expect(foreign.heard).toHaveLength(before)
})

/** The status of a request for a path that is sent as it is written. */
function statusAt(url: string, path: string, headers: Record<string, string>): Promise<number | undefined> {
  const { port } = new URL(url)
  const own = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...headers,
  }
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, method: 'POST', headers: own }, (answer) => {
      answer.resume().on('end', () => resolve(answer.statusCode))
    })
    sent.on('error', reject)
    sent.end(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }))
  })
}

test('headers that say something else than the body are refused, whatever is asked for (SEP-2243, MCP-3)', async () => {
  const server = await startScripted(({ method }) => {
    if (method === 'prompts/get') return { messages: [] }
    return method === 'resources/read' ? { contents: [{ uri: 'x:a', text: 'a' }] } : undefined
  })
  const place = makePlace(
    {},
    { 'mcp.json': { mcpServers: { it: { url: server.url } } }, 'policy.json': allowAll },
  )
  const { ask } = await connectRaw(`${await serveRaw(place)}/it`, 'modern')
  const asked = [
    ['tools/call', { name: 'act' }],
    ['prompts/get', { name: 'greet' }],
    ['resources/read', { uri: 'x:a' }],
  ] as const
  for (const [method, params] of asked) {
    expect((await ask({ id: 1, method, params })).messages[0]).toHaveProperty('result')
    for (const headers of [
      { 'mcp-name': 'other' },
      { 'mcp-name': `${Object.values(params)[0]}, other` },
      { 'mcp-name': `=?base64?${Buffer.from('other').toString('base64')}?=` },
      { 'mcp-name': '=?base64?!!?=' },
      { 'mcp-name': '' },
      { 'mcp-method': 'tools/list' },
      { 'mcp-method': method.toUpperCase() },
      { 'mcp-protocol-version': '2025-11-25' },
    ] as Record<string, string>[]) {
      const { status, messages } = await ask({ id: 1, method, params, headers })
      expect([method, headers, status, messages[0]?.error?.code]).toEqual([method, headers, 400, -32_020])
    }
  }
  const heard = server.heard.filter(({ method }) => asked.some(([each]) => each === method))
  expect(heard.map(({ method }) => method).toSorted()).toEqual(asked.map(([method]) => method).toSorted())
})

/** A server of the revision without handshake, whose prompt and tool need an answer first. */
const asking: Script = ({ method, params }) => {
  if (method === 'server/discover')
    return {
      supportedVersions: ['2026-07-28'],
      capabilities: { tools: {}, prompts: {} },
      resultType: 'complete',
    }
  if (method === 'tools/list')
    return { tools: [fixtureTool('act')], resultType: 'complete', ttlMs: 0, cacheScope: 'private' }
  if (method !== 'prompts/get' && method !== 'tools/call') return undefined
  if (params['requestState'] === rawState) return { messages: [], content: [], resultType: 'complete' }
  const asked = { mode: 'form', message: 'Go on?', requestedSchema: { type: 'object', properties: {} } }
  return {
    resultType: 'input_required',
    inputRequests: { a: { method: 'elicitation/create', params: asked } },
    requestState: rawState,
  }
}
const rawState = 'state-of-the-server'

test('the state of a request that waits is of use to nobody else, nowhere else and for nothing else (requestState replay, MCP-3)', async () => {
  const [server, other] = [await startScripted(asking), await startScripted(asking)]
  const tokens = ['ann', 'bob'].map((id) => ({
    id,
    actor: id,
    sha256: createHash('sha256').update(`token-of-${id}`).digest('hex'),
  }))
  const place = makePlace(
    {},
    {
      'mcp.json': { mcpServers: { it: { url: server.url }, other: { url: other.url } } },
      'policy.json': allowAll,
      'gateway.json': { tokens },
    },
  )
  const url = await serveRaw(place)
  const capabilities = { elicitation: { form: {} } }
  const connect = (view: string, who: string) =>
    connectRaw(`${url}${view}`, 'modern', {
      capabilities,
      headers: { authorization: `Bearer token-of-${who}` },
    })
  const ann = await connect('/it', 'ann')
  const elsewhere = [await connect('/it', 'bob'), await connect('/other', 'ann'), await connect('', 'ann')]
  const inputResponses = { a: { action: 'accept', content: {} } }
  const stateOf = async (method: string, name: string): Promise<string> => {
    const { messages } = await ann.ask({ id: 1, method, params: { name } })
    return String(messages.at(-1)?.result?.['requestState'])
  }
  const heardStates = () =>
    [...server.heard, ...other.heard].flatMap(({ params }) => params['requestState'] ?? [])
  const codeOf = async ({ ask }: RawClient, call: string, requestState: string) => {
    const [method = '', name = ''] = call.split(' ')
    const params = { name, inputResponses, requestState }
    return (await ask({ id: 2, method, params })).messages.at(-1)?.error?.code
  }
  const states = { prompt: await stateOf('prompts/get', 'act'), tool: await stateOf('tools/call', 'act') }
  expect(Object.values(states).join()).not.toContain(rawState)
  for (const state of Object.values(states)) {
    for (const client of elsewhere)
      for (const name of ['act', 'mcp__it__act', 'mcp__other__act'])
        expect(await codeOf(client, `tools/call ${name}`, state)).toBe(-32_602)
    expect(await codeOf(ann, 'tools/call act', `${state.slice(0, -4)}AAAA`)).toBe(-32_602)
    expect(await codeOf(ann, 'prompts/get act', rawState)).toBe(-32_602)
  }
  expect(await codeOf(ann, 'tools/call act', states.prompt)).toBe(-32_602)
  expect(await codeOf(ann, 'prompts/get act', states.tool)).toBe(-32_602)
  expect(heardStates()).toEqual([])
  expect(await codeOf(ann, 'tools/call act', states.tool)).toBeUndefined()
  expect(await codeOf(ann, 'tools/call act', states.tool)).toBe(-32_602)
  expect(await codeOf(ann, 'prompts/get act', states.prompt)).toBeUndefined()
  expect(heardStates()).toEqual([rawState, rawState])
})

test('an argument that ends a header and begins another one reaches its server as an argument (header injection, MCP-1)', async () => {
  const inputSchema = {
    type: 'object',
    properties: { place: { type: 'string', 'x-mcp-header': 'Place' } },
  }
  const served = await startScripted(({ method, headers }) => {
    if (method === 'server/discover')
      return { supportedVersions: ['2026-07-28'], capabilities: { tools: {} }, resultType: 'complete' }
    if (method === 'tools/list')
      return {
        tools: [{ name: 'act', inputSchema }],
        resultType: 'complete',
        ttlMs: 0,
        cacheScope: 'private',
      }
    if (method !== 'tools/call') return undefined
    return { ...text(JSON.stringify(headers)), resultType: 'complete' }
  })
  const runtime = await openUpstreams({ it: { url: served.url } })
  const place = 'here\r\nAuthorization: Bearer stolen\r\n\r\nGET /admin HTTP/1.1'
  const result = await runtime.session().call('mcp.it.act', { place })
  const [call] = served.calls()
  expect(result.ok).toBe(true)
  expect(call?.headers).not.toHaveProperty('authorization')
  expect(call?.headers['mcp-param-place']).toBe(`=?base64?${Buffer.from(place).toString('base64')}?=`)
  expect(served.heard.map(({ headers }) => headers['mcp-method'])).not.toContain('GET')
})
