import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Readable, Writable } from 'node:stream'
import type { Approver } from '../../../contract/approval.ts'
import type { Presentation } from '../../../contract/base/call.ts'
import type { ElicitationHandler } from '../../../contract/base/elicitation.ts'
import { SetupError } from '../../../contract/base/errors.ts'
import type { Runtime } from '../../../contract/runtime.ts'
import type { McpSession, ServeMcpLimits, WhoCalls } from '../callers/who-calls.ts'
import { findUnknownFields } from '../../../kit/json/find-unknown-fields.ts'
import { findNoFunctions, findNoLists } from '../../../kit/json/find-wrong-kinds.ts'

/** What is the same for all ways to serve. */
export interface ServeMcpBase {
  /** Names and schemas that clients see: `compatible` shows those that models know. Default `canonical`. */
  presentation?: Presentation
  /** Asks the person if the client cannot. Default: the runtime's own approver. */
  approve?: Approver
  /** Answers what calls ask if the client cannot. Default: that of the runtime. */
  elicit?: ElicitationHandler
  /** Takes one line for the operator, such as why a request failed. Default: the standard error output. */
  log?: (line: string) => void
}

/** One client at the other end of streams. */
export interface ServeMcpStdioOptions extends ServeMcpBase {
  transport?: 'stdio'
  /** Who the client is. Default: as `runtime.session()` has it. */
  session?: McpSession
  /** Default: the standard input. */
  input?: Readable
  /** Default: the standard output, which then carries nothing but messages: write to it from nowhere else. */
  output?: Writable
}

/** Any number of clients over Streamable HTTP, at a place of the program's own HTTP server. */
export interface ServeMcpHttpOptions extends ServeMcpBase, ServeMcpLimits {
  transport: 'http'
  /**
   * Who sends a request, by the program's own login: `(request) => ({ actor: userOf(request), tenant: 'acme' })`. Undefined refuses it
   * with 401, and so does an `expiresAt` that is over. Two requests count as of one caller if it returns the same for both. One object
   * for all requests is for one's own machine: requests from others are refused then.
   */
  session: WhoCalls
  /** Values of the Host header beside loopback ones. Default: any if `session` is a function, else none. */
  allowedHosts?: readonly string[]
  /** Values of the Origin header beside loopback ones, of pages that may use the server. Default: none. */
  allowedOrigins?: readonly string[]
}

/** A client that is served over streams. */
export interface McpStdioServer {
  /** Resolves when the client is gone and its session is closed. */
  readonly closed: Promise<void>
  /** Ends the connection and aborts what runs. The runtime stays open. */
  close(): Promise<void>
}

/** Clients that are served over HTTP. */
export interface McpHttpServer {
  /** Answers one request of an HTTP server of Node. Never rejects. A framework may have read the body before: it is taken from `request.body`. */
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>
  /** Refuses requests, lets running calls end for a while, aborts the rest. The runtime and the HTTP server stay open. */
  close(): Promise<void>
}

/**
 * Puts a runtime behind MCP, as `handrail serve` does, for both revisions of the protocol (2025-11-25 and 2026-07-28): to the client that
 * started the program, over its standard streams.
 *
 * @example
 * await (await serveMcp(runtime)).closed
 */
export function serveMcp(runtime: Runtime, options?: ServeMcpStdioOptions): Promise<McpStdioServer>
/**
 * Puts a runtime behind MCP over HTTP. Throws a `SetupError` for options that cannot be.
 *
 * @example
 * const mcp = await serveMcp(runtime, { transport: 'http', session: (request) => ({ actor: userOf(request) }) })
 * createServer(mcp.handle).listen(3000)
 */
export function serveMcp(runtime: Runtime, options: ServeMcpHttpOptions): Promise<McpHttpServer>
export async function serveMcp(
  runtime: Runtime,
  options: ServeMcpStdioOptions | ServeMcpHttpOptions = {},
): Promise<McpStdioServer | McpHttpServer> {
  checkOptions(options)
  const { log = (line) => console.error(line) } = options
  if (options.transport === 'http') {
    const { createHttpHandler } = await import('../http/create-http-handler.ts')
    return createHttpHandler({ ...options, runtime, log })
  }
  const { serveStdio } = await import('../stdio/serve-stdio.ts')
  return serveStdio({ ...options, runtime, log })
}

const common = ['transport', 'session', 'presentation', 'approve', 'elicit', 'log']
const fieldsOf: { readonly [transport: string]: readonly string[] } = {
  stdio: [...common, 'input', 'output'],
  http: [
    ...common,
    'allowedHosts',
    'allowedOrigins',
    'requestsPerMinute',
    'maxRequests',
    'maxBodyBytes',
    'maxSessions',
    'sessionIdleMs',
    'sessionMs',
    'closeGraceMs',
  ],
}

function checkOptions(options: ServeMcpStdioOptions | ServeMcpHttpOptions): void {
  const { transport = 'stdio', session } = options
  const fields = fieldsOf[transport]
  const issues =
    fields === undefined
      ? [{ pointer: '/transport', code: 'not_allowed', message: 'Give "stdio" or "http".' }]
      : [
          ...findUnknownFields(options, fields),
          ...findNoFunctions(options, ['approve', 'elicit', 'log']),
          ...findNoLists(options, ['allowedHosts', 'allowedOrigins']),
        ]
  if (transport === 'http' && session === undefined)
    issues.push({
      pointer: '/session',
      code: 'missing_field',
      message:
        'Say who sends a request: session: (request) => ({ actor: … }), or one object for all from this machine.',
    })
  if (issues.length > 0) throw new SetupError('invalid_options', 'MCP cannot be served so:', issues)
}
