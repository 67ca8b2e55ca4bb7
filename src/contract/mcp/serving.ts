import type { A2aServing } from '../a2a/serving.ts'
import type { SessionModel } from '../base/call.ts'
import type { CallerIdentity } from '../base/caller-identity.ts'
import type { Mode, Role } from '../base/principal.ts'
import type { ConsoleServing } from './console-login.ts'

/** A bearer token that is given out by hand. The token itself is not kept. */
export interface TokenCaller extends CallerIdentity {
  /** Shown in logs and messages. Unique. */
  id: string
  /** Digest of the token: SHA-256, 64 hexadecimal digits. */
  sha256: string
  /** From when on it is refused: an ISO 8601 time with its zone. Default: never. */
  expiresAt?: string
  /** Whether it may read `/metrics`, which counts the calls of all tenants. Default false. */
  metrics?: boolean
  /** Whether it may see what waits for a person in its tenant, and answer as its actor. Default false. */
  approver?: boolean
}

/**
 * Access tokens of an authorization server, as JSON Web Tokens (RFC 9068). The gateway is a resource server of OAuth 2.1: it issues no
 * token, and takes only those that were made for it.
 */
export interface OAuthCallers {
  /** The `iss` of its tokens. Its keys are found through its metadata (RFC 8414, OpenID Connect Discovery). */
  issuer: string
  /** The URL under which clients know this MCP endpoint (RFC 8707). It must be the audience of a token. */
  resource: string
  /** Where the keys are, where its metadata does not say. */
  jwksUri?: string
  /** Every token must have all of them. Default: none. */
  scopes?: readonly string[]
  /** A token that has all of these too may see what waits for a person in its tenant, and answer as its actor. Default: none may. */
  approverScopes?: readonly string[]
  /** The claim that names the tenant. Default: every caller is of the tenant `tenant`. */
  tenantClaim?: string
  /** The tenant of every caller if `tenantClaim` is absent. Default `local`. */
  tenant?: string
  /** The claim that names the actor. Default `sub`. */
  actorClaim?: string
  role?: Role
  mode?: Mode
  model?: SessionModel
  allowedTools?: readonly string[]
  disallowedTools?: readonly string[]
}

/** `<home>/gateway.json`: where MCP is served over HTTP, and to whom. */
export interface GatewayConfiguration {
  $schema?: string
  /** Address to listen on. Others than loopback ones need `tokens` or `oauth`. Default `127.0.0.1`. */
  host?: string
  port?: number
  /** Values of the Host header beside loopback ones, such as that of a proxy. */
  allowedHosts?: readonly string[]
  /** Values of the Origin header beside loopback ones. */
  allowedOrigins?: readonly string[]
  /** Who may connect, by tokens given out by hand. Absent, and no `oauth`: everybody on this machine. */
  tokens?: readonly TokenCaller[]
  /** Who may connect, by tokens of an authorization server. */
  oauth?: OAuthCallers
  /** Requests of one caller in a minute. Default: no limit. */
  requestsPerMinute?: number
  /** Open requests of one caller, streams and unread answers included. Default 256. */
  maxRequests?: number
  /** Body of one request. Default 4 MiB. */
  maxBodyBytes?: number
  /** Sessions of clients to revision 2025-11-25 at a time, at most half of them of one caller with a token. Default 100. */
  maxSessions?: number
  /** Such a session ends when nothing happened for so long. Default 1,800,000 (half an hour). */
  sessionIdleMs?: number
  /** Such a session ends after so long in any case. Default 86,400,000 (a day). */
  sessionMs?: number
  /** How long a client may take to send a request. Default 60,000. */
  requestTimeoutMs?: number
  /** How long running calls may take to end when the server stops. Default 3,000. */
  closeGraceMs?: number
  /** Who is told of what waits for a person. */
  webhooks?: readonly WebhookReceiver[]
  /** Which tools other domains may call over A2A, and who they are. Default: none may. */
  a2a?: A2aServing
  /** Who gets into the console beside the person at this machine. Default: the approvers among `tokens` and `oauth`, without pages. */
  console?: ConsoleServing
}

/** A receiver of what happens to approvals. Signed as Standard Webhooks 1.0.0 says (standardwebhooks.com). */
export interface WebhookReceiver {
  /** `https`, or `http` to a place that `network.privateHosts` names. No redirect is followed. */
  url: string
  /**
   * What signs it: `whsec_` and the base64 of 24 to 64 bytes. In `gateway.json`, the name of the environment variable that has it. Not needed for the
   * format `slack`.
   */
  secret?: string
  /** Patterns of tenants. Default: all. */
  tenants?: readonly string[]
  /** Default: all. */
  events?: readonly WebhookEventName[]
  /** `slack`: a message with `text` and `blocks`, as incoming webhooks of Slack take it. Default `standard`. */
  format?: 'standard' | 'slack'
  /** Whether the body of the preview is sent too. Default false. */
  preview?: boolean
  /** Pauses before further tries, in milliseconds, ten at most. Default 5 s, 30 s, 2 min, 10 min. */
  retryMs?: readonly number[]
}

/** What a webhook is told of. */
export type WebhookEventName = 'approval.requested' | 'approval.decided' | 'approval.expired'
