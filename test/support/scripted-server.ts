import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { atEnd } from './at-end.ts'

/** A message that a scripted server got. */
export interface Heard {
  readonly id?: number | string
  readonly method: string
  readonly params: Readonly<Record<string, unknown>>
  readonly headers: IncomingHttpHeaders
}

/** Says anything before the answer, or in its place, as JSON-RPC or as it stands. */
export type Say = (message: object | string) => void

/**
 * What a server answers: a result; `{ error }`; `{ status }`, with headers; `{ body }`, as it stands, with its type; undefined for what a harmless server would say; or null if
 * `say` said it all.
 */
export type Script = (
  heard: Heard,
  say: Say,
) => object | null | undefined | Promise<object | null | undefined>

/** A server on Streamable HTTP that answers whatever its test says, whether or not the protocol allows it. */
export async function startScripted(script: Script) {
  const heard: Heard[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (text: string) => (body += text))
    request.on('end', () => {
      const { id, method = request.method ?? '', params = {} } = JSON.parse(body || '{}') as Partial<Heard>
      const message = { ...(id !== undefined && { id }), method, params, headers: request.headers }
      heard.push(message)
      void answer(message, response)
    })
  }).listen(0, '127.0.0.1')
  const answer = async (message: Heard, response: ServerResponse): Promise<void> => {
    const say: Say = (said) => {
      if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream', ...session })
      const line = typeof said === 'string' ? said : JSON.stringify({ jsonrpc: '2.0', ...said })
      response.write(`data: ${line}\n\n`)
    }
    const given = await script(message, say)
    if (given === null) return void response.end()
    send(given ?? harmless(message), { id: message.id, response, say })
  }
  await once(server, 'listening')
  atEnd(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const calls = () => heard.filter(({ method }) => method === 'tools/call')
  return { url: `http://127.0.0.1:${port}/mcp`, port, heard, calls }
}

const session = { 'mcp-session-id': 'scripted' }

function send(
  given: object,
  { id, response, say }: { id: Heard['id']; response: ServerResponse; say: Say },
): void {
  if ('status' in given) {
    const { status, headers = {} } = given as { status: number; headers?: Record<string, string> }
    response.writeHead(status, headers).end()
    return
  }
  if ('body' in given) {
    const { body, type = 'application/json' } = given as { body: string; type?: string }
    response.writeHead(200, { 'content-type': type, ...session }).end(body)
    return
  }
  const answer = 'error' in given ? { id, ...given } : { id, result: given }
  if (response.headersSent) {
    say(answer)
    response.end()
    return
  }
  response.writeHead(200, { 'content-type': 'application/json', ...session })
  response.end(JSON.stringify({ jsonrpc: '2.0', ...answer }))
}

/** What a server says that means no harm: it shakes hands, and has one tool, `act`. */
function harmless({ id, method, params }: Heard): object {
  if (method === 'initialize')
    return {
      protocolVersion: '2025-11-25',
      capabilities: { tools: { listChanged: true }, resources: {}, prompts: {}, logging: {} },
      serverInfo: { name: 'scripted', version: '1' },
    }
  if (method === 'tools/list') return { tools: [{ name: 'act', inputSchema: { type: 'object' } }] }
  if (method === 'tools/call') return { content: [{ type: 'text', text: `done ${String(params['name'])}` }] }
  if (id === undefined) return { status: method === 'GET' ? 405 : 202 }
  return method === 'ping' ? {} : { error: { code: -32_601, message: 'unknown' } }
}
