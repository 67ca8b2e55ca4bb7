import { randomBytes } from 'node:crypto'
import type * as SdkModule from '@modelcontextprotocol/client'
import type {
  AddClientAuthentication,
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client'
import type { JsonObject } from '../../../contract/base/json.ts'
import type { TokenStore, LoginPlace, LoginSettings, StoredLogin } from '../../../contract/mcp/login.ts'
import { longestLearnt } from '../../../kit/secrets/growing-redactor.ts'
import { isJsonObject } from '../../../kit/json/is-json-object.ts'
import { isTrustworthyUrl } from '../../../kit/match/loopback.ts'
import { tokensOf } from './stored-tokens.ts'
import { ownValue, requireIssuer, toClient, without, withoutClient } from './login-clients.ts'

/** What a try stands on. */
export interface LoginTryOptions {
  /** With every `${NAME}` filled in. */
  readonly settings: LoginSettings
  readonly place: LoginPlace
  readonly tokenStore: TokenStore
  /** Where the browser is led back to. Undefined: no person is asked. */
  readonly redirectUrl: string | undefined
  /** What is asked for. */
  readonly scope: string | undefined
}

/**
 * One try to get tokens, as the client of the SDK goes about it. Its tokens are kept at once, and the client that it registered with
 * them: a try that fails leaves what is kept as it was. Credentials of one authorization server are shown to no other.
 */
export class LoginTry implements OAuthClientProvider {
  readonly redirectUrl: string | undefined
  readonly clientMetadataUrl?: string
  readonly clientMetadata: OAuthClientMetadata
  readonly prepareTokenRequest?: (scope?: string) => URLSearchParams
  readonly addClientAuthentication?: AddClientAuthentication
  readonly saveClientInformation?: (client: StoredOAuthClientInformation, about?: { issuer: string }) => void
  /** By this the person's callback is known to belong to this try. */
  readonly stateText = randomBytes(32).toString('base64url')
  /** Where a person has to go; undefined if none is needed. */
  authorizationUrl: URL | undefined
  discovered: OAuthDiscoveryState | undefined
  readonly #options: LoginTryOptions
  #verifier = ''
  /** What this try registered, by issuer. */
  #registered: StoredLogin['clients'] = {}
  /** The authorization server that is asked. */
  #asked = ''

  constructor(sdk: typeof SdkModule, options: LoginTryOptions) {
    this.#options = options
    const { settings, redirectUrl } = options
    const { clientId, privateKey, clientMetadataUrl, signingAlgorithm } = settings
    const isMachine = settings.grant === 'client_credentials'
    this.redirectUrl = isMachine ? undefined : redirectUrl
    this.clientMetadata = {
      client_name: 'Handrail',
      redirect_uris: redirectUrl === undefined ? [] : [redirectUrl],
      response_types: ['code'],
      grant_types: isMachine ? ['client_credentials'] : ['authorization_code', 'refresh_token'],
    }
    // The SDK goes by which of these there are.
    if (clientMetadataUrl !== undefined) this.clientMetadataUrl = clientMetadataUrl
    if (isMachine) this.prepareTokenRequest = machineRequest
    if (clientId === undefined)
      this.saveClientInformation = (client, about) => this.#register(client, about?.issuer ?? '')
    else if (privateKey !== undefined)
      this.addClientAuthentication = sdk.createPrivateKeyJwtAuth({
        issuer: clientId,
        subject: clientId,
        privateKey,
        alg: signingAlgorithm,
      })
  }

  state(): string {
    return this.stateText
  }

  clientInformation(about?: { issuer: string }): StoredOAuthClientInformation | undefined {
    const { settings, redirectUrl } = this.#options
    const { clientId, clientMetadataUrl } = settings
    const issuer = about?.issuer ?? ''
    this.#asked = issuer
    requireIssuer(issuer, settings)
    if (clientId !== undefined) return this.#ownClient(clientId, issuer)
    if (clientMetadataUrl !== undefined && takesDocuments(this.discovered))
      return { client_id: clientMetadataUrl, issuer }
    const client = ownValue(this.#registered, issuer) ?? ownValue(this.#stored()?.clients, issuer)
    return toClient(client, redirectUrl)
  }

  tokens(about?: { issuer: string }): StoredOAuthTokens | undefined {
    const tokens = tokensOf(this.#stored())
    return about === undefined || tokens?.issuer === about.issuer ? tokens : undefined
  }

  saveTokens(tokens: StoredOAuthTokens): void {
    requireShort(tokens)
    const { scope, redirectUrl } = this.#options
    this.#change({
      clients: { ...this.#stored()?.clients, ...this.#registered },
      // RFC 6749: what is left out is as it was asked for.
      tokens: toJsonObject({ ...tokens, scope: tokens.scope ?? scope }),
      // Only a person is asked for what was wanted.
      ...(redirectUrl !== undefined && { wanted: undefined }),
    })
  }

  redirectToAuthorization(url: URL): void {
    requireChallenge(this.discovered)
    if (!isTrustworthyUrl(url.href))
      throw new Error(`The authorization server leads to "${url.protocol}", and only https is visited.`)
    if (url.username !== '' || url.password !== '')
      throw new Error(
        'The page of the authorization server carries a user name, by which a host can be feigned.',
      )
    this.authorizationUrl = url
  }

  saveCodeVerifier(text: string): void {
    this.#verifier = text
  }

  codeVerifier(): string {
    return this.#verifier
  }

  saveDiscoveryState(state: OAuthDiscoveryState): void {
    this.discovered = state
  }

  discoveryState(): OAuthDiscoveryState | undefined {
    return this.discovered
  }

  invalidateCredentials(what: string): void {
    // A person who logs in anew leaves the tokens before until there are new ones.
    if (what !== 'client') return
    const isOwn = ownValue(this.#registered, this.#asked) !== undefined
    this.#registered = without(this.#registered, this.#asked)
    const stored = this.#stored()
    if (!isOwn && stored !== undefined) this.#change(withoutClient(stored, this.#asked))
  }

  #stored(): StoredLogin | undefined {
    return this.#options.tokenStore.read(this.#options.place)
  }

  #change(part: Partial<StoredLogin>): void {
    this.#options.tokenStore.write(this.#options.place, { ...(this.#stored() ?? { clients: {} }), ...part })
  }

  #register(client: StoredOAuthClientInformation, issuer: string): void {
    if (client.client_id === this.clientMetadataUrl) return
    requireShort({ client_secret: client.client_secret })
    this.#registered = { ...this.#registered, [issuer]: toJsonObject(client) }
  }

  /** The operator's client. The first authorization server that it is shown to is the only one. */
  #ownClient(clientId: string, issuer: string): StoredOAuthClientInformation {
    const { settings } = this.#options
    const bound = settings.issuer === undefined ? this.#stored()?.issuer : issuer
    if (bound === undefined) this.#change({ issuer })
    const { clientSecret } = settings
    return {
      client_id: clientId,
      issuer: bound ?? issuer,
      ...(clientSecret !== undefined && { client_secret: clientSecret }),
    }
  }
}

/** What is longer could not be kept from being shown. */
function requireShort(credentials: object): void {
  const longest = Math.max(
    ...Object.values(credentials).map((each) => (typeof each === 'string' ? each.length : 0)),
  )
  if (longest > longestLearnt)
    throw new Error(
      `It was given a credential of ${longest} characters, and at most ${longestLearnt} are taken.`,
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

/** What the SDK hands over as JSON carries it. */
function toJsonObject(value: object): JsonObject {
  const copied: unknown = JSON.parse(JSON.stringify(value))
  return isJsonObject(copied) ? copied : {}
}
