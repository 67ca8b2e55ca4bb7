import type * as SdkModule from '@modelcontextprotocol/client'
import type { TokenStore, LoginPlace, LoginSettings, StoredLogin } from '../../../contract/mcp/login.ts'
import type { FeedHost } from '../../../contract/mcp/tool-feed.ts'
import { createRedactor } from '../../../kit/secrets/redact.ts'
import { fillSecretNames, secretNames } from '../../../kit/secrets/secret-names.ts'
import { tokensOf } from './stored-tokens.ts'
import { openOauthFetch, type OauthFetch } from './open-oauth-fetch.ts'
import { toLoginFault } from './to-login-fault.ts'

/** What a login stands on. */
export interface LoginContext {
  /** As the operator named the server. */
  readonly server: string
  readonly place: LoginPlace
  readonly settings: LoginSettings
  readonly host: Pick<FeedHost, 'secret' | 'web' | 'hide' | 'report'>
  readonly tokenStore: TokenStore
  readonly signal: AbortSignal
}

/** What one exchange with those who give tokens has at hand. */
export interface Exchange extends Pick<OauthFetch, 'request' | 'notify'> {
  readonly sdk: typeof SdkModule
  /** With every `${NAME}` filled in. */
  readonly settings: LoginSettings
}

/** Does something with those who give tokens. Rejects with what went wrong, in words that show no credential. */
export async function exchange<T>(context: LoginContext, work: (at: Exchange) => Promise<T>): Promise<T> {
  const sdk = await import('@modelcontextprotocol/client')
  const settings = fillSettings(context)
  const redactor = createRedactor([
    ...secretsOf(context.tokenStore.read(context.place)),
    ...clientSecretsOf(settings),
  ])
  const { host, place, signal } = context
  const oauth = openOauthFetch({
    web: host.web,
    server: place.server,
    issuer: settings.issuer,
    redactor,
    signal,
  })
  try {
    return await work({ sdk, request: oauth.request, notify: oauth.notify, settings })
  } catch (error) {
    throw toLoginFault(error, { sdk, redactor })
  } finally {
    await oauth.close()
  }
}

/** The secrets of the login that is kept. */
export function secretsOf(stored: StoredLogin | undefined): string[] {
  const { access_token, refresh_token, id_token } = tokensOf(stored) ?? {}
  const clients = Object.values(stored?.clients ?? {}).map(({ client_secret }) => client_secret)
  return [access_token, refresh_token, id_token, ...clients].filter((each) => typeof each === 'string')
}

/** The secrets of how to log in, if the file holds them itself. */
export function clientSecretsOf({ clientSecret, privateKey }: LoginSettings): string[] {
  const given = [clientSecret, privateKey].filter((each) => each !== undefined)
  return given.filter((each) => secretNames(each).length === 0)
}

function fillSettings({ settings, host }: LoginContext): LoginSettings {
  const fill = (text: string | undefined) => (text === undefined ? undefined : fillSecretNames(text, valueOf))
  const valueOf = (name: string): string => {
    const value = host.secret(name)
    if (value !== undefined) return value
    throw new Error(`The secret "${name}" is not there. Set it in the environment, and start Handrail again.`)
  }
  return { ...settings, clientSecret: fill(settings.clientSecret), privateKey: fill(settings.privateKey) }
}
