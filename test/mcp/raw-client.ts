import type { HttpServer } from '../../src/mcp/server/http/serve-http.ts'

/** A message of JSON-RPC as it came. */
export interface Message {
  id?: number | string
  method?: string
  params?: { [key: string]: unknown }
  result?: Answer
  error?: { code: number; message: string; data?: unknown }
}

/** What a result may hold, of a task in either revision and of the call that it follows. */
export interface Answer {
  resultType?: string
  requestState?: string
  inputRequests?: { [key: string]: { method: string; params: { message: string } } }
  taskId: string
  status: string
  statusMessage?: string
  createdAt: string
  lastUpdatedAt: string
  ttl?: number
  ttlMs?: number
  pollInterval?: number
  pollIntervalMs?: number
  task: Answer
  tasks: Answer[]
  tools: { name: string; execution?: object }[]
  content: { type: string; text?: unknown }[]
  structuredContent?: unknown
  isError?: boolean
  result: Answer
  error: { code: number; message: string }
  _meta: { [key: string]: unknown }
}

type Params = { readonly [key: string]: unknown; readonly _meta?: object }

export interface RawOptions {
  readonly capabilities?: object
  readonly token?: string
  /** Of those with a handshake. Default 2025-11-25. */
  readonly revision?: string
}

/** A client that keeps no connection and no stream open beyond its requests. */
export interface RawClient {
  /** The answer as it came. */
  send(method: string, params: Params, signal?: AbortSignal): Promise<Response>
  /** The result. Rejects with the error of the protocol. */
  ask(method: string, params?: Params): Promise<Answer>
  /** Asks for the stream of the session. */
  listen(signal?: AbortSignal): Promise<Response>
  /** Answers a request of the server. */
  answer(id: Message['id'], result: object): Promise<Response>
}

const accepted = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

/** A client that has shaken hands. */
export async function openLegacy(
  { url }: HttpServer,
  { capabilities = {}, token, revision = '2025-11-25' }: RawOptions = {},
): Promise<RawClient> {
  const headers = { ...accepted, ...(token !== undefined && { authorization: `Bearer ${token}` }) }
  const clientInfo = { name: 'raw', version: '1' }
  const params = { protocolVersion: revision, capabilities, clientInfo }
  const opened = await fetch(url, {
    method: 'POST',
    headers,
    body: JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params }),
  })
  const session = opened.headers.get('mcp-session-id') ?? 'none'
  await opened.text()
  return createRaw(url, () => ({ ...headers, 'mcp-session-id': session }))
}

/** A client of 2026-07-28. */
export function createModern({ url }: HttpServer, { capabilities = {}, token }: RawOptions = {}): RawClient {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': capabilities,
  }
  const headersOf = (method: string, params: { name?: string; taskId?: string }) => ({
    ...accepted,
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': method,
    'mcp-name': params.name ?? params.taskId ?? '',
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  })
  return createRaw(url, headersOf, _meta)
}

function createRaw(
  url: string,
  headersOf: (method: string, params: object) => Record<string, string>,
  _meta?: object,
): RawClient {
  let id = 0
  const post = (headers: Record<string, string>, body: object, signal?: AbortSignal) =>
    fetch(url, { method: 'POST', headers, body: JSON.stringify(body), ...(signal && { signal }) })
  const raw: RawClient = {
    send: (method, params, signal) =>
      post(
        headersOf(method, params),
        { jsonrpc: '2.0', id: ++id, method, params: { ...params, _meta: { ...params._meta, ..._meta } } },
        signal,
      ),
    async ask(method, params = {}) {
      for await (const message of messagesOf(await raw.send(method, params)))
        if (message.method === undefined) {
          if (message.result !== undefined) return message.result
          throw Object.assign(new Error(message.error?.message), message.error)
        }
      throw new Error('The response ended without an answer.')
    },
    listen: (signal) => fetch(url, { headers: headersOf('', {}), ...(signal && { signal }) }),
    answer: (answered, result) => post(headersOf('', {}), { jsonrpc: '2.0', id: answered, result }),
  }
  return raw
}

/** What a response says, message by message, as it says it. */
export async function* messagesOf(response: Response): AsyncGenerator<Message> {
  if (response.headers.get('content-type')?.startsWith('text/event-stream') !== true) {
    yield (await response.json()) as Message
    return
  }
  let text = ''
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const events = (text + chunk).split('\n\n')
    text = events.pop() ?? ''
    for (const event of events) {
      const data = /^data: (.*)$/m.exec(event)?.[1]
      if (data !== undefined) yield JSON.parse(data) as Message
    }
  }
}
