import { randomBytes } from 'node:crypto'
import type * as SdkModule from '@modelcontextprotocol/client'
import type {
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client'
import type { JsonObject } from '../../../contract/base/json.ts'
import type { TokenStore, LoginPlace, LoginSettings, StoredLogin } from '../../../contract/mcp/login.ts'
import { longestLearnt } from '../../../kit/secrets/growing-redactor.ts'
import { isTrustworthyUrl } from '../../../kit/match/loopback.ts'
import { ownValue, requireIssuer, toClient, without, withoutClient } from './login-clients.ts'

/** One try to get tokens, as the client of the SDK goes about it. */
export interface LoginTry extends OAuthClientProvider {
  /** Where a person has to go; undefined if none is needed. */
  readonly authorizationUrl: URL | undefined
  /** By what the person's way back is known to belong to this try. */
  readonly stateText: string
  readonly discovered: OAuthDiscoveryState | undefined
}

/** What a try stands on. */
export interface LoginTryOptions {
  /** With every `${NAME}` filled in. */
  readonly settings: LoginSettings
  readonly place: LoginPlace
  readonly keep: TokenStore
  /** Where the browser is led back to. Undefined: no person is asked. */
  readonly redirectUrl: string | undefined
  /** What is asked for. */
  readonly scope: string | undefined
}

/**
 * A try. Its tokens are kept at once, and the client that it registered with them: one that comes to nothing leaves what is kept as it
 * was. Credentials of one authorization server are shown to no other.
 */
export function createLoginTry(sdk: typeof SdkModule, options: LoginTryOptions): LoginTry {
  const { settings, place, keep, redirectUrl, scope } = options
  const { clientId, grant } = settings
  const isMachine = grant === 'client_credentials'
  const stateText = randomBytes(32).toString('base64url')
  let verifier = ''
  let authorizationUrl: URL | undefined
  let discovered: OAuthDiscoveryState | undefined
  /** What this try registered, by issuer. */
  let registered: StoredLogin['clients'] = {}
  /** The authorization server that is asked. */
  let asked = ''
  const change = (part: Partial<StoredLogin>): void =>
    keep.write(place, { ...(keep.read(place) ?? { clients: {} }), ...part })

  const provider: OAuthClientProvider = {
    redirectUrl: isMachine ? undefined : redirectUrl,
    ...(settings.clientMetadataUrl !== undefined && { clientMetadataUrl: settings.clientMetadataUrl }),
    clientMetadata: {
      client_name: 'Handrail',
      redirect_uris: redirectUrl === undefined ? [] : [redirectUrl],
      response_types: ['code'],
      grant_types: isMachine ? ['client_credentials'] : ['authorization_code', 'refresh_token'],
    },
    state: () => stateText,
    clientInformation(about) {
      const issuer = about?.issuer ?? ''
      asked = issuer
      requireIssuer(issuer, settings)
      if (clientId !== undefined) return ownClient(issuer)
      const { clientMetadataUrl } = settings
      if (clientMetadataUrl !== undefined && takesDocuments(discovered))
        return { client_id: clientMetadataUrl, issuer }
      const kept = ownValue(keep.read(place)?.clients, issuer)
      return toClient(ownValue(registered, issuer) ?? kept, redirectUrl)
    },
    tokens(about) {
      const tokens = tokensOf(keep.read(place))
      return about === undefined || tokens?.issuer === about.issuer ? tokens : undefined
    },
    saveTokens(tokens) {
      requireShort(tokens)
      // RFC 6749: what is left out is as it was asked for.
      const whole = { ...tokens, scope: tokens.scope ?? scope }
      change({
        clients: { ...keep.read(place)?.clients, ...registered },
        tokens: toJson(whole),
        // Only a person is asked for what was wanted.
        ...(redirectUrl !== undefined && { wanted: undefined }),
      })
    },
    redirectToAuthorization(url) {
      requireChallenge(discovered)
      if (!isTrustworthyUrl(url.href))
        throw new Error(`The authorization server leads to "${url.protocol}", and only https is visited.`)
      if (url.username !== '' || url.password !== '')
        throw new Error(
          'The page of the authorization server carries a user name, by which a host can be feigned.',
        )
      authorizationUrl = url
    },
    saveCodeVerifier(text) {
      verifier = text
    },
    codeVerifier: () => verifier,
    saveDiscoveryState(state) {
      discovered = state
    },
    discoveryState: () => discovered,
    invalidateCredentials(what) {
      // A person who logs in anew leaves the tokens before until there are new ones.
      if (what !== 'client') return
      const isOwn = ownValue(registered, asked) !== undefined
      registered = without(registered, asked)
      const stored = keep.read(place)
      if (!isOwn && stored !== undefined) keep.write(place, withoutClient(stored, asked))
    },
    ...(isMachine && { prepareTokenRequest: (asked?: string) => machineRequest(asked) }),
    ...(clientId !== undefined &&
      settings.privateKey !== undefined && {
        addClientAuthentication: sdk.createPrivateKeyJwtAuth({
          issuer: clientId,
          subject: clientId,
          privateKey: settings.privateKey,
          alg: settings.signingAlgorithm,
        }),
      }),
    ...(clientId === undefined && {
      saveClientInformation(client: StoredOAuthClientInformation, about?: { issuer: string }) {
        if (client.client_id === settings.clientMetadataUrl) return
        requireShort({ client_secret: client.client_secret })
        registered = { ...registered, [about?.issuer ?? '']: toJson(client) }
      },
    }),
  }
  /** The first authorization server that it is shown to is the only one. */
  const ownClient = (issuer: string): StoredOAuthClientInformation => {
    const bound = settings.issuer === undefined ? keep.read(place)?.issuer : issuer
    if (bound === undefined) change({ issuer })
    const { clientSecret } = settings
    return {
      client_id: clientId ?? '',
      issuer: bound ?? issuer,
      ...(clientSecret !== undefined && { client_secret: clientSecret }),
    }
  }
  return Object.defineProperties(provider, {
    authorizationUrl: { get: () => authorizationUrl },
    stateText: { get: () => stateText },
    discovered: { get: () => discovered },
    // They have just been defined.
  }) as LoginTry
}

/** The tokens that are kept; undefined if there are none. */
export function tokensOf(stored: StoredLogin | undefined): StoredOAuthTokens | undefined {
  const tokens = stored?.tokens
  if (typeof tokens?.['access_token'] !== 'string' || typeof tokens['token_type'] !== 'string')
    return undefined
  // Only a try writes them, and the SDK has checked what it writes.
  return tokens as JsonObject & StoredOAuthTokens
}

/** What is longer could not be kept from being shown. */
function requireShort(credentials: object): void {
  const longest = Math.max(
    ...Object.values(credentials).map((each) => (typeof each === 'string' ? each.length : 0)),
  )
  if (longest > longestLearnt)
    throw new Error(
      `It was given a credential of ${longest} letters, and at most ${longestLearnt} are taken.`,
    )
}

/** Without PKCE, an attacker who catches a code can use it. A server that says nothing of itself at all is asked as of old. */
function requireChallenge(discovered: OAuthDiscoveryState | undefined): void {
  const metadata = discovered?.authorizationServerMetadata
  if (metadata === undefined || metadata.code_challenge_methods_supported?.includes('S256') === true) return
  throw new Error(
    'The authorization server does not say that it binds a code to who asked for it (PKCE with S256).',
  )
}

function takesDocuments(discovered: OAuthDiscoveryState | undefined): boolean {
  return discovered?.authorizationServerMetadata?.['client_id_metadata_document_supported'] === true
}

function machineRequest(scope: string | undefined): URLSearchParams {
  return new URLSearchParams({ grant_type: 'client_credentials', ...(scope !== undefined && { scope }) })
}

function toJson(value: object): JsonObject {
  // Whatever JSON carries comes back as JSON.
  return JSON.parse(JSON.stringify(value)) as JsonObject
}
