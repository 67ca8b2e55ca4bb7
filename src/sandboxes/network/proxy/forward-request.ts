import { request as sendRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import { pipeline } from 'node:stream'
import { ToolFailure } from '../../../contract/base/errors.ts'
import type { JudgedConnection } from '../base/connect-judged.ts'
import { toRefusal } from '../base/refusal.ts'
import type { Connect } from './relay-tunnel.ts'

/** RFC 9110, 7.6.1: for the next hop only. `expect` was answered already. */
const ownToHop: readonly string[] = [
  'connection',
  'expect',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]

/**
 * Answers a request that names a whole URL (`GET http://host/path`) with what the server of that URL answers. The URL counts, and not
 * what the request says its host is. A redirect goes back as it is.
 */
export async function forwardRequest(
  request: IncomingMessage,
  response: ServerResponse,
  connect: Connect,
): Promise<void> {
  const left = new AbortController()
  response.once('close', () => left.abort())
  try {
    const connection = await connect(toUrl(request.url ?? ''), left.signal)
    send(request, response, connection)
  } catch (error) {
    refuse(response, error)
  }
}

function toUrl(url: string): string {
  // Inside of TLS nothing can be judged on the way: a client that wants TLS asks for a tunnel.
  if (!/^https:/i.test(url)) return url
  throw new ToolFailure({
    code: 'SANDBOX.CAPABILITY_BLOCKED',
    reason: 'scheme_blocked',
    message: 'A URL of https is reached by CONNECT. Ask for a tunnel to its host.',
  })
}

function send(
  request: IncomingMessage,
  response: ServerResponse,
  { target, socket }: JudgedConnection,
): void {
  const { url } = target
  const isChunked = request.headers['transfer-encoding'] !== undefined
  const onward = sendRequest({
    createConnection: () => socket,
    method: request.method,
    path: url.pathname + url.search,
    headers: [
      'Host',
      url.host,
      ...passOn(request, ['host']),
      ...(isChunked ? ['Transfer-Encoding', 'chunked'] : []),
    ],
  })
  onward.once('response', (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.statusMessage, passOn(answer, []))
    pipeline(answer, response, () => socket.destroy())
  })
  pipeline(request, onward, () => {})
  onward.on('error', (error) => {
    socket.destroy()
    refuse(response, error)
  })
  response.once('close', () => socket.destroy())
}

/** The headers that are not for this hop alone, in their order, as names and values by turns. */
function passOn({ rawHeaders, headers }: IncomingMessage, without: readonly string[]): string[] {
  const named = (headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase())
  const left = new Set([...ownToHop, ...without, ...named])
  return rawHeaders.filter((_, index) => !left.has((rawHeaders[index - (index % 2)] ?? '').toLowerCase()))
}

function refuse(response: ServerResponse, error: unknown): void {
  if (response.headersSent) return void response.destroy()
  const { status, title, headers, body } = toRefusal(error)
  response.writeHead(status, title, headers).end(body)
}
