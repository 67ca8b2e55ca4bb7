import type { IncomingMessage } from 'node:http'
import type { GatewayConfiguration } from '../../../contract/mcp/serving.ts'
import type { Refusal } from '../web/send-json.ts'
import type { Caller, Callers } from './caller.ts'
import { createOAuthCallers, isOfIssuer, type Verified } from './oauth-callers.ts'
import { createTokenCallers, keyOfToken } from './token-callers.ts'

/** Who may connect, as the configuration of a gateway says. */
export interface CallerOptions extends Pick<GatewayConfiguration, 'tokens' | 'oauth'> {
  /** How sessions are opened for everybody, if no caller has to say who it is. */
  readonly everybody: Caller['session']
  /** Why no session can be opened so, such as for a tenant that the policy does not know; undefined if one can. */
  readonly findFault: (session: Caller['session']) => string | undefined
  readonly log: (line: string) => void
}

/**
 * Without tokens and without an authorization server, everybody who reaches the server is one and the same caller. Otherwise a request
 * carries a bearer token in its header (RFC 6750), and nowhere else.
 */
export function createCallers(options: CallerOptions): Callers {
  const { tokens, oauth, everybody, findFault, log } = options
  if (tokens === undefined && oauth === undefined) {
    const anybody: Caller = {
      key: 'everybody',
      session: everybody,
      expiresAt: undefined,
      isAnybody: true,
      readsMetrics: true,
      decides: true,
    }
    return {
      identify: () => Promise.resolve(anybody),
      stands: ({ key }) => key === anybody.key,
      resourceMetadata: undefined,
    }
  }
  const findToken = createTokenCallers(tokens ?? [])
  const verify = oauth && createOAuthCallers(oauth)
  const resourceMetadata = oauth && describeResource(oauth)
  const challenge = createChallenge(oauth, resourceMetadata?.url)
  const tokenKeys = new Set((tokens ?? []).map(keyOfToken))

  return {
    resourceMetadata,
    stands: ({ key }) => tokenKeys.has(key) || (oauth !== undefined && isOfIssuer(key, oauth)),
    async identify(request) {
      const token = bearerOf(request)
      if (token === undefined) return challenge('missing')
      const known = findToken(token)
      if (known !== undefined) return known
      if (verify === undefined) return challenge('invalid')
      const verified = await verify(token)
      if (verified.kind === 'caller') {
        const fault = findFault(verified.caller.session)
        return fault === undefined
          ? { ...verified.caller, decides: verified.decides || challenge('no_approver') }
          : { status: 403, message: `This caller has no tools here. ${fault}` }
      }
      if ('why' in verified) log(`http: a token was not taken: ${verified.why}`)
      return challenge(verified.kind)
    },
  }
}

/** The token of a request; a second Authorization header makes none count. */
function bearerOf({ headers, rawHeaders }: IncomingMessage): string | undefined {
  const named = rawHeaders.filter(
    (name, index) => index % 2 === 0 && name.toLowerCase() === 'authorization',
  ).length
  if (named !== 1) return undefined
  return /^Bearer +([A-Za-z0-9\-._~+/]+=*) *$/i.exec(headers.authorization ?? '')?.[1]
}

type OAuth = NonNullable<CallerOptions['oauth']>

/** RFC 9728: where a client finds out which authorization server to ask. */
function describeResource({ resource, issuer, scopes = [], approverScopes = [] }: OAuth) {
  const supported = [...new Set([...scopes, ...approverScopes])]
  const { origin, pathname } = new URL(resource)
  const path = `/.well-known/oauth-protected-resource${pathname === '/' ? '' : pathname}`
  return {
    path,
    url: `${origin}${path}`,
    document: {
      resource,
      authorization_servers: [issuer],
      bearer_methods_supported: ['header'],
      resource_name: 'Handrail',
      ...(supported.length > 0 && { scopes_supported: supported }),
    },
  }
}

type Challenged = 'missing' | 'no_approver' | Exclude<Verified['kind'], 'caller'>

/** What clients are answered, in the words of RFC 6750 and RFC 9728. */
function createChallenge(
  oauth: OAuth | undefined,
  metadataUrl: string | undefined,
): (why: Challenged) => Refusal {
  const { scopes = [], approverScopes } = oauth ?? {}
  const bearer = (error?: string, wanted = scopes) => ({
    'www-authenticate': `Bearer ${[
      error === undefined ? 'realm="handrail"' : `error="${error}"`,
      ...(metadataUrl === undefined ? [] : [`resource_metadata="${metadataUrl}"`]),
      ...(wanted.length === 0 ? [] : [`scope="${wanted.join(' ')}"`]),
    ].join(', ')}`,
  })
  const refusals: { readonly [why in Challenged]: Refusal } = {
    missing: {
      status: 401,
      message: 'This server takes requests with a bearer token only. Send one as "Authorization: Bearer …".',
      headers: bearer(),
    },
    invalid: {
      status: 401,
      message: 'The token is not known here, has expired, or was not made for this server. Get a new one.',
      headers: bearer('invalid_token'),
    },
    insufficient_scope: {
      status: 403,
      message: `The token lacks a scope; needed are: ${scopes.join(' ')}. Ask the authorization server for them.`,
      headers: bearer('insufficient_scope'),
    },
    no_approver: toNoApprover(approverScopes, (wanted) =>
      bearer('insufficient_scope', [...new Set([...scopes, ...wanted])]),
    ),
    unavailable: {
      status: 503,
      message: 'The authorization server cannot be asked at the moment. Try again later.',
      headers: { 'retry-after': '5' },
    },
  }
  return (why) => refusals[why]
}

/** For a caller of the authorization server that may call tools, and not answer approvals. */
function toNoApprover(
  wanted: OAuth['approverScopes'],
  headers: (wanted: readonly string[]) => NonNullable<Refusal['headers']>,
): Refusal {
  if (wanted === undefined)
    return {
      status: 403,
      message:
        'Tokens of the authorization server may not answer approvals here. Name the scopes that may as "oauth": { "approverScopes": […] } in gateway.json.',
    }
  return {
    status: 403,
    message: `The token may not answer approvals; needed are: ${wanted.join(' ')}. Ask the authorization server for them.`,
    data: { error: 'insufficient_scope', scope: wanted.join(' ') },
    headers: headers(wanted),
  }
}
