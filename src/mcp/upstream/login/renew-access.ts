import { toScope, type Challenge } from '../base/challenge.ts'
import { toLoginFailed, toLoginNeeded } from '../base/login-needed.ts'
import type { AccessToken } from './access-token.ts'
import { renewTokens } from './get-tokens.ts'
import type { LoginContext } from './login-context.ts'
import { tokensOf } from './stored-tokens.ts'

/**
 * Renews a token that was refused, if that needs no person. Rejects with a `LoginNeeded` if it needs one, or if the renewal failed.
 * Does nothing if another renewal or login was faster, in this process or another.
 */
export async function renewAccess(
  context: LoginContext,
  access: AccessToken,
  { token, challenge }: { token: string | undefined; challenge: Challenge },
): Promise<void> {
  const { server, place, settings, tokenStore } = context
  const about = { server, tenant: place.tenant, settings }
  const isRenewed = (): boolean => ![undefined, token].includes(access.read())
  const granted = tokensOf(access.readLogin())?.scope
  if (isRenewed()) return
  access.refuse(token)
  const scope = challenge.isStepUp ? toScope(granted, challenge.scope) : challenge.scope
  const way = toWay(context, { ...challenge, scope })
  if (way !== undefined)
    await renewTokens(context, challenge, way.scope).catch((error: unknown) => {
      throw toLoginFailed(error, challenge, about)
    })
  if (isRenewed()) return
  const left = access.readLogin()
  if (challenge.isStepUp && left !== undefined) tokenStore.write(place, { ...left, wanted: scope })
  throw toLoginNeeded({ ...challenge, scope }, about)
}

/** How new tokens can be had without a person, and for which scope; undefined if they cannot. */
function toWay(
  { settings, tokenStore, place }: LoginContext,
  { isStepUp, scope }: Challenge,
): { scope: string | undefined } | undefined {
  const tokens = tokensOf(tokenStore.read(place))
  if (settings.grant === 'authorization_code')
    return isStepUp || tokens?.refresh_token === undefined ? undefined : { scope: tokens.scope }
  if (settings.scopes === undefined) return { scope }
  // More than the operator named is not asked for.
  return isStepUp ? undefined : { scope: settings.scopes.join(' ') }
}
