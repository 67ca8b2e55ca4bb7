import type { IncomingMessage } from 'node:http'
import {
  PerRequestHTTPServerTransport,
  ProtocolErrorCode,
  UnsupportedProtocolVersionError,
  isJSONRPCErrorResponse,
  type InboundModernRoute,
  type JSONRPCMessage,
  type JSONRPCRequest,
} from '@modelcontextprotocol/server'
import type { Caller, AuthenticatedRequest } from '../callers/caller.ts'
import type { ConnectionOptions } from './connections.ts'
import { listenMethod } from '../methods/serve-listen.ts'
import { openExchange, type Exchange } from '../web/http-exchange.ts'
import { modernRevision } from '../methods/mcp-server.ts'
import { createCallerSessions } from './caller-sessions.ts'
import { refuse } from '../web/send-json.ts'
import { longestMs } from '../../../kit/time/longest-ms.ts'

const headerMismatch = -32020

/** Errors that say the request itself is wrong, with their HTTP status. */
const statusOfCode = new Map<number, number>([
  [ProtocolErrorCode.ParseError, 400],
  [ProtocolErrorCode.InvalidRequest, 400],
  [ProtocolErrorCode.MethodNotFound, 404],
  [ProtocolErrorCode.UnsupportedProtocolVersion, 400],
  [ProtocolErrorCode.MissingRequiredClientCapability, 400],
  [headerMismatch, 400],
])

/**
 * Revision 2026-07-28: each request stands alone. All of one caller share one session of the runtime, so that what a person allowed for the
 * session holds from one request to the next.
 */
export function createModernEndpoint(options: ConnectionOptions) {
  const sessions = createCallerSessions(options)
  return {
    async post(
      route: InboundModernRoute,
      { request, response, caller }: AuthenticatedRequest,
    ): Promise<void> {
      // Nothing waits for a notification: a client that cancels closes its request instead.
      if (route.messageKind === 'notification') {
        response.writeHead(202).end()
        return
      }
      const problem = checkHeaders(route.message, request) ?? checkRevision(route.classification.revision)
      if (problem !== undefined) return refuse(response, { status: 400, id: route.message.id, ...problem })

      const session = await sessions.of(caller)
      if ('status' in session) return refuse(response, { ...session, id: route.message.id })
      if (response.destroyed) return session.leave()
      const listens = route.message.method === listenMethod
      if (listens) session.listen()
      const transport = new ExchangeTransport({ classification: route.classification })
      transport.exchange = openExchange(response, {
        statusOf: (message) => transport.statusOf(message),
        onEnd: (ending) => {
          clearTimeout(expiry)
          session.leave()
          if (ending === 'gone') void transport.close()
        },
      })
      const expiry = listens ? endWithCaller(transport.exchange, caller) : undefined
      await session.build('modern').connect(transport)
      if (!transport.exchange.done) transport.deliver(route.message)
    },
    /** Ends the sessions of callers that this does not hold for. */
    retain: (isWelcome: (caller: Caller) => boolean): void => sessions.retain(isWelcome),
    /** Ends the requests that only listen. */
    endListening: () => sessions.endListening(),
    /** Resolves when no task runs. */
    tasksEnded: () => sessions.tasksEnded(),
    /** Aborts what runs; it is answered. */
    close: () => sessions.close(),
  }
}

/** No caller hears longer than the token that it showed is good for. */
function endWithCaller(exchange: Exchange, { expiresAt }: Caller): NodeJS.Timeout | undefined {
  if (expiresAt === undefined) return undefined
  const leftMs = Math.min(Math.max(0, expiresAt - Date.now()), longestMs)
  return setTimeout(() => exchange.abandon(), leftMs).unref()
}

/** Carries one request to an SDK server, which binds itself to the revision of this kind of transport. */
class ExchangeTransport extends PerRequestHTTPServerTransport {
  exchange: Exchange | undefined
  #dispatching = false
  #closed = false

  deliver(message: JSONRPCRequest): void {
    this.#dispatching = true
    this.onmessage?.(message, { classification: { era: 'modern', revision: modernRevision } })
    this.#dispatching = false
  }

  /** Errors from before the handler have a status of their own; those of a handler are answers like others. */
  statusOf(message: JSONRPCMessage): number {
    if (!isJSONRPCErrorResponse(message)) return 200
    const { code } = message.error
    if (!this.#dispatching && code !== ProtocolErrorCode.MissingRequiredClientCapability) return 200
    return statusOfCode.get(code) ?? 200
  }

  override async send(message: JSONRPCMessage): Promise<void> {
    this.exchange?.send(message)
  }

  override async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    this.onclose?.()
  }
}

interface Problem {
  code: number
  message: string
  data?: unknown
}

/** The headers that proxies route by must be there and say what the body says. */
function checkHeaders({ method, params }: JSONRPCRequest, { headers }: IncomingMessage): Problem | undefined {
  if (headers['mcp-protocol-version'] === undefined) return mismatch('MCP-Protocol-Version', 'is missing')
  if (headers['mcp-method'] === undefined) return mismatch('Mcp-Method', 'is missing')
  const field = nameFields.get(method)
  const name = field && params?.[field]
  if (typeof name !== 'string') return undefined
  const header = headers['mcp-name']
  if (typeof header !== 'string') return mismatch('Mcp-Name', 'is missing')
  if (decodeHeader(header) !== name) return mismatch('Mcp-Name', 'names something else than the body')
  return undefined
}

/** Where the body names what a request is about. */
const nameFields = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
  ['tasks/get', 'taskId'],
  ['tasks/update', 'taskId'],
  ['tasks/cancel', 'taskId'],
])

function mismatch(header: string, fault: string): Problem {
  return {
    code: headerMismatch,
    message: `The header ${header} ${fault}. Send it as revision ${modernRevision} asks.`,
  }
}

/** Values that a header cannot carry as they are come as `=?base64?…?=`. */
function decodeHeader(value: string): string {
  const encoded = /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/.exec(value.trim())?.[1]
  return encoded === undefined ? value.trim() : Buffer.from(encoded, 'base64').toString('utf8')
}

function checkRevision(requested: string | undefined): Problem | undefined {
  if (requested === modernRevision) return undefined
  const { code, message, data } = new UnsupportedProtocolVersionError({
    supported: [modernRevision],
    requested: requested ?? 'unknown',
  })
  return { code, message, data }
}
