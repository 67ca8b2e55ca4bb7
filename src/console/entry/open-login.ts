import type { ClientAuth, Configuration, IDToken } from 'openid-client'
import type { ConsoleLogin, ConsoleServing } from '../../contract/mcp/console-login.ts'
import { findClaim, mergeClaims, type RawClaims } from './login-rules.ts'

/** A provider at which persons log in, as it is configured now. */
export interface Login {
  readonly options: ConsoleLogin
  /** The origin of the console. */
  readonly url: string
  /** For buttons and messages. */
  readonly name: string
  /** Asks the provider what it is. Rejects if it cannot be reached, or is another one. */
  discover(): Promise<unknown>
  /** Where the browser goes to log in. `isAnew`: even if it is logged in there. */
  begin(secrets: LoginSecrets, isAnew: boolean): Promise<URL>
  /** The verified claims of who came back with these parameters. Rejects unless all is as it was begun. */
  finish(search: string, secrets: LoginSecrets): Promise<RawClaims>
  /** Where the browser goes to log out at the provider too (OpenID Connect RP-Initiated Logout 1.0); undefined if it has no such place. */
  logOut(): Promise<URL | undefined>
}

/** What ties an answer of the provider to the browser that began, and the token to both. */
export interface LoginSecrets {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
}

/** How long the metadata of a provider is used. */
const freshMs = 10 * 60_000

/** `secret`: that of the client; undefined for a public one. */
export function openLogin({ url, login: options }: ConsoleServing, secret: string | undefined): Login {
  const redirect = new URL('/enter/callback', url).href
  const { issuer, name, scopes = ['profile', 'email'] } = options
  let found: { readonly config: Promise<Configuration>; readonly at: number } | undefined
  const configure = (): Promise<Configuration> => {
    if (found !== undefined && Date.now() - found.at < freshMs) return found.config
    const config = discover(options, secret)
    found = { config, at: Date.now() }
    config.catch(() => (found = undefined))
    return config
  }
  return {
    options,
    url,
    name: name ?? new URL(issuer).host,
    discover: configure,
    async begin({ state, nonce, verifier }, isAnew) {
      const { buildAuthorizationUrl, calculatePKCECodeChallenge } = await import('openid-client')
      return buildAuthorizationUrl(await configure(), {
        response_type: 'code',
        redirect_uri: redirect,
        scope: ['openid', ...scopes].join(' '),
        state,
        nonce,
        code_challenge: await calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        ...(isAnew && { prompt: 'login' }),
      })
    },
    async finish(search, { state, nonce, verifier }) {
      const { authorizationCodeGrant } = await import('openid-client')
      const config = await configure()
      const tokens = await authorizationCodeGrant(config, new URL(`${redirect}${search}`), {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      })
      const claims = tokens.claims()
      if (claims === undefined) throw new Error('The provider sent no ID token.')
      return withUserInfo({ config, options, claims, token: tokens.access_token })
    },
    async logOut() {
      const { buildEndSessionUrl } = await import('openid-client')
      const config = await configure()
      // The provider asks the person itself, and says what came of it: it needs to know no address of the console for that.
      return config.serverMetadata().end_session_endpoint === undefined
        ? undefined
        : buildEndSessionUrl(config)
    },
  }
}

async function discover(
  { issuer, clientId }: ConsoleLogin,
  secret: string | undefined,
): Promise<Configuration> {
  const client = await import('openid-client')
  const method: ClientAuth = (server, ...rest) => {
    if (secret === undefined) return client.None()(server, ...rest)
    const takesPost = server.token_endpoint_auth_methods_supported?.includes('client_secret_post') === true
    const authenticate = takesPost ? client.ClientSecretPost : client.ClientSecretBasic
    return authenticate(secret)(server, ...rest)
  }
  const insecure = new URL(issuer).protocol === 'http:' ? [client.allowInsecureRequests] : []
  return client.discovery(new URL(issuer), clientId, undefined, method, {
    timeout: 5,
    // The signature of the ID token is checked too, although it comes over TLS from where it is made.
    execute: [...insecure, client.enableNonRepudiationChecks],
  })
}

interface LoggedIn {
  readonly config: Configuration
  readonly options: ConsoleLogin
  readonly claims: IDToken
  readonly token: string
}

/** Some providers tell groups and addresses at another place only. What the ID token says counts. */
async function withUserInfo({ config, options, claims, token }: LoggedIn): Promise<RawClaims> {
  const own: RawClaims = { ...claims }
  const wanted = [...options.rules.map(({ claim }) => claim), options.actorClaim ?? 'sub', 'name']
  const isMissing = wanted.some((name) => findClaim(own, name) === undefined)
  if (!isMissing || config.serverMetadata().userinfo_endpoint === undefined) return own
  const { fetchUserInfo } = await import('openid-client')
  return mergeClaims(own, { ...(await fetchUserInfo(config, token, claims.sub)) })
}
