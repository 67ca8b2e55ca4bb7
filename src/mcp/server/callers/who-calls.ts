import type { IncomingMessage } from 'node:http'
import type { SessionOptions } from '../../../contract/runtime.ts'

/** Who a client is, and which tools it has. */
export type McpSession = Pick<
  SessionOptions,
  | 'tenant'
  | 'actor'
  | 'role'
  | 'mode'
  | 'agent'
  | 'model'
  | 'allowedTools'
  | 'disallowedTools'
  | 'standingConsents'
>

/** Who sends a request over HTTP. */
export interface McpCaller extends McpSession {
  /** When what the request showed holds no more, such as the end of its token: streams end then. Default: never. */
  expiresAt?: Date
}

/** The caller of all requests, or what says it of each; undefined for a request that is refused. */
export type WhoCalls =
  | McpSession
  | ((request: IncomingMessage) => McpCaller | undefined | Promise<McpCaller | undefined>)

/** What keeps one caller from stopping the others, with the defaults of `gateway.json`. */
export interface ServeMcpLimits {
  /** Requests of one caller in a minute. Default: no limit. */
  requestsPerMinute?: number
  /** Open requests of one caller, streams and unread answers included. Default 256. */
  maxRequests?: number
  /** Body of one request. Default 4 MiB. */
  maxBodyBytes?: number
  /** Sessions of clients to revision 2025-11-25 at a time. Default 100. */
  maxSessions?: number
  /** Such a session ends when nothing happened for so long. Default 1,800,000 (half an hour). */
  sessionIdleMs?: number
  /** Such a session ends after so long in any case. Default 86,400,000 (a day). */
  sessionMs?: number
  /** How long running calls may take to end when it is closed. Default 3,000. */
  closeGraceMs?: number
}
