import { LoginTry } from './login-try.ts'
import { tokensOf } from './stored-tokens.ts'
import { withoutClient } from './login-clients.ts'
import type { Challenge } from '../base/challenge.ts'
import type { Exchange, LoginContext } from './login-context.ts'

/**
 * Gets tokens with what a person allowed before, where the server is still led by the same authorization server. Leaves things as they are
 * where nothing of that is left, and forgets what is good no more. Rejects where it could not be found out.
 */
export async function refreshTokens(
  { sdk, request, settings }: Exchange,
  { place, tokenStore }: LoginContext,
  { resourceMetadataUrl }: Challenge,
): Promise<void> {
  const tokens = tokensOf(tokenStore.read(place))
  if (tokens?.refresh_token === undefined) return
  const found = await sdk.discoverOAuthServerInfo(place.server, {
    fetchFn: request,
    ...(resourceMetadataUrl !== undefined && { resourceMetadataUrl }),
  })
  const { authorizationServerUrl, authorizationServerMetadata: metadata, resourceMetadata } = found
  const issuer = metadata?.issuer ?? authorizationServerUrl
  // Without resource metadata, the server itself is taken for the issuer of tokens, as servers of old are.
  if (tokens.issuer !== issuer && resourceMetadata === undefined)
    throw new Error(
      `What "${new URL(place.server).origin}" says of who gives tokens for it could not be had.`,
    )
  const made = new LoginTry(sdk, { settings, place, tokenStore, redirectUrl: undefined, scope: tokens.scope })
  made.saveDiscoveryState(found)
  const client = made.clientInformation({ issuer })
  if (tokens.issuer !== issuer || client === undefined || client.issuer !== issuer) return
  /** A new login, or a logout, was faster, in this process or another. */
  const isLate = (): boolean => tokensOf(tokenStore.read(place))?.refresh_token !== tokens.refresh_token
  const isSame = (await sdk.selectResourceURL(place.server, made, resourceMetadata)) !== undefined
  try {
    const next = await sdk.refreshAuthorization(authorizationServerUrl, {
      clientInformation: client,
      refreshToken: tokens.refresh_token,
      fetchFn: request,
      ...(metadata !== undefined && { metadata }),
      // As the server writes it, to the letter.
      ...(isSame && resourceMetadata !== undefined && { resource: resourceMetadata.resource }),
      ...(made.addClientAuthentication !== undefined && {
        addClientAuthentication: made.addClientAuthentication,
      }),
    })
    if (!isLate()) made.saveTokens({ ...next, issuer })
  } catch (error) {
    const code = error instanceof sdk.OAuthError ? error.code : undefined
    const isOver = code !== undefined && over.includes(code)
    if (!isOver) throw error
    const stored = tokenStore.read(place)
    if (stored === undefined || isLate()) return
    const kept = code === 'invalid_grant' ? stored : withoutClient(stored, issuer)
    tokenStore.write(place, { ...kept, tokens: undefined })
  }
}

/** By what an authorization server says that only a person can help. */
const over: readonly string[] = ['invalid_grant', 'invalid_client', 'unauthorized_client']
