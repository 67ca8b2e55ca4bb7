import type { StoredOAuthTokens } from '@modelcontextprotocol/client'
import type { StoredLogin } from '../../../contract/login.ts'
import type { Exchange, LoginGround } from './login-ground.ts'

/** Tells the authorization server that its tokens are needed no more, where it wants to know. Rejects where it cannot be told. */
export async function revokeTokens(
  { sdk, request, settings }: Exchange,
  { place, stored, tokens }: Pick<LoginGround, 'place'> & { stored: StoredLogin; tokens: StoredOAuthTokens },
): Promise<void> {
  const issuer = tokens.issuer ?? ''
  const metadata = await sdk.discoverAuthorizationServerMetadata(issuer, { fetchFn: request })
  const { revocation_endpoint: endpoint } = { ...metadata } as Record<string, unknown>
  if (typeof endpoint !== 'string') return
  const registered = Object.hasOwn(stored.clients, issuer) ? stored.clients[issuer] : undefined
  const id = settings.clientId ?? textOf(registered?.['client_id']) ?? settings.clientMetadataUrl ?? ''
  const secret = settings.clientSecret ?? textOf(registered?.['client_secret'])
  const body = new URLSearchParams({ token: tokens.refresh_token ?? tokens.access_token })
  const headers = new Headers({ accept: 'application/json' })
  if (secret !== undefined) {
    const pair = [id, secret].map(encodeURIComponent).join(':')
    headers.set('authorization', `Basic ${Buffer.from(pair).toString('base64')}`)
  } else body.set('client_id', id)
  const { ok, status } = await request(sdk.assertSecureTokenEndpoint(endpoint), {
    method: 'POST',
    headers,
    body,
  })
  if (!ok) throw new Error(`"${place.server}": the authorization server answered ${status}.`)
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
