import type { Place } from './command-line.ts'
import { startServer } from './start-command.ts'

/** Every message that came back on a request, parsed, however it came. */
export interface RawAnswer {
  readonly status: number
  readonly headers: Headers
  readonly messages: readonly RawMessage[]
}

export interface RawMessage {
  readonly id?: unknown
  readonly method?: string
  readonly params?: Readonly<Record<string, unknown>>
  readonly result?: Readonly<Record<string, unknown>>
  readonly error?: { readonly code: number; readonly message: string }
}

export type RawEra = 'legacy' | 'modern'

/** `handrail serve` as a person starts it; gives the address of its MCP endpoint. */
export async function serveRaw(place: Place): Promise<string> {
  const { url } = await startServer(place)
  return url
}

/** Sends a message as it stands, without a client that keeps to the protocol, and takes every message that comes back. */
export async function post(
  url: string,
  message: object,
  { headers = {}, onMessage = () => {} }: PostOptions = {},
): Promise<RawAnswer> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', ...message }),
  })
  const messages: RawMessage[] = []
  const take = (text: string): void => {
    const parsed = JSON.parse(text) as RawMessage
    messages.push(parsed)
    onMessage(parsed)
  }
  const isStream = response.headers.get('content-type')?.includes('event-stream') === true
  if (isStream) await readEvents(response, take)
  else {
    const text = await response.text()
    if (text !== '') take(text)
  }
  return { status: response.status, headers: response.headers, messages }
}

interface PostOptions {
  readonly headers?: Readonly<Record<string, string>>
  /** Told of each message as it comes. */
  readonly onMessage?: (message: RawMessage) => void
}

async function readEvents(response: Response, take: (text: string) => void): Promise<void> {
  let rest = ''
  const decoder = new TextDecoder()
  for await (const bytes of response.body ?? []) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) if (line.startsWith('data: ')) take(line.slice('data: '.length))
  }
}

/** Shakes hands, or not, as the era asks; gives what sends a request of this client. */
export async function connectRaw(url: string, era: RawEra, given: RawClientOptions = {}) {
  const { capabilities = {}, headers = {} } = given
  if (era === 'modern')
    return {
      session: undefined,
      ask: (message: RawRequest, onMessage?: PostOptions['onMessage']) =>
        post(url, toModern(message, capabilities), {
          headers: { ...modernHeaders(message), ...headers, ...message.headers },
          ...(onMessage && { onMessage }),
        }),
    }
  const clientInfo = { name: 'raw', version: '1' }
  const params = { protocolVersion: '2025-11-25', capabilities, clientInfo }
  const opened = await post(url, { id: 'hello', method: 'initialize', params }, { headers })
  const session = opened.headers.get('mcp-session-id') ?? 'none'
  const own = { ...headers, 'mcp-session-id': session }
  await post(url, { method: 'notifications/initialized' }, { headers: own })
  return {
    session,
    ask: ({ headers: more, ...message }: RawRequest, onMessage?: PostOptions['onMessage']) =>
      post(url, message, { headers: { ...own, ...more }, ...(onMessage && { onMessage }) }),
  }
}

export type RawClient = Awaited<ReturnType<typeof connectRaw>>

interface RawClientOptions {
  readonly capabilities?: object
  readonly headers?: Readonly<Record<string, string>>
}

interface RawRequest {
  readonly id?: number | string
  readonly method?: string
  readonly params?: Readonly<Record<string, unknown>>
  readonly result?: object
  /** In the place of what a client would send. */
  readonly headers?: Readonly<Record<string, string>>
}

function toModern({ id, method, params }: RawRequest, capabilities: object): object {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': capabilities,
    ...Object(params?.['_meta']),
  }
  return { id, method, params: { ...params, _meta } }
}

function modernHeaders({ method = '', params = {} }: RawRequest): Record<string, string> {
  const name = params['name'] ?? params['uri']
  return {
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': method,
    ...(typeof name === 'string' && { 'mcp-name': name }),
  }
}
