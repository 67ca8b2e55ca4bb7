import type { ServerResponse } from 'node:http'
import type { JSONRPCMessage, JSONRPCRequest, RequestId, Transport } from '@modelcontextprotocol/server'
import type { PlainCalls } from '../calls/plain-calls.ts'
import { openEventStream, openExchange, writeEvent, type Exchange } from '../web/http-exchange.ts'
import { isAnswer, isRequest } from '../web/message-kinds.ts'
import { readCancellation } from '../web/read-cancellation.ts'

/** One MCP session over Streamable HTTP: every posted request has its own response, one further stream takes the rest. */
export interface SessionTransport extends Transport {
  readonly sessionId: string
  /** Requests without an answer yet. */
  readonly running: number
  readonly listening: boolean
  /** The session's stream; another object for another one. */
  readonly stream: object | undefined
  /** Takes a posted request, whose answer goes to this response. False for an id that is in use. */
  request(message: JSONRPCRequest, response: ServerResponse): boolean
  /** Takes a posted notification or an answer to a request of the server. */
  receive(message: JSONRPCMessage): void
  /** Makes this response the session's stream. */
  listen(response: ServerResponse): void
  /** Resolves when no request waits for its answer, or after this time. */
  answered(timeoutMs: number): Promise<void>
}

const heartbeatMs = 15_000

/**
 * Ends with `close`; a client that goes away without its answer cancels nothing, as the protocol asks. `plainCalls` takes calls before the SDK
 * reads them; undefined if it reads all.
 */
export function createSessionTransport(sessionId: string, plainCalls?: PlainCalls): SessionTransport {
  const headers = { 'mcp-session-id': sessionId }
  const exchanges = new Map<RequestId, Exchange>()
  let stream: ServerResponse | undefined
  let onAnswered: (() => void) | undefined

  const forget = (id: RequestId): void => {
    exchanges.delete(id)
    if (exchanges.size === 0) onAnswered?.()
  }
  const toStream = (message: JSONRPCMessage): void => {
    if (stream !== undefined) writeEvent(stream, message)
    else if (isRequest(message)) throw new Error('The client has no stream open that could take a request.')
  }
  const hand = (message: JSONRPCMessage): void => {
    if (plainCalls?.take(message, transport) !== true) transport.onmessage?.(message)
  }
  const transport: SessionTransport = {
    sessionId,
    get running() {
      return exchanges.size
    },
    get listening() {
      return stream !== undefined
    },
    get stream() {
      return stream
    },
    request(message, response) {
      if (exchanges.has(message.id)) return false
      exchanges.set(message.id, openExchange(response, { headers }))
      hand(message)
      return true
    },
    receive(message) {
      hand(message)
      const cancelled = readCancellation(message)
      if (cancelled === undefined) return
      exchanges.get(cancelled.id)?.abandon()
      forget(cancelled.id)
    },
    listen(response) {
      openEventStream(response, headers)
      const heartbeat = setInterval(() => response.write(': still here\n\n'), heartbeatMs)
      heartbeat.unref()
      stream = response
      response.on('close', () => {
        clearInterval(heartbeat)
        if (stream === response) stream = undefined
      })
    },
    async answered(timeoutMs) {
      if (exchanges.size === 0) return
      const { promise, resolve } = Promise.withResolvers<void>()
      onAnswered = resolve
      const timeout = setTimeout(resolve, timeoutMs)
      await promise
      clearTimeout(timeout)
    },
    async start() {},
    async send(message, options) {
      const answers = isAnswer(message)
      const id = answers ? message.id : options?.relatedRequestId
      if (id === undefined) return toStream(message)
      const sent = exchanges.get(id)?.send(message) ?? false
      if (answers) forget(id)
      if (!sent && isRequest(message)) throw new Error('The client closed the stream of the request.')
    },
    async close() {
      for (const exchange of exchanges.values()) exchange.abandon()
      exchanges.clear()
      stream?.end()
      transport.onclose?.()
    },
  }
  return transport
}
