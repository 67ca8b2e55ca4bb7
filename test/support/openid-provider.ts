import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWTPayload } from 'jose'
import Provider, { type Context } from 'oidc-provider'
import { atEnd } from './at-end.ts'

/** What a provider says of a person, beside `sub`. */
export type Account = { readonly [claim: string]: unknown }

export interface OpenIdProvider {
  readonly issuer: string
  readonly accounts: { [sub: string]: Account }
  /** Changes the claims of the next ID tokens; `undefined` leaves them. `sign` makes a token with the provider's own key. */
  tamper: ((claims: JWTPayload, sign: (claims: JWTPayload) => Promise<string>) => Promise<string>) | undefined
}

export const clientId = 'handrail'
export const clientSecret = 'not to be shown & not to be changed'

/**
 * A real provider on loopback, of another site than 127.0.0.1, which knows one client. Its page asks who one is, and believes it: `?as=ann` says so
 * without a click, `?as=` refuses.
 */
export async function serveProvider(
  callback: string,
  accounts: { [sub: string]: Account },
): Promise<OpenIdProvider> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  atEnd(() => {
    server.closeAllConnections()
    server.close()
  })
  const issuer = `http://localhost:${(server.address() as AddressInfo).port}`
  const { privateKey } = await generateKeyPair('ES256', { extractable: true })
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uris: [callback],
        grant_types: ['authorization_code'],
        response_types: ['code'],
        id_token_signed_response_alg: 'ES256',
      },
    ],
    jwks: { keys: [{ ...(await exportJWK(privateKey)), use: 'sig', alg: 'ES256', kid: 'own' }] },
    cookies: { keys: ['for tests'] },
    features: { devInteractions: { enabled: false } },
    claims: {
      openid: ['sub'],
      profile: ['name'],
      email: ['email', 'email_verified'],
      groups: ['groups', 'realm'],
    },
    ttl: { Interaction: 600, Grant: 600, Session: 600, AccessToken: 600, IdToken: 600 },
    conformIdTokenClaims: false,
    interactions: { url: (_context: Context, { uid }: { uid: string }) => `/who/${uid}` },
    findAccount: (_context: Context, accountId: string) => ({
      accountId,
      claims: () => ({ ...made.accounts[accountId], sub: accountId }),
    }),
    async loadExistingGrant({ oidc }: Context) {
      const grant = new oidc.provider.Grant({
        clientId: oidc.client.clientId,
        accountId: oidc.session.accountId,
      })
      grant.addOIDCScope('openid profile email groups')
      await grant.save()
      return grant
    },
  })
  const answer = provider.callback()
  const made: OpenIdProvider = { issuer, accounts, tamper: undefined }
  server.on('request', (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', issuer)
    const as = searchParams.get('as')
    if (pathname.startsWith('/who/') && as === null) return ask(response, Object.keys(made.accounts))
    if (pathname.startsWith('/who/')) {
      const refusal = { error: 'access_denied', error_description: 'no <b>entry</b> & no more' }
      void provider.interactionFinished(
        request,
        response,
        as === '' || as === null ? refusal : { login: { accountId: as } },
      )
      return
    }
    if (pathname === '/token' && made.tamper !== undefined) rewrite(response, made.tamper, privateKey)
    void answer(request, response)
  })
  return made
}

function ask(response: ServerResponse, names: readonly string[]): void {
  const buttons = names.map((name) => `<button name="as" value="${name}">${name}</button>`)
  response.setHeader('content-type', 'text/html; charset=utf-8')
  response.end(
    `<!doctype html><title>Who?</title><link rel="icon" href="data:,"><form>${buttons.join('')}</form>`,
  )
}

/** What the provider answers of an ID token becomes another one. */
function rewrite(
  response: ServerResponse,
  tamper: NonNullable<OpenIdProvider['tamper']>,
  key: CryptoKey,
): void {
  const end = response.end.bind(response) as (body: string) => ServerResponse
  const sign = (claims: JWTPayload): Promise<string> =>
    new SignJWT(claims).setProtectedHeader({ alg: 'ES256', kid: 'own' }).sign(key)
  response.end = ((body: string) => {
    const answer = JSON.parse(body) as { id_token?: string }
    const [, payload = ''] = (answer.id_token ?? '').split('.')
    if (answer.id_token === undefined) return end(body)
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as JWTPayload
    void tamper(claims, sign).then((token) => {
      const changed = JSON.stringify({ ...answer, id_token: token })
      response.setHeader('content-length', Buffer.byteLength(changed))
      end(changed)
    })
    return response
  }) as typeof response.end
}
