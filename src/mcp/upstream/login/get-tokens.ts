import { beforeAbort } from '../../../kit/time/before-abort.ts'
import type { LoginFacts, LoginPerson } from '../../../contract/mcp/login.ts'
import { toSourceName } from '../base/tool-names.ts'
import { LoginTry } from './login-try.ts'
import { tokensOf } from './stored-tokens.ts'
import { toScope, toScopes, type Challenge } from '../base/challenge.ts'
import { exchange, type Exchange, type LoginContext } from './login-context.ts'
import { parseCallback, type Callback } from './parse-callback.ts'
import { refreshTokens } from './refresh-tokens.ts'
import { revokeTokens } from './revoke-tokens.ts'
import { messageOf } from '../../../kit/text/message-of.ts'

/** Gets tokens without anybody: as a machine for a scope, else with what is kept. Rejects with why that went wrong. */
export async function renewTokens(context: LoginContext, challenge: Challenge, scope: string | undefined) {
  await exchange(context, async (at) => {
    if (context.settings.grant === 'authorization_code') return refreshTokens(at, context, challenge)
    const made = start(at, context, { redirectUrl: undefined, scope })
    await attempt(at, { context, made, challenge, scope })
  })
}

/** Has a person log in. Rejects with why it did not come about; the tokens before stay then. */
export async function askForTokens(
  context: LoginContext,
  challenge: Challenge,
  { authorize, redirectUrl }: LoginPerson,
): Promise<LoginFacts> {
  const { tokenStore, place, settings, server, signal } = context
  const configured = settings.scopes?.join(' ')
  const first = challenge.isStepUp ? toScope(configured, challenge.scope) : (configured ?? challenge.scope)
  const scope = toScope(first, tokenStore.read(place)?.wanted)
  return exchange(context, async (at) => {
    const made = start(at, context, { redirectUrl, scope })
    await attempt(at, { context, made, challenge, scope, isAnew: true })
    const url = made.authorizationUrl
    if (url !== undefined) {
      const scopes = toScopes(url.searchParams.get('scope') ?? undefined)
      const request = { server, tenant: place.tenant, url: url.href, redirectUrl, scopes }
      const back = parseCallback(await unlessClosed(signal, () => authorize(request, signal)), {
        ...at,
        made,
        redirectUrl,
      })
      await attempt(at, { context, made, challenge, scope, back })
    }
    const tokens = tokensOf(tokenStore.read(place))
    return { issuer: tokens?.issuer, scopes: toScopes(tokens?.scope) }
  })
}

/** The issuer of tokens for a server, as the server says itself: the first that it names. Undefined if it names none. */
export async function findIssuer(
  context: LoginContext,
  { resourceMetadataUrl }: Challenge,
): Promise<string | undefined> {
  try {
    return await exchange(context, async ({ sdk, request }) => {
      const about = resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl }
      const known = await sdk.discoverOAuthProtectedResourceMetadata(context.place.server, about, request)
      const [first] = known.authorization_servers ?? []
      return first === undefined ? undefined : new URL(first).href
    })
  } catch {
    // Most servers say nothing of it, in many ways.
    return undefined
  }
}

/** Forgets the login, and tells the authorization server; false if there was none. */
export async function dropTokens(context: LoginContext): Promise<boolean> {
  const { tokenStore, place, host, server } = context
  const stored = tokenStore.read(place)
  const tokens = tokensOf(stored)
  tokenStore.remove(place)
  if (stored === undefined || tokens === undefined) return false
  try {
    await exchange(context, (at) => revokeTokens(at, { place, stored, tokens }))
  } catch (error) {
    const why = messageOf(error)
    host.report(
      toSourceName(server),
      `The login is forgotten here; its authorization server could not be told: ${why}`,
    )
  }
  return true
}

/** A person who never comes back keeps nothing from ending. */
async function unlessClosed<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  const done = await beforeAbort(signal, work)
  if (done === undefined) throw new Error('Handrail is stopping.')
  return done
}

function start(
  { sdk, settings }: Exchange,
  { place, tokenStore }: LoginContext,
  about: { redirectUrl: string | undefined; scope: string | undefined },
): LoginTry {
  return new LoginTry(sdk, { settings, place, tokenStore, ...about })
}

interface Attempt {
  readonly context: LoginContext
  readonly made: LoginTry
  readonly challenge: Challenge
  readonly scope: string | undefined
  /** Whether what is kept is left aside. */
  readonly isAnew?: boolean
  readonly back?: Callback
}

async function attempt(
  { sdk, request }: Exchange,
  { context, made, challenge, scope, isAnew = false, back }: Attempt,
): Promise<void> {
  const { resourceMetadataUrl } = challenge
  await sdk.auth(made, {
    serverUrl: context.place.server,
    fetchFn: request,
    forceReauthorization: isAnew,
    ...(resourceMetadataUrl !== undefined && { resourceMetadataUrl }),
    ...(scope !== undefined && { scope }),
    ...back,
  })
}
