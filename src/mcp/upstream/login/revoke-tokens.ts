import type { StoredOAuthTokens } from '@modelcontextprotocol/client'
import type { StoredLogin } from '../../../contract/mcp/login.ts'
import { isSameIssuer } from './login-clients.ts'
import type { Exchange, LoginContext } from './login-context.ts'

/** Tells the authorization server that its tokens are needed no more, where it wants to know. Rejects where it cannot be told. */
export async function revokeTokens(
  { sdk, request, notify, settings }: Exchange,
  { place, stored, tokens }: Pick<LoginContext, 'place'> & { stored: StoredLogin; tokens: StoredOAuthTokens },
): Promise<void> {
  const issuer = tokens.issuer ?? ''
  const metadata = await sdk.discoverAuthorizationServerMetadata(issuer, { fetchFn: request })
  const { revocation_endpoint: endpoint }: Record<string, unknown> = { ...metadata }
  if (typeof endpoint !== 'string') return
  const { id, secret } = clientAt(issuer, { settings, stored })
  const body = new URLSearchParams({ token: tokens.refresh_token ?? tokens.access_token })
  const headers = new Headers({ accept: 'application/json' })
  if (secret !== undefined) {
    const pair = [id, secret].map(encodeURIComponent).join(':')
    headers.set('authorization', `Basic ${Buffer.from(pair).toString('base64')}`)
  } else body.set('client_id', id)
  const url = sdk.assertSecureTokenEndpoint(endpoint)
  const status = await notify(url, { method: 'POST', headers, body })
  if (status >= 300) throw new Error(`"${place.server}": the authorization server answered ${status}.`)
}

/** The operator's own client is shown only to its own authorization server: the tokens may be of a time before it. */
function clientAt(
  issuer: string,
  { settings, stored }: Pick<Exchange, 'settings'> & { stored: StoredLogin },
): { id: string; secret: string | undefined } {
  const { clientId, clientSecret } = settings
  const home = settings.issuer ?? stored.issuer
  if (clientId !== undefined && home !== undefined && isSameIssuer(home, issuer))
    return { id: clientId, secret: clientSecret }
  const registered = Object.hasOwn(stored.clients, issuer) ? stored.clients[issuer] : undefined
  const id = textOf(registered?.['client_id']) ?? settings.clientMetadataUrl
  if (id === undefined) throw new Error(`No client is known any more that "${issuer}" gave the tokens to.`)
  return { id, secret: textOf(registered?.['client_secret']) }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
