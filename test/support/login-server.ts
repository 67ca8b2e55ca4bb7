import { createHash, randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

/** A real MCP server that wants a login, and the authorization server that it names, both on loopback. */
export interface LoginServer {
  /** Of the MCP server. */
  readonly url: string
  readonly issuer: string
  /** What was asked of the token endpoint, in order, with the client that asked. */
  readonly grants: readonly Readonly<Record<string, string>>[]
  /** `METHOD /path` of what was asked of the authorization server, in order. */
  readonly hits: readonly string[]
  /** What was asked of the revocation endpoint, in order, with the `Authorization` that it was asked with. */
  readonly revocations: readonly Readonly<Record<string, string>>[]
  /** What was asked for of the person, in order. */
  readonly visits: readonly URLSearchParams[]
  /** The `Authorization` of each request to the MCP server, with its method: `tools/list none`. */
  readonly shown: readonly string[]
  /** Tokens that were given out, the newest last. */
  readonly tokens: readonly string[]
  /** What is told otherwise from now on. */
  readonly says: Said
  /** Access tokens of now are refused from now on. */
  expire(): void
  /** Refresh tokens too. */
  revoke(): void
  /** The browser of a person who allows it: where it is led back to. */
  visit(url: string): Promise<string>
}

/** What the servers say, where it is not what they should. */
export interface Said {
  /** Of the authorization server. */
  metadata: Record<string, unknown>
  /** The authorization servers that the MCP server names. */
  issuers: string[]
  /** The `iss` that a person comes back with; undefined leaves it out. */
  iss: string | undefined
  /** In the place of any answer of the token endpoint. */
  token: { status: number; body: string } | undefined
  /** What happens before an answer of the token endpoint is sent. */
  meanwhile: (() => Promise<unknown>) | undefined
  /** In the place of what the authorization server says of itself. */
  wellKnown: ((response: ServerResponse) => void) | undefined
  /** Where the MCP server says that more is said of it. */
  resourceMetadata: string
  /** Whether tools are listed to those who show no token. */
  listsToAll: boolean
  /** The one method of the MCP server that no token is good enough for. */
  refuses: string | undefined
  /** Whether the MCP server cannot say who gives tokens for it. */
  isLost: boolean
}

interface Token {
  readonly scope: string
  readonly client: string
  expired: boolean
}

/** A client that the authorization server knows without having been asked to register it. */
export const knownClient = { client_id: 'agent-7', client_secret: 'a-secret-of-the-client' }

const tools = ['whoami', 'show_token', 'admin'].map((name) => ({
  name,
  description: `Does ${name}.`,
  inputSchema: { type: 'object' },
}))

/** Serves until the test ends. Every login gets the scope that it asks for; `admin` needs the scope of that name. */
export async function serveLogin(): Promise<LoginServer> {
  const access = new Map<string, Token>()
  const refresh = new Map<string, { scope: string; client: string }>()
  const codes = new Map<string, URLSearchParams>()
  const clients = new Map<string, string | undefined>([[knownClient.client_id, knownClient.client_secret]])
  const grants: Record<string, string>[] = []
  const hits: string[] = []
  const revocations: Record<string, string>[] = []
  const visits: URLSearchParams[] = []
  const shown: string[] = []
  const tokens: string[] = []
  const issuer = await listen((request, response) => void authorize(request, response))
  const origin = await listen((request, response) => void protect(request, response))
  const says: Said = {
    metadata: {},
    issuers: [issuer],
    iss: issuer,
    token: undefined,
    meanwhile: undefined,
    wellKnown: undefined,
    resourceMetadata: `${origin}/.well-known/oauth-protected-resource/mcp`,
    listsToAll: false,
    refuses: undefined,
    isLost: false,
  }

  const give = (client: string, scope: string): object => {
    const [token, next] = ['at', 'rt'].map((kind) => `${kind}-${randomBytes(24).toString('base64url')}`)
    access.set(token ?? '', { scope, client, expired: false })
    refresh.set(next ?? '', { scope, client })
    tokens.push(token ?? '')
    return { access_token: token, refresh_token: next, token_type: 'Bearer', expires_in: 300, scope }
  }
  const redeem = (asked: URLSearchParams, client: string): object => {
    const kind = asked.get('grant_type')
    if (kind === 'client_credentials') return give(client, asked.get('scope') ?? '')
    if (kind === 'refresh_token') {
      const old = refresh.get(asked.get('refresh_token') ?? '')
      refresh.delete(asked.get('refresh_token') ?? '')
      return old?.client === client ? give(client, old.scope) : { error: 'invalid_grant' }
    }
    const code = codes.get(asked.get('code') ?? '')
    codes.delete(asked.get('code') ?? '')
    const verifier = createHash('sha256')
      .update(asked.get('code_verifier') ?? '')
      .digest('base64url')
    const isRight =
      code?.get('client_id') === client &&
      code.get('code_challenge') === verifier &&
      code.get('redirect_uri') === asked.get('redirect_uri') &&
      code.get('resource') === asked.get('resource')
    return isRight ? give(client, code?.get('scope') ?? '') : { error: 'invalid_grant' }
  }

  async function authorize(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', issuer)
    hits.push(`${request.method} ${pathname}`)
    const body = await textOf(request)
    if (pathname === '/.well-known/oauth-authorization-server') {
      if (says.wellKnown !== undefined) return says.wellKnown(response)
      return json(response, {
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        registration_endpoint: `${issuer}/register`,
        revocation_endpoint: `${issuer}/revoke`,
        response_types_supported: ['code'],
        grant_types_supported: ['authorization_code', 'refresh_token', 'client_credentials'],
        code_challenge_methods_supported: ['S256'],
        token_endpoint_auth_methods_supported: ['client_secret_basic', 'none'],
        authorization_response_iss_parameter_supported: true,
        ...says.metadata,
      })
    }
    if (pathname === '/register') {
      const given = { ...(JSON.parse(body) as object), client_id: `registered-${clients.size}` }
      clients.set(given.client_id, undefined)
      return json(response, { ...given, token_endpoint_auth_method: 'none' }, 201)
    }
    if (pathname === '/authorize') {
      visits.push(searchParams)
      const code = randomBytes(16).toString('base64url')
      codes.set(code, searchParams)
      const back = new URL(searchParams.get('redirect_uri') ?? '')
      for (const [name, value] of Object.entries({ code, state: searchParams.get('state'), iss: says.iss }))
        if (typeof value === 'string') back.searchParams.set(name, value)
      return void response.writeHead(302, { location: back.href }).end()
    }
    const asked = new URLSearchParams(body)
    const client = clientOf(request, asked, clients)
    if (pathname === '/revoke') {
      refresh.delete(asked.get('token') ?? '')
      revocations.push({
        ...Object.fromEntries(asked),
        authorization: request.headers.authorization ?? 'none',
      })
      return void response.writeHead(200).end()
    }
    if (pathname !== '/token') return json(response, { error: 'not_found' }, 404)
    grants.push({ ...Object.fromEntries(asked), client: client ?? '' })
    if (says.token !== undefined)
      return void response
        .writeHead(says.token.status, { 'content-type': 'application/json' })
        .end(says.token.body)
    if (client === undefined) return json(response, { error: 'invalid_client' }, 401)
    const answer = redeem(asked, client)
    await says.meanwhile?.()
    json(response, answer, 'error' in answer ? 400 : 200)
  }

  async function protect(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? '/', origin)
    if (pathname === '/.well-known/oauth-protected-resource/mcp') {
      if (says.isLost) return json(response, { error: 'busy' }, 503)
      return json(response, {
        resource: `${origin}/mcp`,
        authorization_servers: says.issuers,
        scopes_supported: ['read'],
      })
    }
    if (pathname !== '/mcp' || request.method !== 'POST') return json(response, { error: 'not here' }, 405)
    const message = JSON.parse(await textOf(request)) as {
      id?: number
      method: string
      params?: { name?: string }
    }
    const { authorization = 'none' } = request.headers
    shown.push(`${message.method} ${authorization}`)
    const token = access.get(authorization.replace('Bearer ', ''))
    const refuse = (status: number, more: string): void => {
      const known = `resource_metadata="${says.resourceMetadata}"`
      response.writeHead(status, { 'www-authenticate': `Bearer ${more}, ${known}` }).end()
    }
    const isOpen = says.listsToAll && message.method !== 'tools/call'
    if (message.method === says.refuses || (!isOpen && (token === undefined || token.expired)))
      return refuse(401, 'error="invalid_token", scope="read"')
    if (message.params?.name === 'admin' && !token?.scope.split(' ').includes('admin'))
      return refuse(403, 'error="insufficient_scope", scope="admin"')
    if (message.id === undefined) return void response.writeHead(202).end()
    const said = `${message.params?.name === 'show_token' ? authorization.replace('Bearer ', '') : (token?.client ?? 'nobody')}`
    const results: Record<string, unknown> = {
      initialize: {
        protocolVersion: '2025-11-25',
        capabilities: { tools: {} },
        serverInfo: { name: 'tracker', version: '1' },
      },
      'tools/list': { tools },
      'tools/call': { content: [{ type: 'text', text: said }] },
    }
    const result = results[message.method]
    const answer =
      result === undefined ? { error: { code: -32601, message: 'There is no such method.' } } : { result }
    json(response, { jsonrpc: '2.0', id: message.id, ...answer })
  }

  return {
    url: `${origin}/mcp`,
    issuer,
    grants,
    hits,
    revocations,
    visits,
    shown,
    tokens,
    says,
    expire() {
      for (const token of access.values()) token.expired = true
    },
    revoke() {
      refresh.clear()
    },
    async visit(url) {
      const { headers } = await fetch(url, { redirect: 'manual' })
      return headers.get('location') ?? ''
    },
  }
}

/** The client that proves that it is one; undefined if it does not. */
function clientOf(
  { headers }: IncomingMessage,
  asked: URLSearchParams,
  clients: ReadonlyMap<string, string | undefined>,
): string | undefined {
  const basic = Buffer.from(headers.authorization?.replace('Basic ', '') ?? '', 'base64').toString()
  const [id = '', secret] =
    headers.authorization === undefined ? [asked.get('client_id') ?? ''] : basic.split(':')
  return clients.has(id) && clients.get(id) === secret ? id : undefined
}

async function listen(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server = createServer(answer)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function json(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request) text += String(chunk)
  return text
}
