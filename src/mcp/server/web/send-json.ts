import type { ServerResponse } from 'node:http'
import { httpModule } from './http-module.ts'
import { messageParts } from './message-text.ts'

type Headers = { readonly [name: string]: string }

/** Sends a text and ends the response. Does nothing if a response was begun already. */
export function sendText(response: ServerResponse, text: string, contentType: string): void {
  if (response.headersSent) return
  response.writeHead(200, { 'content-type': contentType, 'content-length': Buffer.byteLength(text) })
  response.end(text)
}

/** Sends a JSON body and ends the response. Does nothing if a response was begun already. */
export function sendJson(
  response: ServerResponse,
  body: object,
  { status = 200, headers }: { status?: number; headers?: Headers | undefined } = {},
): void {
  if (response.headersSent) return
  const parts = messageParts(body)
  const length = parts.reduce((sum, part) => sum + Buffer.byteLength(part), 0)
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': length, ...headers })
  for (const part of parts.slice(0, -1)) response.write(part)
  response.end(parts.at(-1))
}

/** What is wrong with a request, as JSON-RPC says it. */
export interface Refusal {
  readonly status: number
  /** Default -32000: the request never came as far as JSON-RPC. */
  readonly code?: number
  readonly message: string
  readonly data?: unknown
  /** The id of the request; null if it is not known. */
  readonly id?: unknown
  readonly headers?: Headers
}

/** Refuses a request with a JSON-RPC error. */
export function refuse(response: ServerResponse, refusal: Refusal): void {
  const { status, code = -32000, message, data, headers } = refusal
  const id = typeof refusal.id === 'string' || typeof refusal.id === 'number' ? refusal.id : null
  const error = { code, message, ...(data !== undefined && { data }) }
  sendJson(response, { jsonrpc: '2.0', id, error }, { status, headers })
}

/** There will be no more clients. */
export const closing: Refusal = { status: 503, message: 'The server is closing.' }

/** The server has no room for another client. */
export const crowded: Refusal = {
  status: 503,
  message:
    'There is no room for another session, and none that could make room is idle. End one, or try again later.',
  headers: { 'retry-after': '5' },
}

/** Refuses a request with a problem of RFC 9457. */
export function refuseAsProblem(
  response: ServerResponse,
  { status, message, data, headers }: Pick<Refusal, 'status' | 'message' | 'data' | 'headers'>,
): void {
  const problem = {
    type: 'about:blank',
    title: httpModule().STATUS_CODES[status] ?? 'Refused',
    status,
    detail: message,
    ...(typeof data === 'object' && data),
  }
  sendJson(response, problem, { status, headers: { 'content-type': 'application/problem+json', ...headers } })
}
