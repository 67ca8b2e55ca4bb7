import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWTPayload } from 'jose'
import { onTestFinished } from 'vitest'

/** A real authorization server on loopback: metadata, keys, and tokens for whoever has the client's secret. */
export interface AuthorizationServer {
  readonly issuer: string
  /** A client that it knows. */
  readonly client: { readonly id: string; readonly secret: string }
  /** Paths that were asked for, in order. */
  readonly hits: readonly string[]
  /** A token as it makes them, but for what is said otherwise; `key` signs in the place of its own. */
  sign(claims?: JWTPayload & { expiresIn?: string }, key?: CryptoKey): Promise<string>
  /** Signs with a new key from now on; the old one is gone. */
  rotate(): Promise<void>
}

/** Serves until the test ends. Tokens have the resource that the client named as their audience. */
export async function serveAuthorization(): Promise<AuthorizationServer> {
  const client = { id: 'agent-7', secret: 'a-secret-of-the-client' }
  const hits: string[] = []
  let keys = await makeKeys('first')
  const server = createServer((request, response) => {
    hits.push(new URL(request.url ?? '/', 'http://server').pathname)
    void answer(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  const sign: AuthorizationServer['sign'] = ({ expiresIn = '5m', ...claims } = {}, key = keys.privateKey) =>
    new SignJWT({ sub: client.id, scope: 'mcp', iss: issuer, ...claims })
      .setProtectedHeader({ alg: 'ES256', kid: keys.kid, typ: 'at+jwt' })
      .setIssuedAt()
      .setExpirationTime(expiresIn)
      .sign(key)

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = hits.at(-1)
    const json = (value: unknown, status = 200): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
    }
    if (path === '/.well-known/oauth-authorization-server')
      return json({
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/keys`,
        response_types_supported: ['code'],
        grant_types_supported: ['client_credentials'],
        token_endpoint_auth_methods_supported: ['client_secret_basic'],
        scopes_supported: ['mcp'],
      })
    if (path === '/keys')
      return json({ keys: [{ ...(await exportJWK(keys.publicKey)), kid: keys.kid, alg: 'ES256' }] })
    if (path !== '/token') return json({ error: 'not_found' }, 404)
    const asked = new URLSearchParams(await textOf(request))
    const basic = Buffer.from(`${client.id}:${client.secret}`).toString('base64')
    if (request.headers.authorization !== `Basic ${basic}`) return json({ error: 'invalid_client' }, 401)
    const token = await sign({ aud: asked.get('resource') ?? '', scope: asked.get('scope') ?? '' })
    json({ access_token: token, token_type: 'Bearer', expires_in: 300 })
  }

  return {
    issuer,
    client,
    hits,
    sign,
    async rotate() {
      keys = await makeKeys('second')
    },
  }
}

async function makeKeys(kid: string) {
  return { kid, ...(await generateKeyPair('ES256')) }
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request) text += String(chunk)
  return text
}
